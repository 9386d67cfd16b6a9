package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

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
