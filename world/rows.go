package world

import (
	"fmt"
	"maps"
	"slices"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
)

// row is one row of plugin data that a source makes.
type row struct {
	key   string
	value *source.Node
}

// rowsOf turns a source's value into rows: a map's members by key, a list's
// items by the member that the source, else the receiver, else id or key names.
// A single other value is one row under the source's id.
func rowsOf(s Source, root *source.Node, to plugin.Receiver) ([]row, error) {
	switch root.Kind {
	case source.Map:
		out := make([]row, 0, len(root.Fields))
		for _, f := range root.Fields {
			out = append(out, row{key: f.Key, value: f.Value})
		}
		return out, nil
	case source.List:
		key := s.Key
		if key == "" {
			if authoring, err := source.ParseJSON(to.Namespace.Authoring); err == nil {
				key = authoring.Get("source").Get("key").Str()
			}
		}
		out := make([]row, 0, len(root.Items))
		seen := map[string]bool{}
		for i, item := range root.Items {
			id := rowKey(item, key)
			if id == "" {
				return nil, fmt.Errorf("entry %d (line %d) has no text member %q to be its key", i, item.Line, orDefault(key, "id"))
			}
			if seen[id] {
				return nil, fmt.Errorf("entry %d (line %d) repeats the key %q", i, item.Line, id)
			}
			seen[id] = true
			out = append(out, row{key: id, value: item})
		}
		return out, nil
	case source.Null, source.Bool, source.Number, source.String:
	}
	return []row{{key: s.ID, value: root}}, nil
}

func rowKey(item *source.Node, key string) string {
	if key != "" {
		return item.Get(key).Str()
	}
	if id := item.Get("id").Str(); id != "" {
		return id
	}
	return item.Get("key").Str()
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
