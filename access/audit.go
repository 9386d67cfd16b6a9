package access

import "time"

// Action is what an audit entry tells of.
type Action string

// Audited actions.
const (
	ActionResume       Action = "suspension.resume"
	ActionCancel       Action = "suspension.cancel"
	ActionAbort        Action = "turn.abort"
	ActionUndo         Action = "turn.undo"
	ActionRegenerate   Action = "turn.regenerate"
	ActionFork         Action = "session.fork"
	ActionDelete       Action = "session.delete"
	ActionTokenCreate  Action = "token.create"
	ActionTokenRevoke  Action = "token.revoke"
	ActionSessionLimit Action = "session.limit"
)

// Entry is one line of the audit: ids only, no text of a player, so it outlives
// the session that it tells of.
type Entry struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"` // "token <name> (<id>)" or "local"
	Action Action    `json:"action"`
	// Subject is the session's or token's id, Detail a turn's or suspension's.
	Subject string `json:"subject"`
	Detail  string `json:"detail,omitempty"`
}
