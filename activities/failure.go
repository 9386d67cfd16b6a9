package activities

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
)

// fatal gives an error that Temporal does not retry: its type is the code, its
// kind the details. It carries no stack.
func fatal(code, message string) error {
	return temporal.NewNonRetryableApplicationError(message, code, nil, string(turn.KindOf(code)))
}

// outcome turns an error into what leaves an activity. Faults of the input and
// lost fences are final; driver errors and closed connections are tried again.
func outcome(err error) error {
	if err == nil {
		return nil
	}
	var coded *turn.Error
	if errors.As(err, &coded) {
		if coded.Code == turn.CodeUnavailable {
			return err
		}
		return fatal(coded.Code, coded.Error())
	}
	var stored *store.Error
	if errors.As(err, &stored) {
		return fatal(stored.Code, stored.Error())
	}
	var call *model.Error
	if errors.As(err, &call) {
		return fatal(call.Code, call.Message)
	}
	return err
}

// write runs a store section of an execution: session lock first, then the
// fence, then fn (spec 02 §15).
func (a *Activities) write(ctx context.Context, scope turn.Scope, fn func(ctx context.Context, tx store.Tx) error) error {
	return a.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.LockSession(ctx, scope.SessionID); err != nil {
			return err
		}
		if err := tx.CheckFence(ctx, scope.SessionID, scope.ExecutionID); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}
