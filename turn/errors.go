package turn

import (
	"errors"
	"fmt"
)

// Codes that code outside this package compares with. Other codes are only
// carried; their kinds stand in kind.go, their meaning in spec 03 §19.
const (
	CodeInvalidTurnInput        = "invalid_turn_input"
	CodeSessionNotFound         = "session_not_found"
	CodeSessionNotActive        = "session_not_active"
	CodeTurnInProgress          = "turn_in_progress"
	CodeTurnIDConflict          = "turn_id_conflict"
	CodeNoActiveTurn            = "no_active_turn"
	CodeSessionLost             = "session_lost"
	CodeTurnAborted             = "TURN_ABORTED"
	CodeMaxSteps                = "max_steps"
	CodeTimeout                 = "timeout"
	CodeToolLoopDetected        = "tool_loop_detected"
	CodeCorrectionLimit         = "correction_limit"
	CodeRequireToolUse          = "require_tool_use"
	CodeRequireExplicit         = "require_explicit_completion"
	CodeEmptyNarrative          = "empty_narrative"
	CodeToolFailedWithoutOutput = "tool_failed_without_output"
	CodeHandlerError            = "handler_error"
	CodeOutputSchemaInvalid     = "output-schema-invalid"
	CodeCommitFailed            = "turn_commit_failed"
	// CodeUnavailable is a Temporal server or database that cannot be reached.
	CodeUnavailable = "unavailable"
	// CodeDataDirLocked is a data directory that another engine owns.
	CodeDataDirLocked = "data_dir_locked"
)

// Sentinels for errors.Is. They match any *Error of the same code.
var (
	ErrTurnInProgress  = &Error{Code: CodeTurnInProgress}
	ErrSessionNotFound = &Error{Code: CodeSessionNotFound}
	ErrTurnIDConflict  = &Error{Code: CodeTurnIDConflict}
	ErrSessionLost     = &Error{Code: CodeSessionLost}
)

// Error is the one error type of the engine. Code is spelled as in the
// chapters; Kind follows from it; Err says in one line what, which value and
// what to do.
type Error struct {
	Op      string
	Kind    Kind
	Code    string
	Field   string
	Session string
	Turn    string
	Runtime string
	Err     error
}

// Errorf makes an error of a code; its kind follows from the code.
func Errorf(op, code, format string, args ...any) *Error {
	return &Error{Op: op, Kind: KindOf(code), Code: code, Err: fmt.Errorf(format, args...)}
}

// Error gives "op: text (code)".
func (e *Error) Error() string {
	text := e.Code
	if e.Err != nil {
		text = fmt.Sprintf("%v (%s)", e.Err, e.Code)
	}
	if e.Op == "" {
		return text
	}
	return e.Op + ": " + text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches a target of the same code, so that the sentinels work.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// CodeOf gives the code of an error, "" for none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
