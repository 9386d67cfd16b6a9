package trace

import (
	"context"
	"encoding/json"

	"github.com/covel-engine/covel/store"
)

// Head is what can be told of a recorded request without its body. Event is
// what ReadRequest takes.
type Head struct {
	Event       store.TraceEvent
	RuntimeID   string
	Step        int
	Attempt     int
	LogicalTurn int
	Slot        string
	Concealed   bool
}

// Heads lists the recorded requests of a session in the order in which they
// were sent. Only their payloads are read, no blobs.
func Heads(ctx context.Context, st store.Reader, sessionID string) ([]Head, error) {
	events, err := st.TraceEvents(ctx, sessionID, "", LLMCalling)
	if err != nil {
		return nil, err
	}
	heads := make([]Head, len(events))
	for i, event := range events {
		var p callingPayload
		if err := json.Unmarshal(event.Payload, &p); err != nil {
			return nil, &DamagedError{event.ID, "its payload is no llm.calling: " + err.Error()}
		}
		heads[i] = Head{
			Event: event, RuntimeID: p.RuntimeID, Step: p.Step, Attempt: p.Attempt, LogicalTurn: p.LogicalTurn, Slot: p.Slot,
			Concealed: p.Concealed,
		}
	}
	return heads, nil
}
