package activities

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
)

// attempts makes one logical call with the runtime's retries (spec 03 §11.8):
// all of them share one request budget, each retry carries a hint.
type attempts struct {
	call   *modelCall
	params model.Params
	limits agentloop.CallLimits
	// streamed calls show their reply while it arrives.
	streamed bool
	// first is when the first output came, zero while there is none.
	first time.Time
	sent  int
}

func (c *modelCall) attempts(params model.Params) (*attempts, error) {
	options := agentloop.CallOptions{}
	if agent := c.rt.Agent; agent != nil {
		options = agentloop.CallOptions{
			RuntimeMs: agent.TimeoutMs, MaxRetries: agent.MaxRetries, CallTimeoutMs: agent.CallTimeoutMs,
			FirstTokenTimeoutMs: agent.FirstTokenTimeoutMs, IdleTimeoutMs: agent.IdleTimeoutMs,
		}
	}
	a := &attempts{call: c, params: params, limits: agentloop.LimitsOfCall(options), streamed: c.rt.Story()}
	left := time.Duration(c.in.TimeLeftMs) * time.Millisecond
	budget := model.Limits{Timeout: max(minRequestBudget, left)}
	if a.streamed {
		budget.IdleTimeout = time.Duration(a.limits.IdleTimeoutMs) * time.Millisecond
	}
	shared, err := model.NewBudget(budget, a.streamed, nil)
	a.params.Budget = shared
	return a, err
}

// hint tells the model that this is retry n.
func (a *attempts) hint(n int) model.Message {
	text := a.call.a.cfg.Texts.Get(a.call.ex.lang, "T15", map[string]string{"n": strconv.Itoa(n)})
	return model.Message{Role: model.RoleSystem, Content: agentloop.RetryHint(n, text)}
}

// minRequestBudget is the least time of one logical call (spec 04 §7.2).
const minRequestBudget = 120 * time.Second

// run calls until a reply stands or nothing more may be tried.
func (a *attempts) run(ctx context.Context) (*model.Result, error) {
	state := agentloop.Attempt{Story: a.call.rt.Story()}
	for {
		state.Streamed = a.streamed && !state.Plain
		result, failure := a.once(ctx, &state)
		if failure == nil {
			return result, nil
		}
		if cause := context.Cause(ctx); errors.Is(cause, errAborted) || ctx.Err() != nil {
			return nil, cause
		}
		next := a.limits.AfterFailure(state)
		switch {
		case next.Repair:
			state.Repaired = true
			a.params.Messages = repairArguments(a.params.Messages)
		case next.Plain:
			state.Plain = true
		case next.Retry:
			state.Number++
			a.params.Messages = append(slices.Clip(a.params.Messages), a.hint(state.Number))
		default:
			return nil, failure
		}
	}
}

// once makes one attempt and describes its failure in state.
func (a *attempts) once(ctx context.Context, state *agentloop.Attempt) (*model.Result, error) {
	attempt, end := context.WithCancelCause(ctx)
	defer end(nil)
	limit := time.Duration(a.limits.AttemptMs(max(a.call.in.TimeLeftMs, 1))) * time.Millisecond
	reason := agentloop.RetryCall
	if state.Streamed {
		limit, reason = time.Duration(a.limits.FirstTokenTimeoutMs)*time.Millisecond, agentloop.RetryFirstToken
	}
	watch := time.AfterFunc(limit, func() { end(&attemptTimeout{reason}) })
	defer watch.Stop()
	state.HasOutput, state.Timeout = false, ""
	var onDelta func(model.Delta)
	var deltas *stream.Stream
	if state.Streamed {
		var err error
		if deltas, err = a.open(ctx); err != nil {
			return nil, err
		}
		idle := time.Duration(a.limits.IdleTimeoutMs) * time.Millisecond
		onDelta = func(d model.Delta) {
			if a.first.IsZero() {
				a.first = a.call.a.cfg.Now()
			}
			state.HasOutput = true
			watch.Reset(idle)
			// The stored reply is what counts; a listener that cannot be told gets
			// the whole text with the outcome.
			_ = deltas.Write(ctx, d)
		}
	}
	result, err := a.call.a.cfg.Model.Call(attempt, a.call.base.Head.Slot, a.params, onDelta)
	if deltas != nil {
		a.close(ctx, deltas, err)
	}
	if err == nil {
		return result, nil
	}
	var late *attemptTimeout
	if errors.As(context.Cause(attempt), &late) {
		if state.Timeout = late.reason; state.HasOutput {
			state.Timeout = agentloop.RetryIdle
		}
		err = turn.Errorf("model call", turn.CodeTimeout, "the model was silent for too long (%s)", state.Timeout)
	}
	describeFailure(state, err)
	return nil, err
}

// attemptTimeout ends an attempt that one of its limits ran out on.
type attemptTimeout struct{ reason string }

func (t *attemptTimeout) Error() string { return t.reason }

func describeFailure(state *agentloop.Attempt, err error) {
	state.Code, state.StatusCode, state.Retriable, state.BadArguments = "", 0, false, false
	var failed *model.Error
	if errors.As(err, &failed) {
		state.Code, state.StatusCode, state.Retriable = failed.Code, failed.StatusCode, failed.Retriable
		state.BadArguments = failed.Detail("requestFault") == "tool_arguments_not_json"
	}
}

// open starts the stream of an attempt. A later one begins with reset, so a
// listener drops what an earlier one wrote.
func (a *attempts) open(ctx context.Context) (*stream.Stream, error) {
	in := a.call.in
	a.sent++
	key := store.StreamKey{SessionID: in.SessionID, TurnID: in.TurnID, RuntimeID: in.RuntimeID}
	return a.call.a.cfg.Streams.Open(ctx, key, (attempt(ctx)-1)*attemptsPerActivity+a.sent)
}

// attemptsPerActivity keeps the stream's attempt numbers growing from one
// attempt of the activity to the next: no call is tried that often in one.
const attemptsPerActivity = 100

func (a *attempts) close(ctx context.Context, deltas *stream.Stream, err error) {
	end := deltas.Close
	if err != nil {
		end = deltas.Abandon // a later reset must not repeat the failed text
	}
	if err := end(context.WithoutCancel(ctx)); err != nil {
		a.call.a.cfg.Log.Sugar().Warnw("story deltas were not stored", "session", a.call.in.SessionID, "turn", a.call.in.TurnID, "error", err)
	}
}

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}

// repairArguments wraps tool arguments that are no JSON object, for the one
// request that a provider gets after it refused them (spec 04 §6.8).
func repairArguments(messages []model.Message) []model.Message {
	repaired := make([]model.Message, len(messages))
	for i, m := range messages {
		repaired[i] = m
		if len(m.ToolCalls) == 0 {
			continue
		}
		repaired[i].ToolCalls = make([]model.ToolCall, len(m.ToolCalls))
		for j, c := range m.ToolCalls {
			if !isObject(c.Arguments) {
				c.Arguments = agentloop.RawArguments(c.Arguments)
			}
			repaired[i].ToolCalls[j] = c
		}
	}
	return repaired
}
