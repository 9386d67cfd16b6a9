package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		code  string
		kind  turn.Kind
		final bool
	}{
		"a fault of the input is final":          {turn.Errorf("begin", turn.CodeTurnIDConflict, "used"), turn.CodeTurnIDConflict, turn.KindConflict, true},
		"a lost fence is final":                  {&store.Error{Code: store.CodeSessionLost, Op: "write"}, turn.CodeSessionLost, turn.KindConflict, true},
		"a typed store error is final":           {fmt.Errorf("read: %w", &store.Error{Code: store.CodeNotFound}), "NOT_FOUND", turn.KindNotFound, true},
		"a driver's error is tried again":        {&store.Error{Code: store.CodeStoreFailed, Err: errors.New("reset")}, turn.CodeUnavailable, turn.KindInternal, false},
		"an unreachable database is tried again": {turn.Errorf("read", turn.CodeUnavailable, "gone"), turn.CodeUnavailable, turn.KindInternal, false},
		"a provider's failure is final":          {&model.Error{Code: model.CodeProvider, Message: "503", Retriable: true}, "PROVIDER_ERROR", turn.KindProvider, true},
		"a provider that was too late is final": {
			&model.Error{Code: model.CodeProvider, Message: "late", Err: context.DeadlineExceeded}, "PROVIDER_ERROR", turn.KindProvider, true,
		},
		"an error without a code is tried again": {errors.New("odd"), turn.CodeHandlerError, turn.KindInternal, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var app *temporal.ApplicationError
			if !errors.As(outcome(c.err), &app) {
				t.Fatalf("%v is no application error", outcome(c.err))
			}
			var kind string
			if err := app.Details(&kind); err != nil || app.Type() != c.code || kind != string(c.kind) || app.NonRetryable() != c.final {
				t.Errorf("code %s, kind %s (%v), final %t; want %s, %s, %t", app.Type(), kind, err, app.NonRetryable(), c.code, c.kind, c.final)
			}
		})
	}
	t.Run("success stays success", func(t *testing.T) {
		t.Parallel()
		if err := outcome(nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("a cancellation passes as it is", func(t *testing.T) {
		t.Parallel()
		if err := outcome(context.Canceled); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a short text": "short", "exactly the bound": strings.Repeat("a", maxErrorText), "letters": strings.Repeat("a", 2000),
		"wide characters": strings.Repeat("灯", 400), "wider ones": "x" + strings.Repeat("🏮", 400),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := clip(text)
			switch {
			case len(text) <= maxErrorText && got != text:
				t.Errorf("%q was cut", text)
			case len(text) > maxErrorText && (len(got) > maxErrorText || len(got) < maxErrorText-4 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…")):
				t.Errorf("%d bytes: %q", len(got), got)
			}
		})
	}
}
