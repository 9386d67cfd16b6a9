package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// Apply commits an execution in one transaction, or rolls all of it back and
// marks its record as failed. Called again for the same execution it answers
// the first outcome and writes nothing.
//
// An error means that nothing was decided: session_lost (another execution
// owns the session), TURN_ALREADY_COMMITTED, NOT_FOUND, a cancelled context or
// a store that failed. The last two may be tried again; Fail gives up.
func Apply(ctx context.Context, st store.Store, plan Plan) (Outcome, error) {
	if plan.SessionID == "" || plan.TurnID == "" || plan.ExecutionID == "" {
		return Outcome{}, fmt.Errorf("commit: plan names session %q, turn %q, execution %q; none may be empty",
			plan.SessionID, plan.TurnID, plan.ExecutionID)
	}
	all := make([]writes, len(plan.Results))
	for i := range plan.Results {
		all[i] = normalise(&plan.Results[i], &plan)
		if all[i].rejected != nil {
			continue
		}
		if err := all[i].review(ctx, plan.Checks.Review); err != nil {
			return Outcome{}, err
		}
	}
	var out Outcome
	err := st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		first, decided, err := begin(ctx, tx, &plan)
		if err != nil || decided {
			out = first
			return err
		}
		a := &application{tx: tx, plan: &plan, writes: all, out: Outcome{Status: Committed}}
		if err := a.run(ctx); err != nil {
			return err
		}
		out = a.out
		return nil
	})
	if failed, ok := errors.AsType[*failure](err); ok {
		return settleFailure(ctx, st, &plan, failed)
	}
	if err != nil {
		return Outcome{}, wrap(&plan, err)
	}
	return out, nil
}

// Fail gives up on a commit that could not be decided: the record becomes
// failed with the given code. A commit that has been decided already keeps
// its outcome.
func Fail(ctx context.Context, st store.Store, plan Plan, code string, cause error) (Outcome, error) {
	f := failf(code, "%v", cause)
	if code == turn.CodeTurnAborted {
		f.abort = AbortReasonPlayer
	}
	return settleFailure(ctx, st, &plan, f)
}

// wrap names the turn and gives session_lost its own type.
func wrap(plan *Plan, err error) error {
	var se *store.Error
	if errors.As(err, &se) && se.Code == store.CodeSessionLost {
		e := turn.Errorf("commit", turn.CodeSessionLost, "%w", err)
		e.Session, e.Turn = plan.SessionID, plan.TurnID
		return e
	}
	return fmt.Errorf("commit turn %s: %w", plan.TurnID, err)
}

// begin takes the session lock and finds an earlier outcome of this execution.
// The outcome comes before the fence: a turn that did commit has committed,
// whoever owns the session by now.
func begin(ctx context.Context, tx store.Tx, plan *Plan) (Outcome, bool, error) {
	if err := tx.LockSession(ctx, plan.SessionID); err != nil {
		return Outcome{}, false, err
	}
	commit, ok, err := tx.TurnCommit(ctx, plan.SessionID, plan.TurnID)
	if err != nil {
		return Outcome{}, false, err
	}
	if ok {
		if commit.ExecutionID != plan.ExecutionID {
			return Outcome{}, false, &store.Error{
				Code: store.CodeTurnAlreadyCommitted, Op: "commit turn", Table: "turn_commits", ID: plan.TurnID,
				Value: plan.ExecutionID, Err: fmt.Errorf("execution %q has committed it", commit.ExecutionID),
			}
		}
		return decode(commit.Result)
	}
	entry, ok, err := tx.JournalEntry(ctx, plan.SessionID, plan.ExecutionID, journalOutcome, "")
	if err != nil {
		return Outcome{}, false, err
	}
	if ok {
		return decode(entry.Payload)
	}
	return Outcome{}, false, tx.CheckFence(ctx, plan.SessionID, plan.ExecutionID)
}

// journalOutcome is the kind of the journal entry that keeps a failed outcome.
const journalOutcome = "commit"

func decode(raw json.RawMessage) (Outcome, bool, error) {
	var out Outcome
	if err := json.Unmarshal(raw, &out); err != nil {
		return Outcome{}, false, fmt.Errorf("stored outcome: %w", err)
	}
	return out, true, nil
}

// application is one attempt of the transaction.
type application struct {
	tx     store.Tx
	plan   *Plan
	writes []writes
	out    Outcome

	session session.Session
	// applied is what the kept results have written.
	applied []applied
}

// applied is what one kept result left behind for the journal.
type applied struct {
	result       *turn.RuntimeResult
	id           func(kind string, parts ...string) string
	events       []Event
	traces       []trace.Event
	interactions []json.RawMessage
	requested    []string // ids of interactions
	narratives   []NarrativeAppend
	pictures     []picture
}

