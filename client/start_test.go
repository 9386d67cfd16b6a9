package client

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/turn"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// server is Temporal as a start sees it: free, or busy with one turn.
type server struct {
	client.Client // nil: a start uses nothing else

	started []client.StartWorkflowOptions
	// busy is the running turn; frees lets the session go after that many looks.
	busy  *turn.Input
	frees int
	down  error
}

func (s *server) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	switch {
	case s.down != nil:
		return nil, s.down
	case s.busy != nil:
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("busy", "", "run-0")
	}
	s.started = append(s.started, o)
	return run{}, nil
}

func (s *server) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	payload := func(text string) *commonpb.Payload {
		p, _ := converter.GetDefaultDataConverter().ToPayload(text)
		return p
	}
	answer := &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution:        &commonpb.WorkflowExecution{RunId: "run-0"},
		Status:           enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{turn.AttrTurn: payload(s.busy.TurnID)}},
		Memo:             &commonpb.Memo{Fields: map[string]*commonpb.Payload{turn.MemoInputHash: payload(s.busy.Hash())}},
	}}
	if s.frees--; s.frees == 0 {
		s.busy = nil
	}
	return answer, nil
}

type run struct{ client.WorkflowRun }

func (run) GetRunID() string { return "run-1" }

func newClient(t *testing.T, s *server) *Client {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	must(t, st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		for id, phase := range map[string]session.Phase{"game": session.PhasePlaying, "new": session.PhaseSetup} {
			err := tx.InsertSession(ctx, session.Session{ID: id, WorldID: "lab", Status: session.StatusActive, Phase: phase, Locale: "en"})
			if err != nil {
				return err
			}
		}
		return tx.PutTurnRecord(ctx, store.TurnRecord{
			ID: "r", SessionID: "game", TurnID: "told", ExecutionID: "x", InputHash: said("told", "I knock").Hash(), Origin: "player", CommitStatus: "committed",
		})
	}))
	c, err := New(Config{NewID: func() string { return "t-new" }, Store: st, Temporal: s})
	must(t, err)
	return c
}

func said(turnID, message string) turn.Input {
	return turn.Input{SessionID: "game", TurnID: turnID, Origin: turn.OriginPlayer, PlayerMessage: message}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStartTurn(t *testing.T) {
	t.Parallel()
	running := said("t-1", "I knock")
	for name, c := range map[string]struct {
		server server
		req    StartTurn
		runID  string
		turn   string
		code   string
	}{
		"a free session":                       {req: StartTurn{Session: "game", Message: "I knock"}, runID: "run-1", turn: "t-new"},
		"a turn id of the caller's":            {req: StartTurn{Session: "game", Turn: "t-7"}, runID: "run-1", turn: "t-7"},
		"the running turn again":               {server: server{busy: &running}, req: StartTurn{Session: "game", Turn: "t-1", Message: "I knock"}, runID: "run-0", turn: "t-1"},
		"the running turn's id, other input":   {server: server{busy: &running}, req: StartTurn{Session: "game", Turn: "t-1", Message: "I wait"}, code: turn.CodeTurnIDConflict},
		"another turn of a busy session":       {server: server{busy: &running}, req: StartTurn{Session: "game", Message: "I wait"}, code: turn.CodeTurnInProgress},
		"a busy session that is waited for":    {server: server{busy: &running, frees: 1}, req: StartTurn{Session: "game", Message: "I wait", WaitForSession: time.Hour}, runID: "run-1", turn: "t-new"},
		"a stored turn again":                  {req: StartTurn{Session: "game", Turn: "told", Message: "I knock"}, runID: "run-1", turn: "told"},
		"a stored turn's id, other input":      {req: StartTurn{Session: "game", Turn: "told", Message: "I wait"}, code: turn.CodeTurnIDConflict},
		"a session that is not there":          {req: StartTurn{Session: "gone"}, code: turn.CodeSessionNotFound},
		"no session":                           {req: StartTurn{Message: "I knock"}, code: turn.CodeInvalidTurnInput},
		"a message that is no text":            {req: StartTurn{Session: "game", Message: "\xff"}, code: turn.CodeInvalidTurnInput},
		"a Temporal server that is not there":  {server: server{down: serviceerror.NewUnavailable("refused")}, req: StartTurn{Session: "game"}, code: turn.CodeUnavailable},
		"a session that is still being set up": {req: StartTurn{Session: "new", Turn: "t-1"}, runID: "run-1", turn: "t-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.server
			h, err := newClient(t, &s).StartTurn(t.Context(), c.req)
			if turn.CodeOf(err) != c.code {
				t.Fatalf("error %v, want code %q", err, c.code)
			}
			if c.code != "" {
				if len(s.started) != 0 {
					t.Error("something was started")
				}
				return
			}
			if h.RunID != c.runID || h.TurnID != c.turn || h.SessionID != c.req.Session {
				t.Errorf("handle %+v", h)
			}
			want := h.TurnID
			if c.req.Session == "new" {
				want = turn.ContinuationTurnID(want)
			}
			if h.storyTurn != want {
				t.Errorf("the story is of turn %q, want %q", h.storyTurn, want)
			}
		})
	}
	t.Run("a busy session names the turn that runs", func(t *testing.T) {
		t.Parallel()
		_, err := newClient(t, &server{busy: &running}).StartTurn(t.Context(), StartTurn{Session: "game"})
		var e *turn.Error
		if !errors.Is(err, turn.ErrTurnInProgress) || !errors.As(err, &e) || e.Turn != "t-1" || e.Session != "game" {
			t.Errorf("error %+v", e)
		}
	})
	t.Run("the session's workflow id is the lock", func(t *testing.T) {
		t.Parallel()
		s := &server{}
		_, err := newClient(t, s).StartTurn(t.Context(), StartTurn{Session: "game"})
		must(t, err)
		o := s.started[0]
		if o.ID != "session/game" || o.TaskQueue != turn.QueueMain || o.WorkflowIDConflictPolicy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL {
			t.Errorf("options %+v", o)
		}
	})
	t.Run("without a connection", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, nil)
		c.cfg.Temporal = nil
		if _, err := c.StartTurn(t.Context(), StartTurn{Session: "game"}); turn.CodeOf(err) != "CONFIG_ERROR" {
			t.Errorf("error %v", err)
		}
	})
}

func TestOutcomeOfAnUnknownTurn(t *testing.T) {
	t.Parallel()
	c := newClient(t, &server{})
	if _, err := c.Outcome(t.Context(), "game", "none"); turn.CodeOf(err) != "turn_not_found" {
		t.Errorf("error %v", err)
	}
	got, err := c.Outcome(t.Context(), "game", "told")
	if err != nil || got.Status != turn.StatusCommitted {
		t.Errorf("%+v, %v", got, err)
	}
}
