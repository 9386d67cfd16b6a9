// Package commit makes everything a turn did take effect at once, or nothing
// of it (spec 03 §8, §10).
//
// A Plan holds what an execution produced; Apply writes it in one transaction
// of the store and answers an Outcome:
//
//	out, err := commit.Apply(ctx, st, commit.Plan{
//		Scope: scope, Origin: turn.OriginPlayer, CountPolicy: turn.CountCompleteTurn,
//		LogicalTurn: 12, LogicalTurnID: scope.TurnID,
//		PlayerMessage: "I light the lamp", JournalPlayer: true,
//		Results: results, Runtimes: manifests, Now: now,
//	})
//	switch {
//	case err != nil: // nothing was decided: session_lost, or the store failed; see Fail
//	case out.Status == commit.Committed: // the turn is part of the session
//	default: // out.Code and out.Message say why everything was rolled back
//	}
//
// The rules: the same execution committed again gets its first outcome and
// writes nothing. A story that failed takes everything with it; an optional
// runtime beside a successful story takes only itself and what depends on it.
// Nothing outside the store happens inside the transaction: what must be told
// to others stands in Outcome.Events and in the outbox.
package commit
