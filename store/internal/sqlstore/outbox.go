package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/covel-engine/covel/store"
)

// Export gives the newest value at or before an instant.
func (r Reads) Export(ctx context.Context, sessionID, exportKey string, before time.Time) (store.Export, bool, error) {
	var e store.Export
	a := newArgs(r.Conn, "read export", "exports").ref("session_id", sessionID).ref("export_key", exportKey).
		time("committed_at", before)
	err := one(ctx, r.Conn, "export_newest", a, func(row Row) error {
		return row.Scan(&e.ID, &e.SessionID, &e.PluginID, &e.RuntimeID, &e.ExportKey, &e.TurnID, raw(&e.Value), at(&e.CommittedAt))
	})
	return found(e, err)
}

// InsertExport stores a committed value.
func (t *Tx) InsertExport(ctx context.Context, e store.Export) error {
	const op = "insert export"
	if err := t.pin(ctx, op, e.SessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "exports").id("id", e.ID).id("session_id", e.SessionID).ref("plugin_id", e.PluginID).
		ref("runtime_id", e.RuntimeID).id("export_key", e.ExportKey).ref("turn_id", e.TurnID).json("value", e.Value).
		time("committed_at", t.stamp(e.CommittedAt))
	n, err := exec(ctx, t.conn, "export_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, "exports", e.ID)
	}
	return err
}

// Outbox gives what an execution's commit queued.
func (r Reads) Outbox(ctx context.Context, sessionID, executionID string) ([]store.OutboxEntry, error) {
	a := newArgs(r.Conn, "read outbox", "outbox").ref("session_id", sessionID).ref("execution_id", executionID)
	return many(ctx, r.Conn, "outbox_list", a, func(row Row, e *store.OutboxEntry) error {
		return row.Scan(&e.SessionID, &e.ExecutionID, &e.Seq, &e.Kind, raw(&e.Payload), at(&e.CreatedAt), maybeAt(&e.SentAt))
	})
}

// InsertOutbox queues a job or notification; a used seq is ALREADY_EXISTS.
func (t *Tx) InsertOutbox(ctx context.Context, e store.OutboxEntry) error {
	const op = "insert outbox entry"
	if err := t.pin(ctx, op, e.SessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "outbox").id("session_id", e.SessionID).id("execution_id", e.ExecutionID).int(int64(e.Seq)).
		id("kind", e.Kind).json("payload", e.Payload).time("created_at", t.stamp(e.CreatedAt)).nullTime("sent_at", e.SentAt)
	n, err := exec(ctx, t.conn, "outbox_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, "outbox", fmt.Sprintf("%s/%d", e.ExecutionID, e.Seq))
	}
	return err
}

// MarkOutboxSent notes the first time that an entry was sent.
func (t *Tx) MarkOutboxSent(ctx context.Context, sessionID, executionID string, seq int, now time.Time) error {
	const op = "mark outbox entry sent"
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "outbox").id("session_id", sessionID).id("execution_id", executionID).int(int64(seq)).
		time("sent_at", now)
	n, err := exec(ctx, t.conn, "outbox_sent", a)
	if err == nil && n == 0 {
		return notFound(op, "outbox", fmt.Sprintf("%s/%d", executionID, seq))
	}
	return err
}
