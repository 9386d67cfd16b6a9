package trace

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"slices"
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
	order *list.List // of baseKey, newest first
	byKey map[baseKey]remembered
}

type remembered struct {
	base base
	at   *list.Element
}

func newBaseCache(limit int) *baseCache {
	return &baseCache{limit: limit, order: list.New(), byKey: make(map[baseKey]remembered)}
}

func (c *baseCache) get(sessionID, runtimeID string) (base, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.byKey[baseKey{sessionID, runtimeID}]
	if ok {
		c.order.MoveToFront(r.at)
	}
	return r.base, ok
}

func (c *baseCache) put(sessionID, runtimeID string, b base) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := baseKey{sessionID, runtimeID}
	if r, ok := c.byKey[key]; ok {
		c.order.MoveToFront(r.at)
		c.byKey[key] = remembered{b, r.at}
		return
	}
	c.byKey[key] = remembered{b, c.order.PushFront(key)}
	if c.order.Len() > c.limit {
		if oldest, ok := c.order.Remove(c.order.Back()).(baseKey); ok {
			delete(c.byKey, oldest)
		}
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
		for _, event := range slices.Backward(events) {
			var p callingPayload
			if json.Unmarshal(event.Payload, &p) != nil || p.RuntimeID != req.RuntimeID || p.empty() {
				continue
			}
			hashes, err := lists.resolve(ctx, event)
			if _, damaged := errors.AsType[*DamagedError](err); damaged {
				return base{}, false, nil // no base: the new request gets a full list
			}
			if err != nil {
				return base{}, false, err
			}
			return base{id: event.ID, turnID: turnID, epoch: p.Epoch, chain: p.Chain, hashes: hashes}, true, nil
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
