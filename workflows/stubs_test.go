package workflows_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// stubs plays one turn in Temporal's test environment. Each activity is told
// down and answers what a test sets; left alone, everything succeeds.
type stubs struct {
	env *testsuite.TestWorkflowEnvironment

	mu   sync.Mutex
	told []string

	beginTurn      func(turn.Scope, turn.Input) (turn.Plan, error)
	prepareRuntime func(turn.PrepareInput) (turn.Prepared, error)
	callModel      func(context.Context, turn.CallModelInput) (turn.StepOutcome, error)
	runTool        func(turn.RunToolInput) (turn.ToolOutcome, error)
	runFunction    func(turn.FunctionInput) (turn.RuntimeFacts, error)
	finishRuntime  func(turn.FinishInput) (turn.RuntimeFacts, error)
	planFollowers  func(depth int) (turn.StagePlan, error)
	commitTurn     func(turn.CommitInput) (turn.CommitFacts, error)
	requestAbort   func(turn.Scope) error

	finished  []turn.FinishInput
	committed []turn.CommitInput
}

// newStubs plays the plan.
func newStubs(t *testing.T, plan turn.Plan) *stubs {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	s := &stubs{
		env:            suite.NewTestWorkflowEnvironment(),
		beginTurn:      func(turn.Scope, turn.Input) (turn.Plan, error) { return plan, nil },
		prepareRuntime: func(turn.PrepareInput) (turn.Prepared, error) { return turn.Prepared{Run: true}, nil },
		callModel: func(_ context.Context, in turn.CallModelInput) (turn.StepOutcome, error) {
			return answer(in), nil
		},
		runTool: func(in turn.RunToolInput) (turn.ToolOutcome, error) {
			return turn.ToolOutcome{CallID: in.CallID, Name: "note", OK: true}, nil
		},
		runFunction: func(in turn.FunctionInput) (turn.RuntimeFacts, error) {
			return turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeSuccess}, nil
		},
		finishRuntime: func(in turn.FinishInput) (turn.RuntimeFacts, error) {
			facts := turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeSuccess, Steps: in.Steps}
			if in.Ending == turn.EndingFailed {
				facts.Status, facts.Code = turn.RuntimeFailed, in.Code
			}
			return facts, nil
		},
		planFollowers: func(int) (turn.StagePlan, error) { return turn.StagePlan{}, nil },
		commitTurn: func(in turn.CommitInput) (turn.CommitFacts, error) {
			switch {
			case in.Aborted:
				return turn.CommitFacts{Status: turn.StatusAborted, AbortReason: "player-abort"}, nil
			case in.Code != "":
				return turn.CommitFacts{Status: turn.StatusFailed, Code: in.Code, Message: in.Message}, nil
			}
			return turn.CommitFacts{Status: turn.StatusCommitted}, nil
		},
		requestAbort: func(turn.Scope) error { return nil },
	}
	flows := workflows.New(workflows.Config{})
	s.env.RegisterWorkflowWithOptions(flows.Turn, workflow.RegisterOptions{Name: turn.WorkflowTurn})
	s.env.RegisterWorkflowWithOptions(flows.Stage, workflow.RegisterOptions{Name: turn.WorkflowStage})
	s.register()
	return s
}

