package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// PrepareRuntime runs the gates of one runtime in their order: setup, needs,
// world state, inputs, guard (spec 03 §5.1). A runtime that does not run gets
// its result here; a repeat answers the stored one.
func (a *Activities) PrepareRuntime(ctx context.Context, in turn.PrepareInput) (turn.Prepared, error) {
	out, err := a.prepareRuntime(ctx, in)
	return out, outcome(err)
}

func (a *Activities) prepareRuntime(ctx context.Context, in turn.PrepareInput) (turn.Prepared, error) {
	ex, rt, err := a.runtime(ctx, in.Scope, in.RuntimeID)
	if err != nil {
		return turn.Prepared{}, err
	}
	if err := a.refresh(ctx, ex); err != nil {
		return turn.Prepared{}, err
	}
	if r := ex.result(rt.ID); r != nil {
		facts := factsOf(r)
		return turn.Prepared{Facts: &facts}, nil
	}
	result, err := a.gates(ctx, ex, rt, in)
	if err != nil {
		return turn.Prepared{}, err
	}
	if result == nil {
		return turn.Prepared{Run: true}, nil
	}
	facts, err := a.settle(ctx, ex, result)
	return turn.Prepared{Facts: &facts}, err
}

// gates gives the result of a runtime that does not run, nil for one that does.
func (a *Activities) gates(ctx context.Context, ex *execution, rt *plugin.Runtime, in turn.PrepareInput) (*turn.RuntimeResult, error) {
	skip := func(reason, by string) *turn.RuntimeResult {
		r := a.newResult(ex, rt, in.Stage, in.Level)
		r.Status, r.Reason, r.SkippedBy = turn.RuntimeSkipped, reason, by
		return r
	}
	scheduled := a.scheduledOne(ex, rt)
	decision := schedule.Gate(scheduled, a.gateFacts(ex))
	if !decision.Run {
		r := skip(decision.Reason, decision.SkippedBy)
		r.MissingUpstreams = decision.MissingUpstreams
		return r, nil
	}
	bound, err := a.bind(ctx, ex, rt, in.Stage)
	if err != nil {
		return nil, err
	}
	if bound.missing != "" {
		return skip("missing input: "+bound.missing, schedule.SkippedByInputs), nil
	}
	guard, ok := ex.gen.Guard(rt.ID)
	if !ok {
		return nil, nil
	}
	answer, err := a.askGuard(ctx, ex, rt, guard, bound)
	var failed *guardError
	switch {
	case errors.As(err, &failed):
		return a.failedGuard(ex, rt, in, failed), nil
	case err != nil:
		return nil, err
	case answer.Skip:
		r := skip("guard", schedule.SkippedByGuard)
		r.Output = answer.Value
		return r, nil
	default:
		return nil, nil
	}
}

// failedGuard fails the runtime whose guard failed or timed out.
func (a *Activities) failedGuard(ex *execution, rt *plugin.Runtime, in turn.PrepareInput, err *guardError) *turn.RuntimeResult {
	r := a.newResult(ex, rt, in.Stage, in.Level)
	failResult(r, turn.CodeHandlerError, "guard: "+err.Error())
	return r
}

// guardError is the failure of a guard itself, which is its runtime's result.
type guardError struct{ err error }

func (e *guardError) Error() string { return e.err.Error() }
func (e *guardError) Unwrap() error { return e.err }

// askGuard runs a guard once; a repeat gets the recorded answer.
func (a *Activities) askGuard(
	ctx context.Context, ex *execution, rt *plugin.Runtime, guard plugin.GuardHandler, inputs *bound,
) (answer plugin.GuardResult, err error) {
	if ok, err := a.recorded(ctx, ex.scope, journalGuard, rt.ID, &answer); ok || err != nil {
		return answer, err
	}
	call := a.functionCall(ex, rt, inputs)
	answer, err = bounded(ctx, guardTimeout, func(ctx context.Context) (plugin.GuardResult, error) { return guard(ctx, call) })
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case err != nil:
		return answer, &guardError{err}
	case len(answer.Value) > 0 && !json.Valid(answer.Value):
		return answer, &guardError{fmt.Errorf("%s answered no JSON", rt.ID)}
	case len(answer.Value) == 0:
		answer.Value = nil
	}
	err = a.write(ctx, ex.scope, func(ctx context.Context, tx store.Tx) error {
		return a.record(ctx, tx, ex.scope, journalGuard, rt.ID, &answer)
	})
	return answer, err
}

func (a *Activities) scheduledOne(ex *execution, rt *plugin.Runtime) schedule.Runtime {
	version := ""
	if m, ok := ex.gen.Plugin(rt.PluginID); ok {
		version = m.Version
	}
	return schedule.FromManifest(rt, version)
}

// gateFacts are what the gates look at: active runtimes and results so far.
func (a *Activities) gateFacts(ex *execution) schedule.Facts {
	runtimes := a.scheduled(ex.frozen.ActivePlugins)
	return schedule.Facts{Runtimes: runtimes, Results: scheduleResults(ex, runtimes), Setup: a.setupNow(ex, runtimes)}
}

func scheduleResults(ex *execution, runtimes []schedule.Runtime) []schedule.Result {
	byID := make(map[string]schedule.Runtime, len(runtimes))
	for _, rt := range runtimes {
		byID[rt.ID] = rt
	}
	all := ex.allResults()
	out := make([]schedule.Result, len(all))
	for i := range all {
		out[i] = schedule.ResultOf(byID[all[i].RuntimeID], &all[i])
	}
	return out
}

// setupNow is the session's setup map with what completed in this execution.
func (a *Activities) setupNow(ex *execution, runtimes []schedule.Runtime) schedule.SetupMap {
	now := schedule.SetupMap{}
	maps.Copy(now, ex.session.SetupRuntimes)
	for _, rt := range runtimes {
		if !rt.Setup() {
			continue
		}
		if r := ex.result(rt.ID); r != nil && schedule.SetupCompleted(r) {
			entry := now[rt.ID]
			entry.State, entry.PluginVersion = "done", rt.PluginVersion
			now[rt.ID] = entry
		}
	}
	return now
}
