package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/session"
)

// asking answers a question with lines, as a player would type them.
func asking(t *testing.T, s client.Suspension, lines ...string) (string, string, error) {
	t.Helper()
	var out bytes.Buffer
	typed := make(chan inputLine, len(lines))
	for _, line := range lines {
		typed <- inputLine{text: line}
	}
	close(typed)
	a := &asker{c: &console{out: &out, err: &out}, lines: typed}
	data, err := a.ask(t.Context(), questionOf(s))
	return string(data), out.String(), err
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	form := client.Suspension{Form: json.RawMessage(`{"title":"Who are you?","fields":[
		{"id":"name","label":"Name","type":"text","required":true},
		{"id":"nerve","label":"Nerve","type":"number"},
		{"id":"trade","label":"Trade","type":"select","options":[{"value":"pilot","label":"Pilot"},{"value":"eeler","label":"Eeler"}]},
		{"id":"oath","label":"Oath","type":"toggle"}]}`)}
	schema := client.Suspension{Suspension: session.Suspension{ResumeSchema: json.RawMessage(
		`{"type":"object","properties":{"vote":{"enum":["yes","no"]},"why":{"type":"string","title":"Why"}},"required":["vote"]}`)}}
	for name, c := range map[string]struct {
		s     client.Suspension
		lines []string
		want  string
		shown string
	}{
		"a form, field by field":     {form, []string{"Ada", "2.5", "PILOT", "yes"}, `{"name":"Ada","nerve":2.5,"oath":true,"trade":"pilot"}`, "Trade (pilot, eeler): "},
		"fields may stay empty":      {form, []string{"Ada", "", "", ""}, `{"name":"Ada"}`, "Oath (yes or no): "},
		"a wrong value is asked for": {form, []string{"Ada", "much", "1", "", "perhaps", "no"}, `{"name":"Ada","nerve":1,"oath":false}`, `"much" is no number`},
		"a schema's properties":      {schema, []string{"no", "It is late."}, `{"vote":"no","why":"It is late."}`, "vote (yes, no): "},
		"one line without a schema":  {client.Suspension{}, []string{"Say \"yes\""}, `"Say \"yes\""`, "? "},
	} {
		data, out, err := asking(t, c.s, c.lines...)
		if err != nil || data != c.want || !strings.Contains(out, c.shown) {
			t.Errorf("%s: %s, %v, shown %q; want %s, %q", name, data, err, out, c.want, c.shown)
		}
	}
	for name, lines := range map[string][]string{"an empty required field": {""}, "the end of the input": nil} {
		if _, _, err := asking(t, form, lines...); !errors.Is(err, errLater) {
			t.Errorf("%s: %v; want the question left for later", name, err)
		}
	}
}
