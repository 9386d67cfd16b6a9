package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
)

// script is a protocol's stream in its parts.
type script struct {
	text     []string // payloads that bring the text "hey"
	terminal []string
	missing  string // what an error names
	fault    string
	nullFine string // a payload whose error is null
}

var scripts = map[string]script{
	model.ProtocolChat: {
		text: []string{`{"choices":[{"delta":{"content":"hey"}}]}`}, terminal: []string{`{"choices":[{"delta":{},"finish_reason":"stop"}]}`},
		missing: "finish_reason", fault: `{"error":{"message":"boom","type":"server_error"}}`, nullFine: `{"error":null,"choices":[]}`,
	},
	model.ProtocolResponses: {
		text:     []string{`{"type":"response.output_text.delta","delta":"hey"}`},
		terminal: []string{`{"type":"response.completed","response":{"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"hey"}]}]}}`},
		missing:  "response.completed", fault: `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}`,
		nullFine: `{"type":"response.in_progress","error":null}`,
	},
	model.ProtocolAnthropic: {
		text: []string{`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hey"}}`},
		terminal: []string{`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`},
		missing:  "message_stop", fault: `{"type":"error","error":{"type":"api_error","message":"boom"}}`, nullFine: `{"type":"ping","error":null}`,
	},
	model.ProtocolGemini: {
		text: []string{`{"candidates":[{"content":{"parts":[{"text":"hey"}]}}]}`}, terminal: []string{`{"candidates":[{"finishReason":"STOP"}]}`},
		missing: "finishReason", fault: `{"error":{"code":500,"message":"boom","status":"INTERNAL"}}`, nullFine: `{"error":null,"candidates":[]}`,
	},
}

func hasDone(events []model.Event) bool {
	return len(events) > 0 && events[len(events)-1].Kind == model.EventDone
}

