package model_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
)

// png is the smallest thing that is judged a PNG.
const png = "iVBORw0KGgoAAAANSUhEUg=="

func image(data string) model.Part { return model.Part{Type: "image", Image: data} }
func text(s string) model.Part     { return model.Part{Type: "text", Text: s} }

// roles lists the roles of a body's messages, input items or contents.
func roles(t *testing.T, list any) []string {
	t.Helper()
	var out []string
	for i := range list.([]any) {
		role, _ := at(t, list, i, "role").(string)
		out = append(out, role)
	}
	return out
}

func wantRoles(t *testing.T, list any, wanted ...string) {
	t.Helper()
	if diff := cmp.Diff(wanted, roles(t, list)); diff != "" {
		t.Errorf("roles differ (-want +got):\n%s", diff)
	}
}

// geminiOpening is the request of M-008.
var geminiOpening = []model.Message{
	system("S1"), msg(model.RoleDeveloper, "S2"), user("open"), assistant("creak"), system("ctx"), user("peek"),
}

var systemCases = cases{
	"M-001": func(t *testing.T) {
		messages := []model.Message{system("R0"), assistant("past"), system("T9"), user("now"), system("post")}
		before := append([]model.Message(nil), messages...)
		b := body(t, relay(model.ProtocolChat, "m", `lateSystem = "envelope"`), says(messages...))
		wantRoles(t, b["messages"], "system", "assistant", "user", "user", "user")
		want(t, "item 0", at(t, b, "messages", 0, "content"), `"R0"`)
		want(t, "item 2", at(t, b, "messages", 2, "content"), string(mustJSON(env("T9"))))
		want(t, "item 4", at(t, b, "messages", 4, "content"), string(mustJSON(env("post"))))
		if diff := cmp.Diff(before, messages); diff != "" {
			t.Error("the caller's messages changed:", diff)
		}
	},
	"M-002": func(t *testing.T) {
		memo := model.Message{Role: model.RoleDeveloper, Parts: []model.Part{text("memo"), image(png)}}
		b := body(t, relay(model.ProtocolChat, "m", `lateSystem = "envelope"`), says(user("go"), memo))
		want(t, "message", at(t, b, "messages", 1), `{"role":"user","content":[{"type":"text","text":"<system-instruction>\n"},{"type":"text","text":"memo"},
			{"type":"image_url","image_url":{"url":"data:image/png;base64,`+png+`"}},{"type":"text","text":"\n</system-instruction>"}]}`)
	},
	"M-003": func(t *testing.T) {
		b := body(t, relay(model.ProtocolChat, "m", "lateSystemAsUser = true"), says(system("a"), system("b")))
		want(t, "messages", b["messages"], `[{"role":"system","content":"a"},{"role":"system","content":"b"}]`)
	},
	"M-004": func(t *testing.T) {
		p := says(system("a"), user("b"), system("c"), user("d"))
		unset := body(t, relay(model.ProtocolChat, "m"), p)
		wantRoles(t, unset["messages"], "system", "user", "system", "user")
		if diff := cmp.Diff(unset, body(t, relay(model.ProtocolChat, "m", "lateSystemAsUser = false"), p)); diff != "" {
			t.Error("bodies differ:", diff)
		}
	},
	"M-005": func(t *testing.T) {
		b := body(t, relay(model.ProtocolResponses, "m"), says(system("a"), user("b"), system("c"), user("d")))
		want(t, "third item", at(t, b, "input", 2), `{"role":"system","content":"c"}`)
	},
	"M-006": func(t *testing.T) {
		llm := relay(model.ProtocolChat, "m", `lateSystem = "envelope"`)
		one := body(t, llm, says(system("base"), user("u"), assistant("a"), system("turn 1"), user("go")))
		two := body(t, llm, says(system("base"), user("u"), assistant("a"), system("turn 2"), user("go")))
		for i := range 3 {
			if diff := cmp.Diff(at(t, one, "messages", i), at(t, two, "messages", i)); diff != "" {
				t.Error("an item before the turn message differs:", diff)
			}
		}
		wantRoles(t, one["messages"], "system", "user", "assistant", "user", "user")
	},
	"M-007": func(t *testing.T) {
		b, _ := called(t, relay(model.ProtocolResponses, "m", "[covel.story.providerOptions.openai-responses-v1]", "lateSystemAsUser = true"),
			says(system("a"), user("b"), system("c")))
		want(t, "late item", at(t, b.last().json(t), "input", 2), `{"role":"user","content":`+string(mustJSON(env("c")))+`}`)
		if contains(b.last().Body, "lateSystem") {
			t.Error("the option is sent:", string(b.last().Body))
		}
	},
	"M-008": func(t *testing.T) {
		b := body(t, relay(model.ProtocolGemini, "gemini-x"), says(geminiOpening...))
		want(t, "systemInstruction", b["systemInstruction"], `{"parts":[{"text":"S1"},{"text":"S2"}]}`)
		want(t, "last content", at(t, b, "contents", 2), `{"role":"user","parts":[{"text":`+string(mustJSON(env("ctx")))+`},{"text":"peek"}]}`)
	},
	"M-009": func(t *testing.T) {
		llm := relay(model.ProtocolGemini, "gemini-x")
		one := body(t, llm, says(geminiOpening...))
		history := []model.Message{system("S1"), msg(model.RoleDeveloper, "S2"), user("open"), assistant("creak"), user("peek"), assistant("dust"), system("ctx 2"), user("wait")}
		two := body(t, llm, says(history...))
		if diff := cmp.Diff(one["systemInstruction"], two["systemInstruction"]); diff != "" {
			t.Error("systemInstruction differs:", diff)
		}
		for i := range 2 {
			if diff := cmp.Diff(at(t, one, "contents", i), at(t, two, "contents", i)); diff != "" {
				t.Error("history differs:", diff)
			}
		}
	},
	"M-010": func(t *testing.T) {
		b := body(t, relay(model.ProtocolGemini, "gemini-x"), says(user("a"), user("b"), system("c"), system("d"), assistant("e"), assistant("f"), system("g")))
		want(t, "contents", b["contents"], `[{"role":"user","parts":[{"text":"a"},{"text":"b"},{"text":`+string(mustJSON(env("c")))+`},{"text":`+string(mustJSON(env("d")))+`}]},
			{"role":"model","parts":[{"text":"e"},{"text":"f"}]},{"role":"user","parts":[{"text":`+string(mustJSON(env("g")))+`}]}]`)
	},
	"M-011": func(t *testing.T) {
		b := body(t, relay(model.ProtocolGemini, "gemini-x"), says(user("go"), calling("t1", "roll", `{"sides":6}`), toolResult("t1", `{"value":4}`), system("again")))
		want(t, "contents", b["contents"], `[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"roll","args":{"sides":6}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"roll","response":{"value":4}}}]},{"role":"user","parts":[{"text":`+string(mustJSON(env("again")))+`}]}]`)
	},
	"M-012": func(t *testing.T) {
		b := body(t, relay(model.ProtocolGemini, "gemini-x"), says(system("a"), system("b")))
		want(t, "contents", b["contents"], `[]`)
		b = body(t, relay(model.ProtocolGemini, "gemini-x"), says(user("a"), system("")))
		want(t, "contents", b["contents"], `[{"role":"user","parts":[{"text":"a"}]}]`)
	},
	"M-013": func(t *testing.T) {
		p := says(system("A"), user("x"), system("B"), user("y"))
		b := body(t, relay(model.ProtocolGemini, "gemini-x", "lateSystemAsUser = false"), p)
		want(t, "systemInstruction", b["systemInstruction"], `{"parts":[{"text":"A"},{"text":"B"}]}`)
		want(t, "contents", b["contents"], `[{"role":"user","parts":[{"text":"x"}]},{"role":"user","parts":[{"text":"y"}]}]`)
		unset := body(t, relay(model.ProtocolGemini, "gemini-x"), p)
		if diff := cmp.Diff(unset, body(t, relay(model.ProtocolGemini, "gemini-x", "lateSystemAsUser = true"), p)); diff != "" {
			t.Error("unset and true differ:", diff)
		}
	},
	"M-014": func(t *testing.T) {
		b := newBench(t, okReply[model.ProtocolGemini])
		late := model.Message{Role: model.RoleSystem, Parts: []model.Part{image(png)}}
		_, err := b.gateway(relay(model.ProtocolGemini, "gemini-x")).Call(context.Background(), "story", says(user("x"), late), nil)
		fails(t, err, model.CodeConfig, "text parts", "system text")
		if b.count() != 0 {
			t.Error("a request was sent")
		}
	},
	"M-143": func(t *testing.T) {
		seen := model.Message{Role: model.RoleUser, Parts: []model.Part{text("seen"), image(png)}}
		b := body(t, relay(model.ProtocolGemini, "gemini-x"), says(user("open"), assistant("creak"), system("ctx"), seen, user("peek")))
		want(t, "contents", b["contents"], `[{"role":"user","parts":[{"text":"open"}]},{"role":"model","parts":[{"text":"creak"}]},
			{"role":"user","parts":[{"text":`+string(mustJSON(env("ctx")))+`}]},
			{"role":"user","parts":[{"text":"seen"},{"inlineData":{"mimeType":"image/png","data":"`+png+`"}}]},{"role":"user","parts":[{"text":"peek"}]}]`)
	},
	"M-015": func(t *testing.T) {
		_, err := model.ParseSlots("llm.toml", []byte(relay(model.ProtocolChat, "m", `lateSystem = "envelope"`, "[covel.story.providerOptions.relay]", "lateSystemAsUser = true")))
		fails(t, err, model.CodeConfig, "lateSystem", "lateSystemAsUser")
	},
	"M-016": func(t *testing.T) {
		_, err := model.ParseSlots("llm.toml", []byte(relay(model.ProtocolChat, "m", `lateSystem = "native"`)))
		fails(t, err, model.CodeConfig, "lateSystem", "native", "llm.toml:6")
	},
	"M-017": func(t *testing.T) {
		b := body(t, slot("anthropic", "claude-opus-4-8", `lateSystem = "native"`), says(system("S0"), user("U1"), assistant("A1"), system("T"), user("U2")))
		want(t, "system", b["system"], `"S0"`)
		wantRoles(t, b["messages"], "user", "assistant", "user", "system")
		want(t, "last", at(t, b, "messages", 3), `{"role":"system","content":[{"type":"text","text":"T"}]}`)
	},
	"M-018": func(t *testing.T) {
		b := body(t, slot("anthropic", "claude-opus-4-8", `lateSystem = "native"`),
			says(system("S0"), user("U1"), assistant("A1"), system("T"), user("U2"), calling("t1", "roll", "{}"), toolResult("t1", "6")))
		wantRoles(t, b["messages"], "user", "assistant", "user", "system", "assistant", "user")
		want(t, "call", at(t, b, "messages", 4, "content", 0, "type"), `"tool_use"`)
		want(t, "result", at(t, b, "messages", 5, "content", 0, "type"), `"tool_result"`)
	},
	"M-019": func(t *testing.T) {
		b, r := called(t, slot("anthropic", "claude-haiku-4-5", `lateSystem = "native"`), says(system("S0"), user("U1"), assistant("A1"), system("T"), user("U2")))
		want(t, "T", at(t, b.last().json(t), "messages", 2, "content", 0, "text"), string(mustJSON(env("T"))))
		if len(r.Warnings) != 1 || r.Warnings[0].Kind != "unsupported" || r.Warnings[0].Field != "lateSystem" {
			t.Errorf("warnings %v", r.Warnings)
		}
	},
	"M-020": func(t *testing.T) {
		p := says(system("S0"), assistant("hello"), user("x"))
		b, _ := called(t, slot("anthropic", "claude-x"), p)
		want(t, "first", at(t, b.last().json(t), "messages", 0), `{"role":"user","content":[{"type":"text","text":"(Continued from earlier turns.)"}]}`)
		again, _ := called(t, slot("anthropic", "claude-x"), p)
		if string(again.last().Body) != string(b.last().Body) {
			t.Error("the same request gave other bytes")
		}
	},
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
