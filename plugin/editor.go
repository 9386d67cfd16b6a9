package plugin

import (
	"encoding/json"

	"github.com/covel-engine/covel/plugin/shape"
)

// EditorSchemas gives JSON Schemas for editors by file name: the frontmatter of
// PLUGIN.md and of RUNTIME.md. They are printed from the same description that
// checks the files; rules that span several fields are only in covel check.
func EditorSchemas() (map[string]json.RawMessage, error) {
	return shape.Schemas(map[string]shape.Shape{
		"plugin.schema.json":  RootShape(),
		"runtime.schema.json": RuntimeShape(),
	})
}