func textOf(events []model.Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Kind == model.EventText {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// chatLines is a Chat stream of two deltas with a line end of its own.
func chatLines(end string) string {
	s := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n" +
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	return strings.ReplaceAll(s, "\n", end)
}

var generated = regexp.MustCompile(`^call_[0-9a-f]{24}$`)

var streamCases = cases{
	"M-074": func(t *testing.T) {
		for protocol, s := range scripts {
			for _, done := range [][]string{nil, {"[DONE]"}} {
				events, _, err := streamed(t, relay(protocol, "m"), says(user("u")), sse(append(append([]string{}, s.text...), done...)...))
				e := fails(t, err, model.CodeProvider, s.missing)
				if !e.Retriable || hasDone(events) || textOf(events) != "hey" {
					t.Errorf("%s: retriable %v, events %v", protocol, e.Retriable, events)
				}
			}
		}
	},
	"M-075": func(t *testing.T) {
		for protocol, s := range scripts {
			for _, before := range [][]string{nil, s.text} {
				events, _, err := streamed(t, relay(protocol, "m"), says(user("u")), sse(append(append([]string{}, before...), s.fault)...))
				e := fails(t, err, model.CodeProvider, "boom")
				if !e.Retriable || hasDone(events) {
					t.Errorf("%s: retriable %v, events %v", protocol, e.Retriable, events)
				}
			}
			all := append(append(append([]string{}, s.nullFine), s.text...), s.terminal...)
			if events, _, err := streamed(t, relay(protocol, "m"), says(user("u")), sse(all...)); err != nil || !hasDone(events) {
				t.Errorf("%s with error null: %v", protocol, err)
			}
		}
	},
	"M-076": func(t *testing.T) {
		for protocol, s := range scripts {
			a := sse(append(append([]string{}, s.text...), s.terminal...)...)
			for _, cut := range []bool{false, true} {
				a.cut = cut // a connection lost after the terminal event is no error
				events, r, err := streamed(t, relay(protocol, "m"), says(user("u")), a)
				if err != nil || !hasDone(events) || r.FinishReason != model.FinishStop || r.Text != "hey" {
					t.Errorf("%s: %v, %+v", protocol, err, r)
				}
			}
		}
	},
	"M-077": func(t *testing.T) {
		two := sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a"}},{"index":1,"function":{"name":"b","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`)
		step := func(p model.Params) []model.ToolCall {
			_, r, err := streamed(t, relay(model.ProtocolChat, "m"), p, two)
			if err != nil || len(r.ToolCalls) != 2 {
				t.Fatalf("%v, %+v", err, r)
			}
			return r.ToolCalls
		}
		first := step(says(user("go")))
		second := step(says(user("go"), model.Message{Role: model.RoleAssistant, ToolCalls: first}, toolResult(first[0].ID, "1"), toolResult(first[1].ID, "2")))
		seen := map[string]bool{}
		for _, c := range append(first, second...) {
			seen[c.ID] = true
			if !generated.MatchString(c.ID) || c.Arguments != "{}" {
				t.Errorf("call %+v", c)
			}
		}
		if len(seen) != 4 {
			t.Errorf("ids %v", seen)
		}
		want(t, "step 1 again", step(says(user("go"))), string(mustJSON(first)))
	},
	"M-078": func(t *testing.T) {
		events, r, err := streamed(t, slot("google", "gemini-2.5-flash"), says(user("u")), sse(
			`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":"hey"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"n":1}}},{"functionCall":{"id":"f2","name":"b"}}]},"finishReason":"STOP"}]}`))
		if err != nil || r.FinishReason != model.FinishToolCalls {
			t.Fatalf("%v, %+v", err, r)
		}
		var kinds []model.EventKind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		if diff := cmp.Diff([]model.EventKind{model.EventReasoning, model.EventText, model.EventToolArgument, model.EventToolCall, model.EventToolCall, model.EventDone}, kinds); diff != "" {
			t.Error("events differ:", diff)
		}
		if r.ProviderContinuation == nil || len(r.ProviderContinuation.Items) != 4 {
			t.Errorf("continuation %+v", r.ProviderContinuation)
		}
	},
	"M-079": func(t *testing.T) {
		plainEvents, _, err := streamed(t, relay(model.ProtocolChat, "m"), says(user("u")), answer{body: chatLines("\n")})
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"\r", "\r\n"} {
			for n := 1; n <= 7; n += 3 {
				base := newBench(t, answer{body: chatLines(end)})
				var events []model.Event
				g := base.gateway(relay(model.ProtocolChat, "m"), func(c *model.Config) { c.Transport = chopped{base, n} })
				if _, err := g.Stream(context.Background(), "story", says(user("u")), func(e model.Event) { events = append(events, e) }); err != nil {
					t.Fatalf("%q in chunks of %d: %v", end, n, err)
				}
				if textOf(events) != textOf(plainEvents) || len(events) != len(plainEvents) {
					t.Errorf("%q in chunks of %d: %v", end, n, events)
				}
			}
		}
	},
	"M-080": func(t *testing.T) {
		s := scripts[model.ProtocolAnthropic]
		a := sse(append(append([]string{}, s.text...), s.terminal...)...)
		if strings.Contains(a.body, "event:") {
			t.Fatal("the stream names its events")
		}
		if events, r, err := streamed(t, anthropicStory, says(user("u")), a); err != nil || r.Text != "hey" || !hasDone(events) {
			t.Errorf("%v, %+v", err, r)
		}
		a = answer{body: strings.Repeat(": still here\n", 1000) + chatLines("\n")}
		if _, r, err := streamed(t, relay(model.ProtocolChat, "m"), says(user("u")), a); err != nil || r.Text != "ab" {
			t.Errorf("%v, %+v", err, r)
		}
	},
}

var responsesCases = cases{
	"M-081": func(t *testing.T) {
		b := body(t, responsesSlot("some-model"), says(user("u")))
		want(t, "store", b["store"], `false`)
		want(t, "include", b["include"], `["reasoning.encrypted_content"]`)
		absent(t, body(t, responsesSlot("gpt-5.4"), level("none")), "include")
	},
	"M-082": func(t *testing.T) {
		b := body(t, responsesSlot("m"), withTools(says(user("u")), model.Tool{Name: "roll", Description: "rolls", Parameters: []byte(`{"type":"object"}`)}, model.Tool{Name: "look"}))
		want(t, "tools", b["tools"], `[{"type":"function","name":"roll","description":"rolls","parameters":{"type":"object"},"strict":false},
			{"type":"function","name":"look","parameters":{},"strict":false}]`)
	},
	"M-083": func(t *testing.T) {
		llm := responsesSlot("m", "[covel.story.providerOptions.openai]", "store = true")
		b := body(t, llm, says(user("u"), native(`{"type":"reasoning","id":"rs_1","summary":[]}`, `{"type":"function_call","id":"fc_1","call_id":"t1","name":"roll","arguments":"{}"}`), toolResult("t1", "6")))
		want(t, "store", b["store"], `true`)
		absent(t, b, "include")
		want(t, "items", b["input"], `[{"role":"user","content":"u"},{"type":"reasoning","id":"rs_1","summary":[]},
			{"type":"function_call","id":"fc_1","call_id":"t1","name":"roll","arguments":"{}"},{"type":"function_call_output","call_id":"t1","output":"6"}]`)
	},
	"M-084": func(t *testing.T) {
		item := `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e","later":12345678901234567890}`
		b, _ := called(t, responsesSlot("m"), says(user("u"), native(item, `{"type":"function_call","id":"fc_1","call_id":"t1","name":"roll","arguments":"{}"}`), toolResult("t1", "6")))
		if !contains(b.last().Body, item) {
			t.Errorf("body %s", b.last().Body)
		}
		got := body(t, responsesSlot("m"), says(user("u"), native(`{"type":"reasoning","id":"rs_1","summary":[]}`, `{"type":"function_call","id":"fc_1","call_id":"t1","name":"roll","arguments":"{}"}`), toolResult("t1", "6")))
		want(t, "without encrypted content", at(t, got, "input", 1), `{"type":"function_call","call_id":"t1","name":"roll","arguments":"{}"}`)
	},
	"M-085": func(t *testing.T) {
		b := newBench(t, failing(400, `{"error":{"message":"unknown value","param":"include"}}`), okReply[model.ProtocolResponses])
		p := withMetadata("include", `["x"]`)
		g := b.gateway(responsesSlot("m"))
		if _, err := g.Call(context.Background(), "story", p, nil); err != nil {
			t.Fatal(err)
		}
		if b.count() != 2 {
			t.Fatalf("%d requests", b.count())
		}
		want(t, "first", b.requests[0].json(t)["include"], `["x","reasoning.encrypted_content"]`)
		want(t, "second", b.last().json(t)["include"], `["x"]`)
		want(t, "store", b.last().json(t)["store"], `false`)
		if _, err := g.Call(context.Background(), "story", p, nil); err != nil || b.count() != 3 {
			t.Errorf("it is not remembered: %d requests, %v", b.count(), err)
		}
	},
	"M-086": func(t *testing.T) {
		b := newBench(t, failing(400, `{"error":{"message":"the input is odd","param":"input"}}`))
		_, err := b.gateway(responsesSlot("m")).Call(context.Background(), "story", says(user("u")), nil)
		fails(t, err, model.CodeProvider, "the input is odd")
		if b.count() != 1 {
			t.Errorf("%d requests", b.count())
		}
	},
	"M-087": func(t *testing.T) {
		schemas := []string{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"b":{"type":"string"}}}`}
		for _, schema := range schemas {
			p := says(system("s"), user("u"))
			p.ResponseSchema = []byte(schema)
			b := objectBody(t, relay(model.ProtocolChat, "m"), p, `{}`)
			want(t, "response_format", b["response_format"], `{"type":"json_object"}`)
			want(t, "messages", b["messages"], fmt.Sprintf(`[{"role":"system","content":"s"},{"role":"system","content":%s},{"role":"user","content":"u"}]`,
				mustJSON("Answer with one JSON value that matches this JSON Schema and with nothing else.\n<response-format>"+schema+"</response-format>")))
			b = objectBody(t, responsesSlot("m"), p, `{}`)
			want(t, "format", at(t, b, "text", "format"), `{"type":"json_schema","name":"structured_output","schema":`+schema+`}`)
			wantRoles(t, b["input"], "system", "user")
		}
	},
	"M-088": func(t *testing.T) {
		p := says(user("u"))
		p.ResponseSchema = []byte(`{"title":"Result schema","type":"object"}`)
		want(t, "name", at(t, objectBody(t, responsesSlot("m"), p, `{}`), "text", "format", "name"), `"Result_schema"`)
	},
	"M-089": func(t *testing.T) {
		p := says(user("u"))
		p.ResponseSchema = []byte(`{"type":"object"}`)
		b := newBench(t, saying(model.ProtocolChat, `<think>hm</think>{"a":1}`))
		g := b.gateway(relay(model.ProtocolChat, "m"))
		_, err := g.Object(context.Background(), "story", p, func(json.RawMessage) error { return fmt.Errorf("a must be a text") })
		e := fails(t, err, model.CodeSchema, "a must be a text")
		wantUsage(t, usageIn(t, e), `{"inputTokens":1,"outputTokens":1}`)
		if e.Retriable {
			t.Error("it is retriable")
		}
		p.ResponseSchema = []byte(`{"type":7}`)
		_, err = g.Object(context.Background(), "story", p, nil)
		fails(t, err, model.CodeConfig, "responseSchema")
		if b.count() != 1 {
			t.Errorf("%d requests", b.count())
		}
	},
}

// native is an earlier reply with its native items, at openai and model "m".
func native(items ...string) model.Message {
	m := calling("t1", "roll", "{}")
	m.ProviderContinuation = &model.Continuation{Protocol: model.ProtocolResponses, Model: "m", BaseURL: "https://api.openai.com/v1"}
	for _, item := range items {
		m.ProviderContinuation.Items = append(m.ProviderContinuation.Items, []byte(item))
	}
	return m
}
