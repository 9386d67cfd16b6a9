package workflows_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
)

func TestAbort(t *testing.T) {
	t.Parallel()
	plan := turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(agent("teller"))), stage("post-turn", level(function("keeper")))}}
	t.Run("during a stage: nothing further starts and the commit is told", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		noted := make(chan struct{})
		var answered <-chan error
		s.requestAbort = func(turn.Scope) error { close(noted); return nil }
		s.callModel = func(context.Context, turn.CallModelInput) (turn.StepOutcome, error) {
			answered = s.abort()
			<-noted
			return turn.StepOutcome{}, temporal.NewCanceledError()
		}
		result := s.play(t)
		if err := <-answered; err != nil {
			t.Errorf("the abort was answered with %v", err)
		}
		if result.Status != turn.StatusAborted || result.AbortReason != "player-abort" {
			t.Errorf("result %+v", result)
		}
		if len(s.committed) != 1 || !s.committed[0].Aborted || s.committed[0].Code != "" {
			t.Errorf("commit %+v", s.committed)
		}
		if s.count("prepare keeper") != 0 {
			t.Errorf("told %q", s.told)
		}
		if len(s.finished) != 1 || s.finished[0].RuntimeID != "teller" || s.finished[0].Code != turn.CodeTurnAborted {
			t.Errorf("finished %+v, want the cut teller", s.finished)
		}
		if len(result.Runtimes) != 1 || result.Runtimes[0].Status != turn.RuntimeFailed || result.Runtimes[0].Code != turn.CodeTurnAborted {
			t.Errorf("facts %+v", result.Runtimes)
		}
	})
	t.Run("during a function: it fails, and what the agent beside it did counts", func(t *testing.T) {
		t.Parallel()
		plan := turn.Plan{Stages: []turn.StagePlan{stage("pre-turn", level(agent("teller"), remote("roller")), level(function("keeper")))}}
		s := newStubs(t, plan)
		s.runFunction = func(turn.FunctionInput) (turn.RuntimeFacts, error) {
			for s.count("finish teller") == 0 {
				s.flush()
			}
			s.abort()
			return turn.RuntimeFacts{}, fatal(turn.CodeTurnAborted, "the player aborted the turn")
		}
		result := s.play(t)
		if result.Status != turn.StatusAborted || s.count("prepare keeper") != 0 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
		if len(result.Runtimes) != 2 || result.Runtimes[0].Status != turn.RuntimeSuccess || result.Runtimes[1].Code != turn.CodeTurnAborted {
			t.Errorf("facts %+v", result.Runtimes)
		}
	})
	t.Run("twice is the same as once", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		noted := make(chan struct{}, 2)
		var answered []<-chan error
		s.requestAbort = func(turn.Scope) error { noted <- struct{}{}; return nil }
		s.beginTurn = func(turn.Scope, turn.Input) (turn.Plan, error) {
			answered = append(answered, s.abort(), s.abort())
			return plan, nil
		}
		result := s.play(t)
		for _, answer := range answered {
			if err := <-answer; err != nil {
				t.Errorf("an abort was answered with %v", err)
			}
		}
		if result.Status != turn.StatusAborted || len(s.committed) != 1 || len(noted) != 2 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
	})
	t.Run("before the plan stands: it waits for the fence, and no stage starts", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		var answered <-chan error
		var begun atomic.Bool
		s.beginTurn = func(turn.Scope, turn.Input) (turn.Plan, error) {
			answered = s.abort()
			s.flush()
			begun.Store(true)
			return plan, nil
		}
		s.requestAbort = func(turn.Scope) error {
			if !begun.Load() {
				return fatal(turn.CodeSessionLost, "the session has another fence")
			}
			return nil
		}
		result := s.play(t)
		if err := <-answered; err != nil {
			t.Errorf("the abort was answered with %v", err)
		}
		if result.Status != turn.StatusAborted || s.count("model") != 0 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
	})
	t.Run("of a turn that turns out to be over", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		var answered <-chan error
		s.beginTurn = func(turn.Scope, turn.Input) (turn.Plan, error) {
			answered = s.abort()
			s.flush()
			return turn.Plan{Action: turn.PlanReplay, Replayed: turn.StatusCommitted}, nil
		}
		if result := s.play(t); result.Status != turn.StatusCommitted {
			t.Errorf("result %+v", result)
		}
		wantCode(t, <-answered, turn.CodeNoActiveTurn)
		if s.count("abort") != 0 {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("after the commit began: refused", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{})
		var answered <-chan error
		commit := s.commitTurn
		s.commitTurn = func(in turn.CommitInput) (turn.CommitFacts, error) {
			answered = s.abort()
			return commit(in)
		}
		if result := s.play(t); result.Status != turn.StatusCommitted {
			t.Errorf("result %+v", result)
		}
		wantCode(t, <-answered, turn.CodeNoActiveTurn)
		if s.count("abort") != 0 {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("during the opening after a setup", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		var answered <-chan error
		s.beginTurn = func(_ turn.Scope, in turn.Input) (turn.Plan, error) {
			if in.Origin == turn.OriginContinuation {
				return plan, nil
			}
			return turn.Plan{}, nil
		}
		s.commitTurn = func(in turn.CommitInput) (turn.CommitFacts, error) {
			if in.Aborted {
				return turn.CommitFacts{Status: turn.StatusAborted}, nil
			}
			return turn.CommitFacts{Status: turn.StatusCommitted, EnteredPlaying: true}, nil
		}
		noted := make(chan struct{})
		s.requestAbort = func(turn.Scope) error { close(noted); return nil }
		s.callModel = func(context.Context, turn.CallModelInput) (turn.StepOutcome, error) {
			answered = s.abort()
			<-noted
			return turn.StepOutcome{}, temporal.NewCanceledError()
		}
		result := s.play(t)
		if err := <-answered; err != nil {
			t.Errorf("the abort was answered with %v", err)
		}
		if result.Status != turn.StatusAborted || result.SetupTurnID != "t-1" || s.at("abort t-1.opening") < 0 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
		if !slices.Equal([]bool{s.committed[0].Aborted, s.committed[1].Aborted}, []bool{false, true}) {
			t.Errorf("commits %+v", s.committed)
		}
	})
}
