package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Event is one server-sent event. Data is its data lines joined by newlines.
type Event struct {
	Type string
	Data []byte
}

// Done is the payload with which many providers end a stream. It is never an
// event: it ends the stream.
const Done = "[DONE]"

// normaliser is layer 2: a streamed reply's body becomes an eventStream.
type normaliser struct{ next http.RoundTripper }

func (n *normaliser) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if call := CallFrom(req.Context()); call != nil && call.Event != nil && resp.StatusCode < 300 {
		resp.Body = &eventStream{body: resp.Body, lines: bufio.NewReaderSize(resp.Body, 16<<10)}
	}
	return resp, nil
}

// eventStream reads server-sent events: LF, CRLF or CR ends a line, wherever a
// chunk is cut; several data lines are one payload; comments and unknown fields
// are skipped; an event counts only when a blank line closes it.
type eventStream struct {
	body   io.ReadCloser
	lines  *bufio.Reader
	line   []byte
	afterR bool // the last line ended in CR: an LF that follows belongs to it
	begun  bool
	rest   []byte // rendered bytes that Read has not given yet
}

// next gives the next event, io.EOF at the end or after [DONE].
func (s *eventStream) next() (Event, error) {
	event := Event{}
	hasData := false
	for {
		line, err := s.readLine()
		if err != nil {
			return Event{}, err // an unfinished event is dropped
		}
		if len(line) == 0 {
			if len(event.Data) == 0 { // without data it is no event
				event, hasData = Event{}, false
				continue
			}
			if string(bytes.TrimSpace(event.Data)) == Done {
				_ = s.Close()
				return Event{}, io.EOF
			}
			return event, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if hasData {
				event.Data = append(event.Data, '\n')
			}
			if len(event.Data)+len(value) > MaxEvent {
				return Event{}, ErrTooLarge
			}
			event.Data = append(event.Data, value...)
			hasData = true
		case "event":
			event.Type = string(value)
		}
	}
}

// readLine gives a line without its end. The bytes are good until the next call.
func (s *eventStream) readLine() ([]byte, error) {
	s.line = s.line[:0]
	if !s.begun {
		s.begun = true
		if mark, err := s.lines.Peek(3); err == nil && string(mark) == "\xEF\xBB\xBF" {
			_, _ = s.lines.Discard(3)
		}
	}
	for {
		if _, err := s.lines.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := s.lines.Peek(s.lines.Buffered())
		if s.afterR {
			s.afterR = false
			if chunk[0] == '\n' {
				_, _ = s.lines.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			s.line = append(s.line, chunk...)
			_, _ = s.lines.Discard(len(chunk))
			if len(s.line) > MaxEvent {
				return nil, ErrTooLarge
			}
			continue
		}
		s.line = append(s.line, chunk[:end]...)
		s.afterR = chunk[end] == '\r'
		_, _ = s.lines.Discard(end + 1)
		return s.line, nil
	}
}

// Read gives the events in normal form to a reader that wants bytes.
func (s *eventStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		event, err := s.next()
		if err != nil {
			return 0, err
		}
		s.rest = renderEvent(s.rest[:0], event)
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close closes the connection's body.
func (s *eventStream) Close() error { return s.body.Close() }

// renderEvent writes an event as libraries read it: one event line, one data
// line, a blank line, all LF. The type comes from the payload if absent.
func renderEvent(b []byte, e Event) []byte {
	typ := e.Type
	if typ == "" {
		typ = payloadType(e.Data)
	}
	if typ != "" {
		b = append(append(append(b, "event: "...), typ...), '\n')
	}
	b = append(b, "data: "...)
	b = append(b, bytes.ReplaceAll(e.Data, []byte("\n"), []byte(" "))...)
	return append(b, "\n\n"...)
}

func payloadType(data []byte) string {
	var p struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &p) != nil {
		return ""
	}
	return p.Type
}

// ReadEvents reads a whole stream; for tests and tools.
func ReadEvents(r io.Reader) ([]Event, error) {
	s := &eventStream{body: io.NopCloser(r), lines: bufio.NewReader(r)}
	var events []Event
	for {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}
