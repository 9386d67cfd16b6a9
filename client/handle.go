package client

import (
	"context"
	"errors"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Handle is one started turn.
type Handle struct {
	SessionID string
	TurnID    string
	// RunID is the Temporal run, which is also the turn's executionId.
	RunID string

	c *Client
	// storyTurn is the turn whose story is streamed: while the session is being
	// set up it is the continuation that opens the game.
	storyTurn string
}

func (c *Client) handle(s *session.Session, turnID, runID string) *Handle {
	h := &Handle{SessionID: s.ID, TurnID: turnID, RunID: runID, c: c, storyTurn: turnID}
	if s.Phase == session.PhaseSetup {
		h.storyTurn = turn.ContinuationTurnID(turnID)
	}
	return h
}

// Wait waits for the end of the turn and reads its outcome. A turn that was
// rolled back or aborted is an outcome, not an error.
func (h *Handle) Wait(ctx context.Context) (turn.Outcome, error) {
	var result turn.TurnResult
	run := h.c.cfg.Temporal.GetWorkflow(ctx, turn.WorkflowID(h.SessionID), h.RunID)
	if err := run.Get(ctx, &result); err != nil {
		return turn.Outcome{}, h.runError(err)
	}
	outcome, err := h.c.Outcome(ctx, h.SessionID, result.TurnID)
	if err == nil && result.SetupTurnID != "" {
		outcome, err = h.c.withSetup(ctx, outcome, result.SetupTurnID)
	}
	if turn.CodeOf(err) == codeTurnNotFound {
		// An empty result keeps no record (spec 03 §1.4).
		return turn.Outcome{
			SessionID:   result.SessionID,
			TurnID:      result.TurnID,
			LogicalTurn: result.LogicalTurn,
			Status:      result.Status,
			AbortReason: result.AbortReason,
			Runtimes:    []turn.RuntimeOutcome{},
			Suspensions: []turn.SuspensionRef{},
		}, nil
	}
	return outcome, err
}

// Abort ends the turn without a commit; after its end it is no_active_turn.
func (h *Handle) Abort(ctx context.Context) error {
	if err := h.c.audit(ctx, access.ActionAbort, h.SessionID, h.TurnID); err != nil {
		return err
	}
	update, err := h.c.cfg.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   turn.WorkflowID(h.SessionID),
		RunID:        h.RunID,
		UpdateName:   turn.UpdateAbort,
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = update.Get(ctx, nil)
	}
	if err == nil {
		return nil
	}
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return h.noActiveTurn()
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() == turn.CodeNoActiveTurn {
		return h.noActiveTurn()
	}
	return h.runError(err)
}

func (h *Handle) noActiveTurn() error {
	e := turn.Errorf("abort turn", turn.CodeNoActiveTurn, "turn %q of session %q is over; there is nothing to abort", h.TurnID, h.SessionID)
	e.Session, e.Turn = h.SessionID, h.TurnID
	return e
}

// runError turns a failed run into the engine's error.
func (h *Handle) runError(err error) error {
	var app *temporal.ApplicationError
	var terminated *temporal.TerminatedError
	var timeout *temporal.TimeoutError
	var e *turn.Error
	switch {
	case errors.As(err, &app) && app.Type() != "":
		e = turn.Errorf("turn", app.Type(), "%s", app.Message())
	case errors.As(err, &terminated):
		e = turn.Errorf("turn", turn.CodeSessionLost, "the run was terminated before its commit; send the message again as a new turn")
	case errors.As(err, &timeout):
		e = turn.Errorf("turn", turn.CodeTimeout, "the run passed its time limit; send the message again as a new turn")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	default:
		failed := unavailable("turn", err)
		if !errors.As(failed, &e) {
			return failed
		}
	}
	e.Session, e.Turn = h.SessionID, h.TurnID
	return e
}

// withSetup puts the turn that ended the setup phase in front of the turn that
// opened the game: the caller asked once and gets one outcome, under its own
// turn id.
func (c *Client) withSetup(ctx context.Context, opening turn.Outcome, setupTurnID string) (turn.Outcome, error) {
	setup, err := c.Outcome(ctx, opening.SessionID, setupTurnID)
	if err != nil {
		return opening, err
	}
	opening.TurnID = setupTurnID
	opening.Runtimes = append(setup.Runtimes, opening.Runtimes...)
	opening.Suspensions = append(setup.Suspensions, opening.Suspensions...)
	opening.Usage = setup.Usage.Add(opening.Usage)
	opening.CostUSD += setup.CostUSD
	return opening, nil
}

const codeTurnNotFound = "turn_not_found"

// Outcome reads a stored turn's outcome; none is turn_not_found.
func (c *Client) Outcome(ctx context.Context, sessionID, turnID string) (turn.Outcome, error) {
	record, err := c.cfg.Store.TurnRecord(ctx, sessionID, turnID)
	if errors.Is(err, store.ErrNotFound) {
		return turn.Outcome{}, turnUnknown(sessionID, turnID)
	}
	if err != nil {
		return turn.Outcome{}, storeError("read outcome", err)
	}
	return outcomeOf(record)
}
