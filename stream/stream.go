package stream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
)

// Stream is the writing end of one model call. It is safe for concurrent use.
// Every Stream must be closed by Close, Abandon or End.
type Stream struct {
	hub *Hub
	key store.StreamKey

	mu       sync.Mutex
	attempt  int
	nextSeq  int64
	pending  []piece
	size     int
	flushNow bool
	inFlight bool
	written  time.Time     // of the latest write; zero before the first
	changed  chan struct{} // closed and replaced whenever a write settles
	err      error
	closed   bool
}

// piece is text of one kind that no chunk holds yet.
type piece struct {
	kind Kind
	text []byte
}

// Open starts the stream of one model call. Attempt counts the attempts of
// this call from 1. From the second attempt on the stream begins with reset,
// after which the text of earlier calls of the same run is written once more.
// A stream that has ended answers STREAM_CLOSED.
func (h *Hub) Open(ctx context.Context, key store.StreamKey, attempt int) (*Stream, error) {
	if attempt < 1 {
		return nil, fmt.Errorf("stream: attempt is %d; attempts count from 1", attempt)
	}
	stored, err := h.config.Store.StreamChunks(ctx, key, -1)
	if err != nil {
		return nil, fmt.Errorf("stream: open %s: %w", key.RuntimeID, err)
	}
	s := &Stream{hub: h, key: key, attempt: attempt, changed: make(chan struct{})}
	if n := len(stored); n > 0 {
		last := stored[n-1]
		if Kind(last.Kind) == KindEnd {
			return nil, &store.Error{Code: store.CodeStreamClosed, Op: "open stream", Table: "stream_chunks", ID: key.RuntimeID}
		}
		s.nextSeq = last.Seq + 1
		s.attempt = max(attempt, last.Attempt)
	}
	if attempt > 1 {
		if n := len(stored); n > 0 {
			s.attempt = max(attempt, stored[n-1].Attempt+1)
		}
		s.pending = append([]piece{{kind: KindReset}}, settledText(stored)...)
		s.flushNow = true
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrHubClosed
	}
	h.open[s] = struct{}{}
	h.startWriter()
	h.nudge()
	return s, nil
}

// settledText gives the text of finished calls that a reset must repeat. An
// empty text chunk marks the end of a finished call.
func settledText(stored []store.StreamChunk) []piece {
	var settled, open []piece
	for _, c := range stored {
		switch Kind(c.Kind) {
		case KindReset:
			settled, open = nil, nil
		case KindText, KindReasoning:
			open = appendPiece(open, Kind(c.Kind), c.Text)
			if c.Text == "" {
				settled, open = append(settled, open...), nil
			}
		}
	}
	return settled
}

// appendPiece adds text, joined to the last piece of the same kind. An empty
// text stays a piece of its own.
func appendPiece(pieces []piece, kind Kind, text string) []piece {
	if n := len(pieces); n > 0 && text != "" && pieces[n-1].kind == kind && len(pieces[n-1].text) > 0 {
		pieces[n-1].text = append(pieces[n-1].text, text...)
		return pieces
	}
	return append(pieces, piece{kind, []byte(text)})
}

// Write takes one delta. It returns at once unless the store is far behind;
// then it waits until there is room, the stream fails or ctx ends.
func (s *Stream) Write(ctx context.Context, delta model.Delta) error {
	if delta.Reasoning == "" && delta.Text == "" {
		return nil
	}
	s.mu.Lock()
	for s.err == nil && !s.closed && s.size >= s.hub.config.MaxPending {
		if err := s.waitLocked(ctx); err != nil {
			s.mu.Unlock()
			return err
		}
	}
	if err := s.usable(); err != nil {
		s.mu.Unlock()
		return err
	}
	if delta.Reasoning != "" {
		s.pending = appendPiece(s.pending, KindReasoning, delta.Reasoning)
	}
	if delta.Text != "" {
		s.pending = appendPiece(s.pending, KindText, delta.Text)
	}
	wasEmpty := s.size == 0
	s.size += len(delta.Reasoning) + len(delta.Text)
	s.mu.Unlock()
	if wasEmpty {
		s.hub.nudge()
	}
	return nil
}

