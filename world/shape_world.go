package world

import (
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

var (
	label       = shape.Text{Label: true}
	filledLabel = shape.Text{Label: true, NonEmpty: true}
	contract    = shape.Text{Pattern: shape.Contract}
	plainText   = shape.Text{NonEmpty: true}
)

// WorldShape describes world.yaml (spec 05 §12.1).
func WorldShape() shape.Shape {
	ids := shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.ID}}
	return shape.Object{
		{Name: "schemaVersion", Is: shape.Const{JSON: `"1.0"`}, Required: true},
		{Name: "id", Is: shape.Text{Pattern: shape.ID}, Required: true, Doc: "Equals the directory's name."},
		{Name: "name", Is: filledLabel, Required: true},
		{Name: "summary", Is: filledLabel, Required: true},
		{Name: "defaultLocale", Is: plainText, Required: true},
		{Name: "version", Is: shape.Text{Pattern: shape.Semver}},
		{Name: "supportedLocales", Is: shape.ListOf{Of: plainText, Unique: true}},
		{Name: "tags", Is: plugin.TagsShape()},
		{Name: "author", Is: plugin.AuthorShape()},
		{Name: "license", Is: shape.Text{Max: 64}},
		{Name: "homepage", Is: shape.Text{Pattern: shape.HTTPS}},
		{Name: "pluginPolicy", Is: shape.Object{
			{Name: "requested", Is: ids},
			{Name: "recommended", Is: ids, Doc: "Shown to the host, never activated."},
			{Name: "requires", Is: shape.ListOf{Unique: true, Of: contract}},
		}},
		{Name: "worldData", Is: plainText, Doc: "Path of the data descriptor."},
		{Name: "characterSchema", Is: characterSchemaShape()},
		{Name: "dimensions", Is: DimensionsShape()},
		{Name: "dimensionSources", Is: shape.MapOf{Key: shape.AttributeID, Of: plainText}},
		{Name: "pluginSettings", Is: shape.MapOf{Key: shape.ID, Of: shape.MapOf{Of: shape.Any{}}}},
	}
}

var attributeTypes = shape.Enum{"string", "number", "boolean", "enum", "array", "object", "map"}

func characterSchemaShape() shape.Object {
	return shape.Object{
		{Name: "types", Is: shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.ID}}},
		{Name: "attributes", Is: shape.ListOf{Of: shape.Object{
			{Name: "id", Is: shape.Text{Pattern: shape.AttributeID}, Required: true},
			{Name: "name", Is: filledLabel, Required: true},
			{Name: "type", Is: attributeTypes, Required: true},
			{Name: "category", Is: shape.Enum{"stats", "bio", "abilities", "equipment", "social"}, Required: true},
			{Name: "description", Is: label},
			{Name: "defaultValue", Is: shape.Any{}},
			{Name: "min", Is: shape.Num{}},
			{Name: "max", Is: shape.Num{}},
			{Name: "options", Is: shape.ListOf{Min: 1, Unique: true, Of: plainText}},
			{Name: "itemType", Is: shape.Any{}},
			{Name: "subSchema", Is: shape.Any{}},
			{Name: "valueType", Is: shape.Any{}},
		}}},
	}
}

// DimensionsShape describes a map of dimensions (spec 05 §12.7). Dimension
// schemas have rules of their own.
func DimensionsShape() shape.Shape {
	return shape.MapOf{Key: shape.AttributeID, Of: dimensionShape()}
}

func dimensionShape() shape.Object {
	return shape.Object{
		{Name: "name", Is: filledLabel, Required: true},
		{Name: "description", Is: label},
		{Name: "schema", Is: shape.ByKind{source.Map: shape.Open{}}, Required: true},
		{Name: "initialValue", Is: shape.Any{}, Required: true},
		{Name: "updateRule", Is: label},
	}
}

// DescriptorShape describes the worldData descriptor (spec 05 §12.3).
func DescriptorShape() shape.Shape {
	return shape.Object{
		{Name: "schemaVersion", Is: shape.Const{JSON: "1"}, Required: true},
		{Name: "sources", Required: true, Is: shape.MapOf{Key: shape.SourceID, Of: shape.Object{
			{Name: "kind", Is: shape.Enum{"yaml", "json", "markdown", "text", "media"}, Required: true},
			{Name: "path", Is: plainText, Required: true},
			{Name: "to", Is: plainText, Required: true},
			{Name: "schema", Is: plainText},
			{Name: "key", Is: plainText},
			{Name: "localeArrayKeys", Is: plugin.LocaleArrayKeysShape()},
			{Name: "indexTo", Is: contract},
			{Name: "effects", Is: shape.Enum{"characters", "projections"}},
			{Name: "enabled", Is: shape.Bool{}},
			{Name: "locale", Is: plainText},
			{Name: "merge", Is: shape.Enum{"replace", "skipExisting"}},
			{Name: "after", Is: shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.SourceID}}},
			{Name: "visibility", Is: shape.Enum{"public", "hidden"}},
		}}},
	}
}

