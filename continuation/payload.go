package continuation

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// SchemaVersion is the version that Freeze writes and Thaw knows.
const SchemaVersion = 1

// Codes of refused payloads.
const (
	// CodeUnknownVersion is a payload of another program's version.
	CodeUnknownVersion = "continuation_version_unknown"
	// CodeMalformed is a payload that is not what Freeze writes.
	CodeMalformed = "continuation_malformed"
)

// Payload is everything a resumed run needs (spec 03 §12.2).
type Payload struct {
	SchemaVersion int `json:"schemaVersion"`
	// ManifestGeneration names the loaded set that the runtime ran under.
	ManifestGeneration string `json:"manifestGeneration"`
	// Transcript holds the placeholder; a function has none.
	Transcript turn.RunRef `json:"transcript"`
	// PartialContent is the captured text, CapturedAt its entry and Parts the
	// entries of earlier answers that late steering joined.
	PartialContent string `json:"partialContent,omitempty"`
	CapturedAt     int    `json:"capturedAt,omitempty"`
	Parts          []int  `json:"parts,omitempty"`

	ToolCallsSoFar   []turn.ToolRecord `json:"toolCallsSoFar"`
	CompletionCalls  []CompletionCall  `json:"completionCalls,omitempty"`
	PendingProposals []turn.Proposal   `json:"pendingProposals"`
	// PendingNotifications are sent with the commit of the resume.
	PendingNotifications []json.RawMessage `json:"pendingNotifications,omitempty"`
	// CallData is the data of successful calls, by call id, before the
	// projection that the model saw.
	CallData         map[string]json.RawMessage  `json:"callData,omitempty"`
	InputSlots       map[string]plugin.InputSlot `json:"inputSlots,omitempty"`
	EmittedEvents    []turn.Event                `json:"emittedEvents,omitempty"`
	ExecutionContext ExecutionContext            `json:"executionContext"`
	Locale           string                      `json:"locale,omitempty"`
	LogicalTurn      int                         `json:"logicalTurn,omitempty"`
	TurnNumber       int                         `json:"turnNumber,omitempty"`
	// CurrentTurnUserMessages is the protected range (spec 03 §16).
	CurrentTurnUserMessages int `json:"currentTurnUserMessages,omitempty"`
	// SuspendToolCallID is the call to answer, "" for a function.
	SuspendToolCallID string `json:"suspendToolCallId,omitempty"`
	// WithheldRuntimeJobs are the jobs of the turn, queued by the last resume.
	WithheldRuntimeJobs []json.RawMessage `json:"withheldRuntimeJobs,omitempty"`
}

// CompletionCall is one executed call as completion contracts see it.
type CompletionCall struct {
	Name    string `json:"name"`
	Success bool   `json:"success"`
	Done    bool   `json:"done"` // runtime-done
}

// ExecutionContext is the identity of the suspended execution (spec 03 §1.2).
// CountPolicy is the one that it would have had without the suspension.
type ExecutionContext struct {
	ExecutionID   string           `json:"executionId"`
	Origin        turn.Origin      `json:"origin"`
	CountPolicy   turn.CountPolicy `json:"countPolicy"`
	LogicalTurnID string           `json:"logicalTurnId,omitempty"`
	SourceTurnID  string           `json:"sourceTurnId,omitempty"`
}

// Freeze writes a payload in the current version. Equal payloads give equal
// bytes.
func Freeze(p Payload) (json.RawMessage, error) {
	p.SchemaVersion = SchemaVersion
	if p.ToolCallsSoFar == nil {
		p.ToolCallsSoFar = []turn.ToolRecord{}
	}
	if p.PendingProposals == nil {
		p.PendingProposals = []turn.Proposal{}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, turn.Errorf("freeze", CodeMalformed, "continuation: %v", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Thaw reads a payload strictly: an unknown version is refused before anything
// else is looked at, naming it; so are unknown members and missing ones.
func Thaw(raw json.RawMessage) (Payload, error) {
	var head struct {
		SchemaVersion *json.RawMessage `json:"schemaVersion"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return Payload{}, malformed("", "it is no JSON object: %v", err)
	}
	if head.SchemaVersion == nil {
		return Payload{}, malformed("schemaVersion", "schemaVersion is missing")
	}
	var version int
	if err := json.Unmarshal(*head.SchemaVersion, &version); err != nil || version != SchemaVersion {
		e := turn.Errorf("thaw", CodeUnknownVersion, "continuation has schemaVersion %s; this program knows %d, resume it with the version that wrote it", *head.SchemaVersion, SchemaVersion)
		e.Field = "schemaVersion"
		return Payload{}, e
	}
	var p Payload
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Payload{}, malformed("", "%v", err)
	}
	return p, p.check()
}

// check holds for both directions: what a resume cannot do without.
func (p *Payload) check() error {
	switch {
	case p.ManifestGeneration == "":
		return malformed("manifestGeneration", "manifestGeneration is empty")
	case p.ExecutionContext.ExecutionID == "":
		return malformed("executionContext.executionId", "executionContext.executionId is empty")
	case p.SuspendToolCallID != "" && (p.Transcript.RunID == "" || p.Transcript.Length < 1):
		return malformed("transcript", "transcript is %q with %d entries, but call %q waits in it", p.Transcript.RunID, p.Transcript.Length, p.SuspendToolCallID)
	}
	switch p.ExecutionContext.CountPolicy {
	case turn.CountNone, turn.CountCompleteTurn:
	default:
		return malformed("executionContext.countPolicy", "executionContext.countPolicy is %q; it is none or complete-player-turn", p.ExecutionContext.CountPolicy)
	}
	return nil
}

func malformed(field, format string, args ...any) error {
	e := turn.Errorf("continuation", CodeMalformed, "%s", fmt.Sprintf(format, args...))
	e.Field = field
	return e
}
