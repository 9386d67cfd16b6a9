package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/workflow"
)

// Stage runs the levels of one stage one after another, the runtimes of a
// level as coroutines side by side (spec 03 §3.3). A runtime's failure is a
// fact of its result; an error of Stage means that the store or the engine
// failed.
func (w *Workflows) Stage(ctx workflow.Context, in turn.StageInput) (turn.StageResult, error) {
	s := &stageRun{w: w, in: in}
	if err := workflow.SetQueryHandler(ctx, turn.QueryProgress, func() (turn.Progress, error) { return s.progress(), nil }); err != nil {
		return turn.StageResult{}, fmt.Errorf("set the progress handler: %w", err)
	}
	for level, specs := range in.Levels {
		if err := s.runLevel(ctx, level, specs); err != nil {
			return turn.StageResult{}, failTurn(err)
		}
		if s.cut(ctx) {
			return turn.StageResult{Runtimes: s.facts, Cut: true}, nil
		}
	}
	return turn.StageResult{Runtimes: s.facts}, nil
}

// stageRun is the state of one running stage. facts has one entry per started
// runtime, in stored order.
type stageRun struct {
	w     *Workflows
	in    turn.StageInput
	facts []turn.RuntimeFacts
}

func (s *stageRun) progress() turn.Progress {
	return turn.Progress{LogicalTurn: s.in.LogicalTurn, Stage: s.in.Stage, Runtimes: s.facts}
}

func (s *stageRun) runLevel(ctx workflow.Context, level int, specs []turn.RuntimeSpec) error {
	first := len(s.facts)
	for _, spec := range specs {
		s.facts = append(s.facts, turn.RuntimeFacts{ID: spec.ID, Status: turn.RuntimeRunning})
	}
	s.describe(ctx)
	errs := make([]error, len(specs))
	group := workflow.NewWaitGroup(ctx)
	for i, spec := range specs {
		group.Add(1)
		workflow.GoNamed(ctx, spec.ID, func(ctx workflow.Context) {
			defer group.Done()
			r := newRuntimeRun(s, spec, level, &s.facts[first+i], workflow.Now(ctx))
			errs[i] = r.run(ctx)
			s.describe(ctx)
		})
	}
	group.Wait(ctx)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cut says that the player's abort has reached the stage: as its cancellation,
// or before that through a call that saw the abort itself.
func (s *stageRun) cut(ctx workflow.Context) bool {
	return ctx.Err() != nil || slices.ContainsFunc(s.facts, func(f turn.RuntimeFacts) bool { return f.Code == turn.CodeTurnAborted })
}

func (s *stageRun) describe(ctx workflow.Context) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** of turn %d\n\n", s.in.Stage, s.in.LogicalTurn)
	writeFacts(&b, s.facts)
	workflow.SetCurrentDetails(ctx, b.String())
}

// runtimeRun drives one runtime.
type runtimeRun struct {
	stage   *stageRun
	spec    turn.RuntimeSpec
	level   int
	machine *agentloop.Machine
	facts   *turn.RuntimeFacts
	started time.Time
	// resumed runs have passed their gates before they were suspended.
	resumed bool
}

func newRuntimeRun(s *stageRun, spec turn.RuntimeSpec, level int, facts *turn.RuntimeFacts, started time.Time) *runtimeRun {
	var agent turn.AgentSpec // a function's machine only says how a cut run ends
	if spec.Agent != nil {
		agent = *spec.Agent
	}
	agent.RuntimeID = spec.ID
	return &runtimeRun{stage: s, spec: spec, level: level, machine: agentloop.New(agent), facts: facts, started: started}
}

// run plays the runtime to its result. One that is cut fails with what it has
// done so far (spec 03 §17).
func (r *runtimeRun) run(ctx workflow.Context) error {
	err := r.play(ctx)
	if err == nil {
		return nil
	}
	if code, _ := failure(err); ctx.Err() == nil && code != turn.CodeTurnAborted {
		return err
	}
	after, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	return r.finish(after, r.machine.Aborted().Finish)
}

