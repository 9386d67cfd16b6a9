package sqlstore

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/store"
)

const journalTable = "journal"

func scanJournal(r Row, e *store.JournalEntry) error {
	return r.Scan(&e.SessionID, &e.ExecutionID, &e.Kind, &e.Key, raw(&e.Payload), at(&e.CreatedAt))
}

// JournalEntry gives one recorded fact, if it is there.
func (r Reads) JournalEntry(ctx context.Context, sessionID, executionID, kind, key string) (store.JournalEntry, bool, error) {
	var e store.JournalEntry
	a := newArgs(r.Conn, "read journal entry", journalTable).ref("session_id", sessionID).ref("execution_id", executionID).
		ref("kind", kind).ref("key", key)
	err := one(ctx, r.Conn, "journal_get", a, func(row Row) error { return scanJournal(row, &e) })
	return found(e, err)
}

// JournalEntries gives the facts of a kind in the order they were stored.
func (r Reads) JournalEntries(ctx context.Context, sessionID, executionID, kind string) ([]store.JournalEntry, error) {
	a := newArgs(r.Conn, "read journal", journalTable).ref("session_id", sessionID).ref("execution_id", executionID).
		ref("kind", kind)
	return many(ctx, r.Conn, "journal_list", a, scanJournal)
}

// PutJournal stores an entry once and says whether this call stored it.
func (t *Tx) PutJournal(ctx context.Context, e store.JournalEntry) (store.JournalEntry, bool, error) {
	const op = "put journal entry"
	if err := t.pin(ctx, op, e.SessionID); err != nil {
		return store.JournalEntry{}, false, err
	}
	e.CreatedAt = t.stamp(e.CreatedAt)
	a := newArgs(t.conn, op, journalTable).id("session_id", e.SessionID).id("execution_id", e.ExecutionID).
		id("kind", e.Kind).ref("key", e.Key).json("payload", e.Payload).time("created_at", e.CreatedAt)
	n, err := exec(ctx, t.conn, "journal_put", a)
	if err != nil || n == 1 {
		return e, n == 1, err
	}
	stored, ok, err := t.JournalEntry(ctx, e.SessionID, e.ExecutionID, e.Kind, e.Key)
	if err == nil && !ok {
		err = notFound(op, journalTable, e.Key)
	}
	return stored, false, err
}

// RequestAbort sets the abort flag of an execution.
func (t *Tx) RequestAbort(ctx context.Context, sessionID, executionID string) error {
	const op = "request abort"
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "executions").id("session_id", sessionID).id("execution_id", executionID).bool(true).
		time("created_at", t.stamp(t.now()))
	_, err := exec(ctx, t.conn, "abort_request", a)
	return err
}

// AbortRequested reads the abort flag of an execution.
func (r Reads) AbortRequested(ctx context.Context, sessionID, executionID string) (bool, error) {
	var requested bool
	a := newArgs(r.Conn, "read abort flag", "executions").ref("session_id", sessionID).ref("execution_id", executionID)
	err := one(ctx, r.Conn, "abort_requested", a, func(row Row) error { return row.Scan(&requested) })
	if errors.Is(err, errNoRow) {
		return false, nil
	}
	return requested, err
}
