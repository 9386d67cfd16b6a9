package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// Schema is a compiled JSON Schema. References may only point into the schema
// itself. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
}

// SchemaError says how a value breaks a schema, one entry per place.
type SchemaError struct {
	Violations []Violation
}

// Violation is one broken rule. Path is a JSON Pointer into the value.
type Violation struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Error joins the violations.
func (e *SchemaError) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		where := v.Path
		if where == "" {
			where = "the value"
		}
		parts[i] = where + ": " + v.Problem
	}
	return strings.Join(parts, "; ")
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema; put it under $defs", url)
}

// CompileSchema compiles a JSON Schema (draft 2020-12 unless it says otherwise).
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, errors.New("a schema is an object or a boolean")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("covel:schema", doc); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	s, err := c.Compile("covel:schema")
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return &Schema{compiled: s}, nil
}

// Validate checks a JSON value; the error is a *SchemaError or a syntax error.
func (s *Schema) Validate(value json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("the value is no JSON: %w", err)
	}
	err = s.compiled.Validate(doc)
	var broken *jsonschema.ValidationError
	if errors.As(err, &broken) {
		out := &SchemaError{}
		collectViolations(broken, out)
		return out
	}
	return err
}

// pointerEscaper writes a segment of a JSON Pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

var english = message.NewPrinter(language.English)

func collectViolations(e *jsonschema.ValidationError, out *SchemaError) {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			collectViolations(c, out)
		}
		return
	}
	var path strings.Builder
	for _, seg := range e.InstanceLocation {
		path.WriteString("/" + pointerEscaper.Replace(seg))
	}
	out.Violations = append(out.Violations, Violation{Path: path.String(), Problem: e.ErrorKind.LocalizedString(english)})
}

// schemaAt reads and compiles a schema file that a field names. It reports each
// file once and gives nil when the file can not be used.
func (p *pkg) schemaAt(n *source.Node, path, field string) json.RawMessage {
	if !shape.SchemaPath.Match(n.Str()) {
		return nil // absent, or reported by the shape
	}
	name := n.Text
	file, ok := p.dir.Document(name, "schema-invalid", source.Ref{Path: path, Line: n.Line, Field: field}, p.report)
	if !ok {
		return nil
	}
	raw := file.Root.JSON()
	if _, done := p.schemas[name]; done {
		return raw
	}
	s, err := CompileSchema(raw)
	if err != nil {
		p.report.Add("schema-invalid", name, 1, field, fmt.Sprintf("%s, named by %s, is no usable JSON Schema: %v", name, field, err), "Correct the schema.")
	}
	p.schemas[name] = s
	if s == nil {
		return nil
	}
	return raw
}
