package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// Codes of suspensions and their resumes (spec 03 §19).
const (
	CodeInvalidResumeData  = "invalid_resume_data"
	CodeRuntimeNotFound    = "runtime_not_found"
	CodeSuspensionNotFound = "suspension_not_found"
	CodeSuspensionClaimed  = "suspension_claimed"
	CodeSuspensionClosed   = "suspension_closed"
)

// Sentinels for errors.Is.
var (
	ErrSuspensionClaimed = &Error{Code: CodeSuspensionClaimed}
	ErrSuspensionClosed  = &Error{Code: CodeSuspensionClosed}
)

// MaxResumeDataBytes bounds the data of one resume.
const MaxResumeDataBytes = 32 << 10

// ResumeInput starts workflow Resume (spec 03 §12.3): it goes on with one
// suspended runtime. TurnID is the resume's own turn. Data is any JSON value
// that fits the suspension's resumeSchema, at most 32 KiB.
type ResumeInput struct {
	SessionID    string          `json:"sessionId"`
	TurnID       string          `json:"turnId"`
	SuspensionID string          `json:"suspensionId"`
	Data         json.RawMessage `json:"data,omitempty"`
}

// Validate refuses bad input, naming field and value. Whether the data fits
// the suspension is looked at by whoever knows the suspension.
func (in *ResumeInput) Validate() error {
	bad := func(code, field, value, do string) error {
		e := Errorf("resume", code, "%s is %s; %s", field, value, do)
		e.Field, e.Session, e.Turn = field, in.SessionID, in.TurnID
		return e
	}
	switch {
	case in.SessionID == "":
		return bad(CodeInvalidTurnInput, "sessionId", `""`, "name the session")
	case in.TurnID == "":
		return bad(CodeInvalidTurnInput, "turnId", `""`, "give the resume a turn id of its own")
	case len(in.TurnID) > maxTurnIDBytes:
		return bad(CodeInvalidTurnInput, "turnId", strconv.Quote(in.TurnID[:32]+"…"), "use at most 128 bytes")
	case in.SuspensionID == "":
		return bad(CodeInvalidTurnInput, "suspensionId", `""`, "name the suspension")
	case len(in.Data) > MaxResumeDataBytes:
		return bad(CodeInvalidResumeData, "data", strconv.Itoa(len(in.Data))+" bytes long", "send at most 32768 bytes")
	case !json.Valid(in.Data):
		return bad(CodeInvalidResumeData, "data", "no JSON value", "send one JSON value")
	}
	return nil
}

// Hash tells a repeated resume from another one under the same turn id.
func (in ResumeInput) Hash() string {
	b, err := json.Marshal(in)
	if err != nil { // data that is no JSON, which Validate refuses
		b = []byte(in.SuspensionID + "\n" + in.TurnID + "\n" + string(in.Data))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// ResumePlan is BeginResume's answer: the one runtime that goes on.
type ResumePlan struct {
	Action      PlanAction  `json:"action,omitempty"`
	Replayed    Status      `json:"replayed,omitempty"`
	LogicalTurn int         `json:"logicalTurn"`
	World       string      `json:"world"`
	Stage       string      `json:"stage,omitempty"`
	Level       int         `json:"level,omitempty"`
	Runtime     RuntimeSpec `json:"runtime,omitzero"`
	Seed        RunSeed     `json:"seed,omitzero"`
	// Code and Message are set when the run cannot go on: the resume fails and
	// the suspension is open again.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// SuspendedTurnID is the turn that suspended.
	SuspendedTurnID string `json:"suspendedTurnId,omitempty"`
}

// RunSeed is what a resumed run takes over from the suspended one (spec 03
// §12.3 item 5). Steps, time and corrections are fresh.
type RunSeed struct {
	Length     int             `json:"len,omitempty"`      // transcript entries, the answered placeholder included
	CapturedAt int             `json:"captured,omitempty"` // entry of the captured text, 0 for none
	Parts      []int           `json:"parts,omitempty"`    // earlier answers that late steering joined
	Calls      []CompletedCall `json:"calls,omitempty"`    // executed calls, in order
	Recent     []CallFact      `json:"recent,omitempty"`   // the calls that loop detection compares
	Groups     bool            `json:"groups,omitempty"`   // the transcript holds a complete tool group
}

// CompletedCall is one executed call, as contracts see it: one member of
// completionCalls (spec 03 §12.2) with the call's id.
type CompletedCall struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Success bool   `json:"ok,omitempty"`
}
