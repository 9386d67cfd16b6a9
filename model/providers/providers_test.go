package providers_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

// TestStorytellerPlaysEverySlot is the shortest way from nothing to a story.
func TestStorytellerPlaysEverySlot(t *testing.T) {
	t.Chdir(t.TempDir())
	gateway, notices, err := providers.New(providers.Config{Getenv: func(string) string { return "" }})
	if err != nil || len(notices) != 0 {
		t.Fatalf("New: %v, notices %q", err, notices)
	}
	for _, cue := range []string{"I light the lantern and look at the door", "我推开那扇门，朝里面看"} {
		var streamed strings.Builder
		result, err := gateway.Call(context.Background(), "story", model.Params{
			Messages: []model.Message{{Role: model.RoleUser, Content: cue}},
		}, func(d model.Delta) { streamed.WriteString(d.Text) })
		if err != nil {
			t.Fatal(err)
		}
		if result.Text != streamed.String() || !strings.Contains(result.Text, cue) {
			t.Errorf("text %q, streamed %q", result.Text, streamed.String())
		}
		t.Log(result.Text)
	}
	tools := []model.Tool{{Name: "roll", Parameters: json.RawMessage(`{"type":"object","properties":{"sides":{"type":"integer","minimum":2}},"required":["sides"]}`)}}
	result, err := gateway.Call(context.Background(), "plugin", model.Params{
		Messages: []model.Message{{Role: model.RoleUser, Content: "roll for it"}}, Tools: tools,
	}, nil)
	if err != nil || len(result.ToolCalls) != 1 || result.ToolCalls[0].Arguments != `{"sides":2}` || result.FinishReason != model.FinishToolCalls {
		t.Fatalf("%+v, %v", result, err)
	}
}
