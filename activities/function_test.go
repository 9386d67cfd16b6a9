package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	answering := func(value string) plugin.FunctionHandler {
		return func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			return plugin.FunctionResult{Value: json.RawMessage(value)}, nil
		}
	}
	for name, c := range map[string]struct {
		probe plugin.FunctionHandler
		code  string // empty: success
	}{
		"a value":        {answering(`{"n":1}`), ""},
		"no value":       {answering(``), ""},
		"garbage":        {answering(`{"n":`), turn.CodeOutputSchemaInvalid},
		"two megabytes":  {answering(`"` + strings.Repeat("x", 2<<20) + `"`), turn.CodeHandlerError},
		"just one below": {answering(`"` + strings.Repeat("x", maxValueBytes-2) + `"`), ""},
		"an error": {func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			return plugin.FunctionResult{}, errors.New("no")
		}, turn.CodeHandlerError},
		"a coded error": {func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			return plugin.FunctionResult{}, turn.Errorf("probe", "invalid_payload", "n is 0")
		}, "invalid_payload"},
		"a panic": {func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) { panic("no") }, turn.CodeHandlerError},
		"a call past its limit": {func(ctx context.Context, _ plugin.FunctionCall) (plugin.FunctionResult, error) {
			<-ctx.Done()
			return plugin.FunctionResult{}, ctx.Err()
		}, turn.CodeHandlerError},
		"a call that ignores its limit": {func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			select {}
		}, turn.CodeHandlerError},
		"garbage beside garbage": {func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			return plugin.FunctionResult{
				Value:     json.RawMessage(`1`),
				Proposals: []plugin.ProposedWrite{{Type: turn.ProposalPluginData, Payload: json.RawMessage(`{`)}},
			}, nil
		}, turn.CodeHandlerError},
		"effects that are no JSON": {func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			return plugin.FunctionResult{Value: json.RawMessage(`1`), Effects: &turn.Effects{Notifications: json.RawMessage(`]`)}}, nil
		}, turn.CodeHandlerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			l := newLab(t, labHandlers{probe: func(ctx context.Context, call plugin.FunctionCall) (plugin.FunctionResult, error) {
				calls.Add(1)
				return c.probe(ctx, call)
			}})
			scope := l.begin(t, "t-1")
			in := turn.FunctionInput{Scope: scope, RuntimeID: "lab/probe", Stage: "pre-turn"}
			facts, err := l.RunFunction(t.Context(), in)
			must(t, err)
			if facts.Code != c.code || (facts.Status == turn.RuntimeSuccess) != (c.code == "") {
				t.Errorf("%s %q, want code %q", facts.Status, facts.Code, c.code)
			}
			l.restart(t)
			in.Lost = true // an answer that was recorded stays
			again, err := l.RunFunction(t.Context(), in)
			must(t, err)
			if diff := cmp.Diff(facts, again); diff != "" || calls.Load() != 1 {
				t.Errorf("called %d times, the repeat differs: %s", calls.Load(), diff)
			}
			if committed := l.commit(t, scope); committed.Status != turn.StatusCommitted {
				t.Errorf("the turn ended %+v", committed)
			}
		})
	}
	t.Run("a lost call fails its runtime without a second one", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{probe: func(context.Context, plugin.FunctionCall) (plugin.FunctionResult, error) {
			t.Error("it was called")
			return plugin.FunctionResult{}, nil
		}})
		scope := l.begin(t, "t-1")
		facts, err := l.RunFunction(t.Context(), turn.FunctionInput{Scope: scope, RuntimeID: "lab/probe", Stage: "pre-turn", Lost: true})
		must(t, err)
		if facts.Status != turn.RuntimeFailed || facts.Code != turn.CodeHandlerError || l.commit(t, scope).Status != turn.StatusCommitted {
			t.Errorf("%+v", facts)
		}
	})
}
