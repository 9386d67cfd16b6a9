package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// guardTimeout bounds a guard (spec 03 §11.1, hook timeout).
const guardTimeout = 5 * time.Second

// bounded calls a plugin's handler: a panic and a call that passes its limit
// are errors of that call. A handler that ignores its context is left behind.
func bounded[T any](ctx context.Context, limit time.Duration, call func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			done <- a
		}()
		a.value, a.err = call(ctx)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var zero T
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return zero, fmt.Errorf("no answer within %s", limit)
		}
		return zero, ctx.Err()
	}
}

// view is what a plugin's code may read of an execution.
func (a *Activities) view(ex *execution, pluginID, runtimeID string, hidden bool) plugin.View {
	return plugin.View{
		Scope:           ex.scope,
		PluginID:        pluginID,
		RuntimeID:       runtimeID,
		LogicalTurn:     ex.frozen.LogicalTurn,
		Locale:          ex.frozen.Locale,
		StartedAt:       ex.frozen.StartedAt,
		PlayerMessage:   ex.frozen.Input.PlayerMessage,
		Session:         ex.session,
		Characters:      ex.characters,
		CharacterSchema: ex.world.CharacterSchema,
		Dimensions:      ex.world.public,
		UserSettings:    ex.frozen.Settings[pluginID],
		Data:            dataReader{a.cfg.Store, ex.scope.SessionID, pluginID, hidden},
		Messages:        messageReader{a.cfg.Store, ex.scope.SessionID},
		Model:           a.cfg.Model,
		Language:        a.cfg.ForcedLanguage,
		Services:        services{a, ex},
	}
}

func (a *Activities) functionCall(ex *execution, rt *plugin.Runtime, inputs *bound) plugin.FunctionCall {
	call := plugin.FunctionCall{
		View:           a.view(ex, rt.PluginID, rt.ID, true),
		Inputs:         inputs.byName(),
		IdempotencyKey: ex.scope.SessionID + "/" + ex.scope.TurnID + "/" + rt.ID,
	}
	if m := ex.frozen.Input.ManualTrigger; m != nil {
		call.Payload = m.Payload
	}
	call.Event = ex.event(rt.ID)
	if r := ex.frozen.Resume; r != nil {
		call.ResumeData, call.ResumedFrom, call.Event = r.Data, r.Suspension, r.Event
		if r.Trigger != nil {
			call.Payload = r.Trigger.Payload
		}
	}
	return call
}

// event is the event that activated a follower, nil for none.
func (ex *execution) event(runtimeID string) *turn.Event {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	event, ok := ex.events[runtimeID]
	if !ok {
		return nil
	}
	return &event
}

// dataReader reads one plugin's committed rows.
type dataReader struct {
	st        store.Reader
	sessionID string
	pluginID  string
	hidden    bool
}

// Get gives a bare value, nil when the key is absent.
func (d dataReader) Get(ctx context.Context, namespace, key string) (json.RawMessage, error) {
	if err := d.readable(namespace); err != nil {
		return nil, err
	}
	row, err := d.st.PluginDatum(ctx, d.sessionID, d.pluginID, namespace, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return row.Value, err
}

// List gives rows in key order.
func (d dataReader) List(ctx context.Context, namespace, after string, limit int) ([]session.PluginDatum, error) {
	if err := d.readable(namespace); err != nil {
		return nil, err
	}
	return d.st.PluginData(ctx, d.sessionID, d.pluginID, namespace, after, limit)
}

func (d dataReader) readable(namespace string) error {
	if !d.hidden && len(namespace) >= 8 && namespace[:8] == "_hidden." {
		return turn.Errorf("read plugin data", "hidden-namespace", "namespace %q of plugin %s is readable only from its functions and guards", namespace, d.pluginID)
	}
	return nil
}

// messageReader reads the session's committed log.
type messageReader struct {
	st        store.Reader
	sessionID string
}

// Tail gives the last n rows, at most 20.
func (m messageReader) Tail(ctx context.Context, n int) ([]session.Message, error) {
	return m.st.MessageTail(ctx, m.sessionID, n)
}
