package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Events besides the chunk kinds of package stream.
const (
	eventNarrative = "narrative.completed"
	eventTurn      = "turn.completed"
	eventProblem   = "problem"
)

type streamInput struct {
	TurnPath

	LastEventID string `header:"Last-Event-ID" maxLength:"4096" doc:"The id of the last event that was seen; the stream goes on behind it."`
	After       string `query:"after" maxLength:"4096" doc:"The same for clients that cannot set headers."`
}

func (s *Server) addStreams(api huma.API) {
	op := operation("stream-turn", http.MethodGet, "/v1/sessions/{session}/turns/{turn}/stream", "Follow a turn's story", http.StatusOK)
	op.Description = "Server-sent events: text, reasoning, reset (drop the stream's earlier text) and end, each with a chunk; then " +
		"narrative.completed with the final text and turn.completed with the outcome. An event's id is a position for Last-Event-ID."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "events",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(api, op, s.streamTurn)
}

func (s *Server) streamTurn(ctx context.Context, in *streamInput) (*huma.StreamResponse, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	position := in.LastEventID
	if position == "" {
		position = in.After
	}
	after, err := stream.ParseCursor(position)
	if err != nil {
		e := turn.Errorf("stream turn", codeInvalid, "%w", err)
		e.Field = "Last-Event-ID"
		return nil, problemOf(e)
	}
	h, err := s.cfg.Client.Turn(ctx, in.Session, in.Turn)
	if err != nil {
		return nil, problemOf(err)
	}
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, problemOf(turn.Errorf("stream turn", "queue_full", "%d streams are open; try again in a moment", cap(s.streams)))
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer func() { <-s.streams }()
		_, w := humago.Unwrap(hc)
		events := newEventWriter(w, s.cfg.SlowClient)
		s.follow(hc.Context(), events, h, after)
	}}, nil
}

// follow writes the story's chunks, then how the turn ended. A client that is
// gone or too slow ends it; its position lets it come back.
func (s *Server) follow(ctx context.Context, events *eventWriter, h *client.Handle, after stream.Cursor) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		events.keepAlive(ctx, s.cfg.KeepAlive, s.draining, cancel)
	}()
	defer func() { cancel(); <-beating }()

	for chunk, err := range h.StreamAfter(ctx, after) {
		if err != nil {
			if ctx.Err() == nil {
				_ = events.send(eventProblem, "", problemOf(err)) // the stream ends either way
			}
			return
		}
		if events.send(string(chunk.Kind), chunk.Cursor.String(), chunk) != nil {
			return
		}
	}
	outcome, err := h.Wait(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		_ = events.send(eventProblem, "", problemOf(err))
	default:
		if outcome.Narrative != "" && events.send(eventNarrative, "", narrative{outcome.TurnID, outcome.Narrative}) != nil {
			return
		}
		_ = events.send(eventTurn, "", outcome)
	}
}

// narrative is the sanitised text that replaces what was streamed.
type narrative struct {
	TurnID string `json:"turnId"`
	Text   string `json:"text"`
}

// eventWriter writes server-sent events, each within a time.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
	turn    chan struct{} // held while writing: events and comments do not mix
}

func newEventWriter(w http.ResponseWriter, limit time.Duration) *eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	e := &eventWriter{w: w, control: http.NewResponseController(w), limit: limit, turn: make(chan struct{}, 1)}
	_ = e.write(": open\n\n") // the headers leave at once; a fault shows at the first event
	return e
}

func (e *eventWriter) send(event, id string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("event: %s\ndata: %s\n\n", event, body)
	if id != "" {
		text = "id: " + id + "\n" + text
	}
	return e.write(text)
}

func (e *eventWriter) write(text string) error {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	if err := e.control.SetWriteDeadline(time.Now().Add(e.limit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.control.Flush()
}

// keepAlive writes a comment now and then, so that a dead connection is
// noticed and no proxy cuts a quiet one. It calls gone when the connection is
// dead or the server drains: the client comes back with its position.
func (e *eventWriter) keepAlive(ctx context.Context, every time.Duration, draining <-chan struct{}, gone context.CancelFunc) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-draining:
			gone()
			return
		case <-ticker.C:
			if e.write(": alive\n\n") != nil {
				gone()
				return
			}
		}
	}
}
