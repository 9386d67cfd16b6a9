package activities

import (
	"encoding/json"
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

func TestPointer(t *testing.T) {
	t.Parallel()
	const value = `{"a":{"b":[10,{"c":null}],"x/y":1,"m~n":2,"":3},"list":[[1],[2]],"0":"zero"}`
	for path, want := range map[string]string{
		"":                          value,
		"/a/b/0":                    `10`,
		"/a/b/1/c":                  `null`,
		"/a/x~1y":                   `1`,
		"/a/m~0n":                   `2`,
		"/a/":                       `3`,
		"/list/1/0":                 `2`,
		"/0":                        `"zero"`,
		"/none":                     "",
		"/a/b/2":                    "",
		"/a/b/01":                   "",
		"/a/b/-":                    "",
		"/a/b/-1":                   "",
		"/a/b/0/deep":               "",
		"/a/b/1/c/d":                "",
		"/list/9999999999999999999": "",
		"/a/m~01n":                  "",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got, ok := pointer(json.RawMessage(value), path)
			if string(got) != want && ok || ok != (want != "") {
				t.Errorf("%s %t, want %q", got, ok, want)
			}
		})
	}
}

func TestMicroUSD(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]int64{0: 0, 0.000_012: 12, 0.000_000_1: 1, 0.1 + 0.2: 300_000, 1.5: 1_500_000} {
		if got := microUSD(&usd); got != want {
			t.Errorf("%g USD are %d, want %d", usd, got, want)
		}
	}
	if got := microUSD(nil); got != 0 {
		t.Errorf("an unknown price is %d", got)
	}
}

func TestEndingValue(t *testing.T) {
	t.Parallel()
	answer := func(id, name string, ok bool, data string) toolAnswer {
		a := toolAnswer{Record: turn.ToolRecord{ID: id, Name: name, OK: ok, Result: json.RawMessage(`{"ok":true}`)}}
		if data != "" {
			a.Data = json.RawMessage(data)
		}
		return a
	}
	const story, schema = true, true
	for name, c := range map[string]struct {
		story, schema bool
		in            turn.FinishInput
		answers       []toolAnswer
		texts         []string
		value, code   string
	}{
		"prose": {texts: []string{"The door opens."}, value: `{"narrativeOutput":"The door opens."}`},
		"prose of several parts is joined": {
			texts: []string{"One.", " ", "Two."}, value: `{"narrativeOutput":"One.\n\nTwo."}`,
		},
		"prose keeps its characters":          {texts: []string{`<b> & "x"`}, value: `{"narrativeOutput":"<b> & \"x\""}`},
		"an object is the value":              {texts: []string{`{"n":1}`}, value: `{"n":1}`},
		"half an object is prose":             {texts: []string{`{"n":`}, value: `{"narrativeOutput":"{\"n\":"}`},
		"a list is prose":                     {texts: []string{`[1]`}, value: `{"narrativeOutput":"[1]"}`},
		"a story":                             {story: story, texts: []string{"It rains."}, value: `{"narrativeOutput":"It rains."}`},
		"a story's object is its text":        {story: story, texts: []string{`{"n":1}`}, value: `{"narrativeOutput":"{\"n\":1}"}`},
		"a story without text":                {story: story, code: turn.CodeEmptyNarrative, value: `{"narrativeOutput":""}`},
		"a story of blanks":                   {story: story, texts: []string{" \n"}, code: turn.CodeEmptyNarrative, value: `{"narrativeOutput":""}`},
		"schema output":                       {schema: schema, texts: []string{` {"n":1} `}, value: `{"n":1}`},
		"of schema output the last counts":    {schema: schema, texts: []string{`{"n":1}`, `{"n":2}`}, value: `{"n":2}`},
		"schema output that is no JSON":       {schema: schema, texts: []string{"n is 1"}, code: turn.CodeOutputSchemaInvalid},
		"nothing at all":                      {value: `{"narrativeOutput":""}`},
		"without text the last business data": {answers: []toolAnswer{answer("1", "note", true, `{"n":1}`), answer("2", "note", true, `{"n":2}`)}, value: `{"n":2}`},
		"a failed call's data does not count": {answers: []toolAnswer{answer("1", "note", true, `{"n":1}`), answer("2", "note", false, `{"n":2}`)}, value: `{"n":1}`},
		"every call failed": {
			answers: []toolAnswer{answer("1", "note", false, "")}, code: turn.CodeToolFailedWithoutOutput,
		},
		"every call failed, but there is text": {
			answers: []toolAnswer{answer("1", "note", false, "")}, texts: []string{"Well."}, value: `{"narrativeOutput":"Well."}`,
		},
		"a search is no business call": {
			answers: []toolAnswer{answer("1", turn.ToolSearchTools, true, `{"n":1}`), answer("2", "note", false, "")}, code: turn.CodeToolFailedWithoutOutput,
		},
		"done without text leaves the calls": {
			in: turn.FinishInput{Ending: turn.EndingDone}, answers: []toolAnswer{answer("1", "note", true, `{"n":1}`), answer("2", turn.ToolRuntimeDone, true, "")},
			value: `{"toolCalls":[{"name":"note","output":{"ok":true}}]}`,
		},
		"done without anything": {in: turn.FinishInput{Ending: turn.EndingDone}, value: `{"narrativeOutput":""}`},
		"a completing tool's data is the output": {
			schema: schema, in: turn.FinishInput{Ending: turn.EndingTool, Tool: "1"}, texts: []string{"prose"},
			answers: []toolAnswer{answer("1", "submit", true, `{"n":1}`), answer("2", "note", true, `{"n":2}`)}, value: `{"n":1}`,
		},
		"a completing tool without a schema": {
			in: turn.FinishInput{Ending: turn.EndingTool, Tool: "1"}, answers: []toolAnswer{answer("1", "submit", true, `{"n":1}`)}, value: `{"n":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := &plugin.Runtime{}
			if c.story {
				rt.IO.Visibility = "story"
			}
			if c.schema {
				rt.IO.Output.Schema = json.RawMessage(`{"type":"object"}`)
			}
			e := ending{rt: rt, in: c.in, answers: c.answers, texts: c.texts}
			value, code, message := e.value()
			if string(value) != c.value || code != c.code || (message != "") != (code != "") {
				t.Errorf("%s %q %q, want %s %q", value, code, message, c.value, c.code)
			}
		})
	}
}
