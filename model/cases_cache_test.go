package model_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
)

// outline writes an Anthropic body's blocks as "role:text*", * for a mark.
func outline(t *testing.T, b map[string]any) (systemBlocks, messages []string) {
	t.Helper()
	show := func(block any) string {
		m := block.(map[string]any)
		s, _ := m["text"].(string)
		if s == "" {
			s, _ = m["type"].(string)
		}
		if m["cache_control"] != nil {
			s += "*"
		}
		return s
	}
	if list, ok := b["system"].([]any); ok {
		for _, block := range list {
			systemBlocks = append(systemBlocks, show(block))
		}
	}
	for _, m := range b["messages"].([]any) {
		for _, block := range m.(map[string]any)["content"].([]any) {
			messages = append(messages, show(block))
		}
	}
	return systemBlocks, messages
}

func wantOutline(t *testing.T, b map[string]any, systemBlocks, messages string) {
	t.Helper()
	s, m := outline(t, b)
	if got := strings.Join(s, "|"); got != systemBlocks {
		t.Errorf("system %q, want %q", got, systemBlocks)
	}
	if got := strings.Join(m, "|"); got != messages {
		t.Errorf("messages %q, want %q", got, messages)
	}
}

// points lists where a Responses body has breakpoints, by the part's text.
func points(t *testing.T, b map[string]any) []string {
	t.Helper()
	var out []string
	for _, item := range b["input"].([]any) {
		parts, _ := item.(map[string]any)["content"].([]any)
		for _, p := range parts {
			if m := p.(map[string]any); m["prompt_cache_breakpoint"] != nil {
				out = append(out, fmt.Sprint(m["text"]))
			}
		}
	}
	return out
}

func wantPoints(t *testing.T, b map[string]any, wanted ...string) {
	t.Helper()
	if diff := cmp.Diff(wanted, points(t, b)); diff != "" {
		t.Errorf("breakpoints differ (-want +got):\n%s", diff)
	}
}

var claude = slot("anthropic", "claude-sonnet-4-6")