// run is the transaction in the order of spec 03 §10.4.
func (a *application) run(ctx context.Context) error {
	if err := a.notAborted(ctx); err != nil {
		return err
	}
	var err error
	if a.session, err = a.tx.Session(ctx, a.plan.SessionID); err != nil {
		return err
	}
	if a.plan.Origin == turn.OriginBackground && a.session.Status != session.StatusActive {
		return failf(turn.CodeSessionNotActive, "session %q is %s; the job's result is discarded", a.session.ID, a.session.Status)
	}
	if a.plan.Resolve != nil {
		for i := range a.plan.Results {
			if r := &a.plan.Results[i]; r.Status != turn.RuntimeSuccess {
				return failedResult(r)
			}
		}
	}
	succeeded, fail := a.judge()
	if fail != nil {
		return fail
	}
	if err := a.applyResults(ctx, succeeded); err != nil {
		return err
	}
	steps := []func(context.Context) error{
		a.appendJournal, a.saveSuspensions, a.publishExports, a.writeLedger,
		a.runHostWrites, a.resolveSuspension, a.moveClock, a.finishRecord, a.takeSnapshot,
		a.fillOutbox, a.writeTraces, a.notAborted, a.store,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// notAborted ends the transaction once the player has aborted.
func (a *application) notAborted(ctx context.Context) error {
	aborted, err := a.tx.AbortRequested(ctx, a.plan.SessionID, a.plan.ExecutionID)
	if err != nil {
		return err
	}
	if aborted {
		f := failf(turn.CodeTurnAborted, "the player aborted turn %s", a.plan.TurnID)
		f.abort = AbortReasonPlayer
		return f
	}
	return nil
}

// errRedo undoes a pass over the results after a later rejection took back
// what an earlier result had applied.
var errRedo = errors.New("commit: apply the results again")

// applyResults applies every result that stays. A rejection of an optional
// runtime beside a successful story drops it and its hard dependents; the pass
// is repeated without them if one of them had been applied before.
func (a *application) applyResults(ctx context.Context, storySucceeded bool) error {
	for {
		known := len(a.out.Isolated)
		err := a.tx.Savepoint(ctx, func(ctx context.Context) error { return a.pass(ctx, storySucceeded) })
		switch {
		case errors.Is(err, errRedo) && len(a.out.Isolated) > known:
			continue
		default:
			return err
		}
	}
}

func (a *application) pass(ctx context.Context, storySucceeded bool) error {
	a.applied = nil
	for i := range a.plan.Results {
		r := &a.plan.Results[i]
		if a.dropped(r.RuntimeID) {
			continue
		}
		if err := a.notAborted(ctx); err != nil {
			return err
		}
		result := applied{result: r, id: a.plan.id}
		rejected, err := a.applyOne(ctx, i, &result, storySucceeded)
		if err != nil {
			return err
		}
		if rejected == nil {
			a.applied = append(a.applied, result)
			continue
		}
		a.out.FailedProposals = append(a.out.FailedProposals, FailedProposal{rejected.proposal, rejected.err.Error()})
		a.out.Isolated = append(a.out.Isolated, Isolated{r.RuntimeID, rejected.err.Error()})
		lost, fail := a.dependents()
		if fail != nil {
			fail.message += ": " + rejected.err.Error()
			fail.failed = a.out.FailedProposals
			return fail
		}
		a.out.Isolated = append(a.out.Isolated, lost...)
		if slices.ContainsFunc(a.applied, func(done applied) bool { return a.dropped(done.result.RuntimeID) }) {
			return errRedo
		}
	}
	return nil
}

// applyOne applies a result's proposals; an optional result beside a
// successful story in a savepoint of its own.
func (a *application) applyOne(ctx context.Context, i int, result *applied, storySucceeded bool) (*rejection, error) {
	var rejected *rejection
	apply := func(ctx context.Context) error {
		rejected = a.writes[i].rejected
		for _, p := range a.writes[i].proposals {
			if rejected != nil {
				break
			}
			err := a.applyProposal(ctx, p, result)
			var refused *RejectedError
			switch {
			case errors.As(err, &refused):
				rejected = &rejection{p, refused}
			case err != nil:
				return err
			}
		}
		if rejected != nil {
			return rejected.err
		}
		return nil
	}
	if len(a.writes[i].proposals) == 0 && a.writes[i].rejected == nil {
		return nil, nil
	}
	if storySucceeded && a.plan.optional(result.result) {
		err := a.tx.Savepoint(ctx, apply)
		if rejected != nil && errors.Is(err, rejected.err) {
			return rejected, nil
		}
		return nil, err
	}
	err := apply(ctx)
	if rejected != nil {
		return nil, &failure{
			code: codeOf(rejected.err), message: rejected.err.Error(),
			failed: append(slices.Clone(a.out.FailedProposals), FailedProposal{rejected.proposal, rejected.err.Error()}),
		}
	}
	return nil, err
}

func codeOf(err error) string {
	var refused *RejectedError
	if errors.As(err, &refused) && refused.Code != "" {
		return refused.Code
	}
	return turn.CodeCommitFailed
}

func (a *application) dropped(runtimeID string) bool {
	return slices.ContainsFunc(a.out.Isolated, func(d Isolated) bool { return d.RuntimeID == runtimeID })
}

// store writes the outcome under the turn's id. It comes last: the outcome is
// complete then, and a failure takes everything back.
func (a *application) store(ctx context.Context) error {
	result, err := json.Marshal(a.out)
	if err != nil {
		return fmt.Errorf("outcome: %w", err)
	}
	_, _, err = a.tx.InsertTurnCommit(ctx, store.TurnCommit{
		SessionID: a.plan.SessionID, TurnID: a.plan.TurnID, ExecutionID: a.plan.ExecutionID,
		CountPolicy: string(a.countPolicy()), Result: result, CommittedAt: a.plan.Now,
	})
	return err
}
