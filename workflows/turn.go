package workflows

import (
	"fmt"
	"strings"

	"github.com/covel-engine/covel/turn"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Turn runs one execution from BeginTurn to CommitTurn (spec 03 §2). Its
// workflow id is the session's lock; its run id is the executionId.
func (w *Workflows) Turn(ctx workflow.Context, in turn.Input) (turn.TurnResult, error) {
	if err := in.Validate(); err != nil {
		code := turn.CodeOf(err)
		return turn.TurnResult{}, temporal.NewNonRetryableApplicationError(err.Error(), code, nil, string(turn.KindOf(code)))
	}
	t := &turnRun{
		w:  w,
		in: in,
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
	result, err := t.run(ctx, work)
	if err == nil && t.opens {
		result, err = t.open(ctx, work, result)
	}
	if waitErr := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); waitErr != nil && err == nil {
		err = waitErr
	}
	return result, err
}

// turnRun is the state of one running turn.
type turnRun struct {
	w     *Workflows
	in    turn.Input
	scope turn.Scope

	plan    turn.Plan
	stage   string
	facts   []turn.RuntimeFacts
	begun   bool // the plan stands and the fence is set: an abort can be noted
	closed  bool // the commit has begun, or there is nothing to run: too late to abort
	aborted bool
	opens   bool // the commit ended the setup phase: a continuation follows
}

// open runs the continuation of a turn whose commit ended the setup phase, for
// the same request and under the same lock (spec 03 §3.2).
func (t *turnRun) open(ctx, work workflow.Context, setup turn.TurnResult) (turn.TurnResult, error) {
	t.in = turn.Input{
		SessionID:             t.in.SessionID,
		TurnID:                turn.ContinuationTurnID(t.in.TurnID),
		Origin:                turn.OriginContinuation,
		PlayerMessage:         t.in.PlayerMessage,
		Locale:                t.in.Locale,
		UserSettings:          t.in.UserSettings,
		ModelOverride:         t.in.ModelOverride,
		RuntimeModelOverrides: t.in.RuntimeModelOverrides,
		LogicalTurnID:         t.in.TurnID,
		RequestOf:             t.in.RequestOf,
		SuppressPlayerMessage: true,
	}
	t.scope.TurnID = t.in.TurnID
	t.scope.ExecutionID = turn.ContinuationExecutionID(t.scope.ExecutionID)
	t.plan, t.facts, t.begun, t.closed, t.opens = turn.Plan{}, nil, false, false, false
	result, err := t.run(ctx, work)
	result.SetupTurnID = setup.TurnID
	result.Runtimes = append(setup.Runtimes, result.Runtimes...)
	result.CostMicroUSD += setup.CostMicroUSD
	return result, err
}

// listen sets the handlers before the first await: a caller may abort a turn
// in the moment it starts.
func (t *turnRun) listen(ctx workflow.Context, cancel workflow.CancelFunc) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, turn.UpdateAbort, func(ctx workflow.Context) error {
		t.aborted = true
		// The abort is noted under the fence, which BeginTurn sets.
		if err := workflow.Await(ctx, func() bool { return t.begun || t.closed }); err != nil {
			return err
		}
		if !t.begun {
			return nothingToAbort()
		}
		local := t.w.storeContext(ctx, t.w.cfg.FinishTimeout, "abort")
		err := workflow.ExecuteLocalActivity(local, turn.ActivityRequestAbort, t.scope).Get(ctx, nil)
		if err != nil {
			return err
		}
		cancel()
		return nil
	}, workflow.UpdateHandlerOptions{
		Validator: func(workflow.Context) error {
			if t.closed {
				return nothingToAbort()
			}
			return nil
		},
		Description: "end the turn without a commit",
	})
	if err != nil {
		return fmt.Errorf("set the abort handler: %w", err)
	}
	return workflow.SetQueryHandler(ctx, turn.QueryProgress, func() (turn.Progress, error) {
		return t.progress(), nil
	})
}

func nothingToAbort() error {
	return temporal.NewNonRetryableApplicationError("the turn is over; there is nothing to abort", turn.CodeNoActiveTurn, nil)
}

