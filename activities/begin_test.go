package activities

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

func TestBeginTurn(t *testing.T) {
	t.Parallel()
	t.Run("a repeat answers the same plan, on another worker too", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "run-1"}
		want, err := l.BeginTurn(t.Context(), scope, l.input("t-1"))
		must(t, err)
		if len(want.Stages) != 3 || want.Action != turn.PlanRun {
			t.Fatalf("plan %+v", want)
		}
		for range 2 {
			got, err := l.BeginTurn(t.Context(), scope, l.input("t-1"))
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			l.restart(t)
		}
		records, err := l.st.TurnRecords(t.Context(), "game", 10)
		must(t, err)
		if len(records) != 1 || records[0].CommitStatus != recordPending {
			t.Errorf("records %+v", records)
		}
	})
	t.Run("another input under a stored turn id is a conflict and takes no fence", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.commit(t, l.begin(t, "t-1"))
		in := l.input("t-1")
		in.PlayerMessage = "Something else."
		_, err := l.BeginTurn(t.Context(), turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "other"}, in)
		if codeOf(err) != turn.CodeTurnIDConflict {
			t.Errorf("error %v", err)
		}
		l.wantFence(t, "run-1")
	})
	t.Run("a committed turn is answered and keeps its fence", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.commit(t, l.begin(t, "t-1"))
		plan, err := l.BeginTurn(t.Context(), turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "other"}, l.input("t-1"))
		must(t, err)
		if plan.Action != turn.PlanReplay || plan.Replayed != turn.StatusCommitted || len(plan.Stages) != 0 {
			t.Errorf("plan %+v", plan)
		}
		l.wantFence(t, "run-1")
	})
	t.Run("the same turn of a run that is gone is a failed one", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.begin(t, "t-1")
		plan, err := l.BeginTurn(t.Context(), turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "other"}, l.input("t-1"))
		must(t, err)
		if plan.Action != turn.PlanReplay || plan.Replayed != turn.StatusFailed {
			t.Errorf("plan %+v", plan)
		}
		l.wantRecord(t, "t-1", recordFailed)
	})
	t.Run("a record that another turn left pending becomes failed", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.begin(t, "t-1")
		l.begin(t, "t-2")
		l.wantRecord(t, "t-1", recordFailed)
		l.wantRecord(t, "t-2", recordPending)
	})
	t.Run("an unknown session", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		in := l.input("t-1")
		in.SessionID = "nobody"
		_, err := l.BeginTurn(t.Context(), turn.Scope{SessionID: "nobody", TurnID: "t-1", ExecutionID: "x"}, in)
		if codeOf(err) != turn.CodeSessionNotFound {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a session that is not active runs nothing", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.write(t, func(ctx context.Context, tx store.Tx) error {
			s, err := tx.Session(ctx, "game")
			if err != nil {
				return err
			}
			s.Status = session.StatusPaused
			return tx.UpdateSession(ctx, s)
		})
		plan, err := l.BeginTurn(t.Context(), turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "x"}, l.input("t-1"))
		must(t, err)
		if plan.Action != turn.PlanEmpty {
			t.Errorf("plan %+v", plan)
		}
	})
	t.Run("a target that is not active runs nothing and says so", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		in := l.input("t-1")
		in.Origin, in.ManualTrigger = turn.OriginManual, &turn.ManualTrigger{RuntimeID: "lab/nobody"}
		plan, err := l.BeginTurn(t.Context(), turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "x"}, in)
		must(t, err)
		if plan.Action != turn.PlanEmpty || plan.AbortReason != "manual-trigger: runtime not found or inactive: lab/nobody" {
			t.Errorf("plan %+v", plan)
		}
	})
}

func (l *lab) wantFence(t *testing.T, execution string) {
	t.Helper()
	s, err := l.st.Session(t.Context(), "game")
	must(t, err)
	if s.Fence != execution {
		t.Errorf("fence %q, want %q", s.Fence, execution)
	}
}

func (l *lab) wantRecord(t *testing.T, turnID, status string) {
	t.Helper()
	r, err := l.st.TurnRecord(t.Context(), "game", turnID)
	must(t, err)
	if r.CommitStatus != status {
		t.Errorf("record of %s is %s, want %s", turnID, r.CommitStatus, status)
	}
}
