package store

import (
	"context"
	"encoding/json"
	"time"
)

// ProjectionReader reads the tables that interfaces show and prompts never
// read, save for player-facing events (spec 02 §14).
type ProjectionReader interface {
	// RuntimeOutputs of a turn in insertion order by (timestamp, id).
	RuntimeOutputs(ctx context.Context, sessionID, turnID string) ([]RuntimeOutput, error)
	// Events in insertion order; topic "" means all topics.
	Events(ctx context.Context, sessionID, topic string) ([]Event, error)
	// MirrorMessages in insertion order.
	MirrorMessages(ctx context.Context, sessionID string) ([]MirrorMessage, error)
	// Interactions by (timestamp, id); typ "" means all types.
	Interactions(ctx context.Context, sessionID, typ string) ([]Interaction, error)
}

// ProjectionWriter writes them; a used id is ALREADY_EXISTS.
type ProjectionWriter interface {
	InsertRuntimeOutput(ctx context.Context, o RuntimeOutput) error
	InsertEvent(ctx context.Context, e Event) error
	InsertMirrorMessage(ctx context.Context, m MirrorMessage) error
	InsertInteraction(ctx context.Context, i Interaction) error
}

// RuntimeOutput is one runtime's result as clients read it (runtime_outputs).
type RuntimeOutput struct {
	ID              string
	SessionID       string
	TurnID          string
	RuntimeResultID string
	PluginID        string
	RuntimeID       string
	Timestamp       time.Time
	Results         json.RawMessage
	MetaData        json.RawMessage
	CreatedAt       time.Time
}

// Event is one committed domain event (events).
type Event struct {
	ID            string
	SessionID     string
	Type          string
	Topic         string
	Payload       json.RawMessage
	TargetRuntime string
	TurnID        string
	CreatedAt     time.Time
}

// MirrorMessage is one line of the interface's chat (messages).
type MirrorMessage struct {
	ID        string
	SessionID string
	Role      string
	Content   string
	Metadata  json.RawMessage
	CreatedAt time.Time
}

// Interaction is one thing that player or game did (interaction_records).
type Interaction struct {
	ID        string
	SessionID string
	TurnID    string
	Timestamp time.Time
	Source    string
	Channel   string
	Type      string
	TargetIDs []string
	Payload   json.RawMessage
	MetaData  json.RawMessage
	CreatedAt time.Time
}
