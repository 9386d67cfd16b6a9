package model_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
)

var keyCases = cases{
	"M-132": func(t *testing.T) {
		const key = "sk-test-123"
		b := newBench(t, failing(401, `{"error":{"code":"invalid_api_key","message":"the key sk-test-123 is wrong"}}`))
		g := b.gateway(relay(model.ProtocolChat, "m"), func(c *model.Config) { c.Keys = model.KeysFrom(environment("RELAY_API_KEY", key)) })
		_, err := g.Call(context.Background(), "story", says(user("my key is sk-test-123")), nil)
		e := fails(t, err, model.CodeProvider, "[redacted]")
		if strings.Contains(fmt.Sprintf("%+v %s", e, mustJSON(e)), key) || strings.Contains(string(mustJSON(e.Records)), key) {
			t.Errorf("the key stands in %+v", e)
		}
		if b.last().Header.Get("Authorization") != "Bearer "+key {
			t.Error("the key was not sent")
		}
	},
	"M-133": func(t *testing.T) {
		_, err := model.ParseSlots("llm.toml", []byte(slot("openai", "m", `headers = {authorization = "secret-x"}`)))
		e := fails(t, err, model.CodeConfig, "authorization")
		if strings.Contains(e.Message, "secret-x") {
			t.Errorf("the value stands in %q", e.Message)
		}
		_, err = replied(t, relay(model.ProtocolChat, "m"), withMetadata("x-api-key", `"secret-x"`), okReply[model.ProtocolChat])
		if e := fails(t, err, model.CodeConfig, "x-api-key"); strings.Contains(e.Message, "secret-x") {
			t.Errorf("the value stands in %q", e.Message)
		}
	},
	"M-134": func(t *testing.T) {
		p := says(user("u"))
		p.Bindings = map[string]model.Binding{"story": {BaseURL: "https://other.example"}}
		b, _ := called(t, slot("openai", "m", `headers = {x-team = "blue"}`), p)
		h := b.last().Header
		if !strings.HasPrefix(b.last().URL, "https://other.example/") || h.Get("Authorization") != "" || h.Get("X-Team") != "" {
			t.Errorf("%s %v", b.last().URL, h)
		}
		b, _ = called(t, slot("openai", "m", `headers = {x-team = "blue"}`), says(user("u")))
		if h := b.last().Header; h.Get("Authorization") != "Bearer key-of-openai" || h.Get("X-Team") != "blue" {
			t.Errorf("%v", h)
		}
		p.Bindings["story"] = model.Binding{BaseURL: "https://other.example", KeyRef: "mine"}
		b, _ = called(t, slot("openai", "m"), p)
		if h := b.last().Header.Get("Authorization"); h != "Bearer key-of-mine" {
			t.Error(h)
		}
	},
	"M-141": func(t *testing.T) {
		for _, c := range []struct {
			env []string
			key string
		}{{[]string{"GEMINI_API_KEY", "g"}, "g"}, {[]string{"GEMINI_API_KEY", "g", "GOOGLE_API_KEY", "o"}, "o"}} {
			b, _ := called(t, slot("google", "gemini-2.5-flash"), says(user("u")), func(m *model.Config) { m.Keys = model.KeysFrom(environment(c.env...)) })
			if got := b.last().Header.Get("X-Goog-Api-Key"); got != c.key || b.last().Header.Get("Authorization") != "" {
				t.Errorf("%v: %q", c.env, got)
			}
		}
	},
	"M-135": func(t *testing.T) {
		p := choosing(model.ToolChoice{})
		p.Metadata = override("reasoningEffort", "low")
		b := body(t, slot("openai", "gpt-6-sol"), p)
		want(t, "model", b["model"], `"gpt-6-sol"`)
		want(t, "effort", b["reasoning_effort"], `"low"`)
		q := says(user("u"))
		q.Metadata = override("maxOutputTokens", 100)
		b = body(t, slot("openai", "gpt-5.4"), q)
		want(t, "limit", b["max_completion_tokens"], `100`)
		absent(t, b, "max_tokens")
	},
	"M-136": func(t *testing.T) {
		p := says(user("u"))
		p.PromptCacheKey = "covel-k"
		llm := slot("openai", "m", "[covel.story.providerOptions.openai]", "store = false", "extraBody = {enable_thinking = false}")
		bench := newBench(t, plain(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":1,"prompt_tokens_details":{"cache_write_tokens":20}}}`))
		r, err := bench.gateway(llm).Call(context.Background(), "story", p, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := bench.last().json(t)
		want(t, "three", []any{b["enable_thinking"], b["store"], b["prompt_cache_key"]}, `[false,false,"covel-k"]`)
		wantUsage(t, r.Usage, `{"inputTokens":50,"outputTokens":1,"cacheWriteInputTokens":20}`)
	},
	"M-137": func(t *testing.T) {
		p := says(user("u"))
		p.Metadata = override("maxOutputTokens", 64000)
		want(t, "max_tokens", body(t, anthropicStory, p)["max_tokens"], `64000`)
	},
}
