package turn

import "encoding/json"

// Status is how a turn ended, as commands and search attributes spell it.
type Status string

// Turn statuses. Running is only a search attribute's value.
const (
	StatusRunning   Status = "running"
	StatusCommitted Status = "committed"
	StatusFailed    Status = "failed"
	StatusAborted   Status = "aborted"
	StatusSuspended Status = "suspended"
)

// Usage counts tokens of model calls. Input includes Cached and CacheWrite.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Cached     int64 `json:"cached"`
	CacheWrite int64 `json:"cacheWrite"`
}

// Add sums two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Input + o.Input, u.Output + o.Output, u.Cached + o.Cached, u.CacheWrite + o.CacheWrite}
}

// Outcome is what a caller gets for a turn: one JSON object a turn.
type Outcome struct {
	SessionID   string           `json:"sessionId"`
	TurnID      string           `json:"turnId"`
	LogicalTurn int              `json:"logicalTurn"`
	Status      Status           `json:"status"`
	AbortReason string           `json:"abortReason,omitempty"`
	Narrative   string           `json:"narrative"`
	Runtimes    []RuntimeOutcome `json:"runtimes"`
	Suspensions []SuspensionRef  `json:"suspensions"`
	Compaction  json.RawMessage  `json:"compaction,omitempty"`
	Usage       Usage            `json:"usage"`
	CostUSD     float64          `json:"costUSD"`
	Error       *OutcomeError    `json:"error,omitempty"`
}

// RuntimeOutcome is one runtime's line of an Outcome.
type RuntimeOutcome struct {
	ID         string        `json:"id"`
	Stage      string        `json:"stage"`
	Status     RuntimeStatus `json:"status"`
	Steps      int           `json:"steps"`
	ToolCalls  int           `json:"toolCalls"`
	Usage      Usage         `json:"usage"`
	DurationMs int64         `json:"durationMs"`
	Reason     string        `json:"reason,omitempty"`
	Error      *OutcomeError `json:"error,omitempty"`
}

// SuspensionRef names a suspension that the turn left open.
type SuspensionRef struct {
	ID        string `json:"id"`
	RuntimeID string `json:"runtimeId"`
	Reason    string `json:"reason"`
}

// OutcomeError is the machine-readable form of an error.
type OutcomeError struct {
	Kind    Kind   `json:"kind"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}
