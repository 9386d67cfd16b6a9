package shape

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/source"
)

// Shape is the description of one value.
type Shape interface {
	check(c *checker, at string, n *source.Node)
	schema() map[string]any
}

type checker struct {
	path   string
	report *source.Report
}

func (c *checker) bad(code string, n *source.Node, at, problem, fix string) {
	c.report.Add(code, c.path, n.LineOr(1), at, problem, fix)
}

// Check reports every deviation of a node from a shape. at is the node's field
// path, "" for the root of a file.
func Check(s Shape, at string, n *source.Node, path string, report *source.Report) {
	s.check(&checker{path: path, report: report}, at, n)
}

// Join makes the field path of a member.
func Join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// Index makes the field path of a list item.
func Index(at string, i int) string { return fmt.Sprintf("%s[%d]", at, i) }

func (c *checker) kind(n *source.Node, at string, want source.Kind) bool {
	if n.Kind == want {
		return true
	}
	c.bad("invalid-value", n, at, fmt.Sprintf("%s is %s, not %s: %s", at, n.Kind, want, source.Show(n)), fmt.Sprintf("Write %s for %s.", want, at))
	return false
}

// Text is a text value. Pattern, Max and NonEmpty bound it; Label texts are
// read by people, so a locale map in its place is inline-locale-map.
type Text struct {
	Pattern  *Pattern
	Label    bool
	Max      int
	NonEmpty bool
	Not      func(string) (code, fix string)
}

func (t Text) check(c *checker, at string, n *source.Node) {
	if n.Kind == source.Map && t.Label {
		c.bad("inline-locale-map", n, at, fmt.Sprintf("%s is a map of languages: %s", at, source.Show(n)), "Write one English text here and translations in locales/<locale>.yaml or a variant file.")
		return
	}
	if !c.kind(n, at, source.String) {
		return
	}
	switch size := len([]rune(n.Text)); {
	case t.Pattern != nil && !t.Pattern.Match(n.Text):
		c.bad("invalid-value", n, at, fmt.Sprintf("%s %s is not %s", at, source.Show(n), t.Pattern.Name), fmt.Sprintf("Write %s like %s (%s).", t.Pattern.Name, t.Pattern.Example, t.Pattern.Source))
	case t.NonEmpty && strings.TrimSpace(n.Text) == "":
		c.bad("invalid-value", n, at, fmt.Sprintf("%s is empty: %s", at, source.Show(n)), fmt.Sprintf("Write a text for %s.", at))
	case t.Max > 0 && size > t.Max:
		c.bad("invalid-value", n, at, fmt.Sprintf("%s %s has %d characters, at most %d are allowed", at, source.Show(n), size, t.Max), fmt.Sprintf("Shorten %s.", at))
	case t.Not != nil:
		if code, fix := t.Not(n.Text); code != "" {
			c.bad(code, n, at, fmt.Sprintf("%s %s is not allowed", at, source.Show(n)), fix)
		}
	}
}

func (t Text) schema() map[string]any {
	s := map[string]any{"type": "string"}
	if t.Pattern != nil {
		s["pattern"] = t.Pattern.Source
		if t.Pattern.Max > 0 {
			s["maxLength"] = t.Pattern.Max
		}
	}
	if t.Max > 0 {
		s["maxLength"] = t.Max
	}
	if t.NonEmpty {
		s["minLength"] = 1
	}
	return s
}

// Enum is one of a closed list of texts.
type Enum []string

func (e Enum) check(c *checker, at string, n *source.Node) {
	if n.Kind == source.String && slices.Contains(e, n.Text) {
		return
	}
	c.bad("invalid-value", n, at, fmt.Sprintf("%s %s is not one of %s", at, source.Show(n), strings.Join(e, ", ")), fmt.Sprintf("Write one of %s.", strings.Join(e, ", ")))
}

func (e Enum) schema() map[string]any {
	values := make([]any, len(e))
	for i, v := range e {
		values[i] = v
	}
	return map[string]any{"enum": values}
}

// Int is a whole number within bounds; Max 0 means no upper bound.
type Int struct{ Min, Max int }

func (i Int) check(c *checker, at string, n *source.Node) {
	v, ok := n.Float()
	if ok && v == math.Trunc(v) && int(v) >= i.Min && (i.Max == 0 || int(v) <= i.Max) {
		return
	}
	c.bad("invalid-value", n, at, fmt.Sprintf("%s %s is not a whole number %s", at, source.Show(n), i.bounds()), fmt.Sprintf("Write a whole number %s.", i.bounds()))
}

func (i Int) bounds() string {
	if i.Max == 0 {
		return fmt.Sprintf("of at least %d", i.Min)
	}
	return fmt.Sprintf("from %d to %d", i.Min, i.Max)
}

func (i Int) schema() map[string]any {
	s := map[string]any{"type": "integer", "minimum": i.Min}
	if i.Max != 0 {
		s["maximum"] = i.Max
	}
	return s
}

// AnyInt is a whole number without bounds.
type AnyInt struct{}

