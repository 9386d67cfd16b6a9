package sqlstore

import (
	"context"
	"errors"
	"time"
)

// SessionTables names every table with a session_id, the one list of spec 02
// §23. A test compares it with the database's catalogue.
var SessionTables = []string{
	"blob_refs", "characters", "compaction_runs", "compaction_state", "continuations", "events", "executions", "exports",
	"interaction_records", "journal", "lorebook_entries", "media_refs", "messages", "outbox", "player_inputs",
	"plugin_data", "runtime_outputs", "session_summaries", "snapshots", "stream_chunks", "trace_events", "transcripts",
	"turn_commits", "turn_messages", "turn_results",
}

// sweepBatch is the most rows one sweep removes (spec 02 §23).
const sweepBatch = 1000

// chunkAge is how long a stream is kept after its last chunk (spec 02 §20).
const chunkAge = 24 * time.Hour

// DeleteSession removes a session's rows everywhere, then what only it
// referred to, and last the session.
func (t *Tx) DeleteSession(ctx context.Context, sessionID string) error {
	const op = "delete session"
	if err := t.LockSession(ctx, sessionID); err != nil {
		return err
	}
	for _, name := range []string{blobLock, mediaLock} {
		if err := t.lock(ctx, op, "sessions", name); err != nil {
			return err
		}
	}
	bySession := func(table string) *args { return newArgs(t.conn, op, table).id("session_id", sessionID) }
	err := one(ctx, t.conn, "session_pin_for_delete", bySession("sessions"), func(r Row) error {
		var n int64
		return r.Scan(&n)
	})
	if errors.Is(err, errNoRow) {
		return notFound(op, "sessions", sessionID)
	}
	if err != nil {
		return err
	}
	for _, query := range []string{"blob_delete_unshared", "media_delete_unshared_blobs", "media_delete_unshared_assets"} {
		if _, err := exec(ctx, t.conn, query, bySession("")); err != nil {
			return err
		}
	}
	for _, table := range SessionTables {
		if _, err := exec(ctx, t.conn, "delete_from_"+table, bySession(table)); err != nil {
			return err
		}
	}
	if _, err := exec(ctx, t.conn, "session_delete", bySession("sessions")); err != nil {
		return err
	}
	delete(t.pinned, sessionID)
	return nil
}

// Sweep removes ended streams and old trace events and closes continuations
// past their deadline, in one batch. Retention 0 keeps the trace forever.
func (t *Tx) Sweep(ctx context.Context, now time.Time, traceRetention time.Duration) (int, error) {
	const op = "sweep"
	left := sweepBatch
	remove := func(query, table, column string, cutoff time.Time) error {
		if left == 0 {
			return nil
		}
		n, err := exec(ctx, t.conn, query, newArgs(t.conn, op, table).time(column, cutoff).limit(left))
		left -= int(n)
		return err
	}
	if err := remove("sweep_chunks", chunkTable, "created_at", now.Add(-chunkAge)); err != nil {
		return sweepBatch - left, err
	}
	if traceRetention > 0 {
		if err := remove("sweep_trace", traceTable, "created_at", now.Add(-traceRetention)); err != nil {
			return sweepBatch - left, err
		}
	}
	due, err := many(ctx, t.conn, "suspension_due", newArgs(t.conn, op, suspensionTable).time("deadline_at", now).limit(left),
		func(r Row, id *string) error { return r.Scan(id) })
	if err != nil {
		return sweepBatch - left, err
	}
	for _, id := range due {
		n, err := t.expire(ctx, op, id, now)
		if err != nil {
			return sweepBatch - left, err
		}
		left -= int(n)
	}
	return sweepBatch - left, nil
}
