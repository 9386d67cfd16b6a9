package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// StartTurn asks for one player turn.
type StartTurn struct {
	// Session is the session's id. Required.
	Session string
	// Message is the player's text; it may be empty.
	Message string
	// Turn is the turn's id, which makes a repeated start safe. Defaults to a
	// new id.
	Turn string
	// Input overrides everything above for callers that need the other members
	// of turn.Input. Defaults to nil.
	Input *turn.Input
	// WaitForSession is how long to wait for a busy session. Defaults to 0: a
	// busy session refuses at once.
	WaitForSession time.Duration
}

// sessionPoll is how often a waiting start looks at a busy session again.
const sessionPoll = 50 * time.Millisecond

// StartTurn starts a turn. A start that repeats a running or stored turn with
// the same input joins it; the same id with other input is turn_id_conflict; a
// busy session is turn_in_progress and names the running turn (spec 03 §1.3, §17).
func (c *Client) StartTurn(ctx context.Context, req StartTurn) (*Handle, error) {
	in := turn.Input{SessionID: req.Session, TurnID: req.Turn, Origin: turn.OriginPlayer, PlayerMessage: req.Message}
	if req.Input != nil {
		in = *req.Input
	}
	if in.TurnID == "" {
		in.TurnID = c.cfg.NewID()
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := c.connected("start turn"); err != nil {
		return nil, err
	}
	s, err := c.cfg.Store.Session(ctx, in.SessionID)
	if err != nil {
		return nil, sessionError("start turn", in.SessionID, err)
	}
	if err := c.checkStored(ctx, in); err != nil {
		return nil, err
	}
	run := sessionRun{
		op: "start turn", workflow: turn.WorkflowTurn, input: in,
		turnID: in.TurnID, hash: in.Hash(), origin: in.Origin,
		summary: fmt.Sprintf("turn %d · %s · %s", s.LogicalTurn(), s.WorldID, firstRunes(in.PlayerMessage, 60)),
	}
	return c.startRun(ctx, &s, run, req.WaitForSession)
}

// sessionRun is one run under a session's workflow id.
type sessionRun struct {
	op       string // in errors
	workflow string
	input    any
	turnID   string
	hash     string
	origin   turn.Origin
	summary  string
	// suspension is what a Resume resumes.
	suspension string
}

// startRun starts a run, or says what a refused start means. A session that is
// busy with another turn is waited for up to wait.
func (c *Client) startRun(ctx context.Context, s *session.Session, r sessionRun, wait time.Duration) (*Handle, error) {
	options := client.StartWorkflowOptions{
		ID:                                       turn.WorkflowID(s.ID),
		TaskQueue:                                turn.QueueMain,
		WorkflowRunTimeout:                       c.cfg.RunTimeout,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{turn.MemoInputHash: r.hash},
		StaticSummary:                            r.summary,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(turn.AttrSession).ValueSet(s.ID),
			temporal.NewSearchAttributeKeyKeyword(turn.AttrTurn).ValueSet(r.turnID),
			temporal.NewSearchAttributeKeyKeyword(turn.AttrOrigin).ValueSet(string(r.origin)),
			temporal.NewSearchAttributeKeyKeyword(turn.AttrStatus).ValueSet(string(turn.StatusRunning)),
			temporal.NewSearchAttributeKeyKeyword(turn.AttrWorld).ValueSet(s.WorldID),
			temporal.NewSearchAttributeKeyInt64(turn.AttrLogicalTurn).ValueSet(int64(s.LogicalTurn())),
		),
		Priority: temporal.Priority{PriorityKey: 1, FairnessKey: s.WorldID},
	}
	if r.suspension != "" {
		options.Memo[turn.MemoSuspension] = r.suspension
	}
	deadline := c.cfg.Now().Add(wait)
	for {
		run, err := c.cfg.Temporal.ExecuteWorkflow(ctx, options, r.workflow, r.input)
		if err == nil {
			return c.handle(s, r.turnID, run.GetRunID()), nil
		}
		var started *serviceerror.WorkflowExecutionAlreadyStarted
		if !errors.As(err, &started) {
			return nil, unavailable(r.op, err)
		}
		handle, busy, err := c.refused(ctx, s, r)
		if err != nil || handle != nil {
			return handle, err
		}
		if busy != nil && !c.cfg.Now().Before(deadline) {
			return nil, busy
		}
		if err := pause(ctx, sessionPoll); err != nil {
			return nil, err
		}
	}
}

