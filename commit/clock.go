package commit

import (
	"context"
	"maps"
	"time"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// countPolicy is the policy in force: only some origins have a clock, and an
// execution that leaves a suspension counts later (spec 03 §1.2, §10.2).
func (a *application) countPolicy() turn.CountPolicy {
	switch a.plan.Origin {
	case turn.OriginPlayer, turn.OriginContinuation, turn.OriginResume:
	default:
		return turn.CountNone
	}
	if a.plan.CountPolicy != turn.CountCompleteTurn || a.plan.suspended() {
		return turn.CountNone
	}
	return turn.CountCompleteTurn
}

// moveClock advances the counters once per logical turn, writes the setup map
// and the phase, and stores the session.
func (a *application) moveClock(ctx context.Context) error {
	s := &a.session
	if a.countPolicy() == turn.CountCompleteTurn {
		first, err := firstCount(ctx, a.tx, a.plan.SessionID, a.plan.logicalTurnID(), a.plan.Now)
		if err != nil {
			return err
		}
		if first {
			s.TurnCount++
			s.CompletedPlayerTurns++
			a.out.Counted = true
		}
	}
	if len(a.plan.Setup) > 0 {
		setup := maps.Clone(s.SetupRuntimes)
		if setup == nil {
			setup = make(map[string]session.SetupEntry, len(a.plan.Setup))
		}
		maps.Copy(setup, a.plan.Setup)
		s.SetupRuntimes = setup
	}
	if a.plan.EnterPlaying && s.Phase == session.PhaseSetup {
		s.Phase = session.PhasePlaying
		s.PreGameCompleted = true
		a.out.EnteredPlaying = true
	}
	if a.plan.ActivePlugins != nil {
		s.ActivePlugins = a.plan.ActivePlugins
	}
	s.UpdatedAt = a.plan.Now
	a.out.CompletedPlayerTurns, a.out.Phase = s.CompletedPlayerTurns, s.Phase
	return a.tx.UpdateSession(ctx, *s)
}

// CountTurn counts a logical turn whose last suspension was closed without a
// resume (spec 03 §12.5). A turn that is counted stays as it is.
func CountTurn(ctx context.Context, tx store.Tx, sessionID, logicalTurnID string, now time.Time) (bool, error) {
	first, err := firstCount(ctx, tx, sessionID, logicalTurnID, now)
	if err != nil || !first {
		return false, err
	}
	s, err := tx.Session(ctx, sessionID)
	if err != nil {
		return false, err
	}
	s.TurnCount++
	s.CompletedPlayerTurns++
	s.UpdatedAt = now
	return true, tx.UpdateSession(ctx, s)
}

// firstCount marks the logical turn as counted and says whether it was not.
// The mark is a journal entry under the logical turn instead of an execution,
// because several executions may share one.
func firstCount(ctx context.Context, tx store.Tx, sessionID, logicalTurnID string, now time.Time) (bool, error) {
	_, first, err := tx.PutJournal(ctx, store.JournalEntry{
		SessionID: sessionID, ExecutionID: "logical-turn/" + logicalTurnID, Kind: "counted", Payload: []byte(`{}`), CreatedAt: now,
	})
	return first, err
}
