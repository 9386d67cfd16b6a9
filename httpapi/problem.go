package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/covel-engine/covel/turn"
	"github.com/danielgtaylor/huma/v2"
)

// Codes that only the HTTP face answers.
const (
	codeUnauthorized = "unauthorized"
	codeRateLimited  = "RATE_LIMITED"
	codeInvalid      = "INVALID_VALUE"
)

// Problem is the body of every error (RFC 9457). Kind and Code are those of
// the engine's errors; Detail says what, which value and what to do.
type Problem struct {
	Type    string              `json:"type" example:"about:blank"`
	Title   string              `json:"title"`
	Status  int                 `json:"status"`
	Detail  string              `json:"detail"`
	Kind    turn.Kind           `json:"kind"`
	Code    string              `json:"code"`
	Field   string              `json:"field,omitempty"`
	Session string              `json:"sessionId,omitempty"`
	Turn    string              `json:"turnId,omitempty"`
	Runtime string              `json:"runtimeId,omitempty"`
	Errors  []*huma.ErrorDetail `json:"errors,omitempty" doc:"Each fault of a request that does not match its schema."`
}

// Error gives the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus gives the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType names the problem's own type.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// problemOf turns an engine error into its problem. An internal error's text
// stays in the log: it may name hosts and tables.
func problemOf(err error) *Problem {
	var e *turn.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = turn.Errorf("", turn.CodeTimeout, "the request ended before its answer; send it again")
	default:
		e = turn.Errorf("", turn.CodeHandlerError, "%w", err)
	}
	p := &Problem{
		Type: "about:blank", Status: e.Kind.HTTPStatus(), Kind: e.Kind, Code: e.Code, Field: e.Field,
		Session: e.Session, Turn: e.Turn, Runtime: e.Runtime, Detail: e.Error(),
	}
	if e.Code == turn.CodeUnavailable {
		p.Status = http.StatusServiceUnavailable
	}
	if e.Kind == turn.KindInternal {
		p.Detail = "the engine cannot answer now; try again, and tell the operator the code " + e.Code
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// schemaProblem is a fault that the API library found in a request: a body
// that is too large, unreadable or does not match its schema.
func schemaProblem(status int, message string, errs ...error) huma.StatusError {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Kind: turn.KindInvalid, Code: codeInvalid, Detail: message}
	if status >= http.StatusInternalServerError {
		p.Kind, p.Code = turn.KindInternal, turn.CodeHandlerError
		return p
	}
	for _, err := range errs {
		var detail huma.ErrorDetailer
		if !errors.As(err, &detail) {
			detail = &huma.ErrorDetail{Message: err.Error()}
		}
		d := *detail.ErrorDetail()
		d.Value = nil // a value may be large or private; the location says enough
		p.Errors = append(p.Errors, &d)
	}
	if len(p.Errors) > 0 {
		p.Field = strings.TrimPrefix(p.Errors[0].Location, "body.")
		p.Detail = message + ": " + strings.TrimSpace(p.Errors[0].Location+" "+p.Errors[0].Message)
	}
	return p
}
