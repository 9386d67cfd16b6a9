package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// Call is one tool call, after the PreToolUse hooks.
type Call struct {
	ID        string
	Name      string
	Arguments string // as the model wrote them
	// View is what the handler may read.
	View          plugin.View
	World         World
	InputSlots    map[string]plugin.InputSlot
	EmittedTopics []string
	// Pending are the proposals that earlier calls of this run buffered.
	Pending        []turn.Proposal
	IdempotencyKey string
	// Staged is the notice for calls whose writes wait for the commit (text
	// T33 in the session's language); "" leaves it out.
	Staged string
	// NoSuspend refuses to suspend: resumed runs and nested executions.
	NoSuspend bool
}

// World is what builtin tools reach beyond the call's view. Without one,
// memory tools are NOT_FOUND.
type World interface {
	// Recall searches committed messages and searchable rows, best first.
	Recall(ctx context.Context, query string, limit int) ([]Recollection, error)
	// Memory calls the active provider of memory.block-access@1 and names it;
	// without one it answers ErrNoProvider.
	Memory(ctx context.Context, request MemoryRequest) (answer json.RawMessage, provider string, err error)
}

// Outcome is the answer of one call.
type Outcome struct {
	// Result is the text for the transcript: the envelope, or plain text.
	Result  string
	OK      bool
	Code    string
	Message string
	// Data is the structured answer as the handler gave it: the output of a
	// runtime that a completing tool ends (spec 03 §11.4). Result holds its
	// model-facing projection.
	Data json.RawMessage
	// Proposals are buffered until the run ends; Owner is the plugin that they
	// belong to, "" for the runtime's own.
	Proposals     []plugin.ProposedWrite
	Owner         string
	Notifications []json.RawMessage
	Events        []turn.Event
	Suspend       *plugin.SuspendMark
}

// answer is what a handler gives back.
type answer struct {
	summary       string
	data          json.RawMessage
	text          string
	proposals     []plugin.ProposedWrite
	owner         string
	notifications []json.RawMessage
	events        []turn.Event
	suspend       *plugin.SuspendMark
}

// invocation is a call whose arguments are valid.
type invocation struct {
	Call
	set  Set
	args json.RawMessage
}

// handler runs a builtin tool.
type handler func(ctx context.Context, in invocation) (answer, *refusal)

// Run answers one call: UNAUTHORIZED, NOT_FOUND, DENIED, INVALID_ARGS,
// VALIDATION_ERROR, CANCELLED and EXECUTION_ERROR are checked in this order
// (spec 05 §11.2). It never fails: what goes wrong is the outcome's code.
func (s Set) Run(ctx context.Context, call Call) Outcome {
	result, refused := s.run(ctx, call)
	if refused != nil {
		return refused.outcome()
	}
	if refused := s.checkSuspend(call, result.suspend); refused != nil {
		return refused.outcome()
	}
	out := Outcome{
		OK: true, Data: result.data, Proposals: result.proposals, Owner: result.owner, Notifications: result.notifications,
		Events: result.events, Suspend: result.suspend,
	}
	switch {
	case result.suspend != nil:
		out.Result = continuation.Placeholder
	case result.text != "":
		out.Result = result.text
	default:
		staged := ""
		if len(out.Proposals) > 0 || len(out.Notifications) > 0 {
			staged = call.Staged
		}
		var err error
		if out.Result, err = success(result.summary, result.data, staged); err != nil {
			return refusef(turn.ResultExecutionError, "tool %s answered data that is no JSON: %v", call.Name, err).outcome()
		}
	}
	if limit := s.registry.cfg.MaxResultBytes; len(out.Result) > limit {
		return refusef(turn.ResultExecutionError, "the result of %s has %d bytes; at most %d are taken, ask for less", call.Name, len(out.Result), limit).outcome()
	}
	return out
}

