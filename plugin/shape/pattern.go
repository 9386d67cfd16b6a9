package shape

import "regexp"

// Pattern is a named rule for texts (spec 05 §1.4). Max counts runes, 0 for no
// limit.
type Pattern struct {
	Name    string
	Source  string
	Max     int
	Example string
	re      *regexp.Regexp
}

func pattern(name, source string, limit int, example string) *Pattern {
	return &Pattern{Name: name, Source: source, Max: limit, Example: example, re: regexp.MustCompile(source)}
}

// Match says whether a text follows the rule.
func (p *Pattern) Match(s string) bool {
	return p.re.MatchString(s) && (p.Max == 0 || len([]rune(s)) <= p.Max)
}

// Patterns of spec 05 §1.4.
var (
	ID             = pattern("an id", `^[a-z][a-z0-9-]*$`, 0, "dice-check")
	RuntimeID      = pattern("a runtime id", `^[a-z][a-z0-9-]*(?:/[a-z][a-z0-9-]*)*$`, 0, "dice-check/roller")
	Contract       = pattern("a contract", `^[a-z][a-z0-9.-]*@[1-9][0-9]*$`, 0, "action-check@1")
	SegmentID      = pattern("an id", `^[a-zA-Z0-9][\w.-]*$`, 0, "narrative-style")
	ToolName       = pattern("a tool name", `^[a-z][a-z0-9-]*$`, 64, "record-check")
	Namespace      = pattern("a data namespace", `^[a-zA-Z][a-zA-Z0-9_-]*$`, 64, "scores")
	Key            = pattern("a key", `^[a-zA-Z][a-zA-Z0-9_-]*$`, 0, "difficulty")
	ProjectionID   = pattern("an id", `^[a-z][a-z0-9_-]*$`, 64, "tide_rows")
	SelfNamespace  = pattern("a data namespace", `^[a-zA-Z][a-zA-Z0-9_-]*$`, 64, "scores")
	Topic          = pattern("an event topic", `^[a-z0-9-]+(\.[a-z0-9-]+)+$`, 0, "check.resolved")
	SchemaPath     = pattern("a schema path", `\.json$`, 0, "schemas/score.json")
	SchemaRef      = pattern("a schema reference", `^(?:contract:[a-z][a-z0-9.-]*@[1-9][0-9]*|[^:]*\.json)$`, 0, "schemas/score.json or contract:action-check@1")
	Pointer        = pattern("a JSON Pointer", `^(?:/(?:[^~/]|~[01])*)*$`, 0, "/narrativeOutput")
	Effect         = pattern("an effect resource", effectSource, 0, "plugin-data:self:log")
	Origin         = pattern("an https origin", `^https://[^/?#@]+$`, 0, "https://api.example")
	HTTPS          = pattern("an https address without user info", `^https://[^/?#@\s]+(?:[/?#]\S*)?$`, 0, "https://example.org/about")
	AttributeID    = pattern("an id", `^[a-zA-Z0-9][a-zA-Z0-9_-]*$`, 64, "nerve")
	SourceID       = pattern("a source id", `^[a-z][a-zA-Z0-9_-]{0,63}$`, 0, "lorebook")
	GoRef          = pattern("a go: reference", `^go:[a-z][a-z0-9-]*([./][a-z][a-z0-9-]*)*$`, 0, "go:dice-check/roller")
	CodeRef        = pattern("a code reference", `^(?:go:[a-z][a-z0-9-]*(?:[./][a-z][a-z0-9-]*)*|temporal:[A-Za-z0-9._-]{1,200}/[A-Za-z0-9._-]{1,200})$`, 0, "go:dice-check/roller")
	Semver         = pattern("a semantic version", `^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`, 0, "1.0.0")
	Tag            = pattern("a tag", `^[^\n]{1,64}$`, 64, "drama")
	CardID         = pattern("a card id", `^[A-Za-z0-9][A-Za-z0-9_-]*$`, 128, "lamp-warden")
	MetadataTarget = pattern("a metadata path", `^world:metadata\.[a-zA-Z][a-zA-Z0-9_-]*(?:\.[a-zA-Z][a-zA-Z0-9_-]*)*$`, 0, "world:metadata.opening")
)

const effectSource = `^(?:(?:state|narrative|characters|assets|media|lorebook|dimensions|interaction|unknown):(?:\*|[A-Za-z0-9][A-Za-z0-9_.-]*)` +
	`|plugin-data:self:[a-zA-Z_][a-zA-Z0-9_.-]*|event:[a-z0-9-]+(?:\.[a-z0-9-]+)+|http:https://[^/?#@]+)$`
