package model_test

import (
	"slices"
	"testing"

	"github.com/covel-engine/covel/model"
)

// The traits of spec 04 §4.3, by an id of each line.
func TestRequiredTraits(t *testing.T) {
	t.Parallel()
	has := map[string][]string{
		model.TraitNativeLateSystem:    {"claude-opus-4-8", "claude-opus-4.8"},
		model.TraitNoForcedTool:        {"claude-opus-5-5", "claude-opus-5.5", "claude-sonnet-5.5", "claude-sonnet-5-5", "claude-fable-5-1", "claude-fable-5.1", "claude-mythos-5.1"},
		model.TraitThinkingAlwaysOn:    {"claude-fable-5", "claude-fable-5-1", "claude-mythos-5", "claude-mythos-5.1", "claude-opus-5.5", "claude-sonnet-5-5"},
		model.TraitAdaptiveThinking:    {"claude-opus-5", "claude-sonnet-5", "claude-haiku-5", "claude-fable-5", "claude-opus-4-6", "claude-opus-4.7", "claude-opus-4-8", "claude-sonnet-4-6"},
		model.TraitNoSampling:          {"claude-opus-5", "claude-haiku-5", "claude-opus-4-7", "claude-opus-4.8"},
		model.TraitThinkingDefaultOn:   {"deepseek-v4-pro", "deepseek-v4-flash", "deepseek-v4", "deepseek-flash-1"},
		model.TraitMaxCompletionTokens: {"gpt-5", "gpt-5.4-mini", "gpt-6-sol", "gpt-9", "o1-pro", "o3", "o4-mini"},
		model.TraitSummaryAuto:         {"gpt-5", "gpt-5.4", "gpt-5.6", "o3-mini", "o4"},
		model.TraitNoPenalties:         {"gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-2.5-flash"},
		model.TraitCacheBreakpoints:    {"gpt-5.6", "gpt-5.9-mini", "gpt-6", "gpt-7-x"},
	}
	hasNot := map[string][]string{
		model.TraitNativeLateSystem: {"claude-opus-4-7", "claude-opus-5"},
		model.TraitNoForcedTool:     {"claude-opus-5", "claude-fable-5"},
		model.TraitThinkingAlwaysOn: {"claude-opus-5", "claude-opus-4-8"},
		model.TraitAdaptiveThinking: {"claude-opus-4-5", "claude-haiku-4-5"},
		model.TraitNoSampling:       {"claude-opus-4-6", "claude-sonnet-4-6"},
		model.TraitSummaryAuto:      {"o1", "gpt-6", "gpt-4o"},
		model.TraitCacheBreakpoints: {"gpt-5.5", "gpt-5", "o4"},
		model.TraitNoPenalties:      {"gemini-3-pro"},
	}
	tab := table(t, "")
	for trait, ids := range has {
		for _, id := range ids {
			if m, ok := tab.Lookup("relay", id); !ok || !m.Has(trait) {
				t.Errorf("%s lacks %s: %v", id, trait, m.Traits)
			}
			if m, _ := tab.Lookup("openrouter", "some/"+id+"-20270101"); !m.Has(trait) {
				t.Errorf("some/%s-20270101 lacks %s: %v", id, trait, m.Traits)
			}
		}
	}
	for trait, ids := range hasNot {
		for _, id := range ids {
			if m, _ := tab.Lookup("relay", id); m.Has(trait) {
				t.Errorf("%s has %s", id, trait)
			}
		}
	}
}

// The cache minimums of spec 04 §4.4.
func TestCacheMinimums(t *testing.T) {
	t.Parallel()
	tab := table(t, "")
	for id, least := range map[string]int{
		"claude-opus-5": 512, "claude-fable-5": 512, "claude-sonnet-5": 1024, "claude-opus-4-8": 1024, "claude-sonnet-4-5": 1024, "claude-sonnet-4-20250514": 1024,
		"claude-opus-4-7": 2048, "claude-sonnet-4-6": 2048, "claude-opus-4-5": 4096, "claude-opus-4-6": 4096, "claude-haiku-4-5": 4096,
		"gpt-5.6": 1024, "gpt-5": 1024, "gpt-4o": 1024, "gemini-2.5-flash": 2048, "gemini-2.5-pro": 4096, "gemini-3.7-flash": 2048, "deepseek-v4-pro": 0,
	} {
		if m, _ := tab.Lookup("relay", id); m.MinCacheTokens != least {
			t.Errorf("%s: %d, want %d", id, m.MinCacheTokens, least)
		}
	}
}

