package activities

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// chainDepth is one planned depth of the event chain, as the journal keeps it.
type chainDepth struct {
	Plan   turn.StagePlan        `json:"plan"`
	Events map[string]turn.Event `json:"events,omitempty"`
}

// PlanFollowers plans one depth of the event chain from the events so far
// (spec 03 §6). A stage without levels ends the chain.
func (a *Activities) PlanFollowers(ctx context.Context, scope turn.Scope, depth int) (turn.StagePlan, error) {
	plan, err := a.planFollowers(ctx, scope, depth)
	return plan, outcome(err)
}

func (a *Activities) planFollowers(ctx context.Context, scope turn.Scope, depth int) (turn.StagePlan, error) {
	ex, err := a.execution(ctx, scope)
	if err != nil {
		return turn.StagePlan{}, err
	}
	key := schedule.FollowUpStage(depth)
	var planned chainDepth
	ok, err := a.recorded(ctx, scope, journalChain, key, &planned)
	if err != nil {
		return turn.StagePlan{}, err
	}
	if !ok {
		if planned, err = a.nextDepth(ctx, ex, depth); err != nil {
			return turn.StagePlan{}, err
		}
		err = a.write(ctx, scope, func(ctx context.Context, tx store.Tx) error {
			return a.record(ctx, tx, scope, journalChain, key, &planned)
		})
		if err != nil {
			return turn.StagePlan{}, err
		}
	}
	ex.activate(planned.Events)
	return planned.Plan, nil
}

func (a *Activities) nextDepth(ctx context.Context, ex *execution, depth int) (chainDepth, error) {
	if err := a.refresh(ctx, ex); err != nil {
		return chainDepth{}, err
	}
	ledger, err := readLedger(ctx, a.cfg.Store, ex.scope.SessionID)
	if err != nil {
		return chainDepth{}, err
	}
	runtimes := a.scheduled(ex.frozen.ActivePlugins)
	next := schedule.NextDepth(schedule.ChainInput{
		Runtimes:    runtimes,
		Depth:       depth,
		Results:     scheduleResults(ex, runtimes),
		LogicalTurn: ex.frozen.LogicalTurn,
		Ledger:      ledger,
		Setup:       a.setupNow(ex, runtimes),
	})
	return chainDepth{Plan: a.stagePlan(ex.active, next.Stage), Events: next.Events}, nil
}

// activate notes which event woke which follower.
func (ex *execution) activate(events map[string]turn.Event) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	maps.Copy(ex.events, events)
}

// readChain restores the events of planned depths on a worker that did not
// plan them.
func (a *Activities) readChain(ctx context.Context, ex *execution) error {
	entries, err := a.cfg.Store.JournalEntries(ctx, ex.scope.SessionID, ex.scope.ExecutionID, journalChain)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var planned chainDepth
		if err := json.Unmarshal(e.Payload, &planned); err != nil {
			return err
		}
		ex.activate(planned.Events)
	}
	return nil
}
