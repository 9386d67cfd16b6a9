package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/source"
)

// Field is one member of an object.
type Field struct {
	Name     string
	Is       Shape
	Required bool
	// Doc is one sentence for editors.
	Doc string
}

// Object is a strict map.
type Object []Field

// Renamed names the current field for keys of older formats, by the field path
// they had; an unknown key's message shows it.
var renamed = map[string]string{
	"llm":        "agent.reasoning and agent.toolChoice",
	"input":      "io.inputs and io.selfData",
	"priority":   "schedule.needs and schedule.after",
	"outputKind": "io.visibility",
	"capability": "provides and io.output.contract",
}

// renamedDeep names single members of a renamed object.
var renamedDeep = map[string]map[string]string{
	"llm":   {"toolChoice": "agent.toolChoice", "reasoning": "agent.reasoning"},
	"input": {"inject": "io.selfData"},
}

func (o Object) check(c *checker, at string, n *source.Node) {
	if n.Kind != source.Map {
		name := at
		if name == "" {
			name = "the file"
		}
		c.bad("invalid-value", n, at, fmt.Sprintf("%s is %s, not a map of fields: %s", name, n.Kind, source.Show(n)), "Write the fields as key: value lines.")
		return
	}
	for _, f := range n.Fields {
		if !o.has(f.Key) {
			c.bad("unknown-key", f.Value, Join(at, f.Key), fmt.Sprintf("key %s with value %s is not known here", Join(at, f.Key), source.Show(f.Value)), o.hint(f))
		}
	}
	for _, f := range o {
		value := n.Get(f.Name)
		if value == nil {
			if f.Required {
				Missing(c.report, c.path, n.Line, Join(at, f.Name), o.expect(f))
			}
			continue
		}
		f.Is.check(c, Join(at, f.Name), value)
	}
}

// Missing reports a field that is needed and absent, at its parent's line.
func Missing(report *source.Report, path string, line int, field, expect string) {
	report.Add("missing-field", path, line, field, fmt.Sprintf("%s is missing%s", field, expect), fmt.Sprintf("Add %s.", field))
}

func (o Object) expect(f Field) string {
	if e, ok := f.Is.(Enum); ok {
		return "; it is one of " + strings.Join(e, ", ")
	}
	return ""
}

func (o Object) has(key string) bool {
	return slices.ContainsFunc(o, func(f Field) bool { return f.Name == key })
}

func (o Object) hint(f source.Field) string {
	if now, ok := renamed[f.Key]; ok {
		if deep := renamedDeep[f.Key]; deep != nil {
			for _, member := range f.Value.Fields {
				if d, ok := deep[member.Key]; ok {
					now = d
					break
				}
			}
		}
		return fmt.Sprintf("Use %s instead.", now)
	}
	names := make([]string, len(o))
	for i, field := range o {
		names[i] = field.Name
	}
	if near := nearest(f.Key, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	return fmt.Sprintf("Remove it; the fields here are %s.", strings.Join(names, ", "))
}

// nearest gives the name within two edits of key, "" for none.
func nearest(key string, names []string) string {
	best, bestAt := "", 3
	for _, name := range names {
		if d := distance(strings.ToLower(key), strings.ToLower(name)); d < bestAt && d < len(name) {
			best, bestAt = name, d
		}
	}
	return best
}

func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func (o Object) schema() map[string]any {
	properties := map[string]any{}
	var required []any
	for _, f := range o {
		s := f.Is.schema()
		if f.Doc != "" {
			s["description"] = f.Doc
		}
		properties[f.Name] = s
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}

// Open is an object that allows other keys.
type Open struct{ Object Object }

func (o Open) check(c *checker, at string, n *source.Node) {
	if n.Kind != source.Map {
		o.Object.check(c, at, n)
		return
	}
	known := &source.Node{Kind: source.Map, Line: n.Line}
	for _, f := range n.Fields {
		if o.Object.has(f.Key) {
			known.Fields = append(known.Fields, f)
		}
	}
	o.Object.check(c, at, known)
}

func (o Open) schema() map[string]any {
	s := o.Object.schema()
	delete(s, "additionalProperties")
	return s
}
