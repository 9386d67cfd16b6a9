package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Suspension is a paused runtime as a game shows it.
type Suspension struct {
	session.Suspension
	// Form is the interaction that the runtime wants to show, as its plugin
	// proposed it (spec 03 §10.5); nil for none.
	Form json.RawMessage `json:"form,omitempty"`
}

// Suspensions lists a session's suspensions by creation, closed ones included.
// Their payloads are left out.
func (c *Client) Suspensions(ctx context.Context, sessionID string) ([]Suspension, error) {
	if _, err := c.Session(ctx, sessionID); err != nil {
		return nil, err
	}
	rows, err := c.cfg.Store.Suspensions(ctx, sessionID)
	if err != nil {
		return nil, storeError("list suspensions", err)
	}
	list := make([]Suspension, len(rows))
	for i, row := range rows {
		list[i] = shown(row)
	}
	return list, nil
}

// shown leaves the continuation out but for the form in it.
func shown(row session.Suspension) Suspension {
	s := Suspension{Suspension: row}
	s.Payload = nil
	p, err := continuation.Thaw(row.Payload)
	if err != nil {
		return s // a version that this program cannot resume is still listed
	}
	for i := range p.PendingProposals {
		if p.PendingProposals[i].Type == turn.ProposalInteractionRequest {
			s.Form = p.PendingProposals[i].Payload
		}
	}
	return s
}

// Resume asks to go on with a suspension.
type Resume struct {
	// Data is the answer: one JSON value that fits the suspension's schema, at
	// most 32 KiB. Required.
	Data json.RawMessage
	// Session is the session that the suspension must belong to. Defaults to
	// whichever it belongs to.
	Session string
	// Suspension is the suspension's id. Required.
	Suspension string
	// Turn is the id of the resume's own turn, which makes a repeated resume
	// safe. Defaults to a new id.
	Turn string
	// WaitForSession is how long to wait for a busy session. Defaults to 0: a
	// busy session refuses at once.
	WaitForSession time.Duration
}

// Resume goes on with a suspended runtime (spec 03 §12.3). Data that does not
// fit is invalid_resume_data and nothing is claimed; a suspension that is being
// resumed is suspension_claimed, a closed one suspension_closed.
func (c *Client) Resume(ctx context.Context, req Resume) (*Handle, error) {
	const op = "resume"
	s, err := c.suspension(ctx, op, req.Session, req.Suspension)
	if err != nil {
		return nil, err
	}
	in := turn.ResumeInput{SessionID: s.SessionID, TurnID: req.Turn, SuspensionID: s.ID, Data: req.Data}
	if in.TurnID == "" {
		in.TurnID = c.cfg.NewID()
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := c.connected(op); err != nil {
		return nil, err
	}
	known, err := c.knownResume(ctx, in)
	if err != nil {
		return nil, err
	}
	if !known {
		if s.Status == session.SuspensionResolved || s.Status == session.SuspensionCancelled {
			return nil, closed(op, s)
		}
		if err := continuation.ValidateData(s.ResumeSchema, in.Data); err != nil {
			return nil, err
		}
	}
	game, err := c.Session(ctx, s.SessionID)
	if err != nil {
		return nil, err
	}
	run := sessionRun{
		op: op, workflow: turn.WorkflowResume, input: in, turnID: in.TurnID, hash: in.Hash(), origin: turn.OriginResume,
		suspension: s.ID, summary: fmt.Sprintf("resume of %s · %s", s.RuntimeID, game.WorldID),
	}
	h, err := c.startRun(ctx, &game, run, req.WaitForSession)
	if err == nil {
		h.storyTurn = in.TurnID
		if game.Phase == session.PhaseSetup {
			h.storyTurn = turn.ContinuationTurnID(s.TurnID)
		}
	}
	return h, err
}

// knownResume says that a resume's turn is stored already, with the same input.
func (c *Client) knownResume(ctx context.Context, in turn.ResumeInput) (bool, error) {
	stored, err := c.cfg.Store.TurnRecord(ctx, in.SessionID, in.TurnID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, storeError("resume", err)
	case stored.InputHash != in.Hash():
		return false, conflict("resume", in.SessionID, in.TurnID, "was used")
	default:
		return true, nil
	}
}

// CancelSuspension asks to close a suspension without an answer; what its
// runtime wanted to write is discarded.
type CancelSuspension struct {
	// Reason is kept with the suspension. Defaults to "cancelled".
	Reason string
	// Session is the session that the suspension must belong to. Defaults to
	// whichever it belongs to.
	Session string
	// Suspension is the suspension's id. Required.
	Suspension string
	// WaitForSession is how long to wait for a busy session. Defaults to 0.
	WaitForSession time.Duration
}

// CancelSuspension closes an open suspension for good (spec 03 §12.5). One that
// is being resumed is suspension_claimed, a closed one suspension_closed.
func (c *Client) CancelSuspension(ctx context.Context, req CancelSuspension) (turn.EditResult, error) {
	const op = "cancel suspension"
	s, err := c.suspension(ctx, op, req.Session, req.Suspension)
	if err != nil {
		return turn.EditResult{}, err
	}
	if s.Status == session.SuspensionResolved || s.Status == session.SuspensionCancelled {
		return turn.EditResult{}, closed(op, s)
	}
	in := turn.EditInput{SessionID: s.SessionID, Action: turn.EditCancelSuspension, SuspensionID: s.ID, Reason: req.Reason}
	return c.edit(ctx, op, in, req.WaitForSession)
}

// suspension reads a suspension; sessionID "" accepts any session's.
func (c *Client) suspension(ctx context.Context, op, sessionID, id string) (session.Suspension, error) {
	s, err := c.cfg.Store.Suspension(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && sessionID != "" && s.SessionID != sessionID:
		e := turn.Errorf(op, turn.CodeSuspensionNotFound, "there is no suspension %q; list those of a session", id)
		if sessionID != "" {
			e = turn.Errorf(op, turn.CodeSuspensionNotFound, "session %q has no suspension %q; list its suspensions", sessionID, id)
		}
		e.Session = sessionID
		return session.Suspension{}, e
	case err != nil:
		return session.Suspension{}, storeError(op, err)
	}
	return s, nil
}

func closed(op string, s session.Suspension) error {
	e := turn.Errorf(op, turn.CodeSuspensionClosed, "suspension %q is %s; it is closed for good", s.ID, s.Status)
	e.Session, e.Runtime = s.SessionID, s.RuntimeID
	return e
}
