package model_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

func loads(t *testing.T, llm string, words ...string) {
	t.Helper()
	_, err := model.ParseSlots("llm.toml", []byte(llm))
	fails(t, err, model.CodeConfig, words...)
}

// environment is a fixed one.
func environment(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func table(t *testing.T, text string) *model.Table {
	t.Helper()
	tab, err := model.LoadTable("")
	if err == nil {
		tab, err = tab.Merge("models.toml", []byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func resolved(t *testing.T, llm string, change ...func(*model.Config)) model.Target {
	t.Helper()
	target, err := newBench(t).gateway(llm, change...).Resolve("story")
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// written puts a text into a file of its own.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var slotCases = cases{
	"M-105": func(t *testing.T) {
		loads(t, slot("openai", "m", "thinking = true"), "thinking", "reasoningEffort", "llm.toml:4")
		loads(t, slot("openai", "m", `fallback = "nope"`), "story", "nope", "fallback")
	},
	"M-106": func(t *testing.T) {
		for _, keys := range [][]string{nil, {"OPENAI_API_KEY", "sk-1", "DEEPSEEK_API_KEY", "sk-2"}} {
			b := newBench(t)
			// The package's directory holds no llm.toml.
			g, notices, err := providers.New(providers.Config{Getenv: environment(keys...), Transport: b})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"story", "fast", "anything"} {
				r, err := g.Call(context.Background(), name, says(user("I wait")), nil)
				if err != nil || !strings.Contains(r.Text, "I wait") {
					t.Errorf("%s: %v, %+v", name, err, r)
				}
			}
			if b.count() != 0 {
				t.Errorf("%d requests", b.count())
			}
			if keys == nil {
				if len(notices) != 0 {
					t.Errorf("notices %q", notices)
				}
				continue
			}
			if len(notices) != 1 {
				t.Fatalf("notices %q", notices)
			}
			for _, w := range []string{"DEEPSEEK_API_KEY", "[covel.story]", `provider = "deepseek"`, `model = "`} {
				if !strings.Contains(notices[0], w) {
					t.Errorf("notice %q lacks %q", notices[0], w)
				}
			}
		}
	},
	"M-138": func(t *testing.T) {
		for id, tokenizer := range map[string]string{"gpt-5.4": "o200k_base", "claude-opus-4-6": "covel", "mystery": "covel"} {
			if got := resolved(t, relay(model.ProtocolChat, id)).Tokenizer; got != tokenizer {
				t.Errorf("%s: %q, want %q", id, got, tokenizer)
			}
		}
		loads(t, slot("openai", "m", `tokenizer = "o200k_bass"`), "story", "o200k_bass", "o200k_base")
	},
	"M-139": func(t *testing.T) {
		p := says(system("a"), user("b"), system("c"), user("d"))
		field := body(t, relay(model.ProtocolChat, "m", "lateSystemAsUser = true"), p)
		option := body(t, relay(model.ProtocolChat, "m", "[covel.story.providerOptions.relay]", "lateSystemAsUser = true"), p)
		if diff := cmp.Diff(field, option); diff != "" {
			t.Error("bodies differ:", diff)
		}
		wantRoles(t, field["messages"], "system", "user", "user", "user")
	},
	"M-107": func(t *testing.T) {
		b := newBench(t, okReply[model.ProtocolChat])
		llm := strings.ReplaceAll(relay(model.ProtocolChat, "m"), `"relay"`, `"my-relay"`)
		_, err := b.gateway(llm, func(c *model.Config) { c.Keys = model.KeysFrom(environment()) }).Call(context.Background(), "story", says(user("u")), nil)
		fails(t, err, model.CodeConfig, "MY_RELAY_API_KEY")
		if b.count() != 0 {
			t.Error("a request was sent")
		}
	},
	"M-108": func(t *testing.T) {
		var warnings []string
		g := newBench(t).gateway(slot("openai", "a")+strings.ReplaceAll(slot("openai", "b"), "covel.story", "covel.fast"), func(c *model.Config) {
			c.OnWarning = func(text string) { warnings = append(warnings, text) }
		})
		for range 2 {
			target, err := g.Resolve("plugin")
			if err != nil || target.Slot != "story" {
				t.Errorf("%+v, %v", target, err)
			}
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], "plugin") {
			t.Errorf("warnings %q", warnings)
		}
	},
	"M-109": func(t *testing.T) {
		llm := relay(model.ProtocolChat, "m", "[covel.story.providerRequestMetadata]", "temperature = 0.2")
		p := withMetadata("temperature", "0.5", "parameterOverrides", `{"temperature":0.9}`)
		want(t, "override", body(t, llm, p)["temperature"], `0.9`)
		want(t, "call", body(t, llm, withMetadata("temperature", "0.5"))["temperature"], `0.5`)
		want(t, "preset", body(t, llm, says(user("u")))["temperature"], `0.2`)
		_, err := replied(t, llm, withMetadata("parameterOverrides", `{"temperature":"hot"}`), okReply[model.ProtocolChat])
		fails(t, err, model.CodeConfig, "temperature", "hot")
	},
	"M-110": func(t *testing.T) {
		b, r := called(t, relay(model.ProtocolChat, "m", "[covel.story.providerOptions.relay]", "extraBody = {messages = []}"), says(user("u")))
		want(t, "messages", b.last().json(t)["messages"], `[{"role":"user","content":"u"}]`)
		if len(r.Warnings) != 1 || r.Warnings[0].Field != "messages" {
			t.Errorf("warnings %v", r.Warnings)
		}
	},
	"M-111": func(t *testing.T) {
		withTable := func(c *model.Config) {
			c.Table = table(t, "[[model]]\nid = \"acme-1\"\ncontextWindow = 100000\n")
		}
		if w := resolved(t, relay(model.ProtocolChat, "acme-1"), withTable).ContextWindow; w != 100000 {
			t.Errorf("table: %d", w)
		}
		llm := relay(model.ProtocolChat, "acme-1", "contextWindow = 50000")
		if w := resolved(t, llm, withTable).ContextWindow; w != 50000 {
			t.Errorf("llm.toml: %d", w)
		}
		p := says(user("u"))
		p.Bindings = map[string]model.Binding{"story": {ContextWindow: 20000}}
		p.Metadata = override("maxOutputTokens", 20000)
		_, err := newBench(t, okReply[model.ProtocolChat]).gateway(llm, withTable).Call(context.Background(), "story", p, nil)
		fails(t, err, model.CodeConfig, "20000 tokens")
		target, err := newBench(t).gateway(llm, withTable).ResolveFor("story", p)
		if err != nil || target.ContextWindow != 20000 {
			t.Errorf("%+v, %v", target, err)
		}
	},
	"M-112": func(t *testing.T) {
		tab := table(t, "[[model]]\nid = \"claude-haiku-4-5\"\nmatch = \"prefix\"\n[model.pricing]\ninputPerMToken = 2\n")
		got, _ := tab.Lookup("anthropic", "claude-haiku-4-5")
		before, _ := table(t, "").Lookup("anthropic", "claude-haiku-4-5")
		if *got.Pricing.InputPerMToken != 2 || *got.Pricing.OutputPerMToken != *before.Pricing.OutputPerMToken || *before.Pricing.InputPerMToken == 2 {
			t.Errorf("pricing %+v", got.Pricing)
		}
		got.Pricing, before.Pricing = nil, nil
		if diff := cmp.Diff(before, got); diff != "" {
			t.Error("other fields changed:", diff)
		}
		_, err := model.LoadTable(written(t, "models.toml", "[[model]]\nid = \"acme-1\"\ncontextWindow = \"big\"\n"))
		fails(t, err, model.CodeConfig, "models.toml", "acme-1", "contextWindow", "big")
	},
	"M-113": func(t *testing.T) {
		tab := table(t, `
[[model]]
id = "acme-"
match = "prefix"
contextWindow = 1000
[[model]]
id = "acme-large"
match = "prefix"
contextWindow = 2000
[[model]]
id = "acme-large-2"
contextWindow = 3000
`)
		for id, window := range map[string]int{"acme-large-3": 2000, "Acme-Large-2": 3000, "vendor/acme-large-2": 3000, "acme-small": 1000} {
			if m, ok := tab.Lookup("openrouter", id); !ok || m.ContextWindow != window {
				t.Errorf("%s: %d, want %d", id, m.ContextWindow, window)
			}
		}
	},
	"M-114": func(t *testing.T) {
		target := resolved(t, relay(model.ProtocolChat, "mystery"))
		want(t, "target", []any{target.Input, target.ContextWindow, target.MaxOutputTokens}, `[["text"],0,0]`)
		if n := model.ResponseReserve(0, 0); n != 16384 {
			t.Errorf("reserve %d", n)
		}
		if n := model.ResponseReserve(16000, 0); n != 8000 {
			t.Errorf("reserve %d", n)
		}
	},
	"M-115": func(t *testing.T) {
		for _, c := range [][3]string{
			{"https://api.anthropic.com", "/messages", "https://api.anthropic.com/v1/messages"},
			{"https://x.example/v1beta/openai", "/chat/completions", "https://x.example/v1beta/openai/chat/completions"},
			{"https://h.example/v1/", "/chat/completions", "https://h.example/v1/chat/completions"},
			{"https://api.deepseek.com", "/chat/completions", "https://api.deepseek.com/v1/chat/completions"},
			{"https://h.example/v1", "/v1/messages", "https://h.example/v1/messages"},
			{"https://h.example/api/v3", "/api/v3/chat", "https://h.example/api/v3/chat"},
			{"https://h.example", "/api/v3/chat", "https://h.example/api/v3/chat"},
		} {
			if got := model.EndpointURL(c[0], c[1]); got != c[2] {
				t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
			}
		}
		b, _ := called(t, slot("anthropic", "claude-x"), says(user("u")))
		if b.last().URL != "https://api.anthropic.com/v1/messages" {
			t.Error(b.last().URL)
		}
	},
	"M-116": func(t *testing.T) {
		b, _ := called(t, slot("google", "models/gemini-2.5-flash"), says(user("u")))
		if b.last().URL != "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent" {
			t.Error(b.last().URL)
		}
		_, err := replied(t, slot("google", "a/b?c"), says(user("u")), okReply[model.ProtocolGemini])
		fails(t, err, model.CodeConfig, "a/b?c")
	},
	"M-117": func(t *testing.T) {
		for _, base := range []string{"http://relay.example", "https://metadata.google.internal", "https://10.0.0.7", "https://[::ffff:192.168.1.1]"} {
			dials := 0
			slots, err := model.ParseSlots("llm.toml", []byte(slot("relay", "m", fmt.Sprintf("baseUrl = %q", base))))
			if err == nil {
				var g *model.Gateway
				g, err = model.NewGateway(guardedConfig(slots, &dials))
				if err == nil {
					_, err = g.Call(context.Background(), "story", says(user("u")), nil)
				}
			}
			fails(t, err, model.CodeConfig)
			if dials != 0 {
				t.Errorf("%s: %d connections", base, dials)
			}
		}
		b := newBench(t, okReply[model.ProtocolChat]) // on 127.0.0.1
		slots, err := model.ParseSlots("llm.toml", []byte(slot("relay", "m", fmt.Sprintf("baseUrl = %q", b.server.URL))))
		if err != nil {
			t.Fatal(err)
		}
		g, err := model.NewGateway(guardedConfig(slots, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if _, err := g.Call(context.Background(), "story", says(user("u")), nil); err != nil || b.count() != 1 {
			t.Errorf("%v, %d requests", err, b.count())
		}
	},
	"M-118": func(t *testing.T) {
		b := newBench(t, answer{status: 302, header: map[string]string{"Location": "https://elsewhere.example/"}})
		_, err := b.gateway(relay(model.ProtocolChat, "m")).Call(context.Background(), "story", says(user("u")), nil)
		if e := fails(t, err, model.CodeProvider); e.Retriable || e.StatusCode != 302 || b.count() != 1 {
			t.Errorf("%+v, %d requests", e, b.count())
		}
	},
}
