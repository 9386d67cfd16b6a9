package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/covel-engine/covel/model/transport"
)

// Exchange makes the transport call of one request body: auth are the
// protocol's own headers, onEvent hears a stream (nil for a whole reply). The
// context carries it through the library.
func (r *Request) Exchange(ctx context.Context, url string, auth http.Header, body []byte, onEvent func(transport.Event) ([]byte, error)) (context.Context, *transport.Call) {
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	for name, values := range auth {
		header[http.CanonicalHeaderKey(name)] = values
	}
	call := &transport.Call{Body: body, Budget: r.budget, Event: onEvent, Header: header, URL: url}
	r.calls = append(r.calls, call)
	r.Record.Body = body
	return transport.WithCall(ctx, call), call
}

// Check gives the typed failure of an exchange, nil when there is a reply to
// read. libraryErr is what the library made of it.
func (r *Request) Check(call *transport.Call, libraryErr error) *Error {
	protocolID := r.Target.Protocol
	switch {
	case call.Failure != nil && call.Status == 0:
		return Normalize(call.Failure)
	case call.Status >= 400:
		f := ParseFault(protocolID, call.Status, call.Reply)
		f.Truncated = call.Truncated
		return f.Error()
	case call.Status >= 300:
		return &Error{
			Code: CodeProvider, StatusCode: call.Status,
			Message: fmt.Sprintf("[%s] HTTP %d — redirects are not followed; set baseUrl to the final address", protocolID, call.Status),
		}
	case call.Failure != nil:
		return r.broken(call.Failure)
	case call.Status == 0 && libraryErr != nil:
		return Normalize(libraryErr)
	}
	return nil
}

// broken is the failure of a reply that was under way.
func (r *Request) broken(err error) *Error {
	var typed *Error
	if errors.As(err, &typed) {
		return typed
	}
	e := &Error{Code: CodeProvider, Message: fmt.Sprintf("[%s] the reply broke off: %v", r.Target.Protocol, innermost(err)), Err: err}
	e.Retriable = !errors.Is(err, transport.ErrTooLarge) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	return e
}

// Unfinished is the failure of a stream that ended without its terminal event
// (spec 04 §8.2).
func (r *Request) Unfinished(missing string) *Error {
	return &Error{
		Code: CodeProvider, Retriable: true,
		Message: fmt.Sprintf("[%s] the stream ended without its terminal event (%s)", r.Target.Protocol, missing),
	}
}

// BrokenReply is the failure of a reply that cannot be read.
func (r *Request) BrokenReply(what string) *Error {
	return &Error{Code: CodeProvider, Retriable: true, Message: fmt.Sprintf("[%s] the reply cannot be read: %s", r.Target.Protocol, what)}
}

// StreamFault reads an error inside a stream or a reply with status 200, nil
// when the payload holds none: "error": null is none.
func (r *Request) StreamFault(payload []byte) *Error {
	var p struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(payload, &p) != nil || p.Type != "error" && emptyError(p.Error) {
		return nil //nolint:nilerr // what is no JSON is no error payload
	}
	f := ParseFault(r.Target.Protocol, 0, payload)
	return f.Error()
}

func emptyError(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "false":
		return true
	}
	return false
}

// Refusal is the error of a reply that the provider refused to give, with its
// usage in the details.
func (r *Request) Refusal(reason, message string, usage *Usage) *Error {
	text := first(message, "the provider refused to answer")
	e := &Error{Code: CodeRefusal, Message: fmt.Sprintf("[%s] %s (%s)", r.Target.Protocol, text, reason)}
	e.setDetail("diagnostics", map[string]any{"refusal": map[string]string{"reason": reason, "message": message}})
	return e.withUsage(usage)
}

// Settle gives a read reply its last checks: a refusal or an error behind HTTP
// 200 fails, with the usage in the details (spec 04 §15.3).
func (r *Request) Settle(result *Result) (*Result, error) {
	result.Usage = result.Usage.Clamped()
	switch result.FinishReason {
	case FinishContentFilter:
		return nil, r.Refusal(result.RawFinishReason, "", &result.Usage)
	case FinishError:
		e := r.BrokenReply("the provider ended it with " + quotedWord(result.RawFinishReason))
		return nil, e.withUsage(&result.Usage)
	}
	return result, nil
}

func quotedWord(s string) string { return `"` + s + `"` }

func (e *Error) withUsage(u *Usage) *Error {
	if u != nil {
		e.setDetail("usage", u.Clamped())
	}
	return e
}

// SameTarget says whether a continuation's items may go to this target as they
// are (spec 04 §16).
func (r *Request) SameTarget(c *Continuation) bool {
	return c != nil && c.Protocol == r.Target.Protocol && c.Model == r.Target.Model && c.BaseURL == r.Target.BaseURL
}

// NewContinuation keeps native items for later requests to the same target.
func (r *Request) NewContinuation(items []json.RawMessage) *Continuation {
	return &Continuation{Protocol: r.Target.Protocol, Model: r.Target.Model, BaseURL: r.Target.BaseURL, Items: items}
}

// blocked is why the budget forbade a re-send that was due, nil for none.
func (r *Request) blocked() error {
	for _, call := range r.calls {
		if call.Blocked != nil {
			return call.Blocked
		}
	}
	return nil
}

// noteSends writes the sends into the record.
func (r *Request) noteSends() {
	for _, call := range r.calls {
		for _, s := range call.Sends {
			sent := SendRecord{Status: s.Status, WaitMs: s.Wait.Milliseconds()}
			if s.Err != nil {
				sent.Error = innermost(s.Err).Error()
			}
			r.Record.Attempts = append(r.Record.Attempts, sent)
		}
	}
}

// compactJSON takes the white space out of a JSON text; what is no JSON stays.
func compactJSON(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
