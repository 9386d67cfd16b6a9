package client

import (
	"context"
	"time"

	"github.com/covel-engine/covel/turn"
)

// edit runs one short change of a session under its lock and waits for it.
func (c *Client) edit(ctx context.Context, op string, in turn.EditInput, wait time.Duration) (turn.EditResult, error) {
	var result turn.EditResult
	if in.EditID == "" {
		in.EditID = c.cfg.NewID()
	}
	if err := in.Validate(); err != nil {
		return result, err
	}
	if err := c.connected(op); err != nil {
		return result, err
	}
	s, err := c.Session(ctx, in.SessionID)
	if err != nil {
		return result, err
	}
	run := sessionRun{
		op: op, workflow: turn.WorkflowEdit, input: in, turnID: in.EditID, origin: turn.OriginManual,
		summary: string(in.Action) + " · " + s.WorldID,
	}
	h, err := c.startRun(ctx, &s, run, wait)
	if err != nil {
		return result, err
	}
	if err := c.cfg.Temporal.GetWorkflow(ctx, turn.WorkflowID(s.ID), h.RunID).Get(ctx, &result); err != nil {
		return result, h.runError(err)
	}
	return result, nil
}
