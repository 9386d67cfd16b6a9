package world

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// Dimension is one tracked value of a world as the engine stores it: a row of
// namespace _dimensions of the provider of world.dimensions@1, under its id
// (spec 05 §6, §12.7). Version counts from 1.
type Dimension struct {
	ID           string          `json:"id"`
	Order        int             `json:"order"`
	Name         json.RawMessage `json:"name,omitempty"`
	Description  json.RawMessage `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema,omitempty"`
	InitialValue json.RawMessage `json:"initialValue,omitempty"`
	UpdateRule   json.RawMessage `json:"updateRule,omitempty"`
	Value        json.RawMessage `json:"value"`
	Version      int             `json:"version"`
}

// schemaKeywords are the ones a dimension's schema may use.
var schemaKeywords = []string{
	"type", "title", "description", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"minLength", "maxLength", "items", "minItems", "maxItems", "properties", "required", "additionalProperties", "x-i18n", "x-enumLabels",
}

// checkDimensions applies the rules of spec 05 §12.7 to a map of dimensions.
func (p *pack) checkDimensions(n *source.Node, file, at string) {
	for _, f := range fields(n) {
		field := shape.Join(at, f.Key)
		if other, ok := p.dimensions[f.Key]; ok {
			p.report.Add("duplicate-id", file, f.Line, field, fmt.Sprintf("dimension id %q is declared in %s and in %s", f.Key, other, file), "Keep one of the two.")
		}
		p.dimensions[f.Key] = file
		for _, problem := range DimensionSchemaProblems(f.Value.Get("schema")) {
			p.report.Add(problem.Code, file, problem.Node.LineOr(f.Line), field+".schema"+problem.At, field+".schema"+problem.At+" "+problem.Text, problem.Fix)
		}
		schema, value := f.Value.Get("schema"), f.Value.Get("initialValue")
		if schema == nil || value == nil || schema.Kind != source.Map {
			continue
		}
		if err := CheckDimensionValue(schema.JSON(), value.JSON()); err != nil {
			p.report.Add("initial-value", file, value.Line, field+".initialValue", fmt.Sprintf("%s.initialValue %s breaks its schema: %v", field, source.Show(value), err), "Correct the value or the schema.")
		}
	}
}

// SchemaProblem is one rule that a dimension's schema breaks.
type SchemaProblem struct {
	Code string
	At   string // field path inside the schema, with its leading dot
	Node *source.Node
	Text string
	Fix  string
}

// DimensionSchemaProblems checks a dimension's schema: only known keywords,
// required members that exist.
func DimensionSchemaProblems(n *source.Node) []SchemaProblem {
	var out []SchemaProblem
	walkSchema(n, "", &out)
	return out
}

func walkSchema(n *source.Node, at string, out *[]SchemaProblem) {
	if n == nil || n.Kind != source.Map {
		return
	}
	for _, f := range n.Fields {
		if !slices.Contains(schemaKeywords, f.Key) {
			*out = append(*out, SchemaProblem{Code: "schema-keyword", At: at + "." + f.Key, Node: f.Value, Text: source.Show(f.Value) + " is a keyword that dimensions do not have", Fix: "Use only " + strings.Join(schemaKeywords, ", ") + "."})
		}
	}
	properties := n.Get("properties")
	for i, r := range items(n.Get("required")) {
		if !properties.Has(r.Str()) {
			*out = append(*out, SchemaProblem{Code: "invalid-value", At: fmt.Sprintf("%s.required[%d]", at, i), Node: r, Text: source.Show(r) + " is not in properties", Fix: "Add the property, or remove it from required."})
		}
	}
	walkSchema(n.Get("items"), at+".items", out)
	walkSchema(n.Get("additionalProperties"), at+".additionalProperties", out)
	for _, f := range fields(properties) {
		walkSchema(f.Value, at+".properties."+f.Key, out)
	}
}

// CheckDimensionValue validates a value against the author's schema. Under
// x-i18n a value is a locale map whose texts the rest of the schema describes.
func CheckDimensionValue(schema, value json.RawMessage) error {
	n, err := source.ParseJSON(schema)
	if err != nil {
		return err
	}
	s, err := plugin.CompileSchema(localized(n).JSON())
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// localized turns each node with x-i18n: true into a map of locales to it.
func localized(n *source.Node) *source.Node {
	if n == nil || n.Kind != source.Map {
		return n
	}
	out := &source.Node{Kind: source.Map, Line: n.Line}
	i18n := false
	for _, f := range n.Fields {
		switch f.Key {
		case "x-i18n":
			i18n = f.Value.True(false)
			continue
		case "x-enumLabels":
			continue
		case "items", "additionalProperties":
			f.Value = localized(f.Value)
		case "properties":
			props := &source.Node{Kind: source.Map, Line: f.Line}
			for _, p := range f.Value.Fields {
				props.Fields = append(props.Fields, source.Field{Key: p.Key, Line: p.Line, Value: localized(p.Value)})
			}
			f.Value = props
		}
		out.Fields = append(out.Fields, f)
	}
	if !i18n {
		return out
	}
	text := func(s string) *source.Node { return &source.Node{Kind: source.String, Text: s} }
	return &source.Node{Kind: source.Map, Fields: []source.Field{
		{Key: "type", Value: text("object")},
		{Key: "minProperties", Value: &source.Node{Kind: source.Number, Text: "1"}},
		{Key: "additionalProperties", Value: out},
	}}
}

// dimensionsOf makes the rows of a map of dimensions, at version 1.
func dimensionsOf(n *source.Node, from int) []Dimension {
	var out []Dimension
	for i, f := range fields(n) {
		out = append(out, Dimension{
			ID: f.Key, Order: from + i, Name: f.Value.Get("name").JSON(), Description: f.Value.Get("description").JSON(),
			Schema: f.Value.Get("schema").JSON(), InitialValue: f.Value.Get("initialValue").JSON(), UpdateRule: ruleOf(f.Value),
			Value: f.Value.Get("initialValue").JSON(), Version: 1,
		})
	}
	return out
}

func ruleOf(n *source.Node) json.RawMessage {
	if strings.TrimSpace(n.Get("updateRule").Str()) == "" {
		return nil
	}
	return n.Get("updateRule").JSON()
}
