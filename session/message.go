package session

import (
	"encoding/json"
	"time"
)

// Role is the speaker of a message.
type Role string

// Message roles (spec 04 §2.1).
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// SourceType says who wrote a message row (spec 02 §14 turn_messages).
type SourceType string

// Sources of message rows.
const (
	SourcePlayer    SourceType = "player"
	SourceRuntime   SourceType = "runtime"
	SourceNarrative SourceType = "narrative"
	SourceSystem    SourceType = "system"
)

// Message is one row of the session's append-only log (spec 02 §14, §16).
// Seq is the only order; CompactedBy is the only member that may change.
type Message struct {
	ID              string          `json:"id"`
	SessionID       string          `json:"sessionId"`
	Seq             int64           `json:"order"`
	TurnID          string          `json:"turnId"`
	SourceType      SourceType      `json:"sourceType"`
	SourcePluginID  string          `json:"sourcePluginId,omitempty"`
	SourceRuntimeID string          `json:"sourceRuntimeId,omitempty"`
	Role            Role            `json:"role"`
	Name            string          `json:"name,omitempty"`
	Content         string          `json:"content"`
	UI              json.RawMessage `json:"ui,omitempty"`
	PendingInput    json.RawMessage `json:"pendingInput,omitempty"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	CompactedBy     string          `json:"compactedBy,omitempty"`
	CreatedAt       time.Time       `json:"createdAt"`
}

// Summary is one saved history segment (spec 02 §14 session_summaries).
type Summary struct {
	ID             string    `json:"id"`
	SessionID      string    `json:"sessionId"`
	TurnRangeStart string    `json:"turnRangeStart"`
	TurnRangeEnd   string    `json:"turnRangeEnd"`
	Content        string    `json:"content"`
	FocusSections  []string  `json:"focusSections"`
	CreatedAt      time.Time `json:"createdAt"`
}

// MessageCounts are whole-log statistics, marked rows included (spec 02 §16.2).
type MessageCounts struct {
	PlayerMessages int            `json:"playerMessages"`
	ByRuntime      map[string]int `json:"byRuntime,omitempty"`
	Total          int            `json:"total"`
}
