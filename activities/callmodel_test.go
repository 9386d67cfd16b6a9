package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

func TestCallModel(t *testing.T) {
	t.Parallel()
	t.Run("a repeat makes no second call and answers equal facts, on another worker too", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.model.answer = func(int, model.Params, func(model.Delta)) (*model.Result, error) { return noting("a", "b"), nil }
		scope := l.begin(t, "t-1")
		want, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
		must(t, err)
		if len(want.Calls) != 2 || want.Length != 2 || want.CostMicroUSD != 12 || want.Usage.Input != 100 {
			t.Errorf("facts %+v", want)
		}
		for range 2 {
			got, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			l.restart(t)
		}
		if n := l.model.count(); n != 1 {
			t.Errorf("%d model calls", n)
		}
	})
	t.Run("a story's repeat answers the stored text", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		want, err := l.CallModel(t.Context(), first(scope, "lab/teller", "narrative"))
		must(t, err)
		l.restart(t)
		got, err := l.CallModel(t.Context(), first(scope, "lab/teller", "narrative"))
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" || !want.HasText || l.model.count() != 1 {
			t.Errorf("%d calls, %s", l.model.count(), diff)
		}
	})
	t.Run("notes stand before the reply and are sent in their place", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		scope := l.begin(t, "t-1")
		reply, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
		must(t, err)
		in := first(scope, "lab/clerk", "post-turn")
		in.Step, in.Length, in.Notes = 2, reply.Length, []turn.Note{{Text: "T15"}}
		again, err := l.CallModel(t.Context(), in)
		must(t, err)
		if again.Length != reply.Length+2 {
			t.Errorf("length %d after %d", again.Length, reply.Length)
		}
		one, two := l.model.calls[0].Messages, l.model.calls[1].Messages
		if diff := cmp.Diff(one, two[:len(one)]); diff != "" {
			t.Errorf("the second request changes the first: %s", diff)
		}
		if last := two[len(two)-1]; len(two) != len(one)+2 || last.Role != model.RoleSystem || last.Content == "" {
			t.Errorf("%d messages after %d, the last %+v", len(two), len(one), last)
		}
	})
	t.Run("a failed call keeps no reply, and its repeat calls again", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.model.answer = func(n int, _ model.Params, _ func(model.Delta)) (*model.Result, error) {
			if n == 1 {
				return nil, failure(model.CodeRefusal, 200, false)
			}
			return said("Fine."), nil
		}
		scope := l.begin(t, "t-1")
		if _, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn")); codeOf(err) != "REFUSAL" {
			t.Errorf("error %v", err)
		}
		out, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
		must(t, err)
		if !out.HasText || out.Length != 2 || l.model.count() != 2 {
			t.Errorf("%+v after %d calls", out, l.model.count())
		}
	})
	t.Run("a reply cut at the output limit keeps no half calls", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		l.model.answer = func(int, model.Params, func(model.Delta)) (*model.Result, error) {
			r := noting("half")
			r.FinishReason = model.FinishLength
			return r, nil
		}
		out, err := l.CallModel(t.Context(), first(l.begin(t, "t-1"), "lab/clerk", "post-turn"))
		must(t, err)
		if len(out.Calls) != 0 || out.Finish != model.FinishLength {
			t.Errorf("facts %+v", out)
		}
	})
	t.Run("the player's overrides go to stories only", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, labHandlers{})
		in := l.input("t-1")
		in.ModelOverride = "fine"
		scope := turn.Scope{SessionID: "game", TurnID: "t-1", ExecutionID: "run-1"}
		_, err := l.BeginTurn(t.Context(), scope, in)
		must(t, err)
		for id, stage := range map[string]string{"lab/teller": "narrative", "lab/clerk": "post-turn"} {
			_, err := l.CallModel(t.Context(), first(scope, id, stage))
			must(t, err)
			want := map[string]string{"lab/teller": "fine", "lab/clerk": "default"}[id]
			if got := l.model.slots[len(l.model.slots)-1]; got != want {
				t.Errorf("%s went to %s, want %s", id, got, want)
			}
		}
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	overloaded := failure(model.CodeProvider, 503, true)
	partial := func(onDelta func(model.Delta)) { onDelta(model.Delta{Text: "The door"}) }
	for name, c := range map[string]struct {
		runtime string
		fails   int // the first calls that fail with err
		err     error
		partial bool // each failing call first streams some text
		calls   int
		code    string // of the whole call; empty: it succeeds
	}{
		"one passing failure":                       {runtime: "lab/clerk", fails: 1, err: overloaded, calls: 2},
		"two passing failures":                      {runtime: "lab/clerk", fails: 2, err: overloaded, calls: 3},
		"more than maxRetries":                      {runtime: "lab/clerk", fails: 9, err: overloaded, calls: 3, code: "PROVIDER_ERROR"},
		"a rate limit":                              {runtime: "lab/clerk", fails: 1, err: failure(model.CodeRateLimited, 429, true), calls: 2},
		"a refusal is never retried":                {runtime: "lab/clerk", fails: 9, err: failure(model.CodeRefusal, 200, true), calls: 1, code: "REFUSAL"},
		"a configuration fault is never retried":    {runtime: "lab/clerk", fails: 9, err: model.Configf("no key"), calls: 1, code: "CONFIG_ERROR"},
		"a bad request is never retried":            {runtime: "lab/clerk", fails: 9, err: failure(model.CodeProvider, 400, false), calls: 1, code: "PROVIDER_ERROR"},
		"a used-up budget is never retried":         {runtime: "lab/clerk", fails: 9, err: failure(model.CodeBudgetExceeded, 0, true), calls: 1, code: "REQUEST_BUDGET_EXCEEDED"},
		"a story is retried before its first words": {runtime: "lab/teller", fails: 1, err: overloaded, calls: 2},
		"a story that was seen is not replaced":     {runtime: "lab/teller", fails: 9, err: overloaded, partial: true, calls: 1, code: "PROVIDER_ERROR"},
		"a stream that never comes is tried plain":  {runtime: "lab/teller", fails: 3, err: overloaded, calls: 4},
		"and after the plain call nothing more":     {runtime: "lab/teller", fails: 9, err: overloaded, calls: 4, code: "PROVIDER_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, labHandlers{})
			l.model.answer = func(n int, _ model.Params, onDelta func(model.Delta)) (*model.Result, error) {
				if n > c.fails {
					return said("At last."), nil
				}
				if c.partial {
					partial(onDelta)
				}
				return nil, c.err
			}
			stage := map[string]string{"lab/clerk": "post-turn", "lab/teller": "narrative"}[c.runtime]
			_, err := l.CallModel(t.Context(), first(l.begin(t, "t-1"), c.runtime, stage))
			if codeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Errorf("error %v, want code %q", err, c.code)
			}
			if n := l.model.count(); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
			l.wantHints(t)
		})
	}
}

