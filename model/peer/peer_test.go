package peer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

// spoken are the protocols as slots of their own providers, led to the peer.
var spoken = []struct{ protocol, provider, model, path string }{
	{model.ProtocolChat, "openai", "gpt-5.2", "/v1"},
	{model.ProtocolResponses, "openai", "gpt-5.2", "/v1"},
	{model.ProtocolAnthropic, "anthropic", "claude-opus-4-8", ""},
	{model.ProtocolGemini, "google", "gemini-3-pro", "/v1beta"},
}

const plainReply = "The lamp burns low, and the tide 潮水 turns over the drowned steps."

var rollTool = model.Tool{
	Name: "roll", Description: "Rolls a die.",
	Parameters: []byte(`{"type":"object","properties":{"sides":{"type":"integer"},"why":{"type":"string"}},"required":["sides"]}`),
}

// TestPeer: in each protocol a plain call, a streamed one, tool calls and their
// results, and a refusal of the peer's, whole and streamed.
func TestPeer(t *testing.T) {
	t.Parallel()
	base := startPeer(t)
	for _, s := range spoken {
		gateway := newGateway(t, fmt.Sprintf("[covel.story]\nprovider = %q\nprotocol = %q\nmodel = %q\nbaseUrl = %q\n", s.provider, s.protocol, s.model, base+s.path))
		for _, streamed := range []bool{false, true} {
			b := bundle{gateway: gateway, streamed: streamed}
			name := s.protocol + map[bool]string{false: "/whole", true: "/streamed"}[streamed]
			t.Run(name+"/plain", b.plain)
			t.Run(name+"/tools", b.tools)
			t.Run(name+"/refused", b.refused)
		}
	}
}

func newGateway(t *testing.T, llm string) *model.Gateway {
	t.Helper()
	slots, err := model.ParseSlots("llm.toml", []byte(llm))
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.NewGateway(model.Config{
		Adapters: providers.Adapters(""), NoRetry: true, Slots: slots,
		Keys: func(string) (string, error) { return "sk-peer", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

type bundle struct {
	gateway  *model.Gateway
	streamed bool
}

// call makes one call and gives the streamed pieces of its text.
func (b bundle) call(t *testing.T, messages ...model.Message) (*model.Result, []string, error) {
	t.Helper()
	p := model.Params{
		Messages: append([]model.Message{{Role: model.RoleSystem, Content: "You keep the lamp."}}, messages...),
		Tools:    []model.Tool{rollTool},
	}
	if !b.streamed {
		r, err := b.gateway.Call(t.Context(), "story", p, nil)
		return r, nil, err
	}
	var pieces []string
	r, err := b.gateway.Call(t.Context(), "story", p, func(d model.Delta) {
		if d.Text != "" {
			pieces = append(pieces, d.Text)
		}
	})
	return r, pieces, err
}

func user(text string) model.Message { return model.Message{Role: model.RoleUser, Content: text} }

func (b bundle) plain(t *testing.T) {
	t.Parallel()
	r, pieces, err := b.call(t, user("say it plainly"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != plainReply || r.FinishReason != model.FinishStop || len(r.ToolCalls) != 0 {
		t.Errorf("%+v", r)
	}
	if r.Usage.InputTokens != 41 || r.Usage.OutputTokens != 17 {
		t.Errorf("usage %+v", r.Usage)
	}
	if b.streamed && (len(pieces) < 3 || strings.Join(pieces, "") != plainReply) {
		t.Errorf("pieces %q", pieces)
	}
}

func (b bundle) tools(t *testing.T) {
	t.Parallel()
	ask := user("roll for me")
	r, _, err := b.call(t, ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.ToolCalls) != 2 || r.ToolCalls[0].ID == "" || r.ToolCalls[0].ID == r.ToolCalls[1].ID {
		t.Fatalf("calls %+v", r.ToolCalls)
	}
	for i, want := range []map[string]any{{"sides": 6.0, "why": "the “tide”\n"}, {"sides": 20.0}} {
		var got map[string]any
		if err := json.Unmarshal([]byte(r.ToolCalls[i].Arguments), &got); err != nil || r.ToolCalls[i].Name != "roll" || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("call %d: %+v, %v", i, r.ToolCalls[i], err)
		}
	}
	if want := "Two dice decide this; both are needed."; r.ReasoningContent != want {
		t.Errorf("reasoning %q", r.ReasoningContent)
	}
	back, _, err := b.call(t, ask,
		model.Message{
			Role: model.RoleAssistant, Content: r.Text, ToolCalls: r.ToolCalls,
			ReasoningContent: r.ReasoningContent, ProviderContinuation: r.ProviderContinuation,
		},
		model.Message{Role: model.RoleTool, ToolCallID: r.ToolCalls[0].ID, Content: `{"value":4}`},
		model.Message{Role: model.RoleTool, ToolCallID: r.ToolCalls[1].ID, Content: `{"value":"seventeen"}`},
	)
	if err != nil {
		t.Fatal(err)
	}
	if back.Text != "A four and a seventeen: the rope holds." || back.FinishReason != model.FinishStop {
		t.Errorf("%+v", back)
	}
}

func (b bundle) refused(t *testing.T) {
	t.Parallel()
	_, _, err := b.call(t, user("too fast"))
	var e *model.Error
	if !errors.As(err, &e) || e.Code != model.CodeRateLimited || e.StatusCode != 429 || !strings.HasSuffix(e.Message, "HTTP 429 — slow down, keeper") {
		t.Errorf("%v", err)
	}
}
