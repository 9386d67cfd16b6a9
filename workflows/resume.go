package workflows

import (
	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Resume goes on with one suspended runtime (spec 03 §12.3), under the
// session's lock like a Turn. Only this runtime runs: no gates, stages or event
// chain. A resume that does not commit leaves the suspension open.
func (w *Workflows) Resume(ctx workflow.Context, in turn.ResumeInput) (turn.TurnResult, error) {
	if err := in.Validate(); err != nil {
		return turn.TurnResult{}, refuse(err)
	}
	t := &turnRun{
		w:  w,
		in: turn.Input{SessionID: in.SessionID, TurnID: in.TurnID, Origin: turn.OriginResume},
		scope: turn.Scope{
			SessionID:   in.SessionID,
			TurnID:      in.TurnID,
			ExecutionID: workflow.GetInfo(ctx).WorkflowExecution.RunID,
		},
	}
	work, cancel := workflow.WithCancel(ctx)
	if err := t.listen(ctx, cancel); err != nil {
		return turn.TurnResult{}, err
	}
	result, err := t.resume(ctx, work, in)
	if err == nil && t.opens {
		result, err = t.open(ctx, work, result)
	}
	if waitErr := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); waitErr != nil && err == nil {
		err = waitErr
	}
	return result, err
}

// resume is the resume itself. work is cancelled by an abort; ctx goes on.
func (t *turnRun) resume(ctx, work workflow.Context, in turn.ResumeInput) (turn.TurnResult, error) {
	var plan turn.ResumePlan
	begin := t.w.storeContext(ctx, t.w.cfg.BeginTimeout, "claim the suspension")
	err := workflow.ExecuteLocalActivity(begin, turn.ActivityBeginResume, t.scope, in).Get(ctx, &plan)
	t.begun = err == nil && plan.Action == turn.PlanRun
	t.closed = !t.begun
	if err != nil {
		return turn.TurnResult{}, failTurn(err)
	}
	t.plan = turn.Plan{LogicalTurn: plan.LogicalTurn, World: plan.World}
	if plan.Action == turn.PlanReplay {
		return t.result(turn.CommitFacts{Status: plan.Replayed}), nil
	}
	if err := t.announce(ctx); err != nil {
		return turn.TurnResult{}, err
	}
	end := turn.CommitInput{Scope: t.scope, Code: plan.Code, Message: plan.Message}
	if plan.Code == "" {
		if err := t.goOn(work, plan); err != nil && !t.aborted {
			end.Code, end.Message = failure(err)
		}
	}
	end.Aborted = t.aborted
	t.stage, t.closed = "commit", true

	committed, err := t.commit(ctx, end)
	if err != nil {
		return turn.TurnResult{}, failTurn(err)
	}
	t.stage = ""
	t.describe(ctx)
	result := t.result(committed)
	if committed.EnteredPlaying {
		// The last setup runtime is done: the game opens, for the request of the
		// turn that suspended (spec 03 §3.2, §12.4).
		t.opens = true
		t.in = turn.Input{SessionID: in.SessionID, TurnID: plan.SuspendedTurnID, RequestOf: plan.SuspendedTurnID}
		return result, nil
	}
	return result, t.conclude(ctx, committed)
}

// goOn runs the thawed runtime to its end, in this workflow.
func (t *turnRun) goOn(ctx workflow.Context, plan turn.ResumePlan) error {
	t.stage = plan.Stage
	t.facts = []turn.RuntimeFacts{{ID: plan.Runtime.ID, Status: turn.RuntimeRunning}}
	t.describe(ctx)
	stage := &stageRun{w: t.w, in: turn.StageInput{
		Scope: t.scope, LogicalTurn: plan.LogicalTurn, World: plan.World, Stage: plan.Stage,
	}}
	r := newRuntimeRun(stage, plan.Runtime, plan.Level, &t.facts[0], workflow.Now(ctx))
	r.resumed = true
	if plan.Runtime.Agent != nil {
		agent := *plan.Runtime.Agent
		agent.RuntimeID = plan.Runtime.ID
		r.machine = agentloop.Resume(agent, plan.Seed)
	}
	return r.run(ctx)
}

// refuse is a run's failure over bad input.
func refuse(err error) error {
	code := turn.CodeOf(err)
	return temporal.NewNonRetryableApplicationError(err.Error(), code, nil, string(turn.KindOf(code)))
}
