package commit

import (
	"context"
	"maps"

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
		first, err := a.firstCount(ctx)
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

// firstCount marks the logical turn as counted and says whether it was not.
// The mark is a journal entry under the logical turn instead of an execution,
// because several executions may share one.
func (a *application) firstCount(ctx context.Context) (bool, error) {
	_, first, err := a.tx.PutJournal(ctx, store.JournalEntry{
		SessionID: a.plan.SessionID, ExecutionID: "logical-turn/" + a.plan.logicalTurnID(), Kind: "counted",
		Payload: []byte(`{}`), CreatedAt: a.plan.Now,
	})
	return first, err
}
