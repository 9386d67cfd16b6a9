package world

import (
	"encoding/json"

	"github.com/covel-engine/covel/plugin/shape"
)

// EditorSchemas gives JSON Schemas for editors by file name, one for each kind
// of file of a world pack.
func EditorSchemas() (map[string]json.RawMessage, error) {
	return shape.Schemas(map[string]shape.Shape{
		"characters.schema.json": CharactersShape(),
		"dimensions.schema.json": DimensionsShape(),
		"lorebook.schema.json":   LorebookShape(),
		"main-cast.schema.json":  CardsShape(),
		"sources.schema.json":    DescriptorShape(),
		"world.schema.json":      WorldShape(),
	})
}
