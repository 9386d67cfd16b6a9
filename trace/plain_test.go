package trace_test

import (
	"encoding/json"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/trace"
	"github.com/google/go-cmp/cmp"
)

// The same request in every protocol reads as the same messages.
func TestReadPlain(t *testing.T) {
	t.Parallel()
	messages := []model.Message{
		{Role: "user", Content: "I roll."},
		{Role: "assistant", Content: "Well.", ToolCalls: []model.ToolCall{{ID: "c1", Name: "roll", Arguments: `{"n":1}`}}},
		{Role: "tool", ToolCallID: "c1", Content: "six"},
		{Role: "user", Content: "And now?"},
	}
	tools := []model.Tool{{Name: "roll", Description: "Rolls.", Parameters: json.RawMessage(`{"type":"object"}`)}}
	for name, body := range map[string]string{
		"unbound": `{"tools":[{"name":"roll","description":"Rolls.","parameters":{"type":"object"}}],"messages":[{"role":"system","content":"You tell.\uE000COVEL_CACHE_BREAK\uE000"},
			{"role":"user","content":"I roll."},{"role":"assistant","content":"Well.","toolCalls":[{"id":"c1","name":"roll","arguments":"{\"n\":1}"}]},
			{"role":"tool","content":"six","toolCallId":"c1"},{"role":"user","content":"And now?"}]}`,
		"chat": `{"model":"m","messages":[{"role":"system","content":"You tell."},{"role":"user","content":[{"type":"text","text":"I roll."}]},
			{"role":"assistant","content":"Well.","tool_calls":[{"id":"c1","type":"function","function":{"name":"roll","arguments":"{\"n\":1}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"six"},{"role":"user","content":"And now?"}],
			"tools":[{"type":"function","function":{"name":"roll","description":"Rolls.","parameters":{"type":"object"}}}]}`,
		"responses": `{"instructions":"You tell.","input":[{"role":"user","content":[{"type":"input_text","text":"I roll."}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Well."},{"type":"function_call","call_id":"c1","name":"roll","arguments":"{\"n\":1}"}]},
			{"type":"function_call_output","call_id":"c1","output":"six"},{"role":"user","content":"And now?"}],
			"tools":[{"type":"function","name":"roll","description":"Rolls.","parameters":{"type":"object"},"strict":false}]}`,
		"anthropic": `{"system":[{"type":"text","text":"You ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"tell."}],
			"messages":[{"role":"user","content":"I roll."},{"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"tool_use","id":"c1","name":"roll","input":{"n":1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"six"}]},{"type":"text","text":"And now?"}]}],
			"tools":[{"name":"roll","description":"Rolls.","input_schema":{"type":"object"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := trace.Plain{System: "You tell.", Tools: tools, Messages: messages}
			if diff := cmp.Diff(want, trace.ReadPlain(json.RawMessage(body))); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("gemini", func(t *testing.T) {
		t.Parallel()
		got := trace.ReadPlain(json.RawMessage(`{"systemInstruction":{"parts":[{"text":"You tell."}]},"contents":[{"role":"user","parts":[{"text":"I roll."}]},
			{"role":"model","parts":[{"text":"Well."},{"functionCall":{"id":"c1","name":"roll","args":{"n":1}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"roll","response":{"output":"six"}}}]},{"role":"user","parts":[{"text":"And now?"}]}],
			"tools":[{"functionDeclarations":[{"name":"roll","description":"Rolls.","parametersJsonSchema":{"type":"object"}}]}]}`))
		want := trace.Plain{System: "You tell.", Tools: tools, Messages: append([]model.Message{}, messages...)}
		want.Messages[2].Name, want.Messages[2].Content = "roll", `{"output":"six"}`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
