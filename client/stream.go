package client

import (
	"context"
	"iter"

	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
)

// Stream gives the story's deltas as they are written, from the turn's start,
// and ends when the turn has ended. A reset says that a lost worker's partial
// text is void. An error ends the stream; breaking off is fine at any time.
func (h *Handle) Stream(ctx context.Context) iter.Seq2[stream.Chunk, error] {
	return h.StreamAfter(ctx, stream.Cursor{})
}

// StreamAfter is Stream from a position on, such as the last one a
// reconnecting listener has seen.
func (h *Handle) StreamAfter(ctx context.Context, after stream.Cursor) iter.Seq2[stream.Chunk, error] {
	return func(yield func(stream.Chunk, error) bool) {
		hub := h.c.cfg.Streams
		if hub == nil {
			yield(stream.Chunk{}, turn.Errorf("stream", "CONFIG_ERROR", "client.Config.Streams is nil; give a stream.Hub"))
			return
		}
		// The run's end ends the stream; what is stored by then is read once more.
		follow, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer cancel()
			// How the run ended is Wait's business.
			_ = h.c.cfg.Temporal.GetWorkflow(follow, turn.WorkflowID(h.SessionID), h.RunID).Get(follow, nil)
		}()
		defer func() { cancel(); <-ended }()
		at := after
		for chunk, err := range hub.Follow(follow, h.SessionID, h.storyTurn, after) {
			if err != nil {
				if follow.Err() != nil && ctx.Err() == nil {
					break
				}
				yield(stream.Chunk{}, err)
				return
			}
			at = chunk.Cursor
			if !yield(chunk, nil) {
				return
			}
		}
		rest, err := hub.Read(ctx, h.SessionID, h.storyTurn, at)
		if err != nil {
			yield(stream.Chunk{}, err)
			return
		}
		for _, chunk := range rest {
			if !yield(chunk, nil) {
				return
			}
		}
	}
}