var cacheCases = cases{
	"M-021": func(t *testing.T) {
		b := body(t, claude, says(system(sentinel("base⟂")), user("u"), assistant("story"), system("rules"), calling("t1", "roll", "{}"), toolResult("t1", "res")))
		wantOutline(t, b, "base*", "u|story*|"+env("rules")+"|tool_use|tool_result*")
	},
	"M-022": func(t *testing.T) {
		b := body(t, claude, says(user("u"), assistant("a"), system("S"), user("u'"), system("S'")))
		wantOutline(t, b, "", "u|a*|"+env("S")+"|u'|"+env("S'")+"*")
	},
	"M-023": func(t *testing.T) {
		b := body(t, claude, says(system("a"), system("data"), user("x")))
		wantOutline(t, b, "", "x*")
	},
	"M-024": func(t *testing.T) {
		wantOutline(t, body(t, claude, says(user("u"), assistant("a"), user("u'"))), "", "u|a|u'*")
	},
	"M-025": func(t *testing.T) {
		b, _ := called(t, claude, says(system(sentinel("A⟂\n\nB⟂\n\nC⟂")), user("u")))
		s, _ := outline(t, b.last().json(t))
		if len(s) != 3 || !strings.HasSuffix(s[0], "*") || strings.HasSuffix(s[1], "*") || !strings.HasSuffix(s[2], "*") {
			t.Errorf("system %q", s)
		}
		if bytes.ContainsRune(b.last().Body, '\uE000') || contains(b.last().Body, `\ue000`) {
			t.Error("a sentinel is sent")
		}
	},
	"M-026": func(t *testing.T) {
		b, _ := called(t, claude, says(system(sentinel("1⟂2⟂3⟂4⟂5⟂6⟂tail")), user("u"), assistant("a"), system("S"), user("v")))
		s, _ := outline(t, b.last().json(t))
		if marks := strings.Count(strings.Join(s, "|"), "*"); marks != 2 || strings.HasSuffix(s[len(s)-1], "*") {
			t.Errorf("system %q", s)
		}
		if all := strings.Count(string(b.last().Body), "cache_control"); all > 4 {
			t.Errorf("%d marks", all)
		}
	},
	"M-027": func(t *testing.T) {
		wantOutline(t, body(t, claude, says(system(sentinel("head⟂rest")), user("u"))), "head*|rest", "u*")
	},
	"M-028": func(t *testing.T) {
		for _, strategy := range []string{model.CacheAutoPrefix, model.CacheNone} {
			b, _ := called(t, slot("anthropic", "claude-sonnet-4-6", fmt.Sprintf("cacheStrategy = %q", strategy)), says(system(sentinel("head⟂rest")), user("u")))
			want(t, "system", b.last().json(t)["system"], `"headrest"`)
			if contains(b.last().Body, "cache_control") {
				t.Error(strategy, "marks")
			}
		}
		b := body(t, claude, says(system("plain"), user("u")))
		want(t, "system", b["system"], `"plain"`)
		wantOutline(t, b, "", "u*")
	},
	"M-029": func(t *testing.T) {
		p := says(system(sentinel("head⟂")), user("u"))
		p.ResponseSchema = []byte(`{"type": "object"}`)
		b := objectBody(t, claude, p, `{}`)
		s, _ := outline(t, b)
		if len(s) != 2 || s[0] != "head*" || s[1] != model.SchemaInstruction(p.ResponseSchema) || !strings.Contains(s[1], `<response-format>{"type":"object"}</response-format>`) {
			t.Errorf("system %q", s)
		}
	},
	"M-030": func(t *testing.T) {
		head := system(sentinel("A⟂\n\nB⟂"))
		one, _ := called(t, claude, says(head, user("U1"), assistant("A1"), system("S"), user("U2")))
		two, _ := called(t, claude, says(head, user("U1"), assistant("A1"), user("U2"), assistant("A2"), system("S'"), user("U3")))
		wantOutline(t, one.last().json(t), "A*|\n\nB*", "U1|A1*|"+env("S")+"|U2*")
		wantOutline(t, two.last().json(t), "A*|\n\nB*", "U1|A1|U2|A2*|"+env("S'")+"|U3*")
		unmarked := func(b []byte) string {
			return strings.ReplaceAll(string(b), `,"cache_control":{"type":"ephemeral"}`, "")
		}
		first, second := unmarked(one.last().Body), unmarked(two.last().Body)
		end := strings.Index(first, `"A1"}]}`) + len(`"A1"}]}`)
		if first[:end] != second[:end] {
			t.Errorf("prefixes differ:\n%s\n%s", first[:end], second[:end])
		}
	},
	"M-031": func(t *testing.T) {
		b, r := called(t, slot("anthropic", "claude-haiku-4-5"), says(system(strings.Repeat("word", 900)+model.Sentinel), user("u")))
		s, _ := outline(t, b.last().json(t))
		if len(s) != 1 || !strings.HasSuffix(s[0], "*") || len(r.Records) != 1 || !r.Records[0].BelowMinimum {
			t.Errorf("system of %d blocks, records %+v", len(s), r.Records)
		}
	},
	"M-032": func(t *testing.T) {
		for runtime, key := range map[string]string{"narrator": "covel-ecf4110f12eea831271a04ad134d20b2", "codex": "covel-422f3f9eec33808f9dc462f70d15572e"} {
			if got := model.PromptCacheKey("s1", runtime); got != key || len(got) != 38 {
				t.Errorf("key %q, want %q", got, key)
			}
		}
	},
	"M-033": func(t *testing.T) {
		p := says(user("u"))
		p.PromptCacheKey = "covel-key"
		for _, protocol := range []string{model.ProtocolChat, model.ProtocolResponses} {
			openai := slot("openai", "m", fmt.Sprintf("protocol = %q", protocol))
			option := func(value string) []string {
				return []string{fmt.Sprintf("[covel.story.providerOptions.%s]", protocol), "promptCacheKey = " + value}
			}
			want(t, "own host", body(t, openai, p)["prompt_cache_key"], `"covel-key"`)
			absent(t, body(t, relay(protocol, "m"), p), "prompt_cache_key")
			want(t, "option true", body(t, relay(protocol, "m", option("true")...), p)["prompt_cache_key"], `"covel-key"`)
			absent(t, body(t, openai+strings.Join(option("false"), "\n"), p), "prompt_cache_key")
			absent(t, body(t, openai, says(user("u"))), "prompt_cache_key")
		}
	},
	"M-034": func(t *testing.T) {
		p := says(system(sentinel("A⟂B⟂")), user("U1"), assistant("A1"), system("S"), user("U2"))
		p.PromptCacheKey = "covel-key"
		llm := slot("openai", "gpt-5.6", `protocol = "openai-responses-v1"`)
		b := body(t, llm, p)
		wantPoints(t, b, "AB", "U1", "U2")
		want(t, "key", b["prompt_cache_key"], `"covel-key"`)
		g := newBench(t).gateway(llm)
		if target, err := g.Resolve("story"); err != nil || target.CacheStrategy != model.CacheOpenAIBreakpoints {
			t.Errorf("strategy %q, %v", target.CacheStrategy, err)
		}
	},
	"M-035": func(t *testing.T) {
		b := body(t, breakpoints, says(system(sentinel("A⟂\n\nB⟂\n\ntail")), user("u")))
		want(t, "system", at(t, b, "input", 0), `{"role":"system","content":[{"type":"input_text","text":"A\n\nB","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text","text":"\n\ntail"}]}`)
	},
	"M-036": func(t *testing.T) {
		b := body(t, breakpoints, says(system(sentinel("A⟂B⟂")), user("U1"), assistant("A1"), system("S"), user("U2"), calling("t1", "roll", "{}"), toolResult("t1", "6")))
		wantPoints(t, b, "AB", "U1", "U2")
		want(t, "output", at(t, b, "input", 6), `{"type":"function_call_output","call_id":"t1","output":"6"}`)
	},
	"M-037": func(t *testing.T) {
		wantPoints(t, body(t, breakpoints, says(system("sys"), user("U1"))), "sys", "U1")
	},
	"M-038": func(t *testing.T) {
		one := body(t, breakpoints, says(system("sys"), user("U1")))
		two := body(t, breakpoints, says(system("sys"), user("U1"), assistant("A1"), user("U2"), assistant("A2"), user("U3"), assistant("A3"), system("S"), user("U4")))
		want(t, "marked", at(t, one, "input", 1, "content"), `[{"type":"input_text","text":"U1","prompt_cache_breakpoint":{"mode":"explicit"}}]`)
		want(t, "unmarked", at(t, two, "input", 1, "content"), `[{"type":"input_text","text":"U1"}]`)
	},
	"M-039": func(t *testing.T) {
		p := says(system("sys"), user("U1"), assistant("A1"), user("U2"), assistant("A2"), system("S"), user("U3"))
		wantPoints(t, body(t, breakpoints, p), "sys", "U1", "U2", "U3")
		wantPoints(t, body(t, breakpoints+"cacheHistoryMarks = 1\n", p), "sys", "U2", "U3")
	},
	"M-040": func(t *testing.T) {
		_, err := model.ParseSlots("llm.toml", []byte(slot("openai", "m", `cacheStrategy = "openai-breakpoints"`)))
		fails(t, err, model.CodeConfig, "cacheStrategy", "openai-breakpoints")
		b, r := called(t, slot("openai", "gpt-5.6"), says(system("sys"), user("U1")))
		if contains(b.last().Body, "breakpoint") {
			t.Error("a breakpoint is sent")
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, model.ProtocolResponses) {
			t.Errorf("warnings %v", r.Warnings)
		}
	},
}

var breakpoints = slot("openai", "gpt-5.6", `protocol = "openai-responses-v1"`)