// Reasoning levels of spec 04 §10.3: which are sent, and which are refused with
// a warning.
func TestReasoningLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		llm     string
		sent    []string
		refused []string
	}{
		{slot("openai", "gpt-5.4"), []string{"none", "minimal", "xhigh"}, []string{"max", "disabled"}},
		{slot("openai", "gpt-6-sol"), []string{"none", "max"}, []string{"disabled"}},
		{slot("openai", "gpt-5.1"), []string{"none", "high"}, []string{"minimal", "xhigh"}},
		{slot("openai", "gpt-5.1-codex-max"), []string{"xhigh"}, []string{"minimal"}},
		{slot("openai", "gpt-5"), []string{"minimal", "high"}, []string{"none", "xhigh"}},
		{slot("openai", "gpt-5-pro"), []string{"high"}, []string{"low"}},
		{slot("openai", "o3"), []string{"low", "high"}, []string{"minimal"}},
		{slot("openai", "gpt-4o"), nil, []string{"low"}},
		{slot("xai", "grok-4"), []string{"low", "high"}, []string{"xhigh"}},
		{slot("xai", "grok-4.20"), []string{"xhigh"}, []string{"max"}},
		{slot("deepseek", "deepseek-chat"), []string{"disabled", "high", "max"}, []string{"low"}},
		{slot("dashscope", "qwen3.8-max"), []string{"disabled", "automatic", "xhigh"}, []string{"high"}},
		{slot("dashscope", "qwen-plus"), []string{"disabled", "automatic"}, []string{"low"}},
		{slot("google", "gemini-3-pro"), []string{"low", "high"}, []string{"medium", "minimal"}},
		{slot("google", "gemini-3.1-pro"), []string{"medium"}, []string{"minimal"}},
		{slot("google", "gemini-3.1-pro", `protocol = "openai-chat-v1"`), []string{"minimal"}, []string{"none"}},
		{slot("google", "gemini-3-flash"), []string{"minimal"}, []string{"none"}},
		{slot("google", "gemini-3.8-flash"), []string{"low"}, []string{"minimal"}},
		{slot("google", "gemini-2.5-pro"), []string{"low"}, []string{"none", "minimal"}},
		{slot("anthropic", "claude-opus-4-8"), []string{"disabled", "low", "xhigh", "max"}, []string{"none", "minimal"}},
		{slot("anthropic", "claude-haiku-4-5"), nil, []string{"low", "disabled"}},
		{slot("anthropic", "claude-opus-5-5"), []string{"high"}, []string{"disabled"}},
		{slot("anthropic", "claude-opus-4-8", `protocol = "openai-chat-v1"`, `baseUrl = "https://api.anthropic.com"`), nil, []string{"low"}},
		{relay(model.ProtocolChat, "mystery", `features = ["reasoning"]`), []string{"minimal", "high"}, []string{"none"}},
		{relay(model.ProtocolAnthropic, "mystery", `features = ["reasoning"]`), []string{"low"}, []string{"minimal"}},
		{relay(model.ProtocolChat, "mystery"), nil, []string{"low"}},
	} {
		for _, l := range c.sent {
			if _, r := called(t, c.llm, level(l)); unsupported(r) != 0 {
				t.Errorf("%s level %s: %v", c.llm, l, r.Warnings)
			}
		}
		for _, l := range c.refused {
			b, r := called(t, c.llm, level(l))
			if unsupported(r) != 1 || slices.ContainsFunc([]string{"reasoning", "enable_thinking", "thinking", "effort"}, func(w string) bool { return contains(b.last().Body, w) }) {
				t.Errorf("%s level %s: %v\n%s", c.llm, l, r.Warnings, b.last().Body)
			}
		}
	}
}

func TestSamplingThatModelsRefuse(t *testing.T) {
	t.Parallel()
	p := says(user("u"))
	p.Metadata = metadata("parameterOverrides", `{"temperature":0.5,"topP":0.9,"topK":5,"frequencyPenalty":1,"presencePenalty":1}`)
	b := body(t, slot("anthropic", "claude-opus-4-7"), p)
	absent(t, b, "temperature", "top_p", "top_k")
	b = body(t, slot("anthropic", "claude-opus-4-5"), p)
	want(t, "sampling", []any{b["temperature"], b["top_p"], b["top_k"]}, `[0.5,0.9,5]`)
	p.Metadata = metadata("parameterOverrides", `{"temperature":0.5,"topP":0.97,"topK":5}`, "thinking", `{"type":"enabled","budget_tokens":2000}`)
	b = body(t, slot("anthropic", "claude-opus-4-5"), p)
	absent(t, b, "temperature", "top_k")
	want(t, "top_p", b["top_p"], `0.97`)
	p.Metadata = metadata("parameterOverrides", `{"temperature":0.5,"frequencyPenalty":1,"presencePenalty":1}`)
	b = body(t, slot("google", "gemini-2.5-flash"), p)
	want(t, "config", b["generationConfig"], `{"temperature":0.5}`)
	b = body(t, slot("google", "gemini-3-flash"), p)
	want(t, "config", b["generationConfig"], `{"temperature":0.5,"frequencyPenalty":1,"presencePenalty":1}`)
}

// unsupported counts the warnings of that kind.
func unsupported(r *model.Result) int {
	n := 0
	for _, w := range r.Warnings {
		if w.Kind == "unsupported" {
			n++
		}
	}
	return n
}
