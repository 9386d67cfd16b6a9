package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// MaxPlayerMessageBytes bounds the player's text of one turn.
const MaxPlayerMessageBytes = 32 << 10

// maxTurnIDBytes bounds a turn's id.
const maxTurnIDBytes = 128

// Origin says who started an execution (spec 03 §1.2).
type Origin string

// Origins of executions.
const (
	OriginPlayer       Origin = "player"
	OriginContinuation Origin = "continuation"
	OriginManual       Origin = "manual"
	OriginBackground   Origin = "background"
	OriginRecursive    Origin = "recursive"
	OriginResume       Origin = "resume"
)

// CountPolicy says whether an execution counts as a player turn (spec 03 §1.2).
type CountPolicy string

// Count policies.
const (
	CountNone         CountPolicy = "none"
	CountCompleteTurn CountPolicy = "complete-player-turn"
)

// Input starts one execution (spec 03 §1.3). It is the plain JSON argument of
// workflow Turn, so a program in any language can start one. The player's text
// is at most 32 KiB.
type Input struct {
	SessionID             string            `json:"sessionId"`
	TurnID                string            `json:"turnId"`
	Origin                Origin            `json:"origin"`
	PlayerMessage         string            `json:"playerMessage,omitempty"`
	Locale                string            `json:"locale,omitempty"`
	UserSettings          json.RawMessage   `json:"userSettings,omitempty"`
	ModelOverride         string            `json:"modelOverride,omitempty"`
	RuntimeModelOverrides map[string]string `json:"runtimeModelOverrides,omitempty"`
	ParentTurnID          string            `json:"parentTurnId,omitempty"`
	LogicalTurnID         string            `json:"logicalTurnId,omitempty"`
	SuppressPlayerMessage bool              `json:"suppressPlayerMessage,omitempty"`
	ManualTrigger         *ManualTrigger    `json:"manualTrigger,omitempty"`
	// RequestOf is internal: a continuation whose message, locale, settings and
	// overrides are those of this stored turn.
	RequestOf string `json:"requestOf,omitempty"`
}

// ManualTrigger targets runtimes by hand (spec 03 §1.3, §13).
type ManualTrigger struct {
	RuntimeID    string          `json:"runtimeId,omitempty"`
	RuntimeIDs   []string        `json:"runtimeIds,omitempty"`
	Payload      json.RawMessage `json:"payload,omitempty"`
	TriggerEvent json.RawMessage `json:"triggerEvent,omitempty"`
	SourceTurnID string          `json:"sourceTurnId,omitempty"`
}

// Targets gives the target ids, repeated ones merged.
func (m *ManualTrigger) Targets() []string {
	if m.RuntimeID != "" {
		return []string{m.RuntimeID}
	}
	seen := make(map[string]bool, len(m.RuntimeIDs))
	ids := make([]string, 0, len(m.RuntimeIDs))
	for _, id := range m.RuntimeIDs {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// Validate refuses bad input with invalid_turn_input, naming field and value.
func (in *Input) Validate() error {
	bad := func(field, value, do string) error {
		e := Errorf("start turn", CodeInvalidTurnInput, "%s is %s; %s", field, value, do)
		e.Field, e.Session, e.Turn = field, in.SessionID, in.TurnID
		return e
	}
	switch {
	case in.SessionID == "":
		return bad("sessionId", `""`, "name the session")
	case in.TurnID == "":
		return bad("turnId", `""`, "give the turn an id of its own")
	case len(in.TurnID) > maxTurnIDBytes:
		return bad("turnId", strconv.Quote(in.TurnID[:32]+"…"), "use at most 128 bytes")
	case len(in.PlayerMessage) > MaxPlayerMessageBytes:
		return bad("playerMessage", strconv.Itoa(len(in.PlayerMessage))+" bytes long", "send at most 32768 bytes")
	case !utf8.ValidString(in.PlayerMessage):
		return bad("playerMessage", "not valid UTF-8", "send UTF-8 text")
	}
	switch in.Origin {
	case OriginPlayer, OriginContinuation, OriginManual, OriginBackground, OriginRecursive, OriginResume:
	default:
		return bad("origin", strconv.Quote(string(in.Origin)), "use player, continuation, manual, background, recursive or resume")
	}
	if m := in.ManualTrigger; m != nil {
		switch {
		case m.RuntimeID != "" && m.RuntimeIDs != nil:
			return bad("manualTrigger", "both runtimeId "+strconv.Quote(m.RuntimeID)+" and runtimeIds", "give one of the two")
		case m.RuntimeID == "" && len(m.RuntimeIDs) == 0:
			return bad("manualTrigger.runtimeIds", "empty", "name at least one runtime")
		}
	}
	if in.Origin == OriginManual && in.ManualTrigger == nil {
		return bad("manualTrigger", "missing", "a manual execution names its runtimes")
	}
	return nil
}

// Hash identifies the input, so that a repeated start can be told from another
// one under the same turn id: the first 32 hex digits of SHA-256 over its JSON.
func (in Input) Hash() string {
	b, err := json.Marshal(in)
	if err != nil { // RawMessage members that are no JSON; Marshal names them
		b = []byte(in.SessionID + "\n" + in.TurnID + "\n" + in.PlayerMessage + "\n" + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
