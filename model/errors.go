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
	Code       string                     `json:"code"`
	Message    string                     `json:"message"`
	Provider   string                     `json:"provider,omitempty"`
	Model      string                     `json:"model,omitempty"`
	Retriable  bool                       `json:"retriable"`
	StatusCode int                        `json:"statusCode,omitempty"`
	Details    map[string]json.RawMessage `json:"details,omitempty"`
	Err        error                      `json:"-"` // the cause
	// Records has one entry a target that was tried (spec 04 §18).
	Records []RequestRecord `json:"-"`
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

// setDetail adds one member of the details.
func (e *Error) setDetail(name string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		return // no value of this package lacks a JSON form
	}
	if e.Details == nil {
		e.Details = map[string]json.RawMessage{}
	}
	e.Details[name] = raw
}

// WithDetail adds one member of the details and gives the error back.
func (e *Error) WithDetail(name string, value any) *Error {
	e.setDetail(name, value)
	return e
}

// Detail reads a text member of the details, "" when there is none.
func (e *Error) Detail(name string) string {
	var s string
	if json.Unmarshal(e.Details[name], &s) != nil {
		return ""
	}
	return s
}
