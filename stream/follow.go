package stream

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/covel-engine/covel/store"
)

// feed is the log of one followed turn in this process: one goroutine reads
// new chunks from the store, any number of followers read the log.
type feed struct {
	listeners int // guarded by Hub.mu
	stop      context.CancelFunc

	mu    sync.Mutex
	log   []store.StreamChunk
	err   error
	grown chan struct{} // closed and replaced whenever log or err changes
}

// Follow gives the chunks of all streams of a turn after a position, and waits
// for more until ctx ends or the caller breaks off. An error ends it: the
// store's, ErrHubClosed, or ctx's own. Chunks of one stream come in order.
func (h *Hub) Follow(ctx context.Context, sessionID, turnID string, after Cursor) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		f, err := h.join(turnKey{sessionID, turnID})
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		defer h.leave(turnKey{sessionID, turnID}, f)

		at := after
		for read := 0; ; {
			log, grown, err := f.view()
			for ; read < len(log); read++ {
				chunk, ok := next(&at, log[read])
				if ok && !yield(chunk, nil) {
					return
				}
			}
			if err != nil {
				yield(Chunk{}, err)
				return
			}
			select {
			case <-grown:
			case <-ctx.Done():
				yield(Chunk{}, ctx.Err())
				return
			}
		}
	}
}

// Read gives the chunks stored after a position, without waiting. The last
// chunk's Cursor is where the next Read or Follow goes on.
func (h *Hub) Read(ctx context.Context, sessionID, turnID string, after Cursor) ([]Chunk, error) {
	stored, err := readTurn(ctx, h.config.Store, turnKey{sessionID, turnID}, after)
	if err != nil {
		return nil, err
	}
	var chunks []Chunk
	at := after
	for _, c := range stored {
		if chunk, ok := next(&at, c); ok {
			chunks = append(chunks, chunk)
		}
	}
	return chunks, nil
}

// next moves a position over a stored chunk; chunks behind it and the empty
// marks of finished calls are not shown.
func next(at *Cursor, c store.StreamChunk) (Chunk, bool) {
	if c.Seq <= at.after(c.RuntimeID) {
		return Chunk{}, false
	}
	*at = at.advanced(c.RuntimeID, c.Seq)
	kind := Kind(c.Kind)
	if c.Text == "" && (kind == KindText || kind == KindReasoning) {
		return Chunk{}, false
	}
	return Chunk{
		RuntimeID: c.RuntimeID, Seq: c.Seq, Attempt: c.Attempt, Kind: kind, Text: c.Text, CreatedAt: c.CreatedAt, Cursor: *at,
	}, true
}

// readTurn gives a turn's chunks after a position.
func readTurn(ctx context.Context, st store.Reader, turn turnKey, after Cursor) ([]store.StreamChunk, error) {
	keys, err := st.Streams(ctx, turn.sessionID, turn.turnID)
	if err != nil {
		return nil, fmt.Errorf("stream: streams of turn %s: %w", turn.turnID, err)
	}
	streams := make([][]store.StreamChunk, 0, len(keys))
	for _, key := range keys {
		chunks, err := st.StreamChunks(ctx, key, after.after(key.RuntimeID))
		if err != nil {
			return nil, fmt.Errorf("stream: read %s: %w", key.RuntimeID, err)
		}
		streams = append(streams, chunks)
	}
	return interleave(streams), nil
}

// interleave merges streams by time, then runtime; a stream's own order is
// kept even where the clocks of two workers disagree.
func interleave(streams [][]store.StreamChunk) []store.StreamChunk {
	var all []store.StreamChunk
	for {
		first := -1
		for i, s := range streams {
			if len(s) > 0 && (first < 0 || earlier(s[0], streams[first][0])) {
				first = i
			}
		}
		if first < 0 {
			return all
		}
		all = append(all, streams[first][0])
		streams[first] = streams[first][1:]
	}
}

func earlier(a, b store.StreamChunk) bool {
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c < 0
	}
	return a.RuntimeID < b.RuntimeID
}

func (h *Hub) join(turn turnKey) (*feed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrHubClosed
	}
	f, ok := h.feeds[turn]
	if !ok {
		ctx, stop := context.WithCancel(h.ctx)
		f = &feed{stop: stop, grown: make(chan struct{})}
		h.feeds[turn] = f
		h.pumps.Go(func() { h.pump(ctx, turn, f) })
	}
	f.listeners++
	return f, nil
}

func (h *Hub) leave(turn turnKey, f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.listeners--
	if f.listeners == 0 {
		f.stop()
		if h.feeds[turn] == f {
			delete(h.feeds, turn)
		}
	}
}

// pump fills a feed until its context ends or the store fails.
func (h *Hub) pump(ctx context.Context, turn turnKey, f *feed) {
	// Listen before the first read, so that no chunk falls between the two.
	woken := h.config.Store.Notifier().Listen(ctx, topic(turn.sessionID, turn.turnID))
	poll := time.NewTicker(h.config.PollInterval)
	defer poll.Stop()
	var at Cursor
	for {
		chunks, err := readTurn(ctx, h.config.Store, turn, at)
		if ctx.Err() != nil {
			f.grow(nil, ErrHubClosed)
			return
		}
		for _, c := range chunks {
			at = at.advanced(c.RuntimeID, c.Seq)
		}
		f.grow(chunks, err)
		if err != nil {
			h.drop(turn, f)
			return
		}
		select {
		case _, ok := <-woken:
			if !ok {
				woken = nil // polling goes on
			}
		case <-poll.C:
		case <-ctx.Done():
			f.grow(nil, ErrHubClosed)
			return
		}
	}
}

// drop forgets a failed feed, so that the next Follow starts a fresh one.
func (h *Hub) drop(turn turnKey, f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.feeds[turn] == f {
		delete(h.feeds, turn)
	}
}

func (f *feed) grow(chunks []store.StreamChunk, err error) {
	if len(chunks) == 0 && err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, chunks...)
	f.err = err
	close(f.grown)
	f.grown = make(chan struct{})
}

// view gives the log so far; it only grows, so the slice may be read unlocked.
func (f *feed) view() ([]store.StreamChunk, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log, f.grown, f.err
}
