package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compileSchema checks a JSON Schema; an invalid one is CONFIG_ERROR.
func compileSchema(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) == 0 {
		return nil, Configf("responseSchema: missing; an object call needs a JSON Schema")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, &Error{Code: CodeConfig, Message: "responseSchema: " + err.Error(), Err: err}
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("response.json", doc); err != nil {
		return nil, &Error{Code: CodeConfig, Message: "responseSchema: " + err.Error(), Err: err}
	}
	schema, err := c.Compile("response.json")
	if err != nil {
		return nil, &Error{Code: CodeConfig, Message: "responseSchema: " + err.Error(), Err: err}
	}
	return schema, nil
}

// noLoader refuses schemas that point out of themselves: nothing is fetched.
type noLoader struct{}

// Load refuses a reference.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference %s leads out of the schema; keep definitions inside it", url)
}

// checkObject checks an answer against schema and decoder.
func checkObject(schema *jsonschema.Schema, value json.RawMessage, decode func(json.RawMessage) error) error {
	if !json.Valid(value) {
		return errors.New("it is not JSON")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	if err := schema.Validate(doc); err != nil {
		return err
	}
	if decode == nil {
		return nil
	}
	return decode(value)
}

var thoughts = regexp.MustCompile(`(?s)<think>.*?(</think>|$)`)

// withoutThoughts takes think tags and what stands between them out of an answer.
func withoutThoughts(text string) string {
	return strings.TrimSpace(thoughts.ReplaceAllString(text, ""))
}
