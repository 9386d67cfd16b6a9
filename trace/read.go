package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
)

// Recorded is one request as it was sent.
type Recorded struct {
	EventID     string                `json:"eventId"`
	SessionID   string                `json:"sessionId"`
	TurnID      string                `json:"turnId"`
	RuntimeID   string                `json:"runtimeId"`
	Step        int                   `json:"step"`
	Attempt     int                   `json:"attempt"`
	LogicalTurn int                   `json:"logicalTurn"`
	Slot        string                `json:"slot,omitempty"`
	Concealed   bool                  `json:"concealed,omitempty"`
	Records     []model.RequestRecord `json:"providerRequests"`
	// Unbound is the body recorded when no target has one: an object with
	// tools and messages.
	Unbound json.RawMessage `json:"request,omitempty"`
}

// Body is the first recorded provider body, else the unbound request.
func (r *Recorded) Body() json.RawMessage {
	for _, rec := range r.Records {
		if len(rec.Body) > 0 {
			return rec.Body
		}
	}
	return r.Unbound
}

// DamagedError is a recorded request that cannot be put together again.
type DamagedError struct {
	EventID string
	Reason  string
}

// Error names the event and what is missing.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("recorded request %s: %s; its base or blobs were removed", e.EventID, e.Reason)
}

// ReadRequest puts one llm.calling event's request together again, byte for
// byte. A missing base or blob is a *DamagedError.
func ReadRequest(ctx context.Context, st store.Reader, event store.TraceEvent) (Recorded, error) {
	lists := newListReader(st, event.SessionID)
	lists.add([]store.TraceEvent{event})
	return lists.request(ctx, event)
}

// ReadTurn gives the requests of a turn in the order in which they were sent.
func ReadTurn(ctx context.Context, st store.Reader, sessionID, turnID string) ([]Recorded, error) {
	return collect(requests(ctx, st, sessionID, turnID))
}

// ReadCalls gives the requests of a session, of every session for "", in the
// order in which they were sent. All of them stand in memory; Calls gives them
// one by one.
func ReadCalls(ctx context.Context, st store.Reader, sessionID string) ([]Recorded, error) {
	return collect(Calls(ctx, st, sessionID))
}

// Calls gives the requests of a session, of every session for "", one after
// another. The first error ends it.
func Calls(ctx context.Context, st store.Reader, sessionID string) iter.Seq2[Recorded, error] {
	return requests(ctx, st, sessionID, "")
}

func collect(calls iter.Seq2[Recorded, error]) ([]Recorded, error) {
	var all []Recorded
	for call, err := range calls {
		if err != nil {
			return nil, err
		}
		all = append(all, call)
	}
	return all, nil
}

func requests(ctx context.Context, st store.Reader, sessionID, turnID string) iter.Seq2[Recorded, error] {
	return func(yield func(Recorded, error) bool) {
		events, err := st.TraceEvents(ctx, sessionID, turnID, LLMCalling)
		if err != nil {
			yield(Recorded{}, err)
			return
		}
		readers := make(map[string]*listReader)
		for _, e := range events {
			lists, ok := readers[e.SessionID]
			if !ok {
				lists = newListReader(st, e.SessionID)
				lists.add(events) // ids are unique over all sessions
				readers[e.SessionID] = lists
			}
			call, err := lists.request(ctx, e)
			if !yield(call, err) || err != nil {
				return
			}
		}
	}
}

// resolve gives the whole list of hashes of an event.
func (l *listReader) resolve(ctx context.Context, event store.TraceEvent) ([]string, error) {
	if list, ok := l.lists[event.ID]; ok {
		return list, nil
	}
	var p callingPayload
	if err := json.Unmarshal(event.Payload, &p); err != nil {
		return nil, &DamagedError{event.ID, "its payload is no llm.calling: " + err.Error()}
	}
	if p.empty() {
		return nil, nil
	}
	var baseList []string
	if p.Base != "" {
		earlier, ok := l.byID[p.Base]
		if !ok {
			if _, err := l.turn(ctx, p.BaseTurn); err != nil {
				return nil, err
			}
			earlier, ok = l.byID[p.Base]
		}
		if !ok {
			return nil, &DamagedError{event.ID, "base " + p.Base + " is gone"}
		}
		var err error
		if baseList, err = l.resolve(ctx, earlier); err != nil {
			return nil, err
		}
	}
	list, err := p.whole(baseList)
	if err != nil {
		return nil, &DamagedError{event.ID, err.Error()}
	}
	l.lists[event.ID] = list
	return list, nil
}

func (l *listReader) request(ctx context.Context, event store.TraceEvent) (Recorded, error) {
	var p callingPayload
	if err := json.Unmarshal(event.Payload, &p); err != nil {
		return Recorded{}, &DamagedError{event.ID, "its payload is no llm.calling: " + err.Error()}
	}
	out := Recorded{
		EventID: event.ID, SessionID: event.SessionID, TurnID: event.TurnID, RuntimeID: p.RuntimeID,
		Step: p.Step, Attempt: p.Attempt, LogicalTurn: p.LogicalTurn, Slot: p.Slot, Concealed: p.Concealed,
	}
	hashes, err := l.resolve(ctx, event)
	if err != nil {
		return Recorded{}, err
	}
	blobs, err := l.pieces(ctx, p.RuntimeID, hashes)
	if err != nil {
		return Recorded{}, err
	}
	take := func(n int) (json.RawMessage, error) {
		if n > len(hashes) {
			return nil, &DamagedError{event.ID, fmt.Sprintf("%d parts are left, %d are needed", len(hashes), n)}
		}
		list := make([][]byte, 0, n)
		for _, h := range hashes[:n] {
			piece, ok := blobs[h]
			if !ok {
				return nil, &DamagedError{event.ID, "blob " + h + " is gone"}
			}
			list = append(list, piece)
		}
		hashes = hashes[n:]
		return join(list), nil
	}
	for _, t := range p.ProviderRequests {
		rec := model.RequestRecord{
			Provider: t.Provider, Protocol: t.Protocol, Model: t.Model, Origin: t.Origin, Attempts: t.Attempts, Body: t.Body,
		}
		if t.Parts > 0 {
			if rec.Body, err = take(t.Parts); err != nil {
				return Recorded{}, err
			}
		}
		out.Records = append(out.Records, rec)
	}
	switch {
	case len(hashes) > 0:
		if out.Unbound, err = take(len(hashes)); err != nil {
			return Recorded{}, err
		}
	case len(p.Messages) > 0 || len(p.Tools) > 0:
		out.Unbound, err = json.Marshal(struct {
			Tools    json.RawMessage `json:"tools,omitempty"`
			Messages json.RawMessage `json:"messages,omitempty"`
		}{p.Tools, p.Messages})
	}
	return out, err
}

// pieces reads the blobs of a list. Those of the runtime's last request are
// kept, so that only what is new comes from the store.
func (l *listReader) pieces(ctx context.Context, runtimeID string, hashes []string) (map[string][]byte, error) {
	have := make(map[string][]byte, len(hashes))
	var missing []string
	for _, h := range hashes {
		if _, asked := have[h]; asked {
			continue
		}
		piece, ok := l.kept[runtimeID][h]
		if !ok {
			missing = append(missing, h)
		}
		have[h] = piece
	}
	read, err := l.store.Blobs(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, h := range missing {
		delete(have, h)
	}
	maps.Copy(have, read)
	l.kept[runtimeID] = have
	return have, nil
}
