package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
)

func TestTurn(t *testing.T) {
	t.Parallel()
	t.Run("stages run in the plan's order and nothing runs beside them", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{
			stage("pre-turn", level(function("weather"))),
			stage("narrative", level(function("teller"))),
			stage("post-turn", level(function("keeper"))),
		}})
		result := s.play(t)
		want := []string{
			"begin t-1", "prepare weather", "function weather", "prepare teller", "function teller", "prepare keeper", "function keeper",
			"commit t-1", "listeners t-1",
		}
		if !slices.Equal(s.told, want) {
			t.Errorf("told %q\nwant %q", s.told, want)
		}
		if ids := runtimes(result); !slices.Equal(ids, []string{"weather", "teller", "keeper"}) || result.Status != turn.StatusCommitted {
			t.Errorf("result %+v", result)
		}
	})
	t.Run("a plan without stages only commits", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{LogicalTurn: 4})
		if result := s.play(t); result.Status != turn.StatusCommitted || result.LogicalTurn != 4 {
			t.Errorf("result %+v", result)
		}
		if want := []string{"begin t-1", "commit t-1", "listeners t-1"}; !slices.Equal(s.told, want) {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("a stored turn is answered and not played again", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Action: turn.PlanReplay, Replayed: turn.StatusFailed, Stages: []turn.StagePlan{stage("narrative", level(function("teller")))}})
		if result := s.play(t); result.Status != turn.StatusFailed {
			t.Errorf("status %s", result.Status)
		}
		if want := []string{"begin t-1"}; !slices.Equal(s.told, want) {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("an empty plan is aborted with its reason and commits nothing", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Action: turn.PlanEmpty, AbortReason: "manual-trigger: runtime not found or inactive: x"})
		if result := s.play(t); result.Status != turn.StatusAborted || !strings.HasPrefix(result.AbortReason, "manual-trigger") {
			t.Errorf("result %+v", result)
		}
		if want := []string{"begin t-1"}; !slices.Equal(s.told, want) {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("invalid input is refused before anything starts", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{})
		s.env.ExecuteWorkflow(turn.WorkflowTurn, turn.Input{SessionID: "game", TurnID: "t-1", Origin: "stranger"})
		wantCode(t, s.env.GetWorkflowError(), turn.CodeInvalidTurnInput)
		if len(s.told) != 0 {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("the execution is named by the run", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{})
		var scope turn.Scope
		s.beginTurn = func(got turn.Scope, _ turn.Input) (turn.Plan, error) { scope = got; return turn.Plan{}, nil }
		s.play(t)
		if scope.ExecutionID == "" || scope.SessionID != "game" || scope.TurnID != "t-1" {
			t.Errorf("scope %+v", scope)
		}
	})
}

func TestTurnFailures(t *testing.T) {
	t.Parallel()
	plan := turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(function("teller"))), stage("post-turn", level(function("keeper")))}}
	t.Run("a begin that fails ends the turn with its code", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.beginTurn = func(turn.Scope, turn.Input) (turn.Plan, error) {
			return turn.Plan{}, fatal(turn.CodeTurnIDConflict, "used with other input")
		}
		_, err := s.try()
		wantCode(t, err, turn.CodeTurnIDConflict)
		if s.count("") != 1 {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("store work that fails in a stage fails the turn with its code and starts no further stage", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.prepareRuntime = func(turn.PrepareInput) (turn.Prepared, error) {
			return turn.Prepared{}, fatal("INVALID_VALUE", "the world is unreadable")
		}
		result := s.play(t)
		if result.Status != turn.StatusFailed || result.Code != "INVALID_VALUE" {
			t.Errorf("result %+v", result)
		}
		if s.count("prepare keeper") != 0 || len(s.committed) != 1 || s.committed[0].Code != "INVALID_VALUE" {
			t.Errorf("told %q, commit %+v", s.told, s.committed)
		}
	})
	t.Run("a commit that lost its session ends the run with the code", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{})
		s.commitTurn = func(turn.CommitInput) (turn.CommitFacts, error) {
			return turn.CommitFacts{}, fatal(turn.CodeSessionLost, "another run owns the session")
		}
		_, err := s.try()
		wantCode(t, err, turn.CodeSessionLost)
		var app *temporal.ApplicationError
		var kind string
		if !errors.As(err, &app) || app.Details(&kind) != nil || kind != string(turn.KindConflict) {
			t.Errorf("kind %q of %v", kind, err)
		}
	})
	t.Run("a store that comes back is tried again", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{})
		s.beginTurn = func(turn.Scope, turn.Input) (turn.Plan, error) {
			if s.count("begin") < 3 {
				return turn.Plan{}, errors.New("connection reset")
			}
			return turn.Plan{}, nil
		}
		if result := s.play(t); result.Status != turn.StatusCommitted || s.count("begin") != 3 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
	})
	t.Run("failure texts are clipped to 512 bytes at a rune boundary", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("灯", 400)
		s := newStubs(t, plan)
		s.prepareRuntime = func(turn.PrepareInput) (turn.Prepared, error) {
			return turn.Prepared{}, fatal(turn.CodeHandlerError, long)
		}
		result := s.play(t)
		for name, text := range map[string]string{"commit": s.committed[0].Message, "result": result.Message} {
			if len(text) > 512 || len(text) < 500 || !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
				t.Errorf("%s: %d bytes: %q", name, len(text), text)
			}
		}
		s = newStubs(t, plan)
		s.beginTurn = func(turn.Scope, turn.Input) (turn.Plan, error) {
			return turn.Plan{}, fatal(turn.CodeHandlerError, long)
		}
		_, err := s.try()
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || len(app.Message()) > 512 {
			t.Errorf("error %v", err)
		}
	})
}

