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

// passing gives an error that Temporal tries again.
func passing(code, message string) error {
	return temporal.NewApplicationError(clip(message), code, string(turn.KindOf(code)))
}

// outcome turns an error into what leaves an activity. Faults of the input and
// lost fences are final; driver errors and closed connections are tried again.
func outcome(err error) error {
	var coded *turn.Error
	var stored *store.Error
	var call *model.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded) && coded.Code == turn.CodeUnavailable:
		return passing(coded.Code, coded.Error())
	case errors.As(err, &coded):
		return fatal(coded.Code, coded.Error())
	case errors.As(err, &call):
		return fatal(call.Code, call.Message)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &stored) && stored.Code == store.CodeStoreFailed:
		return passing(turn.CodeUnavailable, stored.Error())
	case errors.As(err, &stored):
		return fatal(stored.Code, stored.Error())
	default:
		return passing(turn.CodeHandlerError, err.Error())
	}
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
