package gemini

import (
	"encoding/json"
	"testing"
)

func TestWithoutConst(t *testing.T) {
	t.Parallel()
	for schema, wanted := range map[string]string{
		`{"const":"a"}`: `{"enum":["a"]}`,
		`{"properties":{"const":{"const":1},"enum":{"type":"string"}}}`: `{"properties":{"const":{"enum":[1]},"enum":{"type":"string"}}}`,
		`{"items":{"const":1}}`:                                                 `{"items":{"enum":[1]}}`,
		`{"items":[{"const":1},{"const":2}]}`:                                   `{"items":[{"enum":[1]},{"enum":[2]}]}`,
		`{"anyOf":[{"const":null}],"not":{"const":{"const":1}}}`:                `{"anyOf":[{"enum":[null]}],"not":{"enum":[{"const":1}]}}`,
		`{"$defs":{"x":{"const":true}},"additionalProperties":false}`:           `{"$defs":{"x":{"enum":[true]}},"additionalProperties":false}`,
		`{"default":{"const":1},"examples":[{"const":1}],"enum":[{"const":2}]}`: `{"default":{"const":1},"examples":[{"const":1}],"enum":[{"const":2}]}`,
		`true`: `true`,
	} {
		if got := string(withoutConst(json.RawMessage(schema))); got != wanted {
			t.Errorf("%s: %s, want %s", schema, got, wanted)
		}
	}
}

func TestSameJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2.0],"a":1.00}`, true},
		{`12345678901234567890`, `12345678901234567891`, false},
		{`1e2`, `100`, true},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`"x"`, `"x"`, true},
		{`{`, `{`, false},
	} {
		if got := sameJSON(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.same {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}
