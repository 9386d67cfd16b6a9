package model_test

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/model"
)

var submit = []model.Tool{{Name: "submit", Parameters: []byte(`{"type":"object"}`)}}

// offWithTool is a runtime's "off" and a named tool.
func offWithTool() model.Params {
	p := says(user("u"))
	p.ReasoningOff, p.Tools, p.ToolChoice = true, submit, model.ToolChoice{Name: "submit"}
	return p
}

func off() model.Params {
	p := says(user("u"))
	p.ReasoningOff = true
	return p
}

func withMetadata(pairs ...any) model.Params {
	p := says(user("u"))
	p.Metadata = metadata(pairs...)
	return p
}

func level(l string) model.Params {
	p := says(user("u"))
	p.Metadata = override("reasoningEffort", l)
	return p
}

func choosing(c model.ToolChoice) model.Params {
	p := says(user("u"))
	p.Tools, p.ToolChoice = submit, c
	return p
}

var responsesSlot = func(id string, lines ...string) string {
	return slot("openai", id, append([]string{`protocol = "openai-responses-v1"`}, lines...)...)
}

func oneWarning(t *testing.T, r *model.Result) {
	t.Helper()
	if len(r.Warnings) != 1 || r.Warnings[0].Kind != "unsupported" {
		t.Errorf("warnings %v, want one unsupported", r.Warnings)
	}
}

