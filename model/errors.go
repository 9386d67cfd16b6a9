package model

import (
	"encoding/json"
	"fmt"
)

// Codes of model calls (spec 04 §2.4).
const (
	CodeConfig         = "CONFIG_ERROR"
	CodeRateLimited    = "RATE_LIMITED"
	CodeProvider       = "PROVIDER_ERROR"
	CodeRefusal        = "REFUSAL"
	CodeSchema         = "SCHEMA_VALIDATION_FAILED"
	CodeBudgetExceeded = "REQUEST_BUDGET_EXCEEDED"
)

// Error is a failed model call (spec 04 §2.4).
type Error struct {
	Code       string
	Message    string
	Provider   string
	Model      string
	Retriable  bool
	StatusCode int
	Details    map[string]json.RawMessage
	Err        error
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Configf makes a CONFIG_ERROR: nothing is sent, not retriable, the message
// names field and value.
func Configf(format string, args ...any) *Error {
	return &Error{Code: CodeConfig, Message: fmt.Sprintf(format, args...)}
}
