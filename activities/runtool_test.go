package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

// calling starts a turn whose clerk has asked for notes.
func (l *lab) calling(t *testing.T, texts ...string) turn.Scope {
	t.Helper()
	l.model.answer = func(n int, _ model.Params, _ func(model.Delta)) (*model.Result, error) {
		if n == 1 {
			return noting(texts...), nil
		}
		return said("Done."), nil
	}
	scope := l.begin(t, "t-1")
	_, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
	must(t, err)
	return scope
}

func call(scope turn.Scope, id string, at int) turn.RunToolInput {
	return turn.RunToolInput{Scope: scope, RuntimeID: "lab/clerk", Stage: "post-turn", CallID: id, Reply: 1, At: at}
}

func TestRunTool(t *testing.T) {
	t.Parallel()
	garbage := json.RawMessage(`{`)
	for name, c := range map[string]struct {
		note plugin.ToolHandler
		code string // empty: success
	}{
		"an answer": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted", Data: json.RawMessage(`{"n":1}`)}, nil
		}, ""},
		"a refusal": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Code: "FULL", Message: "no page is left"}, nil
		}, "FULL"},
		"an error": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{}, errors.New("no")
		}, turn.ResultExecutionError},
		"a panic": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) { panic("no") }, turn.ResultExecutionError},
		"data that is no JSON": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted", Data: garbage}, nil
		}, turn.ResultExecutionError},
		"a proposal that is no JSON": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted", Proposals: []plugin.ProposedWrite{{Type: turn.ProposalPluginData, Payload: garbage}}}, nil
		}, turn.ResultExecutionError},
		"a proposal of a kind that only the commit reads": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted", Proposals: []plugin.ProposedWrite{{Type: turn.ProposalStatePatch, Payload: garbage}}}, nil
		}, turn.ResultExecutionError},
		"an event that is no JSON": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted", Events: []turn.Event{{Topic: "lab/noted", Data: garbage}}}, nil
		}, turn.ResultExecutionError},
		"details that are no JSON": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Code: "FULL", Message: "no page is left", Details: garbage}, nil
		}, "FULL"},
		"two megabytes": {func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
			return plugin.ToolResult{Summary: "noted", Data: json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)}, nil
		}, turn.ResultExecutionError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			l := newLab(t, labHandlers{note: func(ctx context.Context, call plugin.ToolCall) (plugin.ToolResult, error) {
				calls.Add(1)
				return c.note(ctx, call)
			}})
			scope := l.calling(t, "a")
			want, err := l.RunTool(t.Context(), call(scope, "call-1", 2))
			must(t, err)
			if want.Code != c.code || want.OK != (c.code == "") {
				t.Errorf("outcome %+v, want code %q", want, c.code)
			}
			l.restart(t)
			repeat := call(scope, "call-1", 2)
			repeat.Lost = true // an answer that was recorded stays
			got, err := l.RunTool(t.Context(), repeat)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" || calls.Load() != 1 {
				t.Errorf("called %d times, the repeat differs: %s", calls.Load(), diff)
			}
			entries, err := l.st.Transcript(t.Context(), turn.RunID(scope.ExecutionID, "lab/clerk"), 2, 10)
			must(t, err)
			if len(entries) != 1 || entries[0].Role != string(model.RoleTool) {
				t.Errorf("entries %+v", entries)
			}
		})
	}
}

func TestToolsThatDoNotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*turn.RunToolInput)
		args   string
		code   string
	}{
		"a lost call is unknown":           {func(in *turn.RunToolInput) { in.Lost = true }, "", turn.ResultOutcomeUnknown},
		"the rest of an ended batch":       {func(in *turn.RunToolInput) { in.Cancelled, in.Because = true, turn.CancelTerminated }, "", turn.ResultCancelled},
		"arguments that are no JSON":       {nil, `{"text":`, turn.ResultInvalidArgs},
		"arguments against the schema":     {nil, `{"text":1}`, turn.ResultValidationError},
		"arguments with an unknown member": {nil, `{"text":"a","more":1}`, turn.ResultValidationError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, labHandlers{note: func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
				t.Error("the handler was called")
				return plugin.ToolResult{}, nil
			}})
			reply := noting("a")
			if c.args != "" {
				reply.ToolCalls[0].Arguments = c.args
			}
			l.model.answer = func(int, model.Params, func(model.Delta)) (*model.Result, error) { return reply, nil }
			scope := l.begin(t, "t-1")
			_, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
			must(t, err)
			in := call(scope, "call-1", 2)
			if c.change != nil {
				c.change(&in)
			}
			got, err := l.RunTool(t.Context(), in)
			must(t, err)
			if got.OK || got.Code != c.code {
				t.Errorf("outcome %+v, want %s", got, c.code)
			}
		})
	}
	t.Run("a tool that is not the runtime's own", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		reply := noting("a")
		reply.ToolCalls[0].Name = "erase"
		l.model.answer = func(int, model.Params, func(model.Delta)) (*model.Result, error) { return reply, nil }
		scope := l.begin(t, "t-1")
		_, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
		must(t, err)
		got, err := l.RunTool(t.Context(), call(scope, "call-1", 2))
		must(t, err)
		if got.Code != turn.ResultUnauthorized {
			t.Errorf("outcome %+v", got)
		}
	})
}

func TestToolsOfARun(t *testing.T) {
	t.Parallel()
	t.Run("a later call sees what earlier ones buffered, on another worker too", func(t *testing.T) {
		t.Parallel()
		var l *lab
		pending := map[string]int{}
		keys := map[string]bool{}
		l = newLab(t, labHandlers{note: func(_ context.Context, call plugin.ToolCall) (plugin.ToolResult, error) {
			pending[call.CallID] = len(call.Pending)
			keys[call.IdempotencyKey] = true
			payload, err := json.Marshal(map[string]any{"namespace": "notes", "key": call.CallID, "value": call.Arguments})
			return plugin.ToolResult{Summary: "noted", Proposals: []plugin.ProposedWrite{{Type: turn.ProposalPluginData, Payload: payload}}}, err
		}})
		scope := l.calling(t, "a", "b")
		for i, id := range []string{"call-1", "call-2"} {
			_, err := l.RunTool(t.Context(), call(scope, id, 2+i))
			must(t, err)
			l.restart(t)
		}
		if pending["call-1"] != 0 || pending["call-2"] != 1 || len(keys) != 2 {
			t.Errorf("pending %v, keys %v", pending, keys)
		}
	})
	t.Run("its writes take effect with the commit and not before", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{note: func(_ context.Context, call plugin.ToolCall) (plugin.ToolResult, error) {
			payload, err := json.Marshal(map[string]any{"namespace": "notes", "key": call.CallID, "value": call.Arguments})
			return plugin.ToolResult{Summary: "noted", Proposals: []plugin.ProposedWrite{{Type: turn.ProposalPluginData, Payload: payload}}}, err
		}})
		l.model.answer = func(n int, _ model.Params, _ func(model.Delta)) (*model.Result, error) {
			if n == 1 {
				return noting("a", "b"), nil
			}
			return said("Done."), nil
		}
		scope := l.begin(t, "t-1")
		facts := l.agent(t, scope, "lab/clerk", "post-turn")
		if facts.Status != turn.RuntimeSuccess || facts.ToolCalls != 2 || facts.Steps != 2 || facts.CostMicroUSD != 24 {
			t.Errorf("facts %+v", facts)
		}
		count := func() int {
			rows, err := l.st.PluginData(t.Context(), "game", "lab", "notes", "", 10)
			must(t, err)
			return len(rows)
		}
		if n := count(); n != 0 {
			t.Errorf("%d rows before the commit", n)
		}
		if got := l.commit(t, scope); got.Status != turn.StatusCommitted || count() != 2 {
			t.Errorf("%+v, %d rows", got, count())
		}
	})
}
