package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// Status says whether a session takes turns (spec 03 §1.1).
type Status string

// Session statuses.
const (
	StatusActive Status = "active"
	StatusPaused Status = "paused"
	StatusEnded  Status = "ended"
)

// Phase says which stages a turn runs (spec 03 §3.1).
type Phase string

// Session phases.
const (
	PhaseSetup   Phase = "setup"
	PhasePlaying Phase = "playing"
)

// Session is one game (spec 02 §14 sessions, spec 03 §1.1).
type Session struct {
	ID string `json:"id"`
	// Tenant is the customer that the session belongs to; "" is none.
	Tenant                string                `json:"tenant,omitempty"`
	WorldID               string                `json:"worldId"`
	Status                Status                `json:"status"`
	Phase                 Phase                 `json:"phase"`
	Locale                string                `json:"locale"`
	TurnCount             int                   `json:"turnCount"`
	CompletedPlayerTurns  int                   `json:"completedPlayerTurns"`
	PreGameCompleted      bool                  `json:"preGameCompleted"`
	SetupRuntimes         map[string]SetupEntry `json:"setupRuntimes,omitempty"`
	ActivePlugins         []string              `json:"activePlugins"`
	Seats                 []Seat                `json:"seats,omitempty"`
	Metadata              json.RawMessage       `json:"metadata,omitempty"`
	RuntimeModelOverrides map[string]string     `json:"runtimeModelOverrides,omitempty"`
	// Fence is the executionId that may write (spec 02 §14).
	Fence string `json:"-"`
	// NextMessageSeq is the sequence number of the next message, from 1.
	NextMessageSeq int64     `json:"-"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
}

// SetupState is the state of one setup runtime (spec 03 §4.3).
type SetupState string

// Setup states.
const (
	SetupPending SetupState = "pending"
	SetupDone    SetupState = "done"
	SetupBlocked SetupState = "blocked"
)

// SetupEntry is one member of a session's setup map (spec 03 §1.1).
type SetupEntry struct {
	State         SetupState `json:"state"`
	PluginVersion string     `json:"pluginVersion"`
	Generation    int        `json:"generation"`
	Attempts      int        `json:"attempts"`
	Reason        string     `json:"reason,omitempty"`
	BlockedAt     *time.Time `json:"blockedAt,omitempty"`
}

// Seat is one place at the table (spec 05 §12.8).
type Seat struct {
	ID                 string   `json:"id"`
	Primary            bool     `json:"primary,omitempty"`
	CharacterIDs       []string `json:"characterIds"`
	CurrentCharacterID string   `json:"currentCharacterId,omitempty"`
}

// PrimarySeat gives the flagged seat, else the first (spec 05 §12.8).
func PrimarySeat(seats []Seat) (Seat, bool) {
	for _, s := range seats {
		if s.Primary {
			return s, true
		}
	}
	if len(seats) == 0 {
		return Seat{}, false
	}
	return seats[0], true
}

// LogicalTurn is the number a player would give the next turn (spec 03 §1.2).
func (s *Session) LogicalTurn() int { return s.CompletedPlayerTurns + 1 }

// Validate names the first field whose value the store would refuse.
func (s *Session) Validate() error {
	switch {
	case s.ID == "":
		return fmt.Errorf("session.id is empty; give the session an id")
	case s.WorldID == "":
		return fmt.Errorf("session.worldId is empty; name a world")
	case s.Status != StatusActive && s.Status != StatusPaused && s.Status != StatusEnded:
		return fmt.Errorf("session.status %q is not one of active, paused, ended", s.Status)
	case s.Phase != PhaseSetup && s.Phase != PhasePlaying:
		return fmt.Errorf("session.phase %q is not one of setup, playing", s.Phase)
	}
	return nil
}
