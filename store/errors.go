package store

import "fmt"

// Codes of store errors (spec 02 §24). CodeSessionLost answers a write of an
// execution that no longer owns the session.
const (
	CodeNotFound             = "NOT_FOUND"
	CodeAlreadyExists        = "ALREADY_EXISTS"
	CodeInvalidValue         = "INVALID_VALUE"
	CodeForeignID            = "FOREIGN_ID"
	CodeVersionConflict      = "VERSION_CONFLICT"
	CodeMarkMismatch         = "MARK_MISMATCH"
	CodeTurnAlreadyCommitted = "TURN_ALREADY_COMMITTED"
	CodeContinuationTaken    = "CONTINUATION_TAKEN"
	CodeContinuationClosed   = "CONTINUATION_CLOSED"
	CodeReservedNamespace    = "RESERVED_NAMESPACE"
	CodeNestedTransaction    = "NESTED_TRANSACTION"
	CodeChunkConflict        = "CHUNK_CONFLICT"
	CodeChunkGap             = "CHUNK_GAP"
	CodeStaleAttempt         = "STALE_ATTEMPT"
	CodeStreamClosed         = "STREAM_CLOSED"
	CodeSessionLost          = "session_lost"
	// CodeSchemaNewer is a database that a newer program wrote.
	CodeSchemaNewer = "SCHEMA_NEWER"
	// CodeUnreadable is a file or server that is no usable database.
	CodeUnreadable = "UNREADABLE"
	// CodeInUse is a database file that another engine has open for writing.
	CodeInUse = "IN_USE"
	// CodeReadOnly is a write through a store that was opened for reading.
	CodeReadOnly = "READ_ONLY"
	// CodeStoreFailed wraps a driver's error that has no code of its own.
	CodeStoreFailed = "STORE_FAILED"
)

// Error is a typed store error. Both stores answer the same code for the same
// fault; driver errors are wrapped.
type Error struct {
	Code  string
	Op    string // the operation, such as "append messages"
	Table string
	ID    string
	Value string
	Err   error
}

// Error names operation, table, id and value.
func (e *Error) Error() string {
	s := e.Op
	if e.Table != "" {
		s += " (" + e.Table + ")"
	}
	s += ": " + e.Code
	if e.ID != "" {
		s += fmt.Sprintf(": id %q", e.ID)
	}
	if e.Value != "" {
		s += fmt.Sprintf(": value %q", e.Value)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// Is matches a target *Error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Sentinels for errors.Is.
var (
	ErrNotFound    = &Error{Code: CodeNotFound}
	ErrSessionLost = &Error{Code: CodeSessionLost}
)
