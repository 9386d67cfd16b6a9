package sqlstore

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

const summaryTable = "session_summaries"

func scanSummary(r Row, s *session.Summary) error {
	return r.Scan(&s.ID, &s.SessionID, &s.TurnRangeStart, &s.TurnRangeEnd, &s.Content, decoded{&s.FocusSections},
		at(&s.CreatedAt))
}

// Summaries lists a session's summaries, oldest first.
func (r Reads) Summaries(ctx context.Context, sessionID string) ([]session.Summary, error) {
	a := newArgs(r.Conn, "read summaries", summaryTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "summary_list", a, scanSummary)
}

// CompactionState gives the counters; a session without a row has zero ones.
func (r Reads) CompactionState(ctx context.Context, sessionID string) (store.CompactionState, error) {
	s := store.CompactionState{SessionID: sessionID}
	a := newArgs(r.Conn, "read compaction state", "compaction_state").ref("session_id", sessionID)
	err := one(ctx, r.Conn, "compaction_state_get", a, func(row Row) error {
		return row.Scan(&s.SessionID, &s.ConsecutiveFailures, &s.OversizedRowID, at(&s.UpdatedAt))
	})
	if errors.Is(err, errNoRow) {
		err = nil
	}
	return s, err
}

// CompactionRun gives the outcome of an execution's attempt, if there was one.
func (r Reads) CompactionRun(ctx context.Context, sessionID, executionID string) (store.CompactionRun, bool, error) {
	var c store.CompactionRun
	a := newArgs(r.Conn, "read compaction run", "compaction_runs").ref("session_id", sessionID).ref("execution_id", executionID)
	err := one(ctx, r.Conn, "compaction_run_get", a, func(row Row) error {
		return row.Scan(&c.SessionID, &c.ExecutionID, &c.TurnID, &c.Outcome, &c.Reason, decoded{&c.SummaryIDs}, at(&c.CreatedAt))
	})
	return found(c, err)
}

// found turns errNoRow into false.
func found[T any](v T, err error) (T, bool, error) {
	var zero T
	if errors.Is(err, errNoRow) {
		return zero, false, nil
	}
	if err != nil {
		return zero, false, err
	}
	return v, true, nil
}

// InsertSummary stores a new segment; a used id is ALREADY_EXISTS.
func (t *Tx) InsertSummary(ctx context.Context, s session.Summary) error {
	const op = "insert summary"
	if err := t.pin(ctx, op, s.SessionID); err != nil {
		return err
	}
	n, err := exec(ctx, t.conn, "summary_insert", summaryColumns(newArgs(t.conn, op, summaryTable), t, s))
	if err == nil && n == 0 {
		return alreadyExists(op, summaryTable, s.ID)
	}
	return err
}

// UpdateSummary rewrites a segment of the same session.
func (t *Tx) UpdateSummary(ctx context.Context, s session.Summary) error {
	const op = "update summary"
	if err := t.pin(ctx, op, s.SessionID); err != nil {
		return err
	}
	n, err := exec(ctx, t.conn, "summary_update", summaryColumns(newArgs(t.conn, op, summaryTable), t, s))
	if err == nil && n == 0 {
		return notFound(op, summaryTable, s.ID)
	}
	return err
}

func summaryColumns(a *args, t *Tx, s session.Summary) *args {
	return a.id("id", s.ID).id("session_id", s.SessionID).ref("turn_range_start", s.TurnRangeStart).
		ref("turn_range_end", s.TurnRangeEnd).text("content", s.Content).texts("focus_sections", s.FocusSections).
		time("created_at", t.stamp(s.CreatedAt))
}

// DeleteSummaries deletes exactly the given segments; a missing one is NOT_FOUND.
func (t *Tx) DeleteSummaries(ctx context.Context, sessionID string, ids []string) error {
	const op = "delete summaries"
	for _, id := range ids {
		if err := t.pin(ctx, op, sessionID); err != nil {
			return err
		}
		a := newArgs(t.conn, op, summaryTable).id("session_id", sessionID).id("id", id)
		n, err := exec(ctx, t.conn, "summary_delete", a)
		if err != nil {
			return err
		}
		if n == 0 {
			return notFound(op, summaryTable, id)
		}
	}
	return nil
}

// DeleteAllSummaries deletes every segment of a session; marks stay.
func (t *Tx) DeleteAllSummaries(ctx context.Context, sessionID string) error {
	const op = "delete all summaries"
	if err := t.pin(ctx, op, sessionID); err != nil {
		return err
	}
	_, err := exec(ctx, t.conn, "summary_delete_all", newArgs(t.conn, op, summaryTable).id("session_id", sessionID))
	return err
}

// PutCompactionState replaces the counters of a session.
func (t *Tx) PutCompactionState(ctx context.Context, s store.CompactionState) error {
	const op = "put compaction state"
	if err := t.pin(ctx, op, s.SessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "compaction_state").id("session_id", s.SessionID).int(int64(s.ConsecutiveFailures)).
		ref("oversized_row_id", s.OversizedRowID).time("updated_at", t.stamp(s.UpdatedAt))
	_, err := exec(ctx, t.conn, "compaction_state_put", a)
	return err
}

// InsertCompactionRun stores the outcome of an attempt once.
func (t *Tx) InsertCompactionRun(ctx context.Context, r store.CompactionRun) error {
	const op = "insert compaction run"
	if err := t.pin(ctx, op, r.SessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, "compaction_runs").id("session_id", r.SessionID).id("execution_id", r.ExecutionID).
		ref("turn_id", r.TurnID).text("outcome", r.Outcome).text("reason", r.Reason).texts("summary_ids", r.SummaryIDs).
		time("created_at", t.stamp(r.CreatedAt))
	n, err := exec(ctx, t.conn, "compaction_run_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, "compaction_runs", r.ExecutionID)
	}
	return err
}
