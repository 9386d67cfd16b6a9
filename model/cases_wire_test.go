package model_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
)

var anthropicStory = slot("anthropic", "claude-x")

func withTools(p model.Params, tools ...model.Tool) model.Params {
	p.Tools = tools
	return p
}

var wireCases = cases{
	"M-064": func(t *testing.T) {
		b := body(t, anthropicStory, withTools(says(user("u")), model.Tool{Name: "roll", Description: "rolls", Parameters: []byte(`{"type":"object","required":["a"]}`)}, model.Tool{Name: "look"}))
		want(t, "tools", b["tools"], `[{"name":"roll","description":"rolls","input_schema":{"type":"object","required":["a"]}},{"name":"look","input_schema":{"type":"object","properties":{}}}]`)
	},
	"M-065": func(t *testing.T) {
		r := mustReply(t, anthropicStory, says(user("u")), plain(`{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"go","input":{"city":"Oslo"}}],"stop_reason":"tool_use"}`))
		want(t, "calls", r.ToolCalls, `[{"id":"t1","name":"go","arguments":"{\"city\":\"Oslo\"}"}]`)
		fragment := func(s string) string {
			return `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + string(mustJSON(s)) + `}}`
		}
		events, _, err := streamed(t, anthropicStory, says(user("u")), sse(`{"type":"message_start","message":{}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"go","input":{}}}`,
			fragment(`{"ci`), fragment(`ty":"Li`), fragment(`ma"}`), `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`))
		if err != nil {
			t.Fatal(err)
		}
		var calls []model.ToolCall
		for _, e := range events {
			if e.Kind == model.EventToolCall {
				calls = append(calls, e.Call)
			}
		}
		want(t, "tool-call events", calls, `[{"id":"t1","name":"go","arguments":"{\"city\":\"Lima\"}"}]`)
	},
	"M-066": func(t *testing.T) {
		empty := calling("t1", "roll", `{"b":1,"a":12345678901234567890}`)
		empty.Null = false
		b, _ := called(t, anthropicStory, says(user("u"), empty, toolResult("t1", "6")))
		if !contains(b.last().Body, `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"roll","input":{"b":1,"a":12345678901234567890}}]}`) {
			t.Errorf("body %s", b.last().Body)
		}
		two := model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "t1", Name: "roll"}, {ID: "t2", Name: "roll", Arguments: "oops"}}}
		got := body(t, anthropicStory, says(user("u"), two, toolResult("t1", "6"), toolResult("t2", "7")))
		wantRoles(t, got["messages"], "user", "assistant", "user")
		want(t, "calls", at(t, got, "messages", 1, "content"), `[{"type":"tool_use","id":"t1","name":"roll","input":{}},{"type":"tool_use","id":"t2","name":"roll","input":{"_raw":"oops"}}]`)
		want(t, "results", at(t, got, "messages", 2, "content"), `[{"type":"tool_result","tool_use_id":"t1","content":"6"},
			{"type":"tool_result","tool_use_id":"t2","content":"7","cache_control":{"type":"ephemeral"}}]`)
	},
	"M-067": func(t *testing.T) {
		want(t, "8,192", body(t, slot("anthropic", "claude-x", "maxOutputTokens = 8192"), says(user("u")))["max_tokens"], `8192`)
		want(t, "262,144", body(t, slot("anthropic", "claude-x", "maxOutputTokens = 262144"), says(user("u")))["max_tokens"], `16384`)
		want(t, "unknown", body(t, anthropicStory, says(user("u")))["max_tokens"], `16384`)
	},
	"M-068": func(t *testing.T) {
		exact := `{"model":"m","messages":[{"role":"user","content":"go"}]}`
		ids := []string{"call_b280eec2bf5a13c3f00642de", "call_1cb65a6cae3ffb5d6b0e61c7"}
		b := newBench(t, plain(`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"a","arguments":""}},{"function":{"name":"b","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
		r, err := b.gateway(relay(model.ProtocolChat, "m")).Call(t.Context(), "story", says(user("go")), nil)
		if err != nil || string(b.last().Body) != exact {
			t.Fatalf("body %s, %v", b.last().Body, err)
		}
		for i, id := range ids {
			if r.ToolCalls[i].ID != id || r.ToolCalls[i].Arguments != "{}" {
				t.Errorf("call %d is %+v, want id %s", i, r.ToolCalls[i], id)
			}
		}
	},
	"M-069": func(t *testing.T) {
		call := func() []model.ToolCall {
			return mustReply(t, relay(model.ProtocolChat, "m"), says(user("go")), plain(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"a"}},
				{"id":"given","function":{"name":"b"}},{"id":"","function":{"name":"c"}}]},"finish_reason":"tool_calls"}]}`)).ToolCalls
		}
		calls := call()
		if calls[0].ID != "call_b280eec2bf5a13c3f00642de" || calls[1].ID != "given" || !strings.HasPrefix(calls[2].ID, "call_") || calls[2].ID == calls[0].ID {
			t.Errorf("calls %+v", calls)
		}
		want(t, "repetition", call(), string(mustJSON(calls)))
	},
	"M-070": func(t *testing.T) {
		content := "<think> plan </think>\n Hello"
		r := mustReply(t, relay(model.ProtocolChat, "m"), says(user("go")), saying(model.ProtocolChat, content))
		if r.ReasoningContent != "plan " || r.Text != "Hello" {
			t.Errorf("reasoning %q, text %q", r.ReasoningContent, r.Text)
		}
		for n := 1; n < 9; n++ {
			var payloads []string
			for rest := content; rest != ""; {
				piece := rest[:min(n, len(rest))]
				rest = rest[len(piece):]
				payloads = append(payloads, `{"choices":[{"delta":{"content":`+string(mustJSON(piece))+`}}]}`)
			}
			_, r, err := streamed(t, relay(model.ProtocolChat, "m"), says(user("go")), sse(append(payloads, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)...))
			if err != nil || r.ReasoningContent != "plan " || r.Text != "Hello" {
				t.Errorf("in pieces of %d: %v, reasoning %q, text %q", n, err, r.ReasoningContent, r.Text)
			}
		}
	},
	"M-071": func(t *testing.T) {
		p := says(user("u"), calling("t1", "roll", "{}"), toolResult("t1", ""))
		p.Metadata = override("temperature", 0)
		b := body(t, relay(model.ProtocolChat, "m"), p)
		want(t, "assistant", at(t, b, "messages", 1, "content"), `""`)
		want(t, "tool", at(t, b, "messages", 2, "content"), `""`)
		want(t, "temperature", b["temperature"], `0`)
	},
	"M-072": func(t *testing.T) {
		llm := slot("google", "gemini-2.5-flash")
		b := body(t, llm, withTools(says(user("u")), model.Tool{Name: "roll", Parameters: []byte(`{"type":"object","properties":{"const":{"type":"string"},"x":{"const":"a"}}}`)}))
		want(t, "schema", at(t, b, "tools", 0, "functionDeclarations", 0, "parametersJsonSchema"), `{"type":"object","properties":{"const":{"type":"string"},"x":{"enum":["a"]}}}`)
		result := func(text string) any {
			return at(t, body(t, llm, says(user("u"), calling("t1", "roll", `{}`), toolResult("t1", text))), "contents", 2, "parts", 0, "functionResponse", "response")
		}
		want(t, "4", result("4"), `{"result":4}`)
		want(t, "object", result(`{"value":4}`), `{"value":4}`)
		want(t, "text", result("it rolls"), `{"result":"it rolls"}`)
		_, err := replied(t, llm, says(user("u"), calling("t1", "roll", `[1]`), toolResult("t1", "4")), okReply[model.ProtocolGemini])
		fails(t, err, model.CodeConfig, "[1]", "JSON object")
	},
	"M-073": func(t *testing.T) {
		llm := slot("google", "gemini-2.5-flash")
		_, err := replied(t, llm, says(model.Message{Role: model.RoleUser, Parts: []model.Part{image("https://img.example/a.png")}}), okReply[model.ProtocolGemini])
		fails(t, err, model.CodeConfig, "https://img.example/a.png")
		_, err = replied(t, llm, says(user("u")), plain(`{"candidates":[{"content":{"parts":"nonsense"},"finishReason":"SAFETY"}]}`))
		fails(t, err, model.CodeRefusal)
		_, _, err = streamed(t, llm, says(user("u")), sse(`{"candidates":[{"content":{"parts":[7]}}]}`, `{"candidates":[{"finishReason":"SAFETY"}]}`))
		fails(t, err, model.CodeRefusal)
	},
}
