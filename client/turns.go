package client

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Turns reads the outcomes of a session's newest turns, the newest first.
func (c *Client) Turns(ctx context.Context, sessionID string, limit int) ([]turn.Outcome, error) {
	if _, err := c.Session(ctx, sessionID); err != nil {
		return nil, err
	}
	records, err := c.cfg.Store.TurnRecords(ctx, sessionID, limit)
	if err != nil {
		return nil, storeError("list turns", err)
	}
	outcomes := make([]turn.Outcome, 0, len(records))
	for _, record := range records {
		outcome, err := outcomeOf(record)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// Turn finds a turn that is running or stored, so that another process than
// the one that started it can follow it; none is turn_not_found.
func (c *Client) Turn(ctx context.Context, sessionID, turnID string) (*Handle, error) {
	running, err := c.Running(ctx, sessionID)
	if err == nil && running.TurnID == turnID {
		return running, nil
	}
	if err != nil && turn.CodeOf(err) != turn.CodeNoActiveTurn {
		return nil, err
	}
	record, err := c.cfg.Store.TurnRecord(ctx, sessionID, turnID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, turnUnknown(sessionID, turnID)
	case err != nil:
		return nil, storeError("find turn", err)
	}
	h := &Handle{SessionID: sessionID, TurnID: turnID, RunID: record.ExecutionID, c: c, storyTurn: turnID}
	// A turn that ended the setup phase is told in the turn that opened the game.
	opening := turn.ContinuationTurnID(turnID)
	if _, err := c.cfg.Store.TurnRecord(ctx, sessionID, opening); err == nil {
		h.storyTurn = opening
	}
	return h, nil
}

func turnUnknown(sessionID, turnID string) error {
	e := turn.Errorf("find turn", codeTurnNotFound, "session %q has no turn %q", sessionID, turnID)
	e.Session, e.Turn = sessionID, turnID
	return e
}
