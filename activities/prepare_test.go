package activities

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

func TestGuards(t *testing.T) {
	t.Parallel()
	prepare := turn.PrepareInput{RuntimeID: "lab/clerk", Stage: "post-turn"}
	for name, c := range map[string]struct {
		gate   plugin.GuardHandler
		run    bool
		status turn.RuntimeStatus
	}{
		"a guard that lets through": {
			gate: func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) {
				return plugin.GuardResult{}, nil
			}, run: true,
		},
		"a guard that skips": {
			gate: func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) {
				return plugin.GuardResult{Skip: true, Value: json.RawMessage(`{"why":"quiet"}`)}, nil
			}, status: turn.RuntimeSkipped,
		},
		"a guard that fails": {
			gate: func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) {
				return plugin.GuardResult{}, errors.New("no")
			}, status: turn.RuntimeFailed,
		},
		"a guard that panics": {
			gate: func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) { panic("no") }, status: turn.RuntimeFailed,
		},
		"a guard that answers an empty value": {
			gate: func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) {
				return plugin.GuardResult{Value: json.RawMessage{}}, nil
			}, run: true,
		},
		"a guard that answers garbage": {
			gate: func(context.Context, plugin.FunctionCall) (plugin.GuardResult, error) {
				return plugin.GuardResult{Value: json.RawMessage(`{`)}, nil
			}, status: turn.RuntimeFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			l := newLab(t, labHandlers{gate: func(ctx context.Context, call plugin.FunctionCall) (plugin.GuardResult, error) {
				asked.Add(1)
				return c.gate(ctx, call)
			}})
			in := prepare
			in.Scope = l.begin(t, "t-1")
			var answers []turn.Prepared
			for range 2 {
				got, err := l.PrepareRuntime(t.Context(), in)
				must(t, err)
				answers = append(answers, got)
				l.restart(t)
			}
			got := answers[0]
			if got.Run != c.run || !c.run && got.Facts.Status != c.status {
				t.Errorf("%+v %+v", got, got.Facts)
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" || asked.Load() != 1 {
				t.Errorf("asked %d times, the repeat differs: %s", asked.Load(), diff)
			}
		})
	}
	t.Run("a store that fails is not the guard's failure", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		in := prepare
		in.Scope = l.begin(t, "t-1")
		broken := &brokenStore{Store: l.st}
		l.cfg.Store = broken
		l.restart(t)
		broken.fails.Store(1)
		if _, err := l.PrepareRuntime(t.Context(), in); codeOf(err) != turn.CodeUnavailable {
			t.Errorf("error %v", err)
		}
		got, err := l.PrepareRuntime(t.Context(), in)
		must(t, err)
		if !got.Run {
			t.Errorf("%+v %+v", got, got.Facts)
		}
	})
}

// brokenStore fails the next transactions as a lost connection does.
type brokenStore struct {
	store.Store
	fails atomic.Int32
}

func (s *brokenStore) WithTx(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	if s.fails.Add(-1) >= 0 {
		return &store.Error{Code: store.CodeStoreFailed, Op: "begin", Err: errors.New("the connection was reset")}
	}
	return s.Store.WithTx(ctx, fn)
}