func (s Set) run(ctx context.Context, call Call) (answer, *refusal) {
	e := s.find(call.Name)
	switch {
	case e == nil:
		return answer{}, refusef(turn.ResultUnauthorized, "tool %q is not one of this runtime's tools", call.Name)
	case !e.exists() || e.plugin != nil && e.plugin.Run == nil && s.registry.cfg.Remote == nil:
		return answer{}, refusef(turn.ResultNotFound, "tool %q is declared, but nothing can run it", call.Name)
	}
	if deny := s.registry.cfg.Deny; deny != nil && e.plugin != nil {
		if reason, denied := deny(ctx, e.plugin.PluginID, call.Name); denied {
			return answer{}, refusef(turn.ResultDenied, "%s", reason)
		}
	}
	limit := s.registry.cfg.MaxArgumentBytes
	if e.builtin != nil && (call.Name == "plugin-data-set" || call.Name == "plugin-data-set-batch") {
		limit = maxDataArguments
	}
	args, refused := parse(call.Arguments, limit, s.registry.cfg.MaxNesting)
	if refused != nil {
		return answer{}, refused
	}
	if e.schema != nil {
		if err := e.schema.Validate(args); err != nil {
			return answer{}, invalid(call.Name, err)
		}
	}
	if ctx.Err() != nil {
		return answer{}, cancelled(ctx)
	}
	in := invocation{Call: call, set: s, args: args}
	if e.plugin != nil {
		return s.bounded(ctx, call.Name, func(ctx context.Context) (answer, *refusal) { return s.runPlugin(ctx, *e.plugin, in) })
	}
	return s.bounded(ctx, call.Name, func(ctx context.Context) (answer, *refusal) { return e.builtin(ctx, in) })
}

// bounded runs a handler that may panic or hang: neither takes the engine
// with it.
func (s Set) bounded(ctx context.Context, name string, run func(ctx context.Context) (answer, *refusal)) (answer, *refusal) {
	type done struct {
		result  answer
		refused *refusal
	}
	limit := s.registry.cfg.CallTimeout
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	ch := make(chan done, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				ch <- done{refused: refusef(turn.ResultExecutionError, "tool %s panicked: %v", name, p)}
			}
		}()
		result, refused := run(limited)
		ch <- done{result, refused}
	}()
	select {
	case d := <-ch:
		return d.result, d.refused
	case <-limited.Done():
		if ctx.Err() != nil {
			return answer{}, cancelled(ctx)
		}
		return answer{}, refusef(turn.ResultExecutionError, "tool %s did not answer within %v", name, limit)
	}
}

func cancelled(ctx context.Context) *refusal {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return refusef(turn.ResultExecutionError, "the time limit of the run passed before the call ended")
	}
	return refusef(turn.ResultCancelled, "the call was cancelled")
}

// runPlugin runs a plugin's tool.
func (s Set) runPlugin(ctx context.Context, t plugin.Tool, in invocation) (answer, *refusal) {
	pc := plugin.ToolCall{
		View: in.View, CallID: in.ID, Name: in.Name, Arguments: in.args, InputSlots: in.InputSlots,
		EmittedTopics: in.EmittedTopics, IdempotencyKey: in.IdempotencyKey, Pending: in.Pending,
	}
	pc.PluginID = t.PluginID
	run := t.Run
	if run == nil {
		run = func(ctx context.Context, call plugin.ToolCall) (plugin.ToolResult, error) {
			return s.registry.cfg.Remote(ctx, t, call)
		}
	}
	res, err := run(ctx, pc)
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{}, cancelled(ctx)
	case err != nil:
		return answer{}, refusef(turn.ResultExecutionError, "%v", err)
	case res.Code != "":
		r := refusef(res.Code, "%s", res.Message)
		r.details = res.Details
		return answer{}, r
	}
	return answer{
		summary: res.Summary, data: res.Data, text: res.Text, proposals: res.Proposals, events: res.Events, suspend: res.Suspend,
	}, s.checkWrites(t.PluginID, res)
}

