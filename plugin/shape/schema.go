package shape

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/covel-engine/covel/plugin/source"
)

// Schema prints a shape as a JSON Schema document for editors.
func Schema(title string, s Shape) (json.RawMessage, error) {
	doc := s.schema()
	doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	doc["title"] = title
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print schema %s: %w", title, err)
	}
	return out, nil
}

// plain turns a node into the values of encoding/json.
func plain(n *source.Node) any {
	var v any
	if json.Unmarshal(n.JSON(), &v) != nil {
		return nil
	}
	return v
}

// Schemas prints several shapes; the title is the name without its ending.
func Schemas(shapes map[string]Shape) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for name, s := range shapes {
		doc, err := Schema(strings.TrimSuffix(name, ".schema.json"), s)
		if err != nil {
			return nil, err
		}
		out[name] = doc
	}
	return out, nil
}
