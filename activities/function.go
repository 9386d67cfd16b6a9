package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// maxValueBytes bounds what a handler may answer: value, effects and proposals.
const maxValueBytes = 1 << 20

// functionAnswer is a function's recorded answer.
type functionAnswer struct {
	Result     plugin.FunctionResult `json:"result"`
	Failed     string                `json:"failed,omitempty"` // a code
	Message    string                `json:"message,omitempty"`
	DurationMs int64                 `json:"ms"`
}

// RunFunction runs a function runtime and journals its result. The handler's
// answer is recorded before the activity returns; a repeat gives it again.
func (a *Activities) RunFunction(ctx context.Context, in turn.FunctionInput) (turn.RuntimeFacts, error) {
	stop := heartbeat(ctx)
	defer stop()
	facts, err := a.runFunction(ctx, in)
	return facts, outcome(err)
}

func (a *Activities) runFunction(ctx context.Context, in turn.FunctionInput) (turn.RuntimeFacts, error) {
	ex, rt, err := a.runtime(ctx, in.Scope, in.RuntimeID)
	if err != nil {
		return turn.RuntimeFacts{}, err
	}
	if r := ex.result(rt.ID); r != nil {
		return factsOf(r), nil
	}
	answer, err := a.callFunction(ctx, ex, rt, in)
	if err != nil {
		return turn.RuntimeFacts{}, err
	}
	r := a.newResult(ex, rt, in.Stage, in.Level)
	r.DurationMs = answer.DurationMs
	if answer.Result.Suspend != nil {
		s, err := a.suspendFunction(ctx, ex, rt, in, answer, r)
		if err != nil {
			return turn.RuntimeFacts{}, err
		}
		if s == nil {
			return a.settle(ctx, ex, r)
		}
		return a.settleSuspended(ctx, ex, r, s)
	}
	a.applyFunction(ex, rt, answer, r)
	return a.settle(ctx, ex, r)
}

// callFunction gives the handler's answer, recorded once.
func (a *Activities) callFunction(ctx context.Context, ex *execution, rt *plugin.Runtime, in turn.FunctionInput) (functionAnswer, error) {
	var answer functionAnswer
	if ok, err := a.recorded(ctx, ex.scope, journalFunction, rt.ID, &answer); ok || err != nil {
		return answer, err
	}
	if in.Lost {
		return functionAnswer{Failed: turn.CodeHandlerError, Message: "the worker was lost while the function ran; its outcome is unknown and it was not repeated"}, nil
	}
	handler, ok := ex.gen.Function(rt.ID)
	if !ok {
		return answer, turn.Errorf("run function", "runtime_not_found", "function %q has no handler in this program", rt.ID)
	}
	if err := a.refresh(ctx, ex); err != nil {
		return answer, err
	}
	inputs, err := a.bind(ctx, ex, rt, in.Stage)
	if err != nil {
		return answer, err
	}
	limit := time.Minute
	if rt.Function.TimeoutMs > 0 {
		limit = time.Duration(rt.Function.TimeoutMs) * time.Millisecond
	}
	watched, stop := a.watchAbort(ctx, ex.scope)
	defer stop()
	began := a.cfg.Now()
	answer.Result, err = bounded(watched, limit, func(ctx context.Context) (plugin.FunctionResult, error) {
		return handler(ctx, a.functionCall(ex, rt, inputs))
	})
	answer.DurationMs = a.cfg.Now().Sub(began).Milliseconds()
	switch {
	case errors.Is(context.Cause(watched), errAborted):
		return answer, errAborted
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case err != nil:
		answer = functionAnswer{Failed: turn.CodeHandlerError, Message: clip(err.Error()), DurationMs: answer.DurationMs}
		var coded *turn.Error
		if errors.As(err, &coded) {
			answer.Failed = coded.Code
		}
	}
	answer = a.checkedSuspend(ex, answer.kept())
	err = a.write(ctx, ex.scope, func(ctx context.Context, tx store.Tx) error {
		if err := a.record(ctx, tx, ex.scope, journalFunction, rt.ID, &answer); err != nil {
			return err
		}
		return trace.Insert(ctx, tx, a.cfg.Now(), started(ex.scope, rt.ID, in.Stage))
	})
	return answer, err
}

