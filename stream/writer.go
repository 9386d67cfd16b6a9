package stream

import (
	"context"
	"errors"
	"time"

	"github.com/covel-engine/covel/store"
)

// startWriter starts the writer goroutine unless it runs. h.mu is held.
func (h *Hub) startWriter() {
	if h.writing != nil {
		return
	}
	h.writing = make(chan struct{})
	go h.writeLoop(h.writing)
}

// writeLoop writes what is due until no stream is open or the hub closes.
func (h *Hub) writeLoop(done chan struct{}) {
	defer close(done)
	timer := time.NewTimer(h.config.Interval)
	defer timer.Stop()
	for {
		h.mu.Lock()
		if h.closed || len(h.open) == 0 {
			h.writing = nil
			for s := range h.open {
				s.fail(ErrHubClosed)
			}
			h.mu.Unlock()
			return
		}
		due, wait := h.due(time.Now())
		h.mu.Unlock()
		if len(due) > 0 {
			h.write(due)
			continue
		}
		timer.Reset(wait)
		select {
		case <-h.wake:
		case <-timer.C:
		}
	}
}

// due gives the streams to write now, else how long nothing will be due.
// h.mu is held.
func (h *Hub) due(now time.Time) ([]*Stream, time.Duration) {
	var due []*Stream
	wait := time.Hour
	for s := range h.open {
		left, pending := s.timeLeft(now)
		switch {
		case !pending:
		case left <= 0:
			due = append(due, s)
		default:
			wait = min(wait, left)
		}
	}
	return due, wait
}

// write stores the pending chunks of the given streams in one transaction,
// each stream in a savepoint of its own, and wakes the listeners.
func (h *Hub) write(due []*Stream) {
	ctx, cancel := context.WithTimeout(h.ctx, h.config.WriteTimeout)
	defer cancel()

	batches := make([][]store.StreamChunk, len(due))
	now := h.config.Clock()
	for i, s := range due {
		batches[i] = s.take(now)
	}
	refused := make([]error, len(due))
	err := h.config.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		clear(refused) // the function may run again
		for i := range due {
			refused[i] = tx.Savepoint(ctx, func(ctx context.Context) error { return appendAll(ctx, tx, batches[i]) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	topics := make(map[string]struct{}, len(due))
	for i, s := range due {
		failure := err
		if failure == nil {
			failure = refused[i]
		}
		if errors.Is(failure, errChunkConflict) && s.requeue(ctx, batches[i]) {
			continue
		}
		s.settle(failure)
		topics[topic(s.key.SessionID, s.key.TurnID)] = struct{}{}
	}
	for t := range topics {
		// A lost wake-up only delays listeners until they poll.
		_ = h.config.Store.Notifier().Notify(ctx, t)
	}
}

var errChunkConflict = &store.Error{Code: store.CodeChunkConflict}

// requeue renumbers chunks that begin with a reset after a late write of an
// earlier attempt took their place. Once the reset stands, the store refuses
// that attempt as stale, so this ends.
func (s *Stream) requeue(ctx context.Context, chunks []store.StreamChunk) bool {
	if len(chunks) == 0 || Kind(chunks[0].Kind) != KindReset {
		return false
	}
	stored, err := s.hub.config.Store.StreamChunks(ctx, s.key, -1)
	if err != nil || len(stored) == 0 || stored[len(stored)-1].Attempt >= s.attempt {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pieces := make([]piece, len(chunks), len(chunks)+len(s.pending))
	for i, c := range chunks {
		pieces[i] = piece{Kind(c.Kind), []byte(c.Text)}
	}
	s.pending = append(pieces, s.pending...)
	s.nextSeq = stored[len(stored)-1].Seq + 1
	s.flushNow, s.inFlight = true, false
	return true
}

func appendAll(ctx context.Context, tx store.Tx, chunks []store.StreamChunk) error {
	for _, c := range chunks {
		if err := tx.AppendChunk(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