// checkWrites validates what a plugin's tool wants to write and emit, while
// the model can still correct it.
func (s Set) checkWrites(pluginID string, res plugin.ToolResult) *refusal {
	for _, e := range res.Events {
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			return refusef(turn.ResultExecutionError, "the data of event %q is no JSON", e.Topic)
		}
	}
	for _, p := range res.Proposals {
		if !json.Valid(p.Payload) {
			return refusef(turn.ResultExecutionError, "the payload of a %s is no JSON", p.Type)
		}
		var err error
		switch p.Type {
		case turn.ProposalPluginData:
			var w dataWrite
			if err = json.Unmarshal(p.Payload, &w); err == nil {
				err = s.packages.CheckDatum(pluginID, w.Namespace, w.Key, w.Value)
			}
		case turn.ProposalPluginDataBatch:
			var w dataBatch
			if err = json.Unmarshal(p.Payload, &w); err == nil {
				for _, e := range w.Entries {
					if err = s.packages.CheckDatum(pluginID, w.Namespace, e.Key, e.Value); err != nil {
						break
					}
				}
			}
		}
		if err != nil {
			return refusef(turn.ResultValidationError, "%v", err)
		}
	}
	return nil
}

// checkSuspend refuses a suspend mark that cannot stand (spec 03 §12.1, §12.3).
func (s Set) checkSuspend(call Call, mark *plugin.SuspendMark) *refusal {
	switch {
	case mark == nil:
		return nil
	case call.NoSuspend:
		return refusef(turn.ResultDenied, NestedSuspend)
	}
	if problem := s.registry.suspendProblem(mark); problem != nil {
		return violation(call.Name, *problem)
	}
	return nil
}

// NestedSuspend is the answer to a resumed run that wants to suspend again.
const NestedSuspend = "Nested suspend is not supported"

// CheckSuspend checks a function's suspend mark as that of a tool is checked.
// The error names the member that cannot stand.
func (r *Registry) CheckSuspend(mark *plugin.SuspendMark) error {
	if problem := r.suspendProblem(mark); problem != nil {
		return fmt.Errorf("suspend.%s: %s", problem.Field, problem.Message)
	}
	return nil
}

func (r *Registry) suspendProblem(mark *plugin.SuspendMark) *Problem {
	switch {
	case mark.DeadlineMs < 0 || mark.DeadlineMs > maxDeadlineMs:
		return &Problem{"deadlineMs", fmt.Sprintf("%d is not between 1 and %d", mark.DeadlineMs, maxDeadlineMs)}
	case len(mark.ResumeSchema) > r.cfg.MaxArgumentBytes || nesting(string(mark.ResumeSchema)) > r.cfg.MaxNesting:
		return &Problem{"resumeSchema", fmt.Sprintf("it is longer than %d bytes or nested deeper than %d levels", r.cfg.MaxArgumentBytes, r.cfg.MaxNesting)}
	case len(mark.ResumeSchema) > 0:
		if _, err := plugin.CompileSchema(mark.ResumeSchema); err != nil {
			return &Problem{"resumeSchema", err.Error()}
		}
	}
	return nil
}

// maxDeadlineMs is a hundred years, well inside of what a duration holds.
const maxDeadlineMs = 100 * 365 * 24 * 3600 * 1000

func (in invocation) decode(into any) *refusal {
	if err := json.Unmarshal(in.args, into); err != nil {
		return violation(in.Name, Problem{"arguments", err.Error()})
	}
	return nil
}

func (in invocation) emitted(topic string) bool { return slices.Contains(in.EmittedTopics, topic) }

func propose(typ string, payload any) (plugin.ProposedWrite, *refusal) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return plugin.ProposedWrite{}, refusef(turn.ResultExecutionError, "write payload of %s: %v", typ, err)
	}
	return plugin.ProposedWrite{Type: typ, Payload: raw}, nil
}

func encode(v any) (json.RawMessage, *refusal) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, refusef(turn.ResultExecutionError, "write result: %v", err)
	}
	return raw, nil
}
