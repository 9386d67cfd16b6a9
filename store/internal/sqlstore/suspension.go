package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

const suspensionTable = "continuations"

func scanSuspension(r Row, s *session.Suspension) error {
	return r.Scan(&s.ID, &s.SessionID, &s.TurnID, &s.RuntimeID, &s.PluginID, &s.Reason, raw(&s.ResumeSchema), raw(&s.Payload),
		&s.Status, &s.ClaimToken, maybeAt(&s.ClaimedAt), maybeAt(&s.Deadline), &s.ClosedReason, at(&s.CreatedAt),
		maybeAt(&s.ResolvedAt))
}

// Suspension reads one continuation.
func (r Reads) Suspension(ctx context.Context, id string) (session.Suspension, error) {
	return r.suspension(ctx, "read continuation", id)
}

func (r Reads) suspension(ctx context.Context, op, id string) (session.Suspension, error) {
	var s session.Suspension
	a := newArgs(r.Conn, op, suspensionTable).ref("id", id)
	err := one(ctx, r.Conn, "suspension_get", a, func(row Row) error { return scanSuspension(row, &s) })
	if errors.Is(err, errNoRow) {
		return session.Suspension{}, notFound(op, suspensionTable, id)
	}
	return s, err
}

// Suspensions lists a session's continuations by creation, then id.
func (r Reads) Suspensions(ctx context.Context, sessionID string) ([]session.Suspension, error) {
	a := newArgs(r.Conn, "list continuations", suspensionTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "suspension_list", a, scanSuspension)
}

// SaveSuspension opens a continuation, or updates an open one of the session.
func (t *Tx) SaveSuspension(ctx context.Context, s session.Suspension) error {
	const op = "save continuation"
	if err := t.pin(ctx, op, s.SessionID); err != nil {
		return err
	}
	a := newArgs(t.conn, op, suspensionTable).id("id", s.ID).id("session_id", s.SessionID).ref("turn_id", s.TurnID).
		ref("runtime_id", s.RuntimeID).ref("plugin_id", s.PluginID).text("reason", s.Reason).
		json("resume_schema", s.ResumeSchema).json("payload", s.Payload).nullTime("deadline_at", s.Deadline).
		time("created_at", t.stamp(s.CreatedAt))
	n, err := exec(ctx, t.conn, "suspension_insert", a)
	if err != nil || n == 1 {
		return err
	}
	a = newArgs(t.conn, op, suspensionTable).id("id", s.ID).id("session_id", s.SessionID).text("reason", s.Reason).
		json("resume_schema", s.ResumeSchema).json("payload", s.Payload).nullTime("deadline_at", s.Deadline)
	n, err = exec(ctx, t.conn, "suspension_update_open", a)
	if err != nil || n == 1 {
		return err
	}
	stored, err := t.suspension(ctx, op, s.ID)
	if err != nil {
		return err
	}
	if stored.SessionID != s.SessionID {
		return &store.Error{Code: store.CodeForeignID, Op: op, Table: suspensionTable, ID: s.ID, Value: s.SessionID}
	}
	return suspensionClosed(op, stored)
}

// ClaimSuspension takes an open continuation for a token. At or after the
// deadline it cancels the row and answers CONTINUATION_CLOSED; the caller
// commits its transaction to keep the cancellation.
func (t *Tx) ClaimSuspension(ctx context.Context, id, token string, now time.Time) error {
	const op = "claim continuation"
	a := newArgs(t.conn, op, suspensionTable).id("id", id).id("claim_token", token).time("claimed_at", now)
	n, err := exec(ctx, t.conn, "suspension_claim", a)
	if err != nil || n == 1 {
		return err
	}
	if _, err := t.expire(ctx, op, id, now); err != nil {
		return err
	}
	stored, err := t.suspension(ctx, op, id)
	switch {
	case err != nil:
		return err
	case stored.Status == session.SuspensionClaimed && stored.ClaimToken == token:
		return nil
	case stored.Status == session.SuspensionClaimed:
		return suspensionTaken(op, id, token)
	}
	return suspensionClosed(op, stored)
}

func (t *Tx) expire(ctx context.Context, op, id string, now time.Time) (int64, error) {
	return exec(ctx, t.conn, "suspension_expire", newArgs(t.conn, op, suspensionTable).id("id", id).time("deadline_at", now))
}

// ReleaseSuspension opens a claimed continuation again. Releasing an open one
// changes nothing, so a repeated release succeeds.
func (t *Tx) ReleaseSuspension(ctx context.Context, id, token string) error {
	const op = "release continuation"
	n, err := exec(ctx, t.conn, "suspension_release", newArgs(t.conn, op, suspensionTable).id("id", id).id("claim_token", token))
	if err != nil || n == 1 {
		return err
	}
	stored, err := t.suspension(ctx, op, id)
	switch {
	case err != nil || stored.Status == session.SuspensionOpen:
		return err
	case stored.Status == session.SuspensionClaimed:
		return suspensionTaken(op, id, token)
	}
	return suspensionClosed(op, stored)
}

// ResolveSuspension closes a claimed continuation, in the commit of its resume.
// The same token again succeeds.
func (t *Tx) ResolveSuspension(ctx context.Context, id, token string, now time.Time) error {
	const op = "resolve continuation"
	a := newArgs(t.conn, op, suspensionTable).id("id", id).id("claim_token", token).time("resolved_at", now)
	n, err := exec(ctx, t.conn, "suspension_resolve", a)
	if err != nil || n == 1 {
		return err
	}
	stored, err := t.suspension(ctx, op, id)
	switch {
	case err != nil:
		return err
	case stored.Status == session.SuspensionResolved && stored.ClaimToken == token:
		return nil
	case stored.Status == session.SuspensionOpen:
		return invalid(op, suspensionTable, id, string(stored.Status), "the continuation is open; claim it first")
	case stored.Status == session.SuspensionClaimed:
		return suspensionTaken(op, id, token)
	}
	return suspensionClosed(op, stored)
}

// CancelSuspension closes an open continuation.
func (t *Tx) CancelSuspension(ctx context.Context, id, reason string, now time.Time) error {
	const op = "cancel continuation"
	a := newArgs(t.conn, op, suspensionTable).id("id", id).text("closed_reason", reason).time("resolved_at", now)
	n, err := exec(ctx, t.conn, "suspension_cancel", a)
	if err != nil || n == 1 {
		return err
	}
	stored, err := t.suspension(ctx, op, id)
	switch {
	case err != nil:
		return err
	case stored.Status == session.SuspensionClaimed:
		return suspensionTaken(op, id, "")
	}
	return suspensionClosed(op, stored)
}

func suspensionTaken(op, id, token string) error {
	return &store.Error{
		Code: store.CodeContinuationTaken, Op: op, Table: suspensionTable, ID: id, Value: token,
		Err: errors.New("another token holds the claim"),
	}
}

func suspensionClosed(op string, s session.Suspension) error {
	return &store.Error{
		Code: store.CodeContinuationClosed, Op: op, Table: suspensionTable, ID: s.ID, Value: string(s.Status),
		Err: errors.New("status is " + string(s.Status)),
	}
}