var reasoningCases = cases{
	"M-050": func(t *testing.T) {
		llm := slot("dashscope", "qwen3.8-flash")
		b := body(t, llm, offWithTool())
		check := func(b map[string]any) {
			want(t, "enable_thinking", b["enable_thinking"], `false`)
			want(t, "reasoning_effort", b["reasoning_effort"], `"none"`)
			want(t, "tool_choice", b["tool_choice"], `{"type":"function","function":{"name":"submit"}}`)
			absent(t, b, "defaults")
		}
		check(b)
		bench := newBench(t, sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"submit","arguments":"{}"}}]}}]}`, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"))
		r, err := bench.gateway(llm).Call(context.Background(), "story", offWithTool(), func(model.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		check(bench.last().json(t))
		want(t, "calls", r.ToolCalls, `[{"id":"c1","name":"submit","arguments":"{}"}]`)
	},
	"M-051": func(t *testing.T) {
		b := body(t, responsesSlot("gpt-5.4"), offWithTool())
		want(t, "effort", at(t, b, "reasoning", "effort"), `"none"`)
		want(t, "tool_choice", b["tool_choice"], `{"type":"function","name":"submit"}`)
		absent(t, b, "include")
	},
	"M-052": func(t *testing.T) {
		b := body(t, slot("anthropic", "claude-opus-4-6"), offWithTool())
		want(t, "thinking", b["thinking"], `{"type":"disabled"}`)
		want(t, "tool_choice", b["tool_choice"], `{"type":"tool","name":"submit"}`)
	},
	"M-053": func(t *testing.T) {
		b, r := called(t, slot("anthropic", "claude-opus-5-5"), off())
		absent(t, b.last().json(t), "thinking", "output_config")
		oneWarning(t, r)
	},
	"M-144": func(t *testing.T) {
		b, r := called(t, slot("google", "gemini-2.5-pro"), off())
		want(t, "generationConfig", b.last().json(t)["generationConfig"], `{}`)
		oneWarning(t, r)
		b, r = called(t, slot("openai", "gpt-5"), off())
		absent(t, b.last().json(t), "reasoning_effort")
		oneWarning(t, r)
	},
	"M-054": func(t *testing.T) {
		p := withMetadata("thinking_budget", "4000")
		p.ReasoningOff = true
		b, r := called(t, slot("dashscope", "qwen3.6-plus"), p)
		want(t, "budget", b.last().json(t)["thinking_budget"], `4000`)
		absent(t, b.last().json(t), "enable_thinking")
		if len(r.Warnings) != 0 {
			t.Errorf("warnings %v", r.Warnings)
		}
	},
	"M-055": func(t *testing.T) {
		p := withMetadata("enable_thinking", "true", "reasoning", `{"effort":"high","summary":"auto"}`, "parameterOverrides", `{"reasoningEffort":"provider-default"}`)
		p.ReasoningOff, p.Tools, p.ToolChoice = true, submit, model.ToolChoice{Required: true}
		chat := body(t, slot("openai", "gpt-5.4"), p)
		absent(t, chat, "enable_thinking", "reasoning_effort")
		want(t, "chat choice", chat["tool_choice"], `"auto"`)
		b := body(t, responsesSlot("gpt-5.4"), p)
		absent(t, b, "enable_thinking")
		want(t, "reasoning", b["reasoning"], `{"summary":"auto"}`)
		want(t, "responses choice", b["tool_choice"], `"auto"`)
		absent(t, body(t, slot("anthropic", "claude-opus-4-6"), p), "enable_thinking", "tool_choice", "thinking", "output_config")
	},
	"M-056": func(t *testing.T) {
		b := body(t, slot("deepseek", "deepseek-v4-flash"), level("high"))
		want(t, "thinking", b["thinking"], `{"type":"enabled"}`)
		want(t, "effort", b["reasoning_effort"], `"high"`)
		b = body(t, slot("dashscope", "qwen3.6-plus"), level("medium"))
		want(t, "enable_thinking", b["enable_thinking"], `true`)
		want(t, "thinking_budget", b["thinking_budget"], `8192`)
		b = body(t, slot("google", "gemini-2.5-flash"), level("none"))
		want(t, "thinkingConfig", at(t, b, "generationConfig", "thinkingConfig"), `{"thinkingBudget":0}`)
	},
	"M-057": func(t *testing.T) {
		b, r := called(t, relay(model.ProtocolChat, "mystery-1"), off())
		absent(t, b.last().json(t), "reasoning_effort", "enable_thinking", "thinking", "reasoning")
		oneWarning(t, r)
		_, err := model.ParseSlots("llm.toml", []byte(relay(model.ProtocolChat, "m", `reasoningEffort = "extreme"`)))
		fails(t, err, model.CodeConfig, "reasoningEffort", "extreme")
		_, err = replied(t, relay(model.ProtocolChat, "m"), level("extreme"), okReply[model.ProtocolChat])
		fails(t, err, model.CodeConfig, "reasoningEffort", "extreme")
	},
	"M-058": func(t *testing.T) {
		want(t, "auto", body(t, responsesSlot("gpt-5.4"), level("low"))["reasoning"], `{"summary":"auto","effort":"low"}`)
		b := body(t, responsesSlot("gpt-5.4", "[covel.story.providerOptions.openai]", `reasoningSummary = "detailed"`), level("low"))
		want(t, "own", b["reasoning"], `{"summary":"detailed","effort":"low"}`)
	},
	"M-059": func(t *testing.T) {
		p := choosing(model.ToolChoice{Required: true})
		want(t, "deepseek", body(t, slot("deepseek", "deepseek-chat"), p)["tool_choice"], `"required"`)
		want(t, "openai", body(t, slot("openai", "gpt-5.4"), p)["tool_choice"], `"required"`)
		want(t, "anthropic", body(t, slot("anthropic", "claude-opus-4-6"), p)["tool_choice"], `{"type":"any"}`)
		want(t, "gemini", body(t, slot("google", "gemini-2.5-flash"), p)["toolConfig"], `{"functionCallingConfig":{"mode":"ANY"}}`)
	},
	"M-060": func(t *testing.T) {
		for _, c := range []model.ToolChoice{{Required: true}, {Name: "submit"}} {
			p := choosing(c)
			p.Metadata = metadata("enable_thinking", "true")
			b := body(t, slot("dashscope", "qwen3.6-plus"), p)
			want(t, "tool_choice", b["tool_choice"], `"auto"`)
			want(t, "enable_thinking", b["enable_thinking"], `true`)
		}
	},
	"M-061": func(t *testing.T) {
		b := body(t, slot("openai", "gpt-5.4"), choosing(model.ToolChoice{}))
		want(t, "tool_choice", b["tool_choice"], `"auto"`)
		absent(t, b, "enable_thinking", "thinking", "reasoning_effort")
		p := says(user("u"))
		p.ToolChoice = model.ToolChoice{Required: true}
		absent(t, body(t, slot("openai", "gpt-5.4"), p), "tool_choice")
	},
	"M-062": func(t *testing.T) {
		p := choosing(model.ToolChoice{Name: "submit"})
		absent(t, body(t, slot("deepseek", "deepseek-v4-pro"), p), "tool_choice")
		p.Metadata = metadata("thinking", `{"type":"disabled"}`)
		want(t, "tool_choice", body(t, slot("deepseek", "deepseek-v4-pro"), p)["tool_choice"], `{"type":"function","function":{"name":"submit"}}`)
	},
	"M-063": func(t *testing.T) {
		p := choosing(model.ToolChoice{Required: true})
		p.Metadata = metadata("tool_choice", `"none"`)
		want(t, "tool_choice", body(t, responsesSlot("gpt-5.4"), p)["tool_choice"], `"none"`)
	},
}
