package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/postgres"
	"github.com/covel-engine/covel/turn"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestResume(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.suspend(t)
	b.runtime("asker", patch("hp", 7))
	out := b.apply(t)
	s, err := b.store.Suspension(t.Context(), "sus")
	must(t, err)
	if out.Status != commit.Committed || !out.Counted || s.Status != session.SuspensionResolved || b.state(t, "hp") != "7" {
		t.Fatalf("outcome %+v, suspension %s", out, s.Status)
	}
	rows := b.messages(t)
	if last := rows[len(rows)-1]; last.TurnID != "t" || last.Name != "asker" {
		t.Errorf("the row of the resume is %+v", last)
	}
	own, _ := b.record(t)
	if own.ParentTurnID != "t" || own.CommitStatus != "committed" {
		t.Errorf("the resume's record is %+v", own)
	}
	b.plan.TurnID = "t"
	if _, statuses := b.record(t); statuses["asker"] != turn.RuntimeSuccess {
		t.Errorf("the suspended turn's record has %v", statuses)
	}
	if n := b.session(t).CompletedPlayerTurns; n != 1 {
		t.Errorf("%d turns are counted", n)
	}
	if b.datum(t, commit.PluginTriggers, commit.NamespaceTriggers, "asker") == "" {
		t.Error("the resumed success is not in the ledger")
	}
}

func TestALogicalTurnCountsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	b.apply(t)
	b.next(t, "t2", "x2")
	b.plan.LogicalTurnID, b.plan.Origin = "t", turn.OriginContinuation
	if out := b.apply(t); out.Counted || b.session(t).CompletedPlayerTurns != 1 {
		t.Fatalf("outcome %+v", out)
	}
}

func TestLostSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, "s", "another") })
	_, err := commit.Apply(t.Context(), b.store, b.plan)
	if !errors.Is(err, turn.ErrSessionLost) || !errors.Is(err, store.ErrSessionLost) {
		t.Fatalf("a lost session gives %v", err)
	}
	if _, err := commit.Fail(t.Context(), b.store, b.plan, turn.CodeCommitFailed, errors.New("gone")); !errors.Is(err, turn.ErrSessionLost) {
		t.Fatalf("failing a lost session gives %v", err)
	}
	if _, err := b.store.TurnRecord(t.Context(), "s", "t"); !errors.Is(err, store.ErrNotFound) {
		t.Fatal("a record was written")
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	first, err := commit.Fail(t.Context(), b.store, b.plan, "timeout", errors.New("the store did not answer"))
	must(t, err)
	again := b.apply(t) // the failed outcome is final
	if first.Status != commit.Failed || again.Code != "timeout" || again.Message != first.Message || len(b.messages(t)) != 0 {
		t.Fatalf("outcomes %+v, %+v", first, again)
	}
}

func TestUnknownSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.plan.SessionID = "nobody"
	if _, err := commit.Apply(t.Context(), b.store, b.plan); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("an unknown session gives %v", err)
	}
	b.plan.ExecutionID = ""
	if _, err := commit.Apply(t.Context(), b.store, b.plan); err == nil {
		t.Fatal("a plan without execution is accepted")
	}
}

// A consumer that was released before the provider that is rejected later must
// lose what it had written already.
func TestDependentsAppliedBeforeTheRejectionAreUndone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	b.runtime("kept", patch("kept", 1))
	_, early := b.runtime("early", patch("early", 1), propose(turn.ProposalEventEmit, commit.EventEmit{Topic: "T"}))
	early.Schedule.Needs = []plugin.Dependency{{Contract: "k@1", Cardinality: "all"}}
	_, late := b.runtime("late", badPatch())
	late.IO.Output.Contract = "k@1"
	out := b.apply(t)
	if got := isolated(out); len(got) != 2 || got[0] != "late" || got[1] != "early" {
		t.Fatalf("isolated %v", got)
	}
	if b.state(t, "early") != "" || b.state(t, "kept") != "1" || len(out.Events) != 1 || len(out.FailedProposals) != 1 {
		t.Fatalf("outcome %+v", out)
	}
}

// The cases in which transactions and savepoints matter, on PostgreSQL too.
func TestOnPostgres(t *testing.T) {
	t.Parallel()
	st, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Database(t), MaxConns: 4})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	b := setupOn(t, st)
	b.story("narrator", "A story.")
	b.runtime("kept", patch("kept", 1))
	b.runtime("up", patch("up", 1), propose(turn.ProposalPluginDataBatch, commit.DataBatch{Namespace: "n", Entries: []commit.BatchEntry{
		{Key: "k", Value: json.RawMessage(`1`), Compare: true, Expected: new(int64)},
	}}))
	_, down := b.runtime("down", patch("down", 1))
	down.Schedule.Needs = []plugin.Dependency{{Runtime: "up"}}
	b.plan.Suspensions = nil
	out := b.apply(t)
	if out.Status != commit.Committed || len(out.Isolated) != 2 || b.state(t, "kept") != "1" || b.state(t, "up") != "" || b.state(t, "down") != "" {
		t.Fatalf("outcome %+v", out)
	}
	if again := b.apply(t); again.Status != commit.Committed || len(b.messages(t)) != 3 {
		t.Fatalf("the repeated commit gives %+v", again)
	}
	b.next(t, "t2", "x2")
	b.plan.Results = nil
	b.story("narrator", "More.")
	b.plan.HostWrites = []commit.HostWrite{func(ctx context.Context, tx store.Tx, _ []string) error { return tx.RequestAbort(ctx, "s", "x2") }}
	if out := b.apply(t); out.Status != commit.Failed || out.Code != turn.CodeTurnAborted || len(b.messages(t)) != 3 {
		t.Fatalf("outcome %+v", out)
	}
	b.plan.HostWrites = nil
	b.next(t, "t3", "x3")
	b.plan.Results = nil
	b.suspend(t)
	b.runtime("asker", patch("hp", 7))
	if out := b.apply(t); out.Status != commit.Committed || b.state(t, "hp") != "7" {
		t.Fatalf("outcome %+v", out)
	}
}

// A player's abort while the commit waits for the session lock either comes
// first and wins or finds the turn committed.
func TestAbortRacesTheCommit(t *testing.T) {
	t.Parallel()
	for range 8 {
		b := setup(t)
		b.story("narrator", "A story.")
		done := make(chan error, 1)
		go func() {
			done <- b.store.WithTx(context.Background(), func(ctx context.Context, tx store.Tx) error {
				if err := tx.LockSession(ctx, "s"); err != nil {
					return err
				}
				return tx.RequestAbort(ctx, "s", "x")
			})
		}()
		out := b.apply(t)
		must(t, <-done)
		if rows := len(b.messages(t)); (out.Status == commit.Committed) != (rows == 2) {
			t.Fatalf("outcome %+v with %d rows", out, rows)
		}
	}
}

// Calls of one execution at the same time have one outcome.
func TestConcurrentCallsCommitOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	b.runtime("a", patch("hp", 1))
	outcomes := make([]commit.Outcome, 6)
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() {
			var err error
			if outcomes[i], err = commit.Apply(t.Context(), b.store, b.plan); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, out := range outcomes {
		if out.Status != commit.Committed || out.Events[0].ID != outcomes[0].Events[0].ID {
			t.Errorf("outcome %+v", out)
		}
	}
	if rows, s := len(b.messages(t)), b.session(t); rows != 3 || s.TurnCount != 1 {
		t.Errorf("%d rows, %d turns", rows, s.TurnCount)
	}
}
