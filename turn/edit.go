package turn

import (
	"encoding/json"
	"strconv"
)

// EditAction names a short change of a session outside of its turns.
type EditAction string

// Edits. They run under the session's workflow id, so no turn runs meanwhile
// (spec 03 §17).
const (
	EditCancelSuspension EditAction = "cancel-suspension"
)

// EditInput starts workflow Edit. EditID makes a repeated start safe.
type EditInput struct {
	SessionID string     `json:"sessionId"`
	EditID    string     `json:"editId"`
	Action    EditAction `json:"action"`
	// SuspensionID and Reason belong to cancel-suspension.
	SuspensionID string `json:"suspensionId,omitempty"`
	Reason       string `json:"reason,omitempty"`
	// Data is the form's values and the like: one JSON value.
	Data json.RawMessage `json:"data,omitempty"`
}

// Validate refuses bad input, naming field and value.
func (in *EditInput) Validate() error {
	bad := func(field, value, do string) error {
		e := Errorf("edit session", CodeInvalidTurnInput, "%s is %s; %s", field, value, do)
		e.Field, e.Session = field, in.SessionID
		return e
	}
	switch {
	case in.SessionID == "":
		return bad("sessionId", `""`, "name the session")
	case in.EditID == "":
		return bad("editId", `""`, "give the edit an id of its own")
	case len(in.Reason) > maxReasonBytes:
		return bad("reason", strconv.Itoa(len(in.Reason))+" bytes long", "say it in 512 bytes")
	}
	switch in.Action {
	case EditCancelSuspension:
		if in.SuspensionID == "" {
			return bad("suspensionId", `""`, "name the suspension")
		}
	default:
		return bad("action", strconv.Quote(string(in.Action)), "use cancel-suspension")
	}
	return nil
}

const maxReasonBytes = 512

// EditResult is what workflow Edit answers.
type EditResult struct {
	// Jobs says how many jobs the edit has released.
	Jobs int `json:"jobs,omitempty"`
	// Counted says that the edit counted a turn: it closed the last suspension.
	Counted bool `json:"counted,omitempty"`
}