// run is the turn itself. work is cancelled by an abort; ctx goes on.
func (t *turnRun) run(ctx, work workflow.Context) (turn.TurnResult, error) {
	begin := t.w.storeContext(ctx, t.w.cfg.BeginTimeout, "begin the turn")
	err := workflow.ExecuteLocalActivity(begin, turn.ActivityBeginTurn, t.scope, t.in).Get(ctx, &t.plan)
	t.begun = err == nil && t.plan.Action == turn.PlanRun
	t.closed = !t.begun
	if err != nil {
		return turn.TurnResult{}, failTurn(err)
	}
	switch t.plan.Action {
	case turn.PlanReplay:
		return t.result(turn.CommitFacts{Status: t.plan.Replayed}), nil
	case turn.PlanEmpty:
		return t.result(turn.CommitFacts{Status: turn.StatusAborted, AbortReason: t.plan.AbortReason}), nil
	case turn.PlanRun:
	}
	if err := t.announce(ctx); err != nil {
		return turn.TurnResult{}, err
	}
	end := turn.CommitInput{Scope: t.scope}
	if err := t.runStages(work); err != nil && !t.aborted {
		end.Code, end.Message = failure(err)
	}
	end.Aborted = t.aborted
	t.stage, t.closed = "commit", true

	committed, err := t.commit(ctx, end)
	if err != nil {
		return turn.TurnResult{}, failTurn(err)
	}
	t.stage = ""
	t.opens = committed.EnteredPlaying && t.in.Origin == turn.OriginPlayer
	t.describe(ctx)
	if t.opens {
		return t.result(committed), nil
	}
	return t.result(committed), t.conclude(ctx, committed)
}

func (t *turnRun) commit(ctx workflow.Context, req turn.CommitInput) (turn.CommitFacts, error) {
	var facts turn.CommitFacts
	local := t.w.storeContext(ctx, t.w.cfg.CommitTimeout, "commit the turn")
	if err := workflow.ExecuteLocalActivity(local, turn.ActivityCommitTurn, req).Get(ctx, &facts); err != nil {
		return facts, err
	}
	after := t.w.storeContext(ctx, t.w.cfg.CommitTimeout, "tell listeners")
	err := workflow.ExecuteLocalActivity(after, turn.ActivityFinishTurn, t.scope).Get(ctx, nil)
	return facts, err
}

// maxChainDepth bounds the event chain (spec 03 §6).
const maxChainDepth = 8

