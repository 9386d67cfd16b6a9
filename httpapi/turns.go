package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/turn"
	"github.com/danielgtaylor/huma/v2"
)

// TurnPath is the id of a turn of a session in a path.
type TurnPath struct {
	SessionPath

	Turn string `path:"turn" minLength:"1" maxLength:"136" doc:"The turn's id."`
}

type outcomeBody struct {
	Status int
	Body   turn.Outcome
}

type turnList struct {
	Body struct {
		Turns []turn.Outcome `json:"turns"`
	}
}

// newTurn is the body of a start.
type newTurn struct {
	Message               string            `json:"message" maxLength:"32768" doc:"The player's text, at most 32 KiB; it may be empty."`
	TurnID                string            `json:"turnId,omitempty" maxLength:"128" doc:"Makes a repeated start safe. Defaults to a random one."`
	Locale                string            `json:"locale,omitempty" maxLength:"35"`
	UserSettings          json.RawMessage   `json:"userSettings,omitempty"`
	ModelOverride         string            `json:"modelOverride,omitempty" maxLength:"256"`
	RuntimeModelOverrides map[string]string `json:"runtimeModelOverrides,omitempty"`
	WaitForSessionSeconds int               `json:"waitForSessionSeconds,omitempty" minimum:"0" maximum:"60" doc:"How long to wait for a busy session."`
}

// maxWait bounds how long a request waits for the end of its turn.
const maxWait = 10 * time.Minute

func (s *Server) addTurns(api huma.API) {
	start := operation("start-turn", http.MethodPost, "/v1/sessions/{session}/turns", "Start a turn", http.StatusAccepted)
	start.Description = "Answers 202 with status running, or 200 with the outcome when the turn ended within the wait. " +
		"The same turn id with the same body joins the turn; with another body it is a conflict."
	huma.Register(api, start, s.startTurn)
	huma.Register(api, operation("list-turns", http.MethodGet, "/v1/sessions/{session}/turns", "List turns, the newest first", http.StatusOK), s.listTurns)
	huma.Register(api, operation("read-turn", http.MethodGet, "/v1/sessions/{session}/turns/{turn}", "Read a turn's outcome", http.StatusOK), s.readTurn)
	huma.Register(api, operation("abort-turn", http.MethodPost, "/v1/sessions/{session}/turns/{turn}/abort",
		"End a running turn without a commit", http.StatusNoContent), s.abortTurn)
	huma.Register(api, operation("read-progress", http.MethodGet, "/v1/sessions/{session}/progress", "What the running turn is doing", http.StatusOK), s.readProgress)
}

func (s *Server) startTurn(ctx context.Context, in *struct {
	SessionPath

	Wait int `query:"wait" minimum:"0" maximum:"600" doc:"How many seconds to wait for the end of the turn."`
	Body newTurn
},
) (*outcomeBody, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	h, err := s.cfg.Client.StartTurn(ctx, client.StartTurn{
		Input: &turn.Input{
			SessionID: in.Session, TurnID: in.Body.TurnID, Origin: turn.OriginPlayer, PlayerMessage: in.Body.Message, Locale: in.Body.Locale,
			UserSettings: in.Body.UserSettings, ModelOverride: in.Body.ModelOverride, RuntimeModelOverrides: in.Body.RuntimeModelOverrides,
		},
		WaitForSession: time.Duration(in.Body.WaitForSessionSeconds) * time.Second,
	})
	if err != nil {
		return nil, problemOf(err)
	}
	return s.await(ctx, h, time.Duration(in.Wait)*time.Second)
}

// await waits for the turn's end, up to a time, and answers what is known.
func (s *Server) await(ctx context.Context, h *client.Handle, wait time.Duration) (*outcomeBody, error) {
	if wait > 0 {
		limited, cancel := context.WithTimeout(ctx, min(wait, maxWait))
		defer cancel()
		outcome, err := h.Wait(limited)
		if err == nil {
			return &outcomeBody{http.StatusOK, outcome}, nil
		}
		if limited.Err() == nil || ctx.Err() != nil {
			return nil, problemOf(err)
		}
	}
	return &outcomeBody{http.StatusAccepted, turn.Outcome{
		SessionID: h.SessionID, TurnID: h.TurnID, Status: turn.StatusRunning,
		Runtimes: []turn.RuntimeOutcome{}, Suspensions: []turn.SuspensionRef{},
	}}, nil
}

func (s *Server) listTurns(ctx context.Context, in *struct {
	SessionPath

	Limit int `query:"limit" minimum:"1" maximum:"200" default:"50"`
},
) (*turnList, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	turns, err := s.cfg.Client.Turns(ctx, in.Session, in.Limit)
	if err != nil {
		return nil, problemOf(err)
	}
	out := &turnList{}
	out.Body.Turns = turns
	return out, nil
}

func (s *Server) readTurn(ctx context.Context, in *TurnPath) (*outcomeBody, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	outcome, err := s.cfg.Client.Outcome(ctx, in.Session, in.Turn)
	if err != nil {
		return nil, problemOf(err)
	}
	return &outcomeBody{http.StatusOK, outcome}, nil
}

// running finds the handle of a turn that must be running.
func (s *Server) running(ctx context.Context, in *TurnPath) (*client.Handle, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	h, err := s.cfg.Client.Running(ctx, in.Session)
	if err == nil && h.TurnID != in.Turn {
		e := turn.Errorf("find turn", turn.CodeNoActiveTurn, "turn %q of session %q is not running", in.Turn, in.Session)
		e.Session, e.Turn = in.Session, in.Turn
		err = e
	}
	if err != nil {
		return nil, problemOf(err)
	}
	return h, nil
}

func (s *Server) abortTurn(ctx context.Context, in *TurnPath) (*struct{}, error) {
	h, err := s.running(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := h.Abort(ctx); err != nil {
		return nil, problemOf(err)
	}
	return nil, nil
}

func (s *Server) readProgress(ctx context.Context, in *SessionPath) (*struct{ Body turn.Progress }, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	h, err := s.cfg.Client.Running(ctx, in.Session)
	if err != nil {
		return nil, problemOf(err)
	}
	progress, err := h.Progress(ctx)
	if err != nil {
		return nil, problemOf(err)
	}
	return &struct{ Body turn.Progress }{progress}, nil
}
