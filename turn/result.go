package turn

import (
	"encoding/json"
	"time"
)

// RuntimeStatus is how one runtime ended (spec 03 §1.4).
type RuntimeStatus string

// Runtime statuses.
const (
	RuntimeSuccess   RuntimeStatus = "success"
	RuntimeFailed    RuntimeStatus = "failed"
	RuntimeSkipped   RuntimeStatus = "skipped"
	RuntimeSuspended RuntimeStatus = "suspended"
	// RuntimeRunning is only a progress report's value.
	RuntimeRunning RuntimeStatus = "running"
)

// RuntimeResult is the full result of one runtime (spec 03 §1.4). It lives in
// the store, never in a workflow.
type RuntimeResult struct {
	ID        string          `json:"id"`
	PluginID  string          `json:"pluginId"`
	RuntimeID string          `json:"runtimeId"`
	Stage     string          `json:"stage,omitempty"`
	Level     int             `json:"level,omitempty"`
	RunID     string          `json:"runId"`
	TurnID    string          `json:"turnId"`
	Status    RuntimeStatus   `json:"status"`
	Story     bool            `json:"story,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	// CanonicalValue is set only where it differs from Output; see Value.
	CanonicalValue   json.RawMessage `json:"canonicalValue,omitempty"`
	Effects          *Effects        `json:"effects,omitempty"`
	Proposals        []Proposal      `json:"proposals,omitempty"`
	Completion       string          `json:"completion,omitempty"`
	ToolCalls        []ToolRecord    `json:"toolCalls"`
	Steps            int             `json:"steps"`
	Usage            Usage           `json:"usage"`
	CostUSD          float64         `json:"costUSD,omitempty"`
	DurationMs       int64           `json:"durationMs"`
	Error            *OutcomeError   `json:"error,omitempty"`
	Reason           string          `json:"reason,omitempty"`
	SkippedBy        string          `json:"skippedBy,omitempty"`
	MissingUpstreams []string        `json:"missingUpstreams,omitempty"`
	CyclePath        []string        `json:"cyclePath,omitempty"`
	Timestamp        time.Time       `json:"timestamp"`
}

// Value is what the result offers to others: its canonical value, or its output
// where that is the same and stands only once.
func (r *RuntimeResult) Value() json.RawMessage {
	if len(r.CanonicalValue) > 0 {
		return r.CanonicalValue
	}
	return r.Output
}

// NarrativeText is the story text of a result's output, "" when it has none.
func (r *RuntimeResult) NarrativeText() string {
	var out struct {
		NarrativeOutput string `json:"narrativeOutput"`
	}
	if json.Unmarshal(r.Output, &out) != nil {
		return ""
	}
	return out.NarrativeOutput
}

// Effects are what a runtime asks to happen beside its value (spec 05 §3.4).
type Effects struct {
	Interactions  json.RawMessage `json:"interactions,omitempty"`
	Notifications json.RawMessage `json:"notifications,omitempty"`
	StatePatches  json.RawMessage `json:"statePatches,omitempty"`
	PluginData    json.RawMessage `json:"pluginData,omitempty"`
	Events        []Event         `json:"events,omitempty"`
	Assets        json.RawMessage `json:"assets,omitempty"`
}

// Event is one emitted domain event.
type Event struct {
	Topic string          `json:"topic"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// ToolRecord is one executed or refused tool call of a run.
type ToolRecord struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	OK         bool            `json:"ok"`
	Code       string          `json:"code,omitempty"`
	DurationMs int64           `json:"durationMs"`
}

// Proposal is one write that takes effect only with the commit (spec 03 §10.5).
type Proposal struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Source    ProposalSource  `json:"source"`
	TurnID    string          `json:"turnId"`
	SessionID string          `json:"sessionId"`
	Payload   json.RawMessage `json:"payload"`
	Timestamp time.Time       `json:"timestamp"`
}

// ProposalSource is the author of a proposal.
type ProposalSource struct {
	PluginID  string `json:"pluginId"`
	RuntimeID string `json:"runtimeId"`
}

// Proposal types (spec 03 §10.5).
const (
	ProposalNarrativeAppend     = "narrative.append"
	ProposalInteractionRequest  = "interaction.request"
	ProposalStatePatch          = "state.patch"
	ProposalEventEmit           = "event.emit"
	ProposalAssetGenerate       = "asset.generate"
	ProposalPluginData          = "plugin.data"
	ProposalPluginDataBatch     = "plugin.data.batch"
	ProposalPluginDataDelete    = "plugin.data.delete"
	ProposalCharacterUpsert     = "character.upsert"
	ProposalCharacterSchemaSet  = "character.schema.set"
	ProposalLorebookUpsert      = "lorebook.upsert"
	ProposalDimensionInitialize = "dimension.initialize"
	ProposalDimensionUpdate     = "dimension.update"
)