// Discard takes back what this call has written, such as a draft that a hook
// rejected: listeners get a reset and the text of earlier calls again.
func (s *Stream) Discard(ctx context.Context) error {
	if err := s.flush(ctx, false); err != nil {
		return err
	}
	stored, err := s.hub.config.Store.StreamChunks(ctx, s.key, -1)
	if err != nil {
		return fmt.Errorf("stream: discard %s: %w", s.key.RuntimeID, err)
	}
	s.mu.Lock()
	s.attempt++
	s.pending = append([]piece{{kind: KindReset}}, settledText(stored)...)
	s.mu.Unlock()
	return s.flush(ctx, false)
}

// Close writes what is left and marks the call as finished: a later reset
// keeps its text. It gives the first error of the stream. Closing twice is
// closing once.
func (s *Stream) Close(ctx context.Context) error { return s.finish(ctx, &piece{kind: KindText}) }

// Abandon is Close for a call that failed: its text stays without the mark, so
// that the reset of a later attempt drops it.
func (s *Stream) Abandon(ctx context.Context) error { return s.finish(ctx, nil) }

// End is Close and the end of the runtime's stream: later writes to it are
// refused with STREAM_CLOSED.
func (s *Stream) End(ctx context.Context) error { return s.finish(ctx, &piece{kind: KindEnd}) }

// finish flushes with a last piece, and takes the stream off the writer.
func (s *Stream) finish(ctx context.Context, last *piece) error {
	s.mu.Lock()
	already := s.closed
	written := s.nextSeq > 0 || len(s.pending) > 0
	if !already && s.err == nil && last != nil && (written || last.kind == KindEnd) {
		s.pending = append(s.pending, *last)
	}
	s.mu.Unlock()
	if already {
		return nil
	}
	err := s.flush(ctx, true)
	s.hub.mu.Lock()
	delete(s.hub.open, s)
	s.hub.mu.Unlock()
	s.hub.nudge()
	return err
}

// End ends a stream that no call has open. A stream without chunks, or one
// that has ended already, stays as it is.
func (h *Hub) End(ctx context.Context, key store.StreamKey) error {
	stored, err := h.config.Store.StreamChunks(ctx, key, -1)
	if err != nil {
		return fmt.Errorf("stream: end %s: %w", key.RuntimeID, err)
	}
	if len(stored) == 0 || Kind(stored[len(stored)-1].Kind) == KindEnd {
		return nil
	}
	s, err := h.Open(ctx, key, 1)
	if err != nil {
		return err
	}
	return s.End(ctx)
}

// flush waits until everything pending is stored. With closing no more writes
// are taken.
func (s *Stream) flush(ctx context.Context, closing bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || closing
	for s.err == nil && (len(s.pending) > 0 || s.inFlight) {
		s.flushNow = true
		s.hub.nudge()
		if err := s.waitLocked(ctx); err != nil {
			return err
		}
	}
	return s.err
}

// waitLocked gives up s.mu until a write settles or ctx ends.
func (s *Stream) waitLocked(ctx context.Context) error {
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Stream) usable() error {
	if s.err == nil && s.closed {
		return &store.Error{Code: store.CodeStreamClosed, Op: "write stream", Table: "stream_chunks", ID: s.key.RuntimeID}
	}
	return s.err
}

// timeLeft says whether text is pending and how long it should still wait.
func (s *Stream) timeLeft(now time.Time) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil || len(s.pending) == 0:
		return 0, false
	case s.flushNow || s.written.IsZero():
		return 0, true
	default:
		return s.hub.config.Interval - now.Sub(s.written), true
	}
}

// take turns the pending pieces into numbered chunks.
func (s *Stream) take(now time.Time) []store.StreamChunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	chunks := make([]store.StreamChunk, len(s.pending))
	for i, p := range s.pending {
		chunks[i] = store.StreamChunk{
			StreamKey: s.key, Seq: s.nextSeq, Attempt: s.attempt, Kind: string(p.kind), Text: string(p.text), CreatedAt: now,
		}
		s.nextSeq++
	}
	s.pending, s.size, s.flushNow, s.inFlight = nil, 0, false, true
	s.written = time.Now()
	return chunks
}

// settle ends a write and wakes who waits for it.
func (s *Stream) settle(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight = false
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("stream: write %s: %w", s.key.RuntimeID, err)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// fail ends the stream with an error.
func (s *Stream) fail(err error) { s.settle(err) }
