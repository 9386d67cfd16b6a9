package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// States of a turn record (spec 02 §14).
const (
	recordCommitted = "committed"
	recordFailed    = "failed"
)

// finishRecord marks the turn's record as committed; dropped runtimes stand in
// it as failed. A resume also replaces the suspended entry of its parent.
func (a *application) finishRecord(ctx context.Context) error {
	results := recorded(a.plan.Results)
	for i := range results {
		for _, d := range a.out.Isolated {
			if d.RuntimeID == results[i].RuntimeID {
				drop(&results[i], d)
			}
		}
	}
	if err := putRecord(ctx, a.tx, a.plan, recordCommitted, results, nil); err != nil {
		return err
	}
	if a.plan.Resolve == nil || a.plan.ParentTurnID == "" {
		return nil
	}
	return a.replaceSuspended(ctx, results)
}

func drop(r *turn.RuntimeResult, d Isolated) {
	r.Status = turn.RuntimeFailed
	r.Error = &turn.OutcomeError{Kind: turn.KindOf(turn.CodeCommitFailed), Code: turn.CodeCommitFailed, Message: d.Error}
	r.Effects = nil
}

// recorded copies results for the record: applied proposals are not kept, so
// that the record does not hold the turn's writes a second time.
func recorded(results []turn.RuntimeResult) []turn.RuntimeResult {
	copies := slices.Clone(results)
	for i := range copies {
		copies[i].Proposals = nil
		if e := copies[i].Effects; e != nil {
			kept := *e
			kept.Assets = nil
			copies[i].Effects = &kept
		}
	}
	return copies
}

func (a *application) replaceSuspended(ctx context.Context, results []turn.RuntimeResult) error {
	parent, err := a.tx.TurnRecord(ctx, a.plan.SessionID, a.plan.ParentTurnID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // a restored snapshot may have taken the record away
	}
	if err != nil {
		return err
	}
	var old []turn.RuntimeResult
	if err := json.Unmarshal(parent.RuntimeResults, &old); err != nil {
		return fmt.Errorf("record of turn %s: %w", a.plan.ParentTurnID, err)
	}
	for i := range old {
		for _, r := range results {
			if old[i].RuntimeID == r.RuntimeID && old[i].Status == turn.RuntimeSuspended {
				r.Stage, r.Level, r.TurnID = old[i].Stage, old[i].Level, old[i].TurnID
				old[i] = r
			}
		}
	}
	if parent.RuntimeResults, err = json.Marshal(old); err != nil {
		return err
	}
	return a.tx.PutTurnRecord(ctx, parent)
}

// putRecord brings the stored record to its final state, or makes one.
func putRecord(ctx context.Context, tx store.Tx, plan *Plan, status string, results []turn.RuntimeResult, failure json.RawMessage) error {
	record, err := tx.TurnRecord(ctx, plan.SessionID, plan.TurnID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		record = store.TurnRecord{
			ID: plan.id("turn"), SessionID: plan.SessionID, TurnID: plan.TurnID, InputHash: plan.InputHash,
			ExecutionContext: plan.ExecutionContext, CreatedAt: plan.Now,
		}
	case err != nil:
		return err
	}
	if record.RuntimeResults, err = json.Marshal(results); err != nil {
		return fmt.Errorf("runtime results: %w", err)
	}
	record.ExecutionID, record.Origin = plan.ExecutionID, string(plan.Origin)
	record.PlayerMessage, record.ParentTurnID = plan.PlayerMessage, plan.ParentTurnID
	record.LogicalTurn, record.DurationMs = plan.LogicalTurn, plan.DurationMs
	record.CommitStatus, record.Error = status, failure
	return tx.PutTurnRecord(ctx, record)
}

// settleFailure makes a rollback final, in a transaction of its own: the
// record, the outcome for later calls, and for a resume the released claim.
func settleFailure(ctx context.Context, st store.Store, plan *Plan, f *failure) (Outcome, error) {
	failed := Outcome{
		Status: Failed, Code: f.code, Message: f.message, AbortReason: f.abort, FailedProposals: f.failed,
	}
	var out Outcome
	err := st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		first, decided, err := begin(ctx, tx, plan)
		if err != nil || decided {
			out = first
			return err
		}
		reason, err := json.Marshal(turn.OutcomeError{Kind: turn.KindOf(f.code), Code: f.code, Message: f.message})
		if err != nil {
			return err
		}
		if err := putRecord(ctx, tx, plan, recordFailed, recorded(plan.Results), reason); err != nil {
			return err
		}
		if plan.Resolve != nil {
			if err := tx.ReleaseSuspension(ctx, plan.Resolve.SuspensionID, plan.Resolve.Token); err != nil {
				return err
			}
		}
		if err := trace.Insert(ctx, tx, plan.Now, proposalFailures(plan, f.failed)...); err != nil {
			return err
		}
		payload, err := json.Marshal(failed)
		if err != nil {
			return err
		}
		_, _, err = tx.PutJournal(ctx, store.JournalEntry{
			SessionID: plan.SessionID, ExecutionID: plan.ExecutionID, Kind: journalOutcome, Payload: payload, CreatedAt: plan.Now,
		})
		out = failed
		return err
	})
	if err != nil {
		return Outcome{}, wrap(plan, err)
	}
	return out, nil
}

// proposalFailures are the trace rows of rejected proposals.
func proposalFailures(plan *Plan, failed []FailedProposal) []trace.Event {
	events := make([]trace.Event, len(failed))
	for i, f := range failed {
		events[i] = trace.Event{
			Scope: plan.Scope, TraceID: plan.TraceID, Type: trace.ProposalFailed, Key: f.Proposal.ID,
			Payload: map[string]string{
				"proposalId": f.Proposal.ID, "type": f.Proposal.Type, "pluginId": f.Proposal.Source.PluginID,
				"runtimeId": f.Proposal.Source.RuntimeID, "error": f.Error,
			},
		}
	}
	return events
}