// checkStored refuses a turn id that is stored with other input. The run itself
// would find it too; here nothing has to start for it.
func (c *Client) checkStored(ctx context.Context, in turn.Input) error {
	stored, err := c.cfg.Store.TurnRecord(ctx, in.SessionID, in.TurnID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return storeError("start turn", err)
	case stored.InputHash == in.Hash():
		return nil
	default:
		return conflict("start turn", in.SessionID, in.TurnID, "was used")
	}
}

func conflict(op, sessionID, turnID, how string) error {
	e := turn.Errorf(op, turn.CodeTurnIDConflict, "turn id %q %s with other input; use a new turn id", turnID, how)
	e.Session, e.Turn = sessionID, turnID
	return e
}

// refused says what a refused start means: a handle to the same turn, an error
// that is final, or busy, which a caller may wait out. All nil means that the
// run has closed meanwhile, or is a short one that is waited out.
func (c *Client) refused(ctx context.Context, s *session.Session, r sessionRun) (handle *Handle, busy, final error) {
	described, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, turn.WorkflowID(s.ID), "")
	if err != nil {
		var gone *serviceerror.NotFound
		if errors.As(err, &gone) {
			return nil, nil, nil
		}
		return nil, nil, unavailable(r.op, err)
	}
	running := described.GetWorkflowExecutionInfo()
	if running.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, nil, nil
	}
	turnID, hash := runningTurn(running)
	switch {
	case turnID == r.turnID && hash == r.hash:
		return c.handle(s, r.turnID, running.GetExecution().GetRunId()), nil, nil
	case turnID == r.turnID:
		return nil, nil, conflict(r.op, s.ID, r.turnID, "is running")
	case r.suspension != "" && memo(running, turn.MemoSuspension) == r.suspension:
		e := turn.Errorf(r.op, turn.CodeSuspensionClaimed, "suspension %q is being resumed by turn %q; wait for it", r.suspension, turnID)
		e.Session, e.Turn = s.ID, turnID
		return nil, nil, e
	case running.GetType().GetName() == turn.WorkflowEdit:
		return nil, nil, nil
	}
	e := turn.Errorf(r.op, turn.CodeTurnInProgress,
		"session %q is busy with turn %q; wait for it, abort it, or ask to wait for the session", s.ID, turnID)
	e.Session, e.Turn = s.ID, turnID
	return nil, e, nil
}

// Running finds the turn that a session is busy with; none is no_active_turn.
func (c *Client) Running(ctx context.Context, sessionID string) (*Handle, error) {
	if err := c.connected("find turn"); err != nil {
		return nil, err
	}
	s, err := c.Session(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	none := turn.Errorf("find turn", turn.CodeNoActiveTurn, "no turn of session %q is running", sessionID)
	none.Session = sessionID
	described, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, turn.WorkflowID(sessionID), "")
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		return nil, none
	case err != nil:
		return nil, unavailable("find turn", err)
	}
	running := described.GetWorkflowExecutionInfo()
	if running.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, none
	}
	turnID, _ := runningTurn(running)
	return c.handle(&s, turnID, running.GetExecution().GetRunId()), nil
}

// runningTurn reads turn id and input hash off a running run.
func runningTurn(running *workflowpb.WorkflowExecutionInfo) (turnID, hash string) {
	conv := converter.GetDefaultDataConverter()
	if p := running.GetSearchAttributes().GetIndexedFields()[turn.AttrTurn]; p != nil {
		_ = conv.FromPayload(p, &turnID)
	}
	return turnID, memo(running, turn.MemoInputHash)
}

// memo reads a text off a running run's memo, "" for none.
func memo(running *workflowpb.WorkflowExecutionInfo, member string) (text string) {
	if p := running.GetMemo().GetFields()[member]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(p, &text)
	}
	return text
}

func firstRunes(s string, n int) string {
	count := 0
	for i := range s {
		if count == n {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// sessionError turns a store error of a session read into the engine's error.
func sessionError(op, id string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		e := turn.Errorf(op, turn.CodeSessionNotFound, "there is no session %q; create one or list them", id)
		e.Session = id
		return e
	}
	return storeError(op, err)
}

func storeError(op string, err error) error {
	var coded *store.Error
	if errors.As(err, &coded) && coded.Code != store.CodeStoreFailed {
		return turn.Errorf(op, coded.Code, "%w", err)
	}
	return turn.Errorf(op, turn.CodeUnavailable, "the database cannot be used: %w", err)
}

func unavailable(op string, err error) error {
	var ctxErr *serviceerror.Canceled
	if errors.As(err, &ctxErr) || errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return turn.Errorf(op, turn.CodeUnavailable, "Temporal cannot be used: %w", err)
}
