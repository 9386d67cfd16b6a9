package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model/transport"
)

// Normalize gives an error its type: typed errors pass unchanged, raw
// transport errors become PROVIDER_ERROR, retriable only for known link
// failures (spec 04 §6.5).
func Normalize(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var refused *transport.RefusedError
	if errors.As(err, &refused) {
		return &Error{Code: CodeConfig, Message: "baseUrl: " + refused.Error(), Err: err}
	}
	return &Error{Code: CodeProvider, Message: innermost(err).Error(), Retriable: LinkFailure(err), Err: err}
}

// LinkFailure says whether an error is a known failure of the link.
func LinkFailure(err error) bool { return transport.LinkFailure(err) }

// innermost unwraps to the cause that says most.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// Kind is what a provider's error words mean (spec 04 §6.6).
type Kind string

// Kinds of provider faults.
const (
	KindNone           Kind = ""
	KindRefusal        Kind = "refusal"
	KindQuota          Kind = "quota"
	KindAuth           Kind = "auth"
	KindNotFound       Kind = "not_found"
	KindInvalidRequest Kind = "invalid_request"
)

var exactKinds = map[Kind][]string{
	KindRefusal:  {"content_filter", "content_policy_violation"},
	KindQuota:    {"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"},
	KindAuth:     {"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "unauthenticated"},
	KindNotFound: {"not_found_error", "model_not_found", "not_found"},
	KindInvalidRequest: {
		"invalid_request_error", "invalid_argument", "invalid_prompt", "context_length_exceeded", "request_too_large",
	},
}

var fragmentKinds = []struct {
	kind      Kind
	fragments []string
}{
	{KindRefusal, []string{"content_filter", "content_policy", "safety", "refusal"}},
	{KindQuota, []string{"insufficient_quota", "insufficient_balance", "billing"}},
	{KindAuth, []string{"authentication", "permission"}},
	{KindNotFound, []string{"not_found"}},
	{KindInvalidRequest, []string{"invalid_request", "context_length", "token_limit"}},
}

// FaultKind reads a provider's code and type: the code exactly, then by
// fragment; then the type likewise.
func FaultKind(code, typ string) Kind {
	for _, word := range []string{strings.ToLower(code), strings.ToLower(typ)} {
		if word == "" {
			continue
		}
		for kind, words := range exactKinds {
			if slices.Contains(words, word) {
				return kind
			}
		}
		for _, f := range fragmentKinds {
			if slices.ContainsFunc(f.fragments, func(s string) bool { return strings.Contains(word, s) }) {
				return f.kind
			}
		}
	}
	return KindNone
}

// Fault is what a provider said of a failure.
type Fault struct {
	Protocol  string
	Status    int // 0 for a fault inside a stream or a whole reply
	Code      string
	Type      string
	Message   string
	Param     string
	Truncated bool // the body was over 1 MiB
}

// ParseFault reads a provider's error body in any of the protocols' shapes.
func ParseFault(protocolID string, status int, body []byte) Fault {
	f := Fault{Protocol: protocolID, Status: status}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
	}
	if json.Unmarshal(body, &outer) != nil {
		var list []json.RawMessage // Gemini streams answer a list with one error
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			return ParseFault(protocolID, status, list[0])
		}
		f.Message = cut(strings.TrimSpace(string(body)), 500)
		return f
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
		Status  string          `json:"status"`
		Message string          `json:"message"`
		Param   string          `json:"param"`
	}
	var text string
	switch {
	case json.Unmarshal(outer.Error, &inner) == nil && inner.Message+inner.Type+inner.Status+string(inner.Code) != "":
		f.Code, f.Type, f.Message, f.Param = word(inner.Code), inner.Type, inner.Message, inner.Param
		if inner.Status != "" {
			f.Code = inner.Status
		}
	case json.Unmarshal(outer.Error, &text) == nil && text != "":
		f.Message = text
	default:
		f.Code, f.Type, f.Message = word(outer.Code), outer.Type, outer.Message
	}
	return f
}

// word reads a code that may be a text or a number.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return strings.TrimPrefix(string(raw), "null")
}

