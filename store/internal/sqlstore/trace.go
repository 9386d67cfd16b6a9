package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/covel-engine/covel/store"
)

const traceTable = "trace_events"

// callingType is the recorded request whose payload may name a base event
// (spec 02 §18).
const callingType = "llm.calling"

func scanTrace(r Row, e *store.TraceEvent) error {
	return r.Scan(&e.ID, &e.SessionID, &e.TraceID, &e.TurnID, &e.Seq, &e.Type, raw(&e.Payload), at(&e.CreatedAt))
}

// TraceEvents lists events; an empty argument means all.
func (r Reads) TraceEvents(ctx context.Context, sessionID, turnID, typ string) ([]store.TraceEvent, error) {
	a := newArgs(r.Conn, "read trace events", traceTable).ref("session_id", sessionID)
	query := "trace_list"
	switch {
	case sessionID != "" && turnID != "":
		query = "trace_list_of_turn"
		a.ref("turn_id", turnID)
	case sessionID != "":
		query = "trace_list_of_session"
	default:
		a.ref("turn_id", turnID)
	}
	return many(ctx, r.Conn, query, a.ref("type", typ), scanTrace)
}

// InsertTrace gives the event the next seq of its trace. A used id changes
// nothing and gives the stored seq.
func (t *Tx) InsertTrace(ctx context.Context, e store.TraceEvent) (int64, error) {
	const op = "insert trace event"
	if err := t.pin(ctx, op, e.SessionID); err != nil {
		return 0, err
	}
	if err := t.share(ctx, op, "blobs", blobLock); err != nil {
		return 0, err
	}
	if err := t.lock(ctx, op, traceTable, "covel:trace:"+e.SessionID+"\x00"+e.TraceID); err != nil {
		return 0, err
	}
	a := newArgs(t.conn, op, traceTable).id("id", e.ID).id("session_id", e.SessionID).id("trace_id", e.TraceID).
		ref("turn_id", e.TurnID).ref("type", e.Type).ref("base_id", baseOf(e)).json("payload", e.Payload).
		time("created_at", t.stamp(e.CreatedAt))
	var seq int64
	err := one(ctx, t.conn, "trace_insert", a, func(row Row) error { return row.Scan(&seq) })
	if err == nil {
		return seq, t.refer(ctx, op, e.SessionID, e.Payload)
	}
	if !errors.Is(err, errNoRow) {
		return 0, err
	}
	var owner string
	err = one(ctx, t.conn, "trace_seq", newArgs(t.conn, op, traceTable).id("id", e.ID), func(row Row) error {
		return row.Scan(&owner, &seq)
	})
	switch {
	case errors.Is(err, errNoRow):
		return 0, notFound(op, traceTable, e.ID)
	case err == nil && owner != e.SessionID:
		return 0, &store.Error{Code: store.CodeForeignID, Op: op, Table: traceTable, ID: e.ID, Value: e.SessionID}
	}
	return seq, err
}

// baseOf gives the id of the event that a recorded request builds on. It is a
// column of its own so that retention can keep what is still built on.
func baseOf(e store.TraceEvent) string {
	if e.Type != callingType {
		return ""
	}
	var payload struct {
		Base json.RawMessage `json:"base"`
	}
	var base string
	if json.Unmarshal(e.Payload, &payload) != nil || json.Unmarshal(payload.Base, &base) != nil {
		return ""
	}
	return base
}
