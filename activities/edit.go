package activities

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Why a suspension was closed without a resume.
const (
	closedByDeadline = "deadline"
	closedByCaller   = "cancelled"
)

// ApplyEdit makes one short change of a session in one transaction, under the
// session's fence. A repeat answers the first result.
func (a *Activities) ApplyEdit(ctx context.Context, scope turn.Scope, in turn.EditInput) (turn.EditResult, error) {
	result, err := a.applyEdit(ctx, scope, in)
	return result, outcome(err)
}

func (a *Activities) applyEdit(ctx context.Context, scope turn.Scope, in turn.EditInput) (turn.EditResult, error) {
	var result turn.EditResult
	if err := in.Validate(); err != nil {
		return result, err
	}
	var refused error
	err := a.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		result, refused = turn.EditResult{}, nil
		if err := tx.LockSession(ctx, scope.SessionID); err != nil {
			return err
		}
		if entry, ok, err := tx.JournalEntry(ctx, scope.SessionID, scope.ExecutionID, journalEdit, ""); err != nil || ok {
			return decodeEntry(entry, &result, err)
		}
		if err := tx.SetFence(ctx, scope.SessionID, scope.ExecutionID); err != nil {
			return err
		}
		if err := failLeftovers(ctx, tx, scope.SessionID); err != nil {
			return err
		}
		var err error
		if in.Action == turn.EditCancelSuspension {
			result, refused, err = a.cancelSuspension(ctx, tx, scope, in)
		}
		if err != nil || refused != nil {
			return err
		}
		return a.record(ctx, tx, scope, journalEdit, "", &result)
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return result, turn.Errorf("edit session", turn.CodeSessionNotFound, "there is no session %q", scope.SessionID)
	case err != nil:
		return result, err
	}
	return result, refused
}

// cancelSuspension closes an open suspension. One whose deadline has come is
// closed by that; refused says so, and what was written stays.
func (a *Activities) cancelSuspension(ctx context.Context, tx store.Tx, scope turn.Scope, in turn.EditInput) (result turn.EditResult, refused, err error) {
	s, err := findSuspension(ctx, tx, scope.SessionID, in.SuspensionID)
	if err != nil {
		return result, nil, err
	}
	if s.Expired(a.now()) {
		_, err = a.closeSuspension(ctx, tx, scope.ExecutionID, s, closedByDeadline)
		return result, expired(s), err
	}
	reason := in.Reason
	if reason == "" {
		reason = closedByCaller
	}
	result, err = a.closeSuspension(ctx, tx, scope.ExecutionID, s, reason)
	return result, nil, err
}

func expired(s session.Suspension) error {
	return turn.Errorf("find suspension", turn.CodeSuspensionClosed, "suspension %q was cancelled at its deadline %s", s.ID, s.Deadline.Format("2006-01-02 15:04:05Z07:00"))
}

// closeSuspension cancels an open suspension; its buffered writes are gone. The
// last of its logical turn counts the turn and releases the turn's jobs (spec 03
// §12.5).
func (a *Activities) closeSuspension(ctx context.Context, tx store.Tx, executionID string, s session.Suspension, reason string) (turn.EditResult, error) {
	var result turn.EditResult
	if err := suspensionError("cancel suspension", s.ID, tx.CancelSuspension(ctx, s.ID, reason, a.now())); err != nil {
		return result, err
	}
	p, err := continuation.Thaw(s.Payload)
	if err != nil {
		return result, nil //nolint:nilerr // a payload that nobody can read is closed all the same
	}
	others, err := unresolved(ctx, tx, s.SessionID, s.ID, &p)
	if err != nil || others > 0 {
		return result, err
	}
	if p.CountPolicy(0) == turn.CountCompleteTurn {
		if result.Counted, err = commit.CountTurn(ctx, tx, s.SessionID, p.ExecutionContext.LogicalTurnID, a.now()); err != nil {
			return result, err
		}
	}
	for i, job := range p.WithheldRuntimeJobs {
		entry := store.OutboxEntry{
			SessionID: s.SessionID, ExecutionID: executionID, Seq: i, Kind: commit.OutboxJob, Payload: job, CreatedAt: a.now(),
		}
		if err := tx.InsertOutbox(ctx, entry); err != nil {
			return result, err
		}
		result.Jobs++
	}
	return result, nil
}