// CharactersShape describes characters.json (spec 05 §12.5).
func CharactersShape() shape.Shape {
	return shape.ListOf{Of: shape.Object{
		{Name: "id", Is: shape.Text{Pattern: shape.AttributeID}, Required: true},
		{Name: "name", Is: filledLabel, Required: true},
		{Name: "type", Is: shape.Text{Pattern: shape.ID}, Required: true},
		{Name: "description", Is: label},
		{Name: "fields", Is: shape.MapOf{Of: shape.Any{}}},
		{Name: "aliases", Is: shape.ListOf{Of: plainText}},
	}}
}

// CardsShape describes main-cast.json; cards may have other keys (spec 05 §12.5).
func CardsShape() shape.Shape {
	texts := shape.ListOf{Of: shape.Text{}}
	return shape.ListOf{Of: shape.Open{Object: shape.Object{
		{Name: "schemaVersion", Is: shape.Const{JSON: "1"}, Required: true},
		{Name: "id", Is: shape.Text{Pattern: shape.CardID}, Required: true},
		{Name: "name", Is: filledLabel, Required: true},
		{Name: "role", Is: shape.Text{}},
		{Name: "description", Is: label},
		{Name: "locale", Is: shape.Text{}},
		{Name: "aliases", Is: texts},
		{Name: "tags", Is: texts},
		{Name: "attributes", Is: shape.MapOf{Of: shape.Any{}}},
		{Name: "persona", Is: shape.Open{Object: shape.Object{
			{Name: "summary", Is: label},
			{Name: "traits", Is: texts}, {Name: "goals", Is: texts}, {Name: "fears", Is: texts}, {Name: "secrets", Is: texts},
			{Name: "voice", Is: label}, {Name: "style", Is: label},
		}}},
		{Name: "scenarioDefaults", Is: shape.Open{Object: shape.Object{
			{Name: "relationships", Is: shape.MapOf{Of: shape.Any{}}}, {Name: "state", Is: shape.MapOf{Of: shape.Any{}}},
		}}},
		{Name: "rules", Is: shape.ListOf{Of: shape.Open{Object: shape.Object{
			{Name: "text", Is: plainText, Required: true}, {Name: "priority", Is: shape.Num{}},
		}}}},
		{Name: "dialogueExamples", Is: shape.ListOf{Of: shape.Open{Object: shape.Object{
			{Name: "user", Is: shape.Text{}}, {Name: "character", Is: plainText, Required: true},
		}}}},
		{Name: "instantiate", Is: shape.Open{Object: shape.Object{
			{Name: "characterId", Is: shape.Text{Pattern: shape.AttributeID}}, {Name: "type", Is: shape.Text{Pattern: shape.ID}},
		}}},
	}}}
}

// LorebookShape describes lorebook.yaml (spec 05 §12.6). An unknown position
// is a warning and checked elsewhere.
func LorebookShape() shape.Shape {
	return shape.ListOf{Of: shape.Object{
		{Name: "id", Is: shape.Text{Pattern: shape.AttributeID}, Required: true},
		{Name: "content", Is: filledLabel, Required: true},
		{Name: "keys", Is: shape.ListOf{Of: shape.Text{}}},
		{Name: "strategy", Is: shape.Enum{"constant", "keyword"}},
		{Name: "enabled", Is: shape.Bool{}},
		{Name: "position", Is: shape.Text{}},
		{Name: "insertionOrder", Is: shape.AnyInt{}},
		{Name: "extra", Is: shape.Object{
			{Name: "title", Is: label},
			{Name: "scanDepth", Is: shape.Int{Max: 20}},
			{Name: "coordinate", Is: shape.Object{
				{Name: "position", Is: shape.Text{}},
				{Name: "depth", Is: shape.Int{}},
			}},
			{Name: "sourceRuleId", Is: shape.Text{}},
		}},
	}}
}
