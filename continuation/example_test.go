package continuation_test

import (
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/turn"
)

func Example() {
	raw, err := continuation.Freeze(continuation.Payload{
		ManifestGeneration: "5d41402abc4b2a76",
		Transcript:         turn.RunRef{RunID: "x-1/char-creator/player-init", Length: 3},
		ExecutionContext:   continuation.ExecutionContext{ExecutionID: "x-1", Origin: turn.OriginPlayer, CountPolicy: turn.CountNone},
		SuspendToolCallID:  "c1",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := continuation.Thaw(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	messages, err := p.Answer([]model.Message{
		{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "create-character-form"}}},
		{Role: model.RoleTool, ToolCallID: "c1", Content: continuation.Placeholder},
	}, json.RawMessage(`{"name": "Ada"}`))
	fmt.Println(messages[1].Content, err)

	_, err = continuation.Thaw(json.RawMessage(`{"schemaVersion": 7}`))
	fmt.Println(turn.CodeOf(err))
	// Output:
	// {"resumeData":{"name":"Ada"}} <nil>
	// continuation_version_unknown
}