// wantHints checks that retry n, and no other request, ends with its own hint.
func (l *lab) wantHints(t *testing.T) {
	t.Helper()
	for n, p := range l.model.calls {
		hints := 0
		for _, m := range p.Messages {
			if strings.HasPrefix(m.Content, "[retry ") {
				hints++
			}
		}
		if hints > 0 {
			last := p.Messages[len(p.Messages)-1]
			want := fmt.Sprintf("[retry %d] The last attempt failed. Answer again; the task is the same.%s", hints, strings.Repeat(" ", hints))
			if last.Role != model.RoleSystem || last.Content != want {
				t.Errorf("request %d ends with %q, want %q", n+1, last.Content, want)
			}
		}
		if retry := min(n, 2); hints != retry {
			t.Errorf("request %d has %d hints, want %d", n+1, hints, retry)
		}
	}
}

func TestBadArgumentsAreRepairedOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, labHandlers{})
	refused := failure(model.CodeProvider, 400, false).WithDetail("requestFault", "tool_arguments_not_json")
	l.model.answer = func(n int, _ model.Params, _ func(model.Delta)) (*model.Result, error) {
		switch n {
		case 1:
			r := noting("x")
			r.ToolCalls[0].Arguments = `{"text": `
			return r, nil
		case 2:
			return nil, refused
		}
		return said("Done."), nil
	}
	scope := l.begin(t, "t-1")
	facts := l.agent(t, scope, "lab/clerk", "post-turn")
	if l.model.count() != 3 {
		t.Fatalf("%d calls: %+v", l.model.count(), facts)
	}
	var sent []string
	for _, m := range l.model.calls[2].Messages {
		for _, c := range m.ToolCalls {
			sent = append(sent, c.Arguments)
		}
	}
	if len(sent) != 1 || sent[0] != `{"_raw":"{\"text\": "}` {
		t.Errorf("arguments %q", sent)
	}
}

func TestRepairArguments(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"a":1}`:   `{"a":1}`,
		` {"a":1}`:  ` {"a":1}`,
		`{}`:        `{}`,
		``:          `{"_raw":""}`,
		`{"a":`:     `{"_raw":"{\"a\":"}`,
		`[1]`:       `{"_raw":"[1]"}`,
		`"text"`:    `{"_raw":"\"text\""}`,
		`null`:      `{"_raw":"null"}`,
		`{"a":1} x`: `{"_raw":"{\"a\":1} x"}`,
		`<a> & "灯"`: `{"_raw":"<a> & \"灯\""}`,
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			before := []model.Message{{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "1", Arguments: given}}}, {Role: model.RoleTool, Content: given}}
			after := repairArguments(before)
			if got := after[0].ToolCalls[0].Arguments; got != want || !json.Valid([]byte(got)) {
				t.Errorf("%s, want %s", got, want)
			}
			if before[0].ToolCalls[0].Arguments != given || after[1].Content != given {
				t.Error("something else was changed")
			}
		})
	}
}

func TestAbortEndsAModelCall(t *testing.T) {
	t.Parallel()
	l := newLab(t, labHandlers{})
	scope := l.begin(t, "t-1")
	caller := &waitingModel{fakeModel: l.model, called: make(chan struct{})}
	l.cfg.Model = caller
	l.restart(t)
	failed := make(chan error, 1)
	go func() {
		_, err := l.CallModel(t.Context(), first(scope, "lab/clerk", "post-turn"))
		failed <- err
	}()
	<-caller.called
	must(t, l.RequestAbort(t.Context(), scope))
	if err := <-failed; codeOf(err) != turn.CodeTurnAborted {
		t.Errorf("error %v", err)
	}
	if l.model.count() != 0 {
		t.Error("the call was tried again")
	}
}

// waitingModel answers when its context ends.
type waitingModel struct {
	*fakeModel
	called chan struct{}
}

func (m *waitingModel) Call(ctx context.Context, _ string, _ model.Params, _ func(model.Delta)) (*model.Result, error) {
	close(m.called)
	<-ctx.Done()
	return nil, &model.Error{Code: model.CodeProvider, Message: "the link was closed", Err: ctx.Err(), Retriable: !errors.Is(ctx.Err(), context.Canceled)}
}

func failure(code string, status int, retriable bool) *model.Error {
	return &model.Error{Code: code, Message: "the model said no", StatusCode: status, Retriable: retriable}
}
