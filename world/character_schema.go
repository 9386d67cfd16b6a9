package world

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/session"
)

// CharacterSchema says which types and fields a session's characters have
// (spec 05 §12.1).
type CharacterSchema struct {
	Types      []string
	Attributes []Attribute
}

// Attribute is one field of a character.
type Attribute struct {
	ID       string
	Type     string
	Min, Max *float64
	Options  []string
}

// ParseCharacterSchema reads a schema as it is stored. Nil means no schema:
// every type and field is allowed.
func ParseCharacterSchema(raw json.RawMessage) (*CharacterSchema, error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // no schema is a normal state
	}
	n, err := source.ParseJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("character schema: %w", err)
	}
	if n.Kind != source.Map {
		return nil, nil //nolint:nilnil // see above
	}
	return characterSchema(n), nil
}

func characterSchema(n *source.Node) *CharacterSchema {
	s := &CharacterSchema{Types: n.Get("types").Strings()}
	if !n.Has("types") {
		s.Types = []string{"npc", "companion"}
	}
	for _, a := range items(n.Get("attributes")) {
		s.Attributes = append(s.Attributes, Attribute{
			ID: a.Get("id").Str(), Type: a.Get("type").Str(), Min: float(a.Get("min")), Max: float(a.Get("max")), Options: a.Get("options").Strings(),
		})
	}
	return s
}

func float(n *source.Node) *float64 {
	if v, ok := n.Float(); ok {
		return &v
	}
	return nil
}

// AllowsType says whether a character can have a type; player always can.
func (s *CharacterSchema) AllowsType(t string) bool {
	return s == nil || t == session.CharacterTypePlayer || slices.Contains(s.Types, t)
}

// Refuses says why a field's value does not fit, "" when it does.
func (s *CharacterSchema) Refuses(field string, value json.RawMessage) string {
	n, err := source.ParseJSON(value)
	if err != nil {
		return "is no JSON"
	}
	return s.refuses(field, n)
}

func (s *CharacterSchema) refuses(field string, n *source.Node) string {
	if s == nil {
		return ""
	}
	i := slices.IndexFunc(s.Attributes, func(a Attribute) bool { return a.ID == field })
	if i < 0 {
		return "is not in the character schema"
	}
	a := s.Attributes[i]
	kinds := map[string]source.Kind{
		"string": source.String, "number": source.Number, "boolean": source.Bool, "enum": source.String,
		"array": source.List, "object": source.Map, "map": source.Map,
	}
	if want, ok := kinds[a.Type]; ok && n.Kind != want {
		return fmt.Sprintf("is %s, not %s", n.Kind, want)
	}
	if a.Type == "enum" && !slices.Contains(a.Options, n.Text) {
		return "is not one of " + strings.Join(a.Options, ", ")
	}
	if v, ok := n.Float(); ok {
		if a.Min != nil && v < *a.Min {
			return fmt.Sprintf("is below min %v", *a.Min)
		}
		if a.Max != nil && v > *a.Max {
			return fmt.Sprintf("is above max %v", *a.Max)
		}
	}
	return ""
}

// checkCharacterSchema applies the rules that span members.
func (p *pack) checkCharacterSchema(n *source.Node) *CharacterSchema {
	if n == nil || n.Kind != source.Map {
		return nil
	}
	file := p.root.Path
	for i, t := range items(n.Get("types")) {
		if t.Str() == session.CharacterTypePlayer {
			field := shape.Index("characterSchema.types", i)
			p.report.Add("invalid-value", file, t.Line, field, fmt.Sprintf("%s %q is always a type", field, t.Text), "Remove player from the list.")
		}
	}
	needs := map[string]string{"enum": "options", "object": "subSchema"}
	only := map[string][]string{
		"min": {"number"}, "max": {"number"}, "options": {"enum"}, "itemType": {"array"}, "subSchema": {"object"}, "valueType": {"map"},
	}
	seen := map[string]bool{}
	for i, a := range items(n.Get("attributes")) {
		at := shape.Index("characterSchema.attributes", i)
		typ, id := a.Get("type").Str(), a.Get("id").Str()
		if need := needs[typ]; need != "" && !a.Has(need) {
			shape.Missing(p.report, file, a.Line, at+"."+need, "; type "+typ+" needs it")
		}
		for _, member := range []string{"min", "max", "options", "itemType", "subSchema", "valueType"} {
			if x := a.Get(member); x != nil && slices.Contains(attributeTypes, typ) && !slices.Contains(only[member], typ) {
				p.report.Add("forbidden-field", file, x.Line, at+"."+member, fmt.Sprintf("%s.%s %s stands beside type %q", at, member, source.Show(x), typ), "Remove it, or change the type.")
			}
		}
		if id != "" && seen[id] {
			p.report.Add("duplicate-id", file, a.Get("id").Line, at+".id", fmt.Sprintf("%s.id %q is declared twice", at, id), "Keep one attribute.")
		}
		seen[id] = true
		low, high := float(a.Get("min")), float(a.Get("max"))
		if low != nil && high != nil && *low > *high {
			p.report.Add("invalid-value", file, a.Get("max").Line, at+".max", fmt.Sprintf("%s.max %v is below min %v", at, math.Trunc(*high), *low), "Swap min and max.")
		}
		if d := a.Get("defaultValue"); d != nil {
			if why := characterSchema(n).refuses(id, d); why != "" {
				p.report.Add("invalid-value", file, d.Line, at+".defaultValue", fmt.Sprintf("%s.defaultValue %s %s", at, source.Show(d), why), "Write a default that fits the attribute.")
			}
		}
	}
	return characterSchema(n)
}
