package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	t.Run("the runtimes of a level run side by side", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(function("left"), function("right")))}})
		// Each answers only when the other has begun.
		began := map[string]chan struct{}{"left": make(chan struct{}), "right": make(chan struct{})}
		other := map[string]string{"left": "right", "right": "left"}
		s.runFunction = func(in turn.FunctionInput) (turn.RuntimeFacts, error) {
			close(began[in.RuntimeID])
			<-began[other[in.RuntimeID]]
			return turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeSuccess}, nil
		}
		s.play(t)
	})
	t.Run("a level begins when the one before has ended", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{
			stage("narrative", level(function("a"), agent("b")), level(function("c"))),
		}})
		result := s.play(t)
		if s.at("prepare c") < s.at("function a") || s.at("prepare c") < s.at("finish b") {
			t.Errorf("told %q", s.told)
		}
		if ids := runtimes(result); !slices.Equal(ids, []string{"a", "b", "c"}) {
			t.Errorf("stored order %q", ids)
		}
	})
	t.Run("facts stand in stored order, whoever ends first", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(function("slow"), function("fast")))}})
		ended := make(chan struct{})
		s.runFunction = func(in turn.FunctionInput) (turn.RuntimeFacts, error) {
			if in.RuntimeID == "slow" {
				<-ended
			} else {
				defer close(ended)
			}
			return turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeSuccess}, nil
		}
		if ids := runtimes(s.play(t)); !slices.Equal(ids, []string{"slow", "fast"}) {
			t.Errorf("runtimes %q", ids)
		}
	})
	t.Run("a gate that says no keeps its runtime from running", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(function("a"), function("b")))}})
		s.prepareRuntime = func(in turn.PrepareInput) (turn.Prepared, error) {
			if in.RuntimeID == "a" {
				return turn.Prepared{Facts: &turn.RuntimeFacts{ID: "a", Status: turn.RuntimeSkipped}}, nil
			}
			return turn.Prepared{Run: true}, nil
		}
		result := s.play(t)
		if s.count("function a") != 0 || s.count("function b") != 1 || result.Runtimes[0].Status != turn.RuntimeSkipped {
			t.Errorf("told %q, runtimes %+v", s.told, result.Runtimes)
		}
	})
	t.Run("a runtime that failed does not fail the turn", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("pre-turn", level(function("a"))), stage("narrative", level(function("b")))}})
		s.runFunction = func(in turn.FunctionInput) (turn.RuntimeFacts, error) {
			facts := turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeSuccess}
			if in.RuntimeID == "a" {
				facts.Status, facts.Code = turn.RuntimeFailed, turn.CodeHandlerError
			}
			return facts, nil
		}
		result := s.play(t)
		if result.Status != turn.StatusCommitted || result.Runtimes[0].Code != turn.CodeHandlerError || result.Runtimes[1].Status != turn.RuntimeSuccess {
			t.Errorf("result %+v", result)
		}
	})
}

func TestModelCalls(t *testing.T) {
	t.Parallel()
	plan := turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(agent("teller"))), stage("post-turn", level(function("keeper")))}}
	t.Run("a provider's failure is the runtime's, and the turn goes on to its commit", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.callModel = func(context.Context, turn.CallModelInput) (turn.StepOutcome, error) {
			return turn.StepOutcome{}, fatal("PROVIDER_ERROR", strings.Repeat("x", 2000))
		}
		result := s.play(t)
		if result.Status != turn.StatusCommitted || result.Runtimes[0].Code != "PROVIDER_ERROR" || s.count("function keeper") != 1 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
		if s.count("model") != 1 {
			t.Errorf("the call was made %d times", s.count("model"))
		}
		f := s.finished[0]
		if f.Ending != turn.EndingFailed || f.Code != "PROVIDER_ERROR" || len(f.Message) > 512 {
			t.Errorf("finish %s %s with %d bytes", f.Ending, f.Code, len(f.Message))
		}
	})
	t.Run("a lost fence fails the turn, not the runtime", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.callModel = func(context.Context, turn.CallModelInput) (turn.StepOutcome, error) {
			return turn.StepOutcome{}, fatal(turn.CodeSessionLost, "another run owns the session")
		}
		result := s.play(t)
		if result.Code != turn.CodeSessionLost || s.count("finish teller") != 0 || s.count("function keeper") != 0 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
	})
	t.Run("a store that stays away fails the turn, not the runtime", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.callModel = func(context.Context, turn.CallModelInput) (turn.StepOutcome, error) {
			return turn.StepOutcome{}, temporal.NewApplicationError("the connection was closed", turn.CodeUnavailable)
		}
		result := s.play(t)
		if result.Code != turn.CodeUnavailable || s.count("model") < 2 || s.count("finish teller") != 0 {
			t.Errorf("result %+v, told %q", result, s.told)
		}
	})
	t.Run("a call whose worker was lost is made again", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.callModel = func(_ context.Context, in turn.CallModelInput) (turn.StepOutcome, error) {
			if s.count("model") == 1 {
				return turn.StepOutcome{}, workerLost()
			}
			return answer(in), nil
		}
		if result := s.play(t); s.count("model") != 2 || result.Runtimes[0].Status != turn.RuntimeSuccess {
			t.Errorf("result %+v, told %q", result, s.told)
		}
	})
	t.Run("calls of a reply run in order and their results stand behind it", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, plan)
		s.callModel = twoCalls(s, false)
		var asked []turn.RunToolInput
		s.runTool = func(in turn.RunToolInput) (turn.ToolOutcome, error) {
			asked = append(asked, in)
			return turn.ToolOutcome{CallID: in.CallID, Name: "note", OK: true}, nil
		}
		s.play(t)
		if len(asked) != 2 || asked[0].CallID != "c1" || asked[1].CallID != "c2" ||
			asked[0].At != asked[0].Reply+1 || asked[1].At != asked[0].Reply+2 {
			t.Errorf("asked %+v", asked)
		}
		if s.at("tool c1") > s.at("tool c2") || s.count("model") != 2 {
			t.Errorf("told %q", s.told)
		}
	})
}