func (r *runtimeRun) play(ctx workflow.Context) error {
	w, in := r.stage.w, r.stage.in
	if r.resumed {
		return r.act(ctx)
	}
	var ready turn.Prepared
	prepare := w.storeContext(ctx, w.cfg.PrepareTimeout, r.spec.ID+" · prepare")
	err := workflow.ExecuteLocalActivity(prepare, turn.ActivityPrepareRuntime,
		turn.PrepareInput{Scope: in.Scope, RuntimeID: r.spec.ID, Stage: in.Stage, Level: r.level}).Get(ctx, &ready)
	if err != nil {
		return err
	}
	if !ready.Run {
		*r.facts = *ready.Facts
		return nil
	}
	return r.act(ctx)
}

func (r *runtimeRun) act(ctx workflow.Context) error {
	if r.spec.Agent == nil {
		return r.runFunction(ctx)
	}
	return r.runAgent(ctx)
}

func (r *runtimeRun) runFunction(ctx workflow.Context) error {
	w, in := r.stage.w, r.stage.in
	limit := w.cfg.FunctionTimeout
	if r.spec.TimeoutMs > 0 {
		limit = time.Duration(r.spec.TimeoutMs) * time.Millisecond
	}
	input := turn.FunctionInput{Scope: in.Scope, RuntimeID: r.spec.ID, Stage: in.Stage, Level: r.level}
	summary := r.spec.ID + " · function"
	if !r.spec.Remote {
		local := w.storeContext(ctx, limit+w.cfg.FinishTimeout, summary)
		return workflow.ExecuteLocalActivity(local, turn.ActivityRunFunction, input).Get(ctx, r.facts)
	}
	remote := w.remoteContext(ctx, limit+w.cfg.FinishTimeout, r.spec.Once, summary, in.World)
	err := workflow.ExecuteActivity(remote, turn.ActivityRunFunction, input).Get(ctx, r.facts)
	if err == nil || ctx.Err() != nil || !lostCall(err) {
		return err
	}
	// The worker was lost in mid-call. The runtime fails, not the turn, unless
	// the answer had been recorded.
	input.Lost = true
	local := w.storeContext(ctx, w.cfg.FinishTimeout, summary)
	return workflow.ExecuteLocalActivity(local, turn.ActivityRunFunction, input).Get(ctx, r.facts)
}

// runAgent drives the agent loop: the machine says what to do next, this
// coroutine does it and tells the machine what came of it.
func (r *runtimeRun) runAgent(ctx workflow.Context) error {
	command := r.machine.Start()
	for {
		switch {
		case command.CallModel != nil:
			reply, err := r.callModel(ctx, command.CallModel)
			if err != nil {
				return err
			}
			command = r.machine.ModelReplied(reply)
		case command.RunTools != nil:
			next, err := r.runTools(ctx, command.RunTools)
			if err != nil {
				return err
			}
			command = next
		case command.Finish != nil:
			return r.finish(ctx, command.Finish)
		default:
			return fmt.Errorf("runtime %s: the agent loop gave no command", r.spec.ID)
		}
	}
}

// callModel makes one model call. A provider's failure is a fact for the
// machine; a cancelled workflow or a lost store is an error.
func (r *runtimeRun) callModel(ctx workflow.Context, c *agentloop.CallModel) (turn.StepOutcome, error) {
	w, in := r.stage.w, r.stage.in
	summary := fmt.Sprintf("%s · step %d · model %s", r.spec.ID, c.Step, r.spec.Agent.Slot)
	model := w.modelContext(ctx, r.spec.Agent.Story, summary, in.World)
	var reply turn.StepOutcome
	err := workflow.ExecuteActivity(model, turn.ActivityCallModel, turn.CallModelInput{
		Scope:      in.Scope,
		RuntimeID:  r.spec.ID,
		Stage:      in.Stage,
		Step:       c.Step,
		Length:     c.Length,
		Notes:      c.Notes,
		ToolChoice: c.ToolChoice,
		Finalizer:  c.Finalizer,
		TimeLeftMs: c.TimeLeftMs,
	}).Get(ctx, &reply)
	if err == nil {
		return reply, nil
	}
	if ctx.Err() != nil {
		return reply, err
	}
	code, message := failure(err)
	if code == turn.CodeSessionLost || code == turn.CodeUnavailable {
		return reply, err
	}
	return turn.StepOutcome{Length: c.Length + len(c.Notes), Failed: code, Message: message}, nil
}