// kept is the answer as the journal takes it: one that is too large, or holds
// something that is no JSON, is a failed call.
func (f functionAnswer) kept() functionAnswer {
	failed := func(code, format string, args ...any) functionAnswer {
		return functionAnswer{Failed: code, Message: clip(fmt.Sprintf(format, args...)), DurationMs: f.DurationMs}
	}
	if len(f.Result.Value) == 0 {
		f.Result.Value = nil
	}
	size := answerSize(f.Result)
	switch {
	case size > maxValueBytes:
		return failed(turn.CodeHandlerError, "the answer has %d bytes; at most %d are taken", size, maxValueBytes)
	case f.Result.Value != nil && !json.Valid(f.Result.Value):
		return failed(turn.CodeOutputSchemaInvalid, "the value is no JSON")
	}
	if _, err := json.Marshal(f); err != nil {
		return failed(turn.CodeHandlerError, "an effect or proposal of the answer is no JSON: %v", err)
	}
	return f
}

func answerSize(r plugin.FunctionResult) int {
	size := len(r.Value)
	for _, p := range r.Proposals {
		size += len(p.Payload)
	}
	if e := r.Effects; e != nil {
		size += len(e.Interactions) + len(e.Notifications) + len(e.StatePatches) + len(e.PluginData) + len(e.Assets)
		for _, event := range e.Events {
			size += len(event.Data)
		}
	}
	return size
}

// applyFunction turns an answer into the result (spec 05 §3.4).
func (a *Activities) applyFunction(ex *execution, rt *plugin.Runtime, answer functionAnswer, r *turn.RuntimeResult) {
	fail := func(code, message string) {
		r.Status = turn.RuntimeFailed
		r.Error = &turn.OutcomeError{Kind: turn.KindOf(code), Code: code, Message: message}
	}
	value := answer.Result.Value
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	if answer.Failed != "" {
		fail(answer.Failed, answer.Message)
		return
	}
	if err := a.checkOutput(ex, rt, value); err != nil {
		fail(turn.CodeOutputSchemaInvalid, clip(err.Error()))
		return
	}
	r.Status = turn.RuntimeSuccess
	r.Output = value
	r.Effects = answer.Result.Effects
	r.Completion = answer.Result.Completion
	for i, p := range answer.Result.Proposals {
		r.Proposals = append(r.Proposals, a.proposal(ex, rt, p, proposalKey(r.RunID, i)))
	}
	ex.frozen.Resume.addTo(r)
}

// proposalKey is what the id of a run's nth proposal follows from.
func proposalKey(runID string, n int) string { return fmt.Sprintf("%s/%d", runID, n) }

// checkedSuspend fails an answer whose suspend mark cannot stand: a bad one, or
// one of a run that was resumed (spec 03 §12.1, §12.3).
func (a *Activities) checkedSuspend(ex *execution, answer functionAnswer) functionAnswer {
	mark := answer.Result.Suspend
	if mark == nil {
		return answer
	}
	if ex.frozen.Resume != nil {
		return functionAnswer{Failed: turn.CodeHandlerError, Message: tool.NestedSuspend, DurationMs: answer.DurationMs}
	}
	if err := a.tools.CheckSuspend(mark); err != nil {
		return functionAnswer{Failed: turn.ResultValidationError, Message: clip(err.Error()), DurationMs: answer.DurationMs}
	}
	return answer
}

// checkOutput checks a value against the declared schema and the contract's
// public one (spec 05 §3.2).
func (a *Activities) checkOutput(ex *execution, rt *plugin.Runtime, value json.RawMessage) error {
	for _, raw := range []json.RawMessage{rt.IO.Output.Schema, a.contractSchema(ex, rt)} {
		if len(raw) == 0 {
			continue
		}
		schema, err := ex.gen.Schema(raw)
		if err != nil {
			return err
		}
		if err := schema.Validate(value); err != nil {
			return err
		}
	}
	return nil
}

func (a *Activities) contractSchema(ex *execution, rt *plugin.Runtime) json.RawMessage {
	m, ok := ex.gen.Plugin(rt.PluginID)
	if !ok {
		return nil
	}
	return m.Contracts[rt.IO.Output.Contract]
}

// proposal gives a write its envelope. Its id follows from the run, so a repeat
// makes the same one.
func (a *Activities) proposal(ex *execution, rt *plugin.Runtime, w plugin.ProposedWrite, key string) turn.Proposal {
	return turn.Proposal{
		ID:        "pr-" + resultID(key),
		Type:      w.Type,
		Source:    turn.ProposalSource{PluginID: rt.PluginID, RuntimeID: rt.ID},
		TurnID:    ex.scope.TurnID,
		SessionID: ex.scope.SessionID,
		Payload:   w.Payload,
		Timestamp: ex.frozen.StartedAt,
	}
}
