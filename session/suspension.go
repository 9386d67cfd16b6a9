package session

import (
	"encoding/json"
	"time"
)

// SuspensionStatus is the life of a suspension (spec 03 §12.2).
type SuspensionStatus string

// Suspension statuses. Resolved and cancelled are closed for good.
const (
	SuspensionOpen      SuspensionStatus = "open"
	SuspensionClaimed   SuspensionStatus = "claimed"
	SuspensionResolved  SuspensionStatus = "resolved"
	SuspensionCancelled SuspensionStatus = "cancelled"
)

// Suspension is one paused runtime (spec 02 §17, spec 03 §12.2). Payload is
// the continuation, owned by package continuation.
type Suspension struct {
	ID           string           `json:"id"`
	SessionID    string           `json:"sessionId"`
	TurnID       string           `json:"turnId"`
	RuntimeID    string           `json:"runtimeId"`
	PluginID     string           `json:"pluginId"`
	Reason       string           `json:"reason"`
	ResumeSchema json.RawMessage  `json:"resumeSchema,omitempty"`
	Payload      json.RawMessage  `json:"payload,omitempty"`
	Status       SuspensionStatus `json:"status"`
	ClaimToken   string           `json:"-"`
	ClaimedAt    *time.Time       `json:"claimedAt,omitempty"`
	Deadline     *time.Time       `json:"deadline,omitempty"`
	ClosedReason string           `json:"closedReason,omitempty"`
	CreatedAt    time.Time        `json:"createdAt"`
	ResolvedAt   *time.Time       `json:"resolvedAt,omitempty"`
}

// Expired says that an open suspension's deadline has come.
func (s *Suspension) Expired(now time.Time) bool {
	return s.Status == SuspensionOpen && s.Deadline != nil && !now.Before(*s.Deadline)
}