// runStages runs the planned stages, then the event chain depth by depth.
func (t *turnRun) runStages(ctx workflow.Context) error {
	for _, stage := range t.plan.Stages {
		if t.aborted {
			return nil
		}
		if err := t.runStage(ctx, stage); err != nil {
			return err
		}
	}
	for depth := 1; t.plan.Chain && !t.aborted && depth <= maxChainDepth; depth++ {
		var next turn.StagePlan
		local := t.w.storeContext(ctx, t.w.cfg.PrepareTimeout, "plan event followers")
		if err := workflow.ExecuteLocalActivity(local, turn.ActivityPlanFollowers, t.scope, depth).Get(ctx, &next); err != nil {
			return err
		}
		if len(next.Levels) == 0 {
			return nil
		}
		if err := t.runStage(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// runStage runs one stage as a child workflow and keeps its runtimes' facts.
func (t *turnRun) runStage(ctx workflow.Context, stage turn.StagePlan) error {
	t.stage = stage.Stage
	t.describe(ctx)
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		// A stage that is cut still tells what its runtimes did.
		WaitForCancellation: true,
		WorkflowID:          turn.StageWorkflowID(t.scope.SessionID, t.scope.TurnID, stage.Stage),
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_TERMINATE,
		StaticSummary:       fmt.Sprintf("%s · turn %d", stage.Stage, t.plan.LogicalTurn),
	})
	var result turn.StageResult
	err := workflow.ExecuteChildWorkflow(child, turn.WorkflowStage, turn.StageInput{
		Scope:       t.scope,
		LogicalTurn: t.plan.LogicalTurn,
		World:       t.plan.World,
		Stage:       stage.Stage,
		Levels:      stage.Levels,
	}).Get(ctx, &result)
	t.facts = append(t.facts, result.Runtimes...)
	if err == nil && result.Cut && !t.aborted {
		return temporal.NewNonRetryableApplicationError("stage "+stage.Stage+" was cancelled, but its turn was not", turn.CodeTurnAborted, nil)
	}
	return err
}

// announce writes the first details, and the search attributes that an operator
// filters by unless the start has set them: a start by a program in another
// language may have set none.
func (t *turnRun) announce(ctx workflow.Context) error {
	t.describe(ctx)
	set := workflow.GetTypedSearchAttributes(ctx)
	world, _ := set.GetKeyword(attrWorld)
	logicalTurn, _ := set.GetInt64(attrLogicalTurn)
	if world == t.plan.World && logicalTurn == int64(t.plan.LogicalTurn) {
		return nil
	}
	return workflow.UpsertTypedSearchAttributes(ctx,
		attrSession.ValueSet(t.scope.SessionID),
		attrTurn.ValueSet(t.scope.TurnID),
		attrOrigin.ValueSet(string(t.in.Origin)),
		attrWorld.ValueSet(t.plan.World),
		attrStatus.ValueSet(string(turn.StatusRunning)),
		attrLogicalTurn.ValueSet(int64(t.plan.LogicalTurn)),
	)
}

func (t *turnRun) conclude(ctx workflow.Context, c turn.CommitFacts) error {
	return workflow.UpsertTypedSearchAttributes(ctx,
		attrStatus.ValueSet(string(c.Status)),
		attrCost.ValueSet(c.CostMicroUSD),
	)
}

func (t *turnRun) result(c turn.CommitFacts) turn.TurnResult {
	return turn.TurnResult{
		SessionID:    t.scope.SessionID,
		TurnID:       t.scope.TurnID,
		LogicalTurn:  t.plan.LogicalTurn,
		Status:       c.Status,
		AbortReason:  c.AbortReason,
		Code:         c.Code,
		Message:      clip(c.Message),
		Runtimes:     t.facts,
		CostMicroUSD: c.CostMicroUSD,
	}
}

// describe keeps the table that the Temporal UI shows as current details.
func (t *turnRun) describe(ctx workflow.Context) {
	var b strings.Builder
	fmt.Fprintf(&b, "**Turn %d** of `%s` in `%s`\n\n", t.plan.LogicalTurn, t.scope.SessionID, t.plan.World)
	if t.stage != "" {
		fmt.Fprintf(&b, "Now: %s\n\n", t.stage)
	}
	writeFacts(&b, t.facts)
	workflow.SetCurrentDetails(ctx, b.String())
}

func writeFacts(b *strings.Builder, facts []turn.RuntimeFacts) {
	if len(facts) == 0 {
		return
	}
	b.WriteString("| runtime | status | steps | tools | tokens in | tokens out |\n|---|---|---|---|---|---|\n")
	for _, f := range facts {
		status := string(f.Status)
		if f.Code != "" {
			status += " (" + f.Code + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d |\n", f.ID, status, f.Steps, f.ToolCalls, f.Usage.Input, f.Usage.Output)
	}
}

var (
	attrSession     = temporal.NewSearchAttributeKeyKeyword(turn.AttrSession)
	attrTurn        = temporal.NewSearchAttributeKeyKeyword(turn.AttrTurn)
	attrWorld       = temporal.NewSearchAttributeKeyKeyword(turn.AttrWorld)
	attrOrigin      = temporal.NewSearchAttributeKeyKeyword(turn.AttrOrigin)
	attrStatus      = temporal.NewSearchAttributeKeyKeyword(turn.AttrStatus)
	attrLogicalTurn = temporal.NewSearchAttributeKeyInt64(turn.AttrLogicalTurn)
	attrCost        = temporal.NewSearchAttributeKeyInt64(turn.AttrCostMicroUSD)
)
