package client

import (
	"context"

	"github.com/covel-engine/covel/turn"
)

// Progress tells what the turn is doing: its stage, and the runtimes that have
// ended or are at work.
func (h *Handle) Progress(ctx context.Context) (turn.Progress, error) {
	whole, err := h.c.progress(ctx, turn.WorkflowID(h.SessionID), h.RunID)
	if err != nil || whole.Stage == "" {
		return whole, err
	}
	// Between two stages there is no child to ask.
	if stage, err := h.c.progress(ctx, turn.StageWorkflowID(h.SessionID, h.storyTurn, whole.Stage), ""); err == nil {
		whole.Runtimes = append(whole.Runtimes, stage.Runtimes...)
	}
	return whole, nil
}

func (c *Client) progress(ctx context.Context, workflowID, runID string) (turn.Progress, error) {
	var p turn.Progress
	answer, err := c.cfg.Temporal.QueryWorkflow(ctx, workflowID, runID, turn.QueryProgress)
	if err != nil {
		return p, unavailable("read progress", err)
	}
	return p, answer.Get(&p)
}
