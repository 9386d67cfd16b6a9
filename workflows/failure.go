package workflows

import (
	"errors"

	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
)

// maxFailureText bounds failure texts in a history, in bytes.
const maxFailureText = 512

// failure reads code and text of an activity's error. An error that is no
// application error (a timeout, a lost worker) is handler_error.
func failure(err error) (code, message string) {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() != "" {
		return app.Type(), clip(app.Message())
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return turn.CodeTimeout, clip(timeout.Message())
	}
	return turn.CodeHandlerError, clip(err.Error())
}

// clip cuts a text to maxFailureText bytes at a rune boundary.
func clip(s string) string {
	if len(s) <= maxFailureText {
		return s
	}
	end := maxFailureText - len("…")
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end] + "…"
}

// failTurn is a Turn's own failure: its type is the code, its kind the details.
func failTurn(err error) error {
	code, message := failure(err)
	return temporal.NewNonRetryableApplicationError(message, code, nil, string(turn.KindOf(code)))
}

// lostCall says that a remote call ended without an answer: its worker was lost
// or its time ran out.
func lostCall(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout)
}