func (AnyInt) check(c *checker, at string, n *source.Node) {
	if v, ok := n.Float(); ok && v == math.Trunc(v) {
		return
	}
	c.bad("invalid-value", n, at, fmt.Sprintf("%s %s is not a whole number", at, source.Show(n)), "Write a whole number.")
}

func (AnyInt) schema() map[string]any { return map[string]any{"type": "integer"} }

// Num is any number.
type Num struct{}

func (Num) check(c *checker, at string, n *source.Node) { c.kind(n, at, source.Number) }
func (Num) schema() map[string]any                      { return map[string]any{"type": "number"} }

// Bool is true or false.
type Bool struct{}

func (Bool) check(c *checker, at string, n *source.Node) { c.kind(n, at, source.Bool) }
func (Bool) schema() map[string]any                      { return map[string]any{"type": "boolean"} }

// Const is one fixed value, given as its JSON text.
type Const struct{ JSON string }

func (k Const) check(c *checker, at string, n *source.Node) {
	if string(n.JSON()) != k.JSON {
		c.bad("invalid-value", n, at, fmt.Sprintf("%s %s is not %s", at, source.Show(n), k.JSON), fmt.Sprintf("Write %s, or leave %s out.", k.JSON, at))
	}
}

func (k Const) schema() map[string]any {
	root, err := source.ParseJSON([]byte(k.JSON))
	if err != nil {
		return map[string]any{}
	}
	return map[string]any{"const": plain(root)}
}

// Any is any value.
type Any struct{}

func (Any) check(*checker, string, *source.Node) {}
func (Any) schema() map[string]any               { return map[string]any{} }

// ListOf is a list; Max 0 means no upper bound. Unique refuses equal items.
type ListOf struct {
	Of       Shape
	Min, Max int
	Unique   bool
}

func (l ListOf) check(c *checker, at string, n *source.Node) {
	if !c.kind(n, at, source.List) {
		return
	}
	if len(n.Items) < l.Min || l.Max > 0 && len(n.Items) > l.Max {
		want := fmt.Sprintf("at least %d", l.Min)
		if l.Max > 0 {
			want = fmt.Sprintf("%d to %d", l.Min, l.Max)
		}
		c.bad("invalid-value", n, at, fmt.Sprintf("%s has %d entries, allowed are %s", at, len(n.Items), want), fmt.Sprintf("Give %s %s entries.", at, want))
	}
	seen := map[string]bool{}
	for i, item := range n.Items {
		if l.Unique {
			key := string(item.JSON())
			if seen[key] {
				c.bad("invalid-value", item, Index(at, i), fmt.Sprintf("%s %s stands twice in the list", Index(at, i), source.Show(item)), "Remove the repeated entry.")
			}
			seen[key] = true
		}
		l.Of.check(c, Index(at, i), item)
	}
}

func (l ListOf) schema() map[string]any {
	s := map[string]any{"type": "array", "items": l.Of.schema()}
	if l.Min > 0 {
		s["minItems"] = l.Min
	}
	if l.Max > 0 {
		s["maxItems"] = l.Max
	}
	if l.Unique {
		s["uniqueItems"] = true
	}
	return s
}

// MapOf is a map from keys of a pattern to values; Min is the least number of
// entries.
type MapOf struct {
	Key *Pattern
	Of  Shape
	Min int
}

func (m MapOf) check(c *checker, at string, n *source.Node) {
	if !c.kind(n, at, source.Map) {
		return
	}
	if len(n.Fields) < m.Min {
		c.bad("invalid-value", n, at, fmt.Sprintf("%s has %d entries, at least %d are needed", at, len(n.Fields), m.Min), fmt.Sprintf("Add an entry to %s.", at))
	}
	for _, f := range n.Fields {
		if m.Key != nil && !m.Key.Match(f.Key) {
			c.bad("invalid-value", f.Value, Join(at, f.Key), fmt.Sprintf("key %q of %s is not %s", f.Key, at, m.Key.Name), fmt.Sprintf("Write %s like %s.", m.Key.Name, m.Key.Example))
		}
		m.Of.check(c, Join(at, f.Key), f.Value)
	}
}

func (m MapOf) schema() map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": m.Of.schema()}
	if m.Key != nil {
		s["propertyNames"] = Text{Pattern: m.Key}.schema()
	}
	if m.Min > 0 {
		s["minProperties"] = m.Min
	}
	return s
}

// ByKind chooses a shape by the kind of the value.
type ByKind map[source.Kind]Shape

func (b ByKind) check(c *checker, at string, n *source.Node) {
	if s, ok := b[n.Kind]; ok {
		s.check(c, at, n)
		return
	}
	var kinds []string
	for k := source.Null; k <= source.Map; k++ {
		if _, ok := b[k]; ok {
			kinds = append(kinds, k.String())
		}
	}
	want := strings.Join(kinds, " or ")
	c.bad("invalid-value", n, at, fmt.Sprintf("%s is %s, not %s: %s", at, n.Kind, want, source.Show(n)), fmt.Sprintf("Write %s for %s.", want, at))
}

func (b ByKind) schema() map[string]any {
	var options []any
	for k := source.Null; k <= source.Map; k++ {
		if s, ok := b[k]; ok {
			options = append(options, s.schema())
		}
	}
	return map[string]any{"anyOf": options}
}
