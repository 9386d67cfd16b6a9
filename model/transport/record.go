package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// authHeaders never come from a library: only the call's own are sent.
var authHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"}

// recorder is layer 1: it edits what a library wants to send and keeps what
// comes back. Requests without a Call pass untouched.
type recorder struct{ next http.RoundTripper }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	call := CallFrom(req.Context())
	if call == nil {
		return r.next.RoundTrip(req)
	}
	edited, err := edit(req, call)
	if err != nil {
		call.Failure = err
		return nil, err
	}
	resp, err := r.next.RoundTrip(edited)
	if err != nil {
		call.Failure = err
		return nil, err
	}
	call.Status, call.ReplyHeader = resp.StatusCode, resp.Header
	switch {
	case resp.StatusCode >= 300:
		return refusedReply(resp, call)
	case call.Event != nil:
		return streamedReply(resp, call), nil
	default:
		return wholeReply(resp, call)
	}
}

// edit puts URL, headers and body of the call in place.
func edit(req *http.Request, call *Call) (*http.Request, error) {
	target, err := url.Parse(call.URL)
	if err != nil {
		return nil, fmt.Errorf("request URL: %w", err)
	}
	if req.Body != nil {
		_ = req.Body.Close() // the library's own bytes are not sent
	}
	edited := req.Clone(req.Context())
	edited.URL, edited.Host = target, target.Host
	for _, name := range authHeaders {
		edited.Header.Del(name)
	}
	for name, values := range call.Header {
		edited.Header[http.CanonicalHeaderKey(name)] = values
	}
	edited.Header.Set("Content-Type", "application/json")
	edited.ContentLength = int64(len(call.Body))
	edited.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(call.Body)), nil }
	edited.Body, _ = edited.GetBody()
	return edited, nil
}

// emptyObject is what a library is handed in the place of a recorded reply.
var emptyObject = []byte("{}")

// refusedReply keeps an error's body, at most 1 MiB of it; a redirect is closed
// unread.
func refusedReply(resp *http.Response, call *Call) (*http.Response, error) {
	defer resp.Body.Close()
	if resp.StatusCode < 400 {
		return handedOver(resp), nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, MaxErrorBody+1)) // a part still says more than nothing
	if len(body) > MaxErrorBody {
		body, call.Truncated = body[:MaxErrorBody], true
	}
	call.Reply = body
	return handedOver(resp), nil
}

func wholeReply(resp *http.Response, call *Call) (*http.Response, error) {
	defer resp.Body.Close()
	var err error
	call.Reply, err = io.ReadAll(io.LimitReader(resp.Body, MaxReply+1))
	if err == nil && len(call.Reply) > MaxReply {
		err = ErrTooLarge
	}
	if err != nil {
		call.Failure = err
		return nil, err
	}
	return handedOver(resp), nil
}

// handedOver is the response as a library gets it.
func handedOver(resp *http.Response) *http.Response {
	resp.Body = io.NopCloser(bytes.NewReader(emptyObject))
	resp.ContentLength = int64(len(emptyObject))
	resp.Header = http.Header{"Content-Type": {"application/json"}}
	return resp
}

// streamedReply hands the library what the call's Event makes of each event.
func streamedReply(resp *http.Response, call *Call) *http.Response {
	resp.Body = &tappedStream{events: resp.Body.(*eventStream), call: call} //nolint:errcheck,forcetypeassert // layer 2 gives it
	resp.ContentLength = -1
	resp.Header = http.Header{"Content-Type": {"text/event-stream"}}
	return resp
}

// tappedStream reads events, shows them to the call and renders what the
// library is to see of them.
type tappedStream struct {
	events  *eventStream
	call    *Call
	pending []byte
	err     error
}

func (t *tappedStream) Read(p []byte) (int, error) {
	for len(t.pending) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		event, err := t.events.next()
		if err != nil {
			t.end(err)
			continue
		}
		forward, err := t.call.Event(event)
		if err != nil {
			t.end(err)
			continue
		}
		if forward != nil {
			t.pending = renderEvent(t.pending[:0], Event{Type: event.Type, Data: forward})
		}
	}
	n := copy(p, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}

// end ends the stream. The library sees a clean end, whatever happened: what it
// would print or log of an error is out of anybody's hands.
func (t *tappedStream) end(err error) {
	t.err = io.EOF
	if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.call.Failure = err
	}
	_ = t.events.Close()
}

func (t *tappedStream) Close() error { return t.events.Close() }
