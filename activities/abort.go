package activities

import (
	"context"
	"time"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// RequestAbort notes the player's abort on the running execution, under the
// session lock: either the commit sees it, or it is refused because the commit
// is done (spec 03 §17).
func (a *Activities) RequestAbort(ctx context.Context, scope turn.Scope) error {
	err := a.write(ctx, scope, func(ctx context.Context, tx store.Tx) error {
		committed, done, err := tx.TurnCommit(ctx, scope.SessionID, scope.TurnID)
		if err != nil {
			return err
		}
		if done && committed.ExecutionID == scope.ExecutionID {
			return turn.Errorf("abort turn", turn.CodeNoActiveTurn, "turn %q is committed; there is nothing to abort", scope.TurnID)
		}
		return tx.RequestAbort(ctx, scope.SessionID, scope.ExecutionID)
	})
	if err != nil {
		return outcome(err)
	}
	// The flag decides; a lost notification only costs a poll.
	_ = a.cfg.Store.Notifier().Notify(ctx, abortTopic(scope))
	return nil
}

func abortTopic(scope turn.Scope) string { return "abort/" + scope.ExecutionID }

// watchAbort gives a context that ends when the player aborts the execution:
// Temporal tells an activity of a cancellation only at its next heartbeat.
func (a *Activities) watchAbort(ctx context.Context, scope turn.Scope) (context.Context, context.CancelFunc) {
	watched, cancel := context.WithCancelCause(ctx)
	woken := a.cfg.Store.Notifier().Listen(watched, abortTopic(scope))
	go func() {
		tick := time.NewTicker(a.cfg.AbortPoll)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-woken:
			case <-tick.C:
			}
			requested, err := a.cfg.Store.AbortRequested(watched, scope.SessionID, scope.ExecutionID)
			if err == nil && requested {
				cancel(errAborted)
				return
			}
		}
	}()
	return watched, func() { cancel(context.Canceled) }
}

var errAborted = turn.Errorf("turn", turn.CodeTurnAborted, "the player aborted the turn")