// Error is the typed error of a fault (spec 04 §2.4).
func (f Fault) Error() *Error {
	message := f.Message
	if message == "" {
		message = first(f.Code, f.Type, "no message")
	}
	e := &Error{Code: CodeProvider, StatusCode: f.Status, Message: fmt.Sprintf("[%s] %s", f.Protocol, message)}
	if f.Status != 0 {
		e.Message = fmt.Sprintf("[%s] HTTP %d — %s", f.Protocol, f.Status, message)
	}
	kind := FaultKind(f.Code, f.Type)
	switch {
	case kind == KindRefusal:
		e.Code = CodeRefusal
		e.setDetail("diagnostics", map[string]any{"refusal": map[string]string{"reason": first(f.Code, f.Type), "message": f.Message}})
	case f.Status == 429:
		e.Code, e.Retriable = CodeRateLimited, true
	case f.Status == 0, f.Status == 408, f.Status == 409, f.Status >= 500:
		e.Retriable = true
	}
	for name, value := range map[string]string{"providerCode": f.Code, "providerType": f.Type, "message": f.Message} {
		if value != "" {
			e.setDetail(name, value)
		}
	}
	if f.Truncated {
		e.setDetail("bodyTruncated", true)
	}
	if f.Status == 400 && argumentsNotJSON(f.Message) {
		e.setDetail("requestFault", "tool_arguments_not_json")
	}
	return e
}

// argumentsNotJSON says whether a provider complains that function arguments
// must be JSON, a fault that the tool loop can repair (spec 04 §6.8).
func argumentsNotJSON(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "argument") && strings.Contains(m, "json") &&
		(strings.Contains(m, "function") || strings.Contains(m, "tool"))
}

// Class is what a player is told of a failure (spec 04 §6.7).
type Class string

// Classes of failures.
const (
	ClassRefused     Class = "refused"
	ClassConfig      Class = "config"
	ClassQuota       Class = "quota"
	ClassTimeout     Class = "timeout"
	ClassUnreachable Class = "unreachable"
	ClassAuth        Class = "auth"
	ClassNotFound    Class = "not_found"
	ClassRateLimited Class = "rate_limited"
	ClassOverloaded  Class = "overloaded"
	ClassServer      Class = "server"
	ClassBadRequest  Class = "bad_request"
	ClassUnknown     Class = "unknown"
)

// Classify gives the class of a failure; the first rule that fits decides.
func Classify(err error) Class {
	e := Normalize(err)
	kind := FaultKind(e.Detail("providerCode"), e.Detail("providerType"))
	lower := strings.ToLower(e.Message)
	switch {
	case e.Code == CodeRefusal:
		return ClassRefused
	case e.Code == CodeConfig:
		return ClassConfig
	case e.StatusCode == 402, kind == KindQuota, containsAny(lower, "quota", "balance", "billing"):
		return ClassQuota
	case e.Code == CodeBudgetExceeded, e.StatusCode == 408, e.StatusCode == 504, isTimeout(err):
		return ClassTimeout
	case e.StatusCode == 0 && unreachable(err):
		return ClassUnreachable
	case e.StatusCode == 401, e.StatusCode == 403, kind == KindAuth:
		return ClassAuth
	case e.StatusCode == 404, kind == KindNotFound:
		return ClassNotFound
	case e.StatusCode == 429, e.Code == CodeRateLimited:
		return ClassRateLimited
	case e.StatusCode == 503, e.StatusCode == 529:
		return ClassOverloaded
	case e.StatusCode >= 500:
		return ClassServer
	case e.StatusCode >= 400:
		return ClassBadRequest
	}
	return ClassUnknown
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

func unreachable(err error) bool {
	text := strings.ToLower(innermost(err).Error())
	return LinkFailure(err) || containsAny(text, "connection", "dns", "no such host", "tls", "certificate", "x509", "network is unreachable")
}

func containsAny(s string, fragments ...string) bool {
	return slices.ContainsFunc(fragments, func(f string) bool { return strings.Contains(s, f) })
}
