package plugin

import (
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// Closed lists of spec 05 §2.2 and §4.1.
var (
	hookEvents = shape.Enum{
		"SessionStart", "TurnStart", "PreCompaction", "PostCompaction", "PreSchedule", "PreRuntime", "PostContextAssembly",
		"PreLLMCall", "PostLLMResponse", "PostRuntime", "PreToolUse", "PostToolUse", "PreStateCommit", "PostStateCommit", "TurnStop", "SessionEnd",
	}
	settingTypes = shape.Enum{"text", "textarea", "number", "integer", "toggle", "select", "slider", "slot"}
	kernelPoints = []string{PointSegment, PointHistoryTransform, PointCompact, PointWorldContext}
)

// Extension points of the kernel (spec 05 §4.1).
const (
	PointSegment          = "prompt.segment@1"
	PointHistoryTransform = "prompt.history-transform@1"
	PointCompact          = "history.compact@2"
	PointWorldContext     = "session.world-context@1"
)

var (
	codeRef  = shape.Text{Pattern: shape.CodeRef}
	contract = shape.Text{Pattern: shape.Contract}
	jsonPath = shape.Text{Pattern: shape.SchemaPath}
	label    = shape.Text{Label: true}
)

func tagText() shape.Text {
	return shape.Text{Pattern: shape.Tag, Not: func(s string) (string, string) {
		if strings.HasPrefix(s, "role:") {
			return "invalid-value", "Tags that start with role: are the engine's; choose another word."
		}
		return "", ""
	}}
}

// AuthorShape is the author block that plugins and worlds share (spec 05 §2.1).
func AuthorShape() shape.Shape {
	https := shape.Text{Pattern: shape.HTTPS}
	return shape.Object{
		{Name: "about", Is: shape.Text{Max: 500, Label: true}},
		{Name: "links", Is: shape.ListOf{Max: 6, Of: shape.Object{
			{Name: "label", Is: shape.Text{Max: 40, Label: true}, Required: true},
			{Name: "url", Is: https, Required: true},
		}}},
		{Name: "name", Is: shape.Text{Max: 80, Label: true}},
		{Name: "url", Is: https},
	}
}

// TagsShape is a list of tags (spec 05 §1.4).
func TagsShape() shape.Shape { return shape.ListOf{Of: tagText()} }

// RootShape describes the frontmatter of PLUGIN.md (spec 05 §2).
func RootShape() shape.Shape {
	return shape.Object{
		{Name: "id", Is: shape.Text{Pattern: shape.ID}, Required: true, Doc: "The package's identity; equals its directory's name."},
		{Name: "kind", Is: shape.Enum{"core", "plugin"}, Required: true, Doc: "core is active unless excluded."},
		{Name: "description", Is: shape.Text{NonEmpty: true, Label: true}, Required: true},
		{Name: "version", Is: shape.Text{Pattern: shape.Semver}, Doc: "A change runs setup again in existing games."},
		{Name: "covel", Is: shape.Text{}, Doc: "The range of host versions the package works with."},
		{Name: "author", Is: AuthorShape()},
		{Name: "displayName", Is: label},
		{Name: "tags", Is: TagsShape()},
		{Name: "license", Is: shape.Text{Max: 64}},
		{Name: "homepage", Is: shape.Text{Pattern: shape.HTTPS}},
		{Name: "provides", Is: shape.ListOf{Of: shape.ByKind{
			source.String: contract,
			source.Map:    shape.Object{{Name: "contract", Is: contract, Required: true}, {Name: "default", Is: shape.Bool{}}},
		}}},
		{Name: "requires", Is: shape.ListOf{Of: contract, Unique: true}},
		{Name: "optional", Is: shape.ListOf{Of: contract, Unique: true}},
		{Name: "conflicts", Is: shape.ListOf{Of: contract, Unique: true}},
		{Name: "contracts", Is: shape.MapOf{Key: shape.Contract, Of: shape.Object{{Name: "schema", Is: jsonPath, Required: true}}}},
		{Name: "entry", Is: shape.Text{Pattern: shape.GoRef}, Doc: "Go code of the binary that registers handlers."},
		{Name: "contributes", Is: contributesShape()},
		{Name: "runtime", Is: RuntimeShape()},
	}
}

func contributesShape() shape.Object {
	return shape.Object{
		{Name: "tools", Is: shape.ListOf{Of: shape.ByKind{
			source.String: shape.Text{Pattern: shape.ToolName},
			source.Map: shape.Object{
				{Name: "name", Is: shape.Text{Pattern: shape.ToolName}, Required: true},
				{Name: "handler", Is: codeRef, Required: true},
				{Name: "description", Is: shape.Text{NonEmpty: true, Label: true}, Required: true},
				{Name: "input", Is: jsonPath, Required: true, Doc: "JSON Schema of the arguments."},
				{Name: "idempotent", Is: shape.Bool{}, Doc: "Acting twice under one key equals acting once."},
			},
		}}},
		{Name: "services", Is: shape.ListOf{Of: shape.ByKind{
			source.String: contract,
			source.Map:    shape.Object{{Name: "contract", Is: contract, Required: true}, {Name: "handler", Is: codeRef, Required: true}},
		}}},
		{Name: "extensions", Is: shape.ListOf{Of: shape.Object{
			{Name: "point", Is: contract, Required: true},
			{Name: "id", Is: segmentID(), Required: true},
			{Name: "order", Is: shape.AnyInt{}},
			{Name: "handler", Is: codeRef},
		}}},
		{Name: "hooks", Is: shape.ListOf{Of: shape.Object{
			{Name: "event", Is: hookEvents, Required: true},
			{Name: "enforce", Is: shape.Enum{"pre", "normal", "post"}},
			{Name: "handler", Is: codeRef},
		}}},
		{Name: "events", Is: shape.ListOf{Of: shape.Object{
			{Name: "topic", Is: shape.Text{Pattern: shape.Topic}, Required: true},
			{Name: "schema", Is: jsonPath, Required: true},
			{Name: "description", Is: label, Required: true},
			{Name: "advertise", Is: shape.Bool{}},
		}}},
		{Name: "settings", Is: shape.ListOf{Of: shape.Object{
			{Name: "key", Is: shape.Text{Pattern: shape.Key}, Required: true},
			{Name: "type", Is: settingTypes, Required: true},
			{Name: "default", Is: shape.Any{}},
			{Name: "label", Is: label},
			{Name: "description", Is: label},
			{Name: "min", Is: shape.Num{}},
			{Name: "max", Is: shape.Num{}},
			{Name: "step", Is: shape.Num{}},
			{Name: "options", Is: shape.ListOf{Min: 1, Of: shape.Object{
				{Name: "value", Is: shape.Text{}, Required: true},
				{Name: "label", Is: label, Doc: "Shown for the value; the value itself when left out."},
			}}},
		}}},
		{Name: "data", Is: shape.MapOf{Key: shape.Namespace, Of: namespaceShape()}},
		{Name: "worldProjections", Is: shape.MapOf{Key: shape.ProjectionID, Of: shape.Object{
			{Name: "from", Is: contract, Required: true},
			{Name: "handler", Is: codeRef, Required: true},
			{Name: "outputs", Required: true, Is: shape.MapOf{Key: shape.ProjectionID, Min: 1, Of: shape.Object{
				{Name: "namespace", Is: shape.Text{Pattern: shape.Namespace}, Required: true},
				{Name: "key", Is: shape.Text{NonEmpty: true, Max: 128}, Required: true},
			}}},
		}}},
		{Name: "prompt", Is: shape.ListOf{Of: shape.Object{
			{Name: "id", Is: segmentID(), Required: true},
			{Name: "content", Is: shape.Text{NonEmpty: true, Label: true}, Required: true},
			{Name: "position", Is: PositionShape(), Required: true},
			{Name: "role", Is: shape.Enum{"system", "user", "assistant"}},
		}}},
	}
}

// PositionShape is where a prompt segment goes (spec 05 §5).
func PositionShape() shape.Shape {
	return shape.ByKind{
		source.String: shape.Enum{"system", "pre-history", "post-history"},
		source.Map:    shape.Object{{Name: "depth", Is: shape.Int{}, Required: true}},
	}
}

// LocaleArrayKeysShape says by which member the items of lists meet their
// translations: one member for all lists, or one by the list's own name.
func LocaleArrayKeysShape() shape.Shape {
	member := shape.Text{NonEmpty: true}
	return shape.ByKind{source.List: shape.ListOf{Of: member, Unique: true}, source.Map: shape.MapOf{Of: member}}
}

func segmentID() shape.Text {
	return shape.Text{Pattern: shape.SegmentID, Not: func(s string) (string, string) {
		if s == "static-prompt" {
			return "reserved-id", "Choose another id; static-prompt is the engine's."
		}
		return "", ""
	}}
}

func namespaceShape() shape.Object {
	return shape.Object{
		{Name: "schema", Is: jsonPath, Required: true},
		{Name: "version", Is: shape.Int{Min: 1}, Required: true},
		{Name: "description", Is: label},
		{Name: "accepts", Is: shape.ListOf{Of: contract, Unique: true}},
		{Name: "search", Is: shape.Object{{Name: "text", Is: shape.Text{NonEmpty: true}, Required: true}}},
		{Name: "authoring", Is: shape.Object{
			{Name: "title", Is: shape.Text{NonEmpty: true, Label: true}, Required: true},
			{Name: "summary", Is: label},
			{Name: "hint", Is: label},
			{Name: "example", Is: jsonPath},
			{Name: "source", Is: shape.Object{
				{Name: "kind", Is: shape.Enum{"yaml", "json", "media"}, Required: true},
				{Name: "path", Is: shape.Text{NonEmpty: true}, Required: true},
				{Name: "key", Is: shape.Text{NonEmpty: true}},
				{Name: "visibility", Is: shape.Enum{"public", "hidden"}},
				{Name: "lorebook", Is: shape.Bool{}},
				{Name: "localeArrayKeys", Is: LocaleArrayKeysShape()},
			}},
			{Name: "generate", Is: shape.Enum{"offer", "default"}},
		}},
	}
}