func TestLostWorkers(t *testing.T) {
	t.Parallel()
	t.Run("a lost remote tool is not called again and its outcome is unknown", func(t *testing.T) {
		t.Parallel()
		s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("narrative", level(agent("teller")))}})
		s.callModel = twoCalls(s, true)
		s.runTool = func(in turn.RunToolInput) (turn.ToolOutcome, error) {
			switch {
			case in.Lost:
				return turn.ToolOutcome{CallID: in.CallID, Name: "note", Code: turn.ResultOutcomeUnknown}, nil
			case in.CallID == "c1":
				return turn.ToolOutcome{}, workerLost()
			}
			return turn.ToolOutcome{CallID: in.CallID, Name: "note", OK: true}, nil
		}
		result := s.play(t)
		if n := s.count("tool c1"); n != 2 || s.at("tool c1 lost") < 0 || s.count("tool c2") != 1 {
			t.Errorf("told %q", s.told)
		}
		if result.Runtimes[0].Status != turn.RuntimeSuccess {
			t.Errorf("runtime %+v", result.Runtimes[0])
		}
	})
	for name, c := range map[string]struct {
		once bool
		want []string
	}{
		"a lost once-function is not called again and fails its runtime": {true, []string{"function sender", "function sender lost"}},
		"a lost idempotent function is called again":                     {false, []string{"function sender", "function sender"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := turn.RuntimeSpec{ID: "sender", Remote: true, Once: c.once}
			s := newStubs(t, turn.Plan{Stages: []turn.StagePlan{stage("post-turn", level(spec))}})
			s.runFunction = func(in turn.FunctionInput) (turn.RuntimeFacts, error) {
				switch {
				case in.Lost:
					return turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeFailed, Code: turn.CodeHandlerError}, nil
				case s.count("function") == 1:
					return turn.RuntimeFacts{}, workerLost()
				}
				return turn.RuntimeFacts{ID: in.RuntimeID, Status: turn.RuntimeSuccess}, nil
			}
			result := s.play(t)
			var got []string
			for _, what := range s.told {
				if strings.HasPrefix(what, "function") {
					got = append(got, what)
				}
			}
			if !slices.Equal(got, c.want) || result.Status != turn.StatusCommitted || (result.Runtimes[0].Status == turn.RuntimeFailed) != c.once {
				t.Errorf("told %q, result %+v", got, result)
			}
		})
	}
}

// twoCalls answers the first request with two tool calls, the next with text.
func twoCalls(s *stubs, remote bool) func(context.Context, turn.CallModelInput) (turn.StepOutcome, error) {
	return func(_ context.Context, in turn.CallModelInput) (turn.StepOutcome, error) {
		reply := answer(in)
		if s.count("model") == 1 {
			reply.Finish, reply.HasText = "tool_calls", false
			reply.Calls = []turn.CallFact{{ID: "c1", Name: "note", Hash: "1", Remote: remote}, {ID: "c2", Name: "note", Hash: "2", Remote: remote}}
		}
		return reply, nil
	}
}
