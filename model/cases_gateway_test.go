package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
)

// pair writes a story slot on a.example with a fallback slot "spare" on b.example.
func pair(first, spare string) string {
	return fmt.Sprintf("[covel.story]\nprovider = \"one\"\nmodel = \"m\"\nbaseUrl = \"https://a.example\"\nfallback = \"spare\"\n%s\n[covel.spare]\nprovider = \"two\"\nmodel = \"n\"\nbaseUrl = \"https://b.example\"\n%s\n", first, spare)
}

// byHost answers by the host that a request is addressed to.
type byHost map[string]*fake

func (b byHost) RoundTrip(r *http.Request) (*http.Response, error) { return b[r.URL.Host].RoundTrip(r) }

var gatewayCases = cases{
	"M-119": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hosts := byHost{"a.example": {steps: []step{status(429)}}, "b.example": {steps: []step{ok()}}}
			g, err := tryGateway(hosts, pair("", ""))
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Call(t.Context(), "story", says(user("u")), nil)
			if err != nil || len(hosts["a.example"].at) != 4 || len(hosts["b.example"].at) != 1 || len(r.Records) != 2 {
				t.Errorf("%v, %d and %d sends", err, len(hosts["a.example"].at), len(hosts["b.example"].at))
			}
		})
		for _, s := range []step{
			status(400), status(401), {status: 400, body: `{"error":{"code":"content_filter","message":"no"}}`},
			{body: `{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}`},
		} {
			hosts := byHost{"a.example": {steps: []step{s}}, "b.example": {steps: []step{ok()}}}
			g, err := tryGateway(hosts, pair("", ""))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Call(t.Context(), "story", says(user("u")), nil); err == nil || len(hosts["b.example"].at) != 0 {
				t.Errorf("%d %s: %v, the fallback was called %d times", s.status, s.body, err, len(hosts["b.example"].at))
			}
		}
		hosts := byHost{"b.example": {steps: []step{ok()}}}
		g, err := tryGateway(hosts, pair("", ""), func(c *model.Config) { c.Keys = model.KeysFrom(environment("TWO_API_KEY", "k")) })
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Call(t.Context(), "story", says(user("u")), nil)
		fails(t, err, model.CodeConfig, "ONE_API_KEY")
		if len(hosts["b.example"].at) != 0 {
			t.Error("a CONFIG_ERROR fell back")
		}
	},
	"M-120": func(t *testing.T) {
		broken := step{body: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"}
		hosts := byHost{"a.example": {steps: []step{broken}}, "b.example": {steps: []step{ok()}}}
		g, err := tryGateway(hosts, pair("", ""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Call(t.Context(), "story", says(user("u")), func(model.Delta) {})
		fails(t, err, model.CodeProvider, "finish_reason")
		p := says(user("u"))
		p.NoFallback = true
		hosts["a.example"].steps = []step{status(503, "x-should-retry", "false")}
		_, err = g.Call(t.Context(), "story", p, nil)
		fails(t, err, model.CodeProvider, "503")
		if len(hosts["b.example"].at) != 0 {
			t.Error("the fallback was called")
		}
	},
	"M-121": func(t *testing.T) {
		for window, calls := range map[int]int{8192: 0, 9000: 1} {
			hosts := byHost{"a.example": {steps: []step{status(503, "x-should-retry", "false")}}, "b.example": {steps: []step{ok()}}}
			g, err := tryGateway(hosts, pair("", fmt.Sprintf("contextWindow = %d", window)))
			if err != nil {
				t.Fatal(err)
			}
			p := says(user(strings.Repeat("word", 7000)))
			p.Tools = []model.Tool{{Name: "t", Parameters: []byte(`"` + strings.Repeat("word", 499) + `"`)}}
			p.MaxOutputTokens = 1000
			_, err = g.Call(t.Context(), "story", p, nil)
			if (err == nil) != (calls == 1) || len(hosts["b.example"].at) != calls {
				t.Errorf("window %d: %v, %d calls", window, err, len(hosts["b.example"].at))
			}
		}
	},
	"M-122": func(t *testing.T) {
		hosts := byHost{"a.example": {steps: []step{status(503, "x-should-retry", "false")}}, "b.example": {steps: []step{status(503, "x-should-retry", "false")}}}
		g, err := tryGateway(hosts, pair("", `fallback = "story"`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Call(t.Context(), "story", says(user("u")), nil)
		e := fails(t, err, model.CodeProvider)
		var chain []string
		for _, r := range e.Records {
			chain = append(chain, r.Origin)
		}
		if diff := cmp.Diff([]string{"https://a.example", "https://b.example"}, chain); diff != "" {
			t.Error("chain differs:", diff)
		}
	},
	"M-123": func(t *testing.T) {
		spare := newBench(t, failing(503, "{}"), okReply[model.ProtocolChat])
		g := spare.gateway(pair(`input = ["text", "image"]`, ""), func(c *model.Config) { c.NoRetry = true })
		p := says(model.Message{Role: model.RoleUser, Parts: []model.Part{text("see"), image(png)}}, model.Message{Role: model.RoleUser, Parts: []model.Part{image(png)}})
		if _, err := g.Call(context.Background(), "story", p, nil); err != nil {
			t.Fatal(err)
		}
		if !contains(spare.requests[0].Body, png) || contains(spare.requests[1].Body, png) {
			t.Error("images went to the wrong target")
		}
		want(t, "messages", spare.last().json(t)["messages"], `[{"role":"user","content":[{"type":"text","text":"see"}]},{"role":"user","content":"[image]"}]`)
	},
	"M-124": func(t *testing.T) {
		item := `{"type":"thinking","thinking":"hm","signature":"c2ln","n":12345678901234567890}`
		m := calling("t1", "roll", `{}`)
		m.Content, m.Null = "I roll", false
		m.ProviderContinuation = &model.Continuation{
			Protocol: model.ProtocolAnthropic, Model: "claude-x", BaseURL: "https://api.anthropic.com",
			Items: []json.RawMessage{[]byte(item), []byte(`{"type":"text","text":"I roll"}`), []byte(`{"type":"tool_use","id":"t1","name":"roll","input":{}}`)},
		}
		p := says(user("u"), m, toolResult("t1", "6"))
		b, _ := called(t, anthropicStory, p)
		if !contains(b.last().Body, `"content":[`+item+`,{"type":"text","text":"I roll"},{"type":"tool_use","id":"t1","name":"roll","input":{}}]`) {
			t.Errorf("body %s", b.last().Body)
		}
		other := body(t, slot("anthropic", "claude-y"), p)
		want(t, "another model", at(t, other, "messages", 1, "content"), `[{"type":"text","text":"I roll"},{"type":"tool_use","id":"t1","name":"roll","input":{}}]`)
	},
}
