package tool

import (
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/turn"
)

// refusal is a call that failed: its code, text and details.
type refusal struct {
	code    string
	message string
	details json.RawMessage
}

func refusef(code, format string, args ...any) *refusal {
	return &refusal{code: code, message: fmt.Sprintf(format, args...)}
}

// Bounds of what a failed call tells, whatever a plugin or a schema says.
const (
	maxMessageRunes = 2000
	maxDetailBytes  = 16 << 10
	maxProblems     = 20
)

// outcome makes the envelope of a failed call (spec 05 §11.2).
func (r *refusal) outcome() Outcome {
	if runes := []rune(r.message); len(runes) > maxMessageRunes {
		r.message = string(runes[:maxMessageRunes-1]) + "…"
	}
	b := ordered.AppendString([]byte(`{"ok":false,"error":{"code":`), r.code)
	b = append(b, `,"message":`...)
	b = ordered.AppendString(b, r.message)
	if len(r.details) > 0 && len(r.details) <= maxDetailBytes {
		if details, err := modelJSON(r.details); err == nil {
			b = append(append(b, `,"details":`...), details...)
		}
	}
	b = append(b, "}}"...)
	return Outcome{Result: string(b), Code: r.code, Message: r.message}
}

// success makes the envelope of a successful call.
func success(summary string, data json.RawMessage, staged string) (string, error) {
	b := ordered.AppendString([]byte(`{"ok":true,"summary":`), summary)
	if len(data) > 0 {
		projected, err := modelJSON(data)
		if err != nil {
			return "", err
		}
		b = append(append(b, `,"data":`...), projected...)
	}
	if staged != "" {
		b = ordered.AppendString(append(b, `,"staged":`...), staged)
	}
	return string(append(b, '}')), nil
}

// modelJSON is structured data as a model sees it: without bookkeeping, in the
// order in which it was written (spec 01 §9).
func modelJSON(data json.RawMessage) (json.RawMessage, error) { return assembler.ModelFacingJSON(data) }

// Cancelled answers a call that is not run. Because is turn.CancelSuspended,
// turn.CancelTerminated or turn.CancelCut.
func Cancelled(because string) Outcome {
	text := "skipped because an earlier call suspended"
	switch because {
	case turn.CancelTerminated:
		text = "skipped because an earlier call ended the run"
	case turn.CancelCut:
		text = "skipped because the reply was cut at the output limit"
	}
	return refusef(turn.ResultCancelled, "%s", text).outcome()
}

// Lost answers a call that was lost with its worker and must not be made
// again.
func Lost() Outcome {
	return refusef(turn.ResultOutcomeUnknown, "the call was interrupted and its outcome is unknown; it was not repeated").outcome()
}

// Late answers a call whose result came after the runtime's deadline.
func Late() Outcome {
	return refusef(turn.ResultExecutionError, "the result came after the time limit of the run and was discarded").outcome()
}

// Denied answers a call that a hook or a policy refused.
func Denied(reason string) Outcome { return refusef(turn.ResultDenied, "%s", reason).outcome() }
