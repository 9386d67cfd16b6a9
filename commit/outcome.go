package commit

import (
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// Status says whether the transaction took place.
type Status string

// Commit statuses.
const (
	Committed Status = "committed"
	Failed    Status = "failed"
)

// AbortReasonPlayer is the abort reason of a turn that its player aborted.
const AbortReasonPlayer = "player-abort"

// Outcome is the answer of a commit, the same for every call of one execution
// (spec 03 §10.4).
type Outcome struct {
	Status Status `json:"status"`
	// Code and Message say why a failed commit was rolled back.
	Code        string `json:"code,omitempty"`
	Message     string `json:"message,omitempty"`
	AbortReason string `json:"abortReason,omitempty"`
	// Events are to be sent after the commit, in this order.
	Events          []Event          `json:"events,omitempty"`
	FailedProposals []FailedProposal `json:"failedProposals,omitempty"`
	// Isolated are the dropped runtimes in the order of dropping.
	Isolated      []Isolated `json:"isolatedRuntimes,omitempty"`
	FailedExports []Isolated `json:"failedExports,omitempty"`
	// Suspensions are the ids left open.
	Suspensions    []string `json:"suspensions,omitempty"`
	Jobs           int      `json:"jobs,omitempty"`
	SnapshotFailed string   `json:"snapshotFailed,omitempty"`
	// Counted says that this commit counted the logical turn.
	Counted              bool          `json:"counted,omitempty"`
	CompletedPlayerTurns int           `json:"completedPlayerTurns,omitempty"`
	Phase                session.Phase `json:"phase,omitempty"`
	// EnteredPlaying says that this commit ended the setup phase.
	EnteredPlaying bool `json:"enteredPlaying,omitempty"`
}

// Dropped lists the ids of the dropped runtimes in the order of dropping.
func (o *Outcome) Dropped() []string {
	ids := make([]string, len(o.Isolated))
	for i, r := range o.Isolated {
		ids[i] = r.RuntimeID
	}
	return ids
}

// Types of the session events that a commit gives out (spec 03 §18).
const (
	EventStateChanged         = "state.changed"
	EventPluginDataChanged    = "plugin-data.changed"
	EventEmitted              = "event.emitted"
	EventInteractionRequested = "interaction.requested"
	EventRecordUpdated        = "record.updated"
	EventSessionNotice        = "session.notice"
)

// Event is one session event. ID is the same for every call of the commit.
type Event struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	PluginID   string          `json:"pluginId"`
	RuntimeID  string          `json:"runtimeId"`
	ProposalID string          `json:"proposalId,omitempty"`
	Payload    json.RawMessage `json:"payload"`
}

// FailedProposal is one rejected proposal and why.
type FailedProposal struct {
	Proposal turn.Proposal `json:"proposal"`
	Error    string        `json:"error"`
}

// Isolated is one runtime that was left out and why.
type Isolated struct {
	RuntimeID string `json:"runtimeId"`
	Error     string `json:"error"`
}

// RejectedError refuses one proposal. Code is set where the chapters name one.
type RejectedError struct {
	Code    string
	Message string
	Err     error
}

// Error gives the message, with its code in front.
func (e *RejectedError) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// Unwrap gives the store's error, if there is one.
func (e *RejectedError) Unwrap() error { return e.Err }

func rejectf(format string, args ...any) *RejectedError {
	return &RejectedError{Message: fmt.Sprintf(format, args...)}
}

// failure ends the transaction with a failed outcome. It is the only error
// inside Apply that decides the turn; every other one leaves it undecided.
type failure struct {
	code    string
	message string
	abort   string
	failed  []FailedProposal
}

func (f *failure) Error() string { return f.message }

func failf(code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}