func (s *stubs) register() {
	add := func(name string, fn any) { s.env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) }
	add(turn.ActivityBeginTurn, func(_ context.Context, scope turn.Scope, in turn.Input) (turn.Plan, error) {
		s.tell("begin " + scope.TurnID)
		return s.beginTurn(scope, in)
	})
	add(turn.ActivityPrepareRuntime, func(_ context.Context, in turn.PrepareInput) (turn.Prepared, error) {
		s.tell("prepare " + in.RuntimeID)
		return s.prepareRuntime(in)
	})
	add(turn.ActivityCallModel, func(ctx context.Context, in turn.CallModelInput) (turn.StepOutcome, error) {
		s.tell("model " + in.RuntimeID)
		return s.callModel(ctx, in)
	})
	add(turn.ActivityRunTool, func(_ context.Context, in turn.RunToolInput) (turn.ToolOutcome, error) {
		s.tell("tool " + in.CallID + lost(in.Lost))
		return s.runTool(in)
	})
	add(turn.ActivityRunFunction, func(_ context.Context, in turn.FunctionInput) (turn.RuntimeFacts, error) {
		s.tell("function " + in.RuntimeID + lost(in.Lost))
		return s.runFunction(in)
	})
	add(turn.ActivityFinishRuntime, func(_ context.Context, in turn.FinishInput) (turn.RuntimeFacts, error) {
		s.tell("finish " + in.RuntimeID)
		s.mu.Lock()
		s.finished = append(s.finished, in)
		s.mu.Unlock()
		return s.finishRuntime(in)
	})
	add(turn.ActivityPlanFollowers, func(_ context.Context, _ turn.Scope, depth int) (turn.StagePlan, error) {
		s.tell("followers")
		return s.planFollowers(depth)
	})
	add(turn.ActivityCommitTurn, func(_ context.Context, in turn.CommitInput) (turn.CommitFacts, error) {
		s.tell("commit " + in.TurnID)
		s.mu.Lock()
		s.committed = append(s.committed, in)
		s.mu.Unlock()
		return s.commitTurn(in)
	})
	add(turn.ActivityFinishTurn, func(_ context.Context, scope turn.Scope) error {
		s.tell("listeners " + scope.TurnID)
		return nil
	})
	add(turn.ActivityRequestAbort, func(_ context.Context, scope turn.Scope) error {
		s.tell("abort " + scope.TurnID)
		return s.requestAbort(scope)
	})
}

func (s *stubs) tell(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, what)
}

// count says how often an activity was told with the given start.
func (s *stubs) count(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, what := range s.told {
		if strings.HasPrefix(what, prefix) {
			n++
		}
	}
	return n
}

// at is when something was told first, -1 for never.
func (s *stubs) at(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Index(s.told, what)
}

func lost(lost bool) string {
	if lost {
		return " lost"
	}
	return ""
}

// input is a player's turn.
func input() turn.Input {
	return turn.Input{SessionID: "game", TurnID: "t-1", Origin: turn.OriginPlayer, PlayerMessage: "I light the lamp"}
}

// play runs the turn to its end.
func (s *stubs) play(t *testing.T) turn.TurnResult {
	t.Helper()
	result, err := s.try()
	if err != nil {
		t.Fatalf("the turn failed: %v\ntold: %q", err, s.told)
	}
	return result
}

func (s *stubs) try() (turn.TurnResult, error) {
	s.env.ExecuteWorkflow(turn.WorkflowTurn, input())
	var result turn.TurnResult
	err := s.env.GetWorkflowResult(&result)
	return result, err
}

// abort asks for the turn's abort, from an activity, and returns when the turn
// has accepted or refused it. The update's answer comes later.
func (s *stubs) abort() <-chan error {
	decided, answered := make(chan struct{}), make(chan error, 1)
	s.env.RegisterDelayedCallback(func() {
		s.env.UpdateWorkflow(turn.UpdateAbort, "", &testsuite.TestUpdateCallback{
			OnAccept:   func() { close(decided) },
			OnReject:   func(err error) { answered <- err; close(decided) },
			OnComplete: func(_ any, err error) { answered <- err },
		})
	}, 0)
	<-decided
	return answered
}

// answer is a reply with text and no calls.
func answer(in turn.CallModelInput) turn.StepOutcome {
	return turn.StepOutcome{Length: in.Length + len(in.Notes) + 1, Finish: "stop", HasText: true}
}

func stage(name string, levels ...[]turn.RuntimeSpec) turn.StagePlan {
	return turn.StagePlan{Stage: name, Levels: levels}
}

func level(specs ...turn.RuntimeSpec) []turn.RuntimeSpec { return specs }

func function(id string) turn.RuntimeSpec { return turn.RuntimeSpec{ID: id} }

func remote(id string) turn.RuntimeSpec { return turn.RuntimeSpec{ID: id, Remote: true} }

func agent(id string) turn.RuntimeSpec {
	return turn.RuntimeSpec{ID: id, Agent: &turn.AgentSpec{Slot: "default"}}
}

func fatal(code, message string) error {
	return temporal.NewNonRetryableApplicationError(message, code, nil, string(turn.KindOf(code)))
}

// workerLost is how the server reports a worker that has stopped to heartbeat.
func workerLost() error { return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil) }

// quiet drops the test environment's log.
type quiet struct{}

var _ log.Logger = quiet{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// flush gives the workflow time to do what it wants to do about everything sent
// before: for use in an activity.
func (s *stubs) flush() {
	for range 50 {
		done := make(chan struct{})
		s.env.RegisterDelayedCallback(func() { close(done) }, 0)
		<-done
	}
}
