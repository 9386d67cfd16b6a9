package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/covel-engine/covel/store"
)

const (
	turnTable   = "turn_results"
	commitTable = "turn_commits"
)

func scanTurnRecord(r Row, t *store.TurnRecord) error {
	return r.Scan(&t.ID, &t.SessionID, &t.TurnID, &t.ExecutionID, &t.InputHash, &t.Origin, raw(&t.ExecutionContext),
		&t.PlayerMessage, raw(&t.Error), raw(&t.RuntimeResults), raw(&t.Conflicts), &t.DurationMs, &t.ParentTurnID,
		&t.CommitStatus, &t.LogicalTurn, at(&t.CreatedAt))
}

// TurnRecord reads the record of a turn.
func (r Reads) TurnRecord(ctx context.Context, sessionID, turnID string) (store.TurnRecord, error) {
	const op = "read turn record"
	var t store.TurnRecord
	a := newArgs(r.Conn, op, turnTable).ref("session_id", sessionID).ref("turn_id", turnID)
	err := one(ctx, r.Conn, "turn_record_get", a, func(row Row) error { return scanTurnRecord(row, &t) })
	if errors.Is(err, errNoRow) {
		return store.TurnRecord{}, notFound(op, turnTable, turnID)
	}
	return t, err
}

// TurnRecords lists the newest records first.
func (r Reads) TurnRecords(ctx context.Context, sessionID string, limit int) ([]store.TurnRecord, error) {
	a := newArgs(r.Conn, "list turn records", turnTable).ref("session_id", sessionID).limit(limit)
	return many(ctx, r.Conn, "turn_record_list", a, scanTurnRecord)
}

// TurnCommit gives the stored commit of a turn, if there is one.
func (r Reads) TurnCommit(ctx context.Context, sessionID, turnID string) (store.TurnCommit, bool, error) {
	var c store.TurnCommit
	a := newArgs(r.Conn, "read turn commit", commitTable).ref("session_id", sessionID).ref("turn_id", turnID)
	err := one(ctx, r.Conn, "turn_commit_get", a, func(row Row) error {
		return row.Scan(&c.SessionID, &c.TurnID, &c.ExecutionID, &c.CountPolicy, raw(&c.Result), at(&c.CommittedAt))
	})
	return found(c, err)
}

// PutTurnRecord inserts or replaces the record of a turn. An id that belongs
// to another turn is ALREADY_EXISTS, to another session FOREIGN_ID.
func (t *Tx) PutTurnRecord(ctx context.Context, r store.TurnRecord) error {
	const op = "put turn record"
	if err := t.pin(ctx, op, r.SessionID); err != nil {
		return err
	}
	var ownerSession, ownerTurn string
	err := one(ctx, t.conn, "turn_record_owner", newArgs(t.conn, op, turnTable).id("id", r.ID), func(row Row) error {
		return row.Scan(&ownerSession, &ownerTurn)
	})
	switch {
	case errors.Is(err, errNoRow):
	case err != nil:
		return err
	case ownerSession != r.SessionID:
		return &store.Error{Code: store.CodeForeignID, Op: op, Table: turnTable, ID: r.ID, Value: r.SessionID}
	case ownerTurn != r.TurnID:
		return alreadyExists(op, turnTable, r.ID)
	}
	a := newArgs(t.conn, op, turnTable).id("id", r.ID).id("session_id", r.SessionID).id("turn_id", r.TurnID).
		ref("execution_id", r.ExecutionID).ref("input_hash", r.InputHash).text("origin", r.Origin).
		json("execution_context", r.ExecutionContext).text("player_message", r.PlayerMessage).json("error", r.Error).
		json("runtime_results", r.RuntimeResults).json("conflicts", r.Conflicts).int(r.DurationMs).
		ref("parent_turn_id", r.ParentTurnID)
	switch r.CommitStatus {
	case "pending", "committed", "failed":
	default:
		a.refuse("commit_status", r.CommitStatus, "must be pending, committed or failed")
	}
	a.text("commit_status", r.CommitStatus).int(int64(r.LogicalTurn)).time("created_at", t.stamp(r.CreatedAt))
	_, err = exec(ctx, t.conn, "turn_record_put", a)
	return err
}

// InsertTurnCommit claims the turn for an execution (spec 02 §16.3).
func (t *Tx) InsertTurnCommit(ctx context.Context, c store.TurnCommit) (store.TurnCommit, bool, error) {
	const op = "insert turn commit"
	if err := t.pin(ctx, op, c.SessionID); err != nil {
		return store.TurnCommit{}, false, err
	}
	c.CommittedAt = t.stamp(c.CommittedAt)
	a := newArgs(t.conn, op, commitTable).id("session_id", c.SessionID).id("turn_id", c.TurnID).
		id("execution_id", c.ExecutionID).text("count_policy", c.CountPolicy).json("result", c.Result).
		time("committed_at", c.CommittedAt)
	n, err := exec(ctx, t.conn, "turn_commit_insert", a)
	if err != nil || n == 1 {
		return c, false, err
	}
	stored, ok, err := t.TurnCommit(ctx, c.SessionID, c.TurnID)
	switch {
	case err != nil:
		return store.TurnCommit{}, false, err
	case !ok:
		return store.TurnCommit{}, false, notFound(op, commitTable, c.TurnID)
	case stored.ExecutionID != c.ExecutionID:
		return stored, false, &store.Error{
			Code: store.CodeTurnAlreadyCommitted, Op: op, Table: commitTable, ID: c.TurnID, Value: c.ExecutionID,
			Err: fmt.Errorf("execution %q has committed this turn", stored.ExecutionID),
		}
	}
	return stored, true, nil
}
