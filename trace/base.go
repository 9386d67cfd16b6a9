package trace

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"

	"github.com/covel-engine/covel/store"
)

// base is an earlier request of a runtime that a new one can refer to.
type base struct {
	id     string
	turnID string
	epoch  string
	chain  int
	hashes []string
}

type baseKey struct{ sessionID, runtimeID string }

// baseCache remembers the latest request of the runtimes used last.
type baseCache struct {
	mu    sync.Mutex
	limit int
	order *list.List // of baseEntry, newest first
	byKey map[baseKey]*list.Element
}

type baseEntry struct {
	key  baseKey
	base base
}

func newBaseCache(limit int) *baseCache {
	return &baseCache{limit: limit, order: list.New(), byKey: make(map[baseKey]*list.Element)}
}

func (c *baseCache) get(sessionID, runtimeID string) (base, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[baseKey{sessionID, runtimeID}]
	if !ok {
		return base{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(baseEntry).base, true
}

func (c *baseCache) put(sessionID, runtimeID string, b base) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := baseKey{sessionID, runtimeID}
	if e, ok := c.byKey[key]; ok {
		e.Value = baseEntry{key, b}
		c.order.MoveToFront(e)
		return
	}
	c.byKey[key] = c.order.PushFront(baseEntry{key, b})
	if c.order.Len() > c.limit {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.byKey, oldest.Value.(baseEntry).key)
	}
}

// baseTurns is how many recent turns are searched for a base that is not
// remembered. A runtime that was silent for longer starts a full list.
const baseTurns = 4

// base finds an earlier request of the same runtime: remembered, else the
// newest in this turn or the few before it.
func (r *Recorder) base(ctx context.Context, req Request) (base, bool, error) {
	if b, ok := r.bases.get(req.SessionID, req.RuntimeID); ok {
		return b, true, nil
	}
	turns := []string{req.TurnID}
	records, err := r.store.TurnRecords(ctx, req.SessionID, baseTurns)
	if err != nil {
		return base{}, false, err
	}
	for _, rec := range records {
		if rec.TurnID != req.TurnID {
			turns = append(turns, rec.TurnID)
		}
	}
	lists := newListReader(r.store, req.SessionID)
	for _, turnID := range turns {
		events, err := lists.turn(ctx, turnID)
		if err != nil {
			return base{}, false, err
		}
		for i := len(events) - 1; i >= 0; i-- {
			var p callingPayload
			if json.Unmarshal(events[i].Payload, &p) != nil || p.RuntimeID != req.RuntimeID || p.empty() {
				continue
			}
			hashes, err := lists.resolve(ctx, events[i])
			if err != nil {
				// A damaged chain is no base; the new request gets a full list.
				return base{}, false, nil
			}
			return base{id: events[i].ID, turnID: turnID, epoch: p.Epoch, chain: p.Chain, hashes: hashes}, true, nil
		}
	}
	return base{}, false, nil
}

// listReader resolves chains of differences, reading each turn once.
type listReader struct {
	store     store.Reader
	sessionID string
	turns     map[string][]store.TraceEvent
	byID      map[string]store.TraceEvent
	lists     map[string][]string
	kept      map[string]map[string][]byte // blobs of each runtime's last request
}

func newListReader(st store.Reader, sessionID string) *listReader {
	return &listReader{
		store: st, sessionID: sessionID,
		turns: make(map[string][]store.TraceEvent), byID: make(map[string]store.TraceEvent), lists: make(map[string][]string),
		kept: make(map[string]map[string][]byte),
	}
}

// turn gives the llm.calling events of a turn.
func (l *listReader) turn(ctx context.Context, turnID string) ([]store.TraceEvent, error) {
	if events, ok := l.turns[turnID]; ok {
		return events, nil
	}
	events, err := l.store.TraceEvents(ctx, l.sessionID, turnID, LLMCalling)
	if err != nil {
		return nil, err
	}
	l.turns[turnID] = events
	l.add(events)
	return events, nil
}

func (l *listReader) add(events []store.TraceEvent) {
	for _, e := range events {
		l.byID[e.ID] = e
	}
}
