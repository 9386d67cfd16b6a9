package turn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/covel-engine/covel/turn"
)

func TestErrorsKnowTheirKind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code       string
		kind       turn.Kind
		http, exit int
	}{
		{turn.CodeInvalidTurnInput, turn.KindInvalid, 400, 1},
		{turn.CodeSessionNotFound, turn.KindNotFound, 404, 3},
		{turn.CodeTurnIDConflict, turn.KindConflict, 409, 4},
		{turn.CodeTurnInProgress, turn.KindInProgress, 409, 4},
		{turn.CodeTurnAborted, turn.KindRefused, 422, 1},
		{turn.CodeMaxSteps, turn.KindBudget, 422, 1},
		{"RATE_LIMITED", turn.KindOverloaded, 429, 1},
		{"CONFIG_ERROR", turn.KindConfig, 500, 1},
		{"PROVIDER_ERROR", turn.KindProvider, 502, 1},
		{"of no chapter", turn.KindInternal, 500, 1},
	} {
		kind := turn.KindOf(tc.code)
		if kind != tc.kind || kind.HTTPStatus() != tc.http || kind.ExitCode() != tc.exit {
			t.Errorf("%s is %s, HTTP %d, exit %d; want %s, %d, %d", tc.code, kind, kind.HTTPStatus(), kind.ExitCode(), tc.kind, tc.http, tc.exit)
		}
	}
}

func TestErrorsMatchTheirSentinels(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	err := fmt.Errorf("outer: %w", turn.Errorf("start turn", turn.CodeTurnInProgress, "session is busy: %w", cause))
	if !errors.Is(err, turn.ErrTurnInProgress) || errors.Is(err, turn.ErrTurnIDConflict) || !errors.Is(err, cause) {
		t.Errorf("%v matches the wrong errors", err)
	}
	if turn.CodeOf(err) != turn.CodeTurnInProgress || turn.CodeOf(cause) != "" {
		t.Errorf("codes %q and %q", turn.CodeOf(err), turn.CodeOf(cause))
	}
	if got, want := err.Error(), "outer: start turn: session is busy: the cause (turn_in_progress)"; got != want {
		t.Errorf("text %q; want %q", got, want)
	}
}