func TestEventChain(t *testing.T) {
	t.Parallel()
	t.Run("it ends at the first depth without followers", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Chain: true, Stages: []turn.StagePlan{stage("narrative", level(function("teller")))}})
		s.planFollowers = func(depth int) (turn.StagePlan, error) {
			if depth > 2 {
				return turn.StagePlan{}, nil
			}
			return stage(fmt.Sprintf("follow-up-%d", depth), level(function(fmt.Sprintf("echo-%d", depth)))), nil
		}
		if got := runtimes(s.play(t)); !slices.Equal(got, []string{"teller", "echo-1", "echo-2"}) {
			t.Errorf("runtimes %q", got)
		}
		if s.count("followers") != 3 {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("it stops after eight depths", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Chain: true})
		s.planFollowers = func(depth int) (turn.StagePlan, error) {
			return stage(fmt.Sprintf("follow-up-%d", depth), level(function(fmt.Sprintf("echo-%d", depth)))), nil
		}
		result := s.play(t)
		if len(result.Runtimes) != 8 || s.count("followers") != 8 || result.Status != turn.StatusCommitted {
			t.Errorf("%d runtimes, %d plans, %s", len(result.Runtimes), s.count("followers"), result.Status)
		}
	})
	t.Run("a plan without event followers asks for none", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(function("teller")))}})
		s.play(t)
		if s.count("followers") != 0 {
			t.Errorf("told %q", s.told)
		}
	})
	t.Run("a failed plan of followers fails the turn", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Chain: true})
		s.planFollowers = func(int) (turn.StagePlan, error) { return turn.StagePlan{}, fatal("NOT_FOUND", "gone") }
		if result := s.play(t); result.Status != turn.StatusFailed || result.Code != "NOT_FOUND" {
			t.Errorf("result %+v", result)
		}
	})
}

func TestContinuation(t *testing.T) {
	t.Parallel()
	setup := func(t *testing.T) *stubs {
		s := newStubs(t, turn.Plan{})
		s.beginTurn = func(_ turn.Scope, in turn.Input) (turn.Plan, error) {
			if in.Origin == turn.OriginContinuation {
				return turn.Plan{LogicalTurn: 1, Stages: []turn.StagePlan{stage("narrative", level(function("teller")))}}, nil
			}
			return turn.Plan{Stages: []turn.StagePlan{stage("setup", level(function("builder")))}}, nil
		}
		s.commitTurn = func(in turn.CommitInput) (turn.CommitFacts, error) {
			return turn.CommitFacts{Status: turn.StatusCommitted, CostMicroUSD: 10, EnteredPlaying: in.TurnID == "t-1"}, nil
		}
		return s
	}
	t.Run("the end of the setup opens the game in the same run", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		var setupScope, opening turn.Scope
		var continued turn.Input
		begin := s.beginTurn
		s.beginTurn = func(scope turn.Scope, in turn.Input) (turn.Plan, error) {
			if in.Origin == turn.OriginContinuation {
				opening, continued = scope, in
			} else {
				setupScope = scope
			}
			return begin(scope, in)
		}
		result := s.play(t)
		want := []string{
			"begin t-1", "prepare builder", "function builder", "commit t-1", "listeners t-1",
			"begin t-1.opening", "prepare teller", "function teller", "commit t-1.opening", "listeners t-1.opening",
		}
		if !slices.Equal(s.told, want) {
			t.Errorf("told %q", s.told)
		}
		if result.SetupTurnID != "t-1" || result.TurnID != "t-1.opening" || result.CostMicroUSD != 20 {
			t.Errorf("result %+v", result)
		}
		if ids := runtimes(result); !slices.Equal(ids, []string{"builder", "teller"}) {
			t.Errorf("runtimes %q", ids)
		}
		if opening.ExecutionID != turn.ContinuationExecutionID(setupScope.ExecutionID) {
			t.Errorf("executions %q and %q", setupScope.ExecutionID, opening.ExecutionID)
		}
		if !continued.SuppressPlayerMessage || continued.LogicalTurnID != "t-1" || continued.PlayerMessage != "I light the lamp" {
			t.Errorf("input %+v", continued)
		}
	})
	t.Run("an opening is not opened again", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.commitTurn = func(turn.CommitInput) (turn.CommitFacts, error) {
			return turn.CommitFacts{Status: turn.StatusCommitted, EnteredPlaying: true}, nil
		}
		s.play(t)
		if s.count("commit") != 2 {
			t.Errorf("told %q", s.told)
		}
	})
}

func runtimes(result turn.TurnResult) []string {
	var ids []string
	for _, f := range result.Runtimes {
		ids = append(ids, f.ID)
	}
	return ids
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != code {
		t.Errorf("error %v, want code %s", err, code)
	}
}
