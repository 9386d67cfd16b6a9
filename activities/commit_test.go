package activities

import (
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

func TestCommitTurn(t *testing.T) {
	t.Parallel()
	t.Run("a repeat answers the first outcome and appends nothing, on another worker too", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		l.agent(t, scope, "lab/teller", "narrative")
		want, err := l.CommitTurn(t.Context(), turn.CommitInput{Scope: scope})
		must(t, err)
		if want.Status != turn.StatusCommitted || want.CostMicroUSD != 12 {
			t.Errorf("facts %+v", want)
		}
		for range 2 {
			got, err := l.CommitTurn(t.Context(), turn.CommitInput{Scope: scope})
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			must(t, l.FinishTurn(t.Context(), scope))
			l.restart(t)
		}
		l.wantLog(t, "I open door t-1.", "Sentence 1.")
		s, err := l.st.Session(t.Context(), "game")
		must(t, err)
		if s.CompletedPlayerTurns != 1 {
			t.Errorf("%d turns are counted", s.CompletedPlayerTurns)
		}
	})
	t.Run("what another worker settled is committed too", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		began := l.Activities
		l.restart(t)
		l.agent(t, scope, "lab/teller", "narrative")
		l.Activities = began
		if facts := l.commit(t, scope); facts.Status != turn.StatusCommitted || facts.CostMicroUSD != 12 {
			t.Errorf("facts %+v", facts)
		}
		l.wantLog(t, "I open door t-1.", "Sentence 1.")
	})
	for name, c := range map[string]struct {
		in     turn.CommitInput
		status turn.Status
		code   string
	}{
		"an aborted turn": {turn.CommitInput{Aborted: true}, turn.StatusAborted, turn.CodeTurnAborted},
		"a failed turn":   {turn.CommitInput{Code: "INVALID_VALUE", Message: "unreadable"}, turn.StatusFailed, "INVALID_VALUE"},
		"an abort goes before a failure's record": {turn.CommitInput{Aborted: true, Code: "INVALID_VALUE"}, turn.StatusAborted, turn.CodeTurnAborted},
	} {
		t.Run(name+" leaves its record and no story", func(t *testing.T) {
			t.Parallel()
			l := newLab(t, labHandlers{})
			in := c.in
			in.Scope = l.begin(t, "t-1")
			l.agent(t, in.Scope, "lab/teller", "narrative")
			for range 2 {
				facts, err := l.CommitTurn(t.Context(), in)
				must(t, err)
				if facts.Status != c.status || facts.Code != c.code {
					t.Errorf("facts %+v", facts)
				}
				l.restart(t)
			}
			l.wantRecord(t, "t-1", recordFailed)
			s, err := l.st.Session(t.Context(), "game")
			must(t, err)
			if s.CompletedPlayerTurns != 0 {
				t.Errorf("%d turns are counted", s.CompletedPlayerTurns)
			}
			messages, err := l.st.Messages(t.Context(), "game")
			must(t, err)
			for _, m := range messages {
				if m.SourceType == session.SourceRuntime {
					t.Errorf("the log has %q", m.Content)
				}
			}
		})
	}
	t.Run("a noted abort is refused once the turn is committed", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		l.commit(t, scope)
		if err := l.RequestAbort(t.Context(), scope); codeOf(err) != turn.CodeNoActiveTurn {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a commit honours an abort that was noted before it", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		must(t, l.RequestAbort(t.Context(), scope))
		facts, err := l.CommitTurn(t.Context(), turn.CommitInput{Scope: scope})
		must(t, err)
		if facts.Status != turn.StatusAborted {
			t.Errorf("facts %+v", facts)
		}
	})
	t.Run("a store that fails is tried again and nothing is half done", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		l.agent(t, scope, "lab/teller", "narrative")
		broken := &brokenStore{Store: l.st}
		l.cfg.Store = broken
		l.restart(t)
		broken.fails.Store(1)
		if _, err := l.CommitTurn(t.Context(), turn.CommitInput{Scope: scope}); codeOf(err) != turn.CodeUnavailable {
			t.Errorf("error %v", err)
		}
		if facts := l.commit(t, scope); facts.Status != turn.StatusCommitted {
			t.Errorf("the repeat ended %+v", facts)
		}
		l.wantLog(t, "I open door t-1.", "Sentence 1.")
	})
}

func (l *lab) wantLog(t *testing.T, want ...string) {
	t.Helper()
	messages, err := l.st.Messages(t.Context(), "game")
	must(t, err)
	var got []string
	for _, m := range messages {
		got = append(got, m.Content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the log differs: %s", diff)
	}
}
