package model_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/scripted"
)

// The scripted handler and the adapters understand each other in all four
// protocols, whole and streamed: whatever way a reply takes, it is the same.
func TestScriptedHandlerSpeaksAllProtocols(t *testing.T) {
	t.Parallel()
	script := written(t, "script.yaml", `version: 1
replies:
  - when: {lastUser: roll}
    text: Let us see.
    reasoning: luck it is
    toolCalls: [{name: roll, arguments: {sides: 6, note: "a \"b\""}}]
    usage: {inputTokens: 100, outputTokens: 10, cachedInputTokens: 60}
    chunkRunes: 5
  - when: {lastUser: broken}
    error: {status: 400, code: invalid_argument, message: not so}
  - when: {lastUser: cut}
    text: half
    truncated: true
  - text: The door opens.
    usage: {inputTokens: 5, outputTokens: 4}
`)
	server := httptest.NewServer(scripted.NewHandler(scripted.HandlerConfig{Script: script}))
	t.Cleanup(server.Close)
	for protocol := range okReply {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			base := server.URL
			if protocol == model.ProtocolGemini {
				base += "/v1beta"
			}
			g, err := tryGateway(server.Client().Transport, slot("relay", "any-model", `baseUrl = "`+base+`"`, `protocol = "`+protocol+`"`))
			if err != nil {
				t.Fatal(err)
			}
			for _, onDelta := range []func(model.Delta){nil, func(model.Delta) {}} {
				p := withTools(says(system("s"), user("I open the door")), gameTools...)
				r, err := g.Call(t.Context(), "story", p, onDelta)
				if err != nil || r.Text != "The door opens." || r.FinishReason != model.FinishStop || r.Usage.OutputTokens != 4 {
					t.Errorf("%v, %+v", err, r)
				}
				p.Messages[1].Content = "roll"
				r, err = g.Call(t.Context(), "story", p, onDelta)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.ToolCalls) != 1 || r.ToolCalls[0].ID == "" {
					t.Fatalf("calls %+v", r.ToolCalls)
				}
				got := []any{r.Text, r.ReasoningContent, r.ToolCalls[0].Name, r.Usage.InputTokens, *r.Usage.CachedInputTokens}
				if diff := cmp.Diff([]any{"Let us see.", "luck it is", "roll", int64(100), int64(60)}, got); diff != "" {
					t.Error("the reply differs:", diff)
				}
				want(t, "arguments", decoded(t, r.ToolCalls[0].Arguments), `{"sides":6,"note":"a \"b\""}`)
				p.Messages[1].Content = "broken"
				_, err = g.Call(t.Context(), "story", p, onDelta)
				fails(t, err, model.CodeProvider, "not so", "400")
			}
			_, err = g.Call(t.Context(), "story", says(user("cut")), func(model.Delta) {})
			if e := fails(t, err, model.CodeProvider, "terminal event"); !e.Retriable {
				t.Error("it is not retriable")
			}
		})
	}
}

// A tool loop of the storyteller over HTTP comes to the same story as in the
// process, in every protocol.
func TestStorytellerOverHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(scripted.NewHandler(scripted.HandlerConfig{}))
	t.Cleanup(server.Close)
	for protocol := range okReply {
		base := server.URL
		if protocol == model.ProtocolGemini {
			base += "/v1beta"
		}
		g, err := tryGateway(server.Client().Transport, slot("relay", "any-model", `baseUrl = "`+base+`"`, `protocol = "`+protocol+`"`))
		if err != nil {
			t.Fatal(err)
		}
		p := withTools(says(system("s"), user("roll for the lantern")), gameTools[0])
		r := tells(t, g, p)
		if len(r.ToolCalls) != 1 {
			t.Fatalf("%s: %+v", protocol, r)
		}
		p.Messages = append(p.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: r.ToolCalls, ProviderContinuation: r.ProviderContinuation},
			toolResult(r.ToolCalls[0].ID, `{"ok":true,"summary":"a natural twenty"}`))
		r = tells(t, g, p)
		if !strings.Contains(r.Text, "roll for the lantern") || !strings.Contains(r.Text, "a natural twenty") {
			t.Errorf("%s: %q", protocol, r.Text)
		}
	}
}
