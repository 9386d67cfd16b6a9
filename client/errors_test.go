package client

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	h := &Handle{SessionID: "game", TurnID: "t-1"}
	notFound := fmt.Errorf("read: %w", &store.Error{Code: store.CodeNotFound, Op: "read session"})
	for name, c := range map[string]struct {
		err  error
		code string
		kind turn.Kind
	}{
		"no session":               {sessionError("read session", "game", notFound), turn.CodeSessionNotFound, turn.KindNotFound},
		"a typed store error":      {storeError("read", &store.Error{Code: store.CodeInvalidValue}), "INVALID_VALUE", turn.KindInvalid},
		"a driver's error":         {storeError("read", &store.Error{Code: store.CodeStoreFailed}), turn.CodeUnavailable, turn.KindInternal},
		"a bare error of a store":  {storeError("read", errors.New("reset")), turn.CodeUnavailable, turn.KindInternal},
		"no Temporal":              {unavailable("start turn", serviceerror.NewUnavailable("refused")), turn.CodeUnavailable, turn.KindInternal},
		"a run's own failure":      {h.runError(temporal.NewNonRetryableApplicationError("used", turn.CodeTurnIDConflict, nil)), turn.CodeTurnIDConflict, turn.KindConflict},
		"a run past its limit":     {h.runError(temporal.NewTimeoutError(0, nil)), turn.CodeTimeout, turn.KindBudget},
		"a run that was stopped":   {h.runError(fmt.Errorf("run: %w", &temporal.TerminatedError{})), turn.CodeSessionLost, turn.KindConflict},
		"a run that is unreadable": {h.runError(errors.New("odd")), turn.CodeUnavailable, turn.KindInternal},
		"nothing to abort":         {h.noActiveTurn(), turn.CodeNoActiveTurn, turn.KindNotFound},
		"a conflict":               {conflict("start turn", "s", "t", "is running"), turn.CodeTurnIDConflict, turn.KindConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *turn.Error
			if !errors.As(c.err, &e) || e.Code != c.code || e.Kind != c.kind {
				t.Fatalf("%v, want %s of kind %s", c.err, c.code, c.kind)
			}
		})
	}
	t.Run("a run's error names session and turn", func(t *testing.T) {
		t.Parallel()
		var e *turn.Error
		if !errors.As(h.runError(errors.New("odd")), &e) || e.Session != "game" || e.Turn != "t-1" {
			t.Errorf("%+v", e)
		}
	})
	for name, err := range map[string]error{
		"the caller's cancellation of a wait":  h.runError(fmt.Errorf("wait: %w", context.Canceled)),
		"the caller's cancellation of a start": unavailable("start turn", serviceerror.NewCanceled("by the caller")),
	} {
		t.Run(name+" stays one", func(t *testing.T) {
			t.Parallel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a deadline of a wait stays one", func(t *testing.T) {
		t.Parallel()
		if err := h.runError(context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) || turn.CodeOf(err) != "" {
			t.Errorf("%v", err)
		}
	})
}