// runTools runs a batch in order, one call after another, until the machine
// wants something else.
func (r *runtimeRun) runTools(ctx workflow.Context, batch *agentloop.RunTools) (agentloop.Command, error) {
	for i := batch.From; i < len(batch.Calls); i++ {
		outcome, err := r.runTool(ctx, batch, i)
		if err != nil {
			return agentloop.Command{}, err
		}
		if next := r.machine.ToolFinished(outcome); next != (agentloop.Command{}) {
			return next, nil
		}
	}
	return agentloop.Command{}, nil
}

func (r *runtimeRun) runTool(ctx workflow.Context, batch *agentloop.RunTools, i int) (turn.ToolOutcome, error) {
	w, in, call := r.stage.w, r.stage.in, batch.Calls[i]
	input := turn.RunToolInput{
		Scope:     in.Scope,
		RuntimeID: r.spec.ID,
		Stage:     in.Stage,
		CallID:    call.ID,
		Reply:     batch.Reply,
		At:        batch.Reply + 1 + i,
		Cancelled: batch.Cancelled,
		Because:   batch.Because,
	}
	if limit := r.spec.Agent.TimeoutMs; limit > 0 {
		input.TimeLeftMs = max(1, limit-r.machine.ClockUsed())
	}
	summary := r.spec.ID + " · tool " + call.Name
	var outcome turn.ToolOutcome
	if !call.Remote || batch.Cancelled {
		err := r.runToolHere(ctx, summary, input, &outcome)
		return outcome, err
	}
	once := w.remoteContext(ctx, w.cfg.ToolTimeout, true, summary, in.World)
	err := workflow.ExecuteActivity(once, turn.ActivityRunTool, input).Get(ctx, &outcome)
	if err == nil || ctx.Err() != nil || !lostCall(err) {
		return outcome, err
	}
	// The worker was lost in mid-call: whether the call acted is unknown, and it
	// is never made again. The recorded answer says so to the model.
	input.Lost = true
	err = r.runToolHere(ctx, summary, input, &outcome)
	return outcome, err
}

// runToolHere runs a call whose effects are only proposals, or only writes its
// answer down.
func (r *runtimeRun) runToolHere(ctx workflow.Context, summary string, input turn.RunToolInput, outcome *turn.ToolOutcome) error {
	w := r.stage.w
	local := w.storeContext(ctx, w.cfg.ToolTimeout, summary)
	return workflow.ExecuteLocalActivity(local, turn.ActivityRunTool, input).Get(ctx, outcome)
}

func (r *runtimeRun) finish(ctx workflow.Context, f *agentloop.Finish) error {
	w, in := r.stage.w, r.stage.in
	facts := r.machine.Facts()
	local := w.storeContext(ctx, w.cfg.FinishTimeout, r.spec.ID+" · finish")
	return workflow.ExecuteLocalActivity(local, turn.ActivityFinishRuntime, turn.FinishInput{
		Scope:        in.Scope,
		RuntimeID:    r.spec.ID,
		Stage:        in.Stage,
		Level:        r.level,
		Length:       f.Length,
		Ending:       f.Ending,
		Tool:         f.Tool,
		Code:         f.Code,
		Message:      clip(f.Message),
		Steps:        facts.Steps,
		Usage:        facts.Usage,
		CostMicroUSD: facts.CostMicroUSD,
		DurationMs:   workflow.Now(ctx).Sub(r.started).Milliseconds(),
		CapturedAt:   f.CapturedAt,
		Parts:        f.Parts,
	}).Get(ctx, r.facts)
}
