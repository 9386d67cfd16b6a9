package httpapi

import (
	"context"
	"net/http"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/danielgtaylor/huma/v2"
)

// SessionPath is the id of a session in a path.
type SessionPath struct {
	Session string `path:"session" minLength:"1" maxLength:"128" doc:"The session's id."`
}

type sessionBody struct {
	Body session.Session
}

type sessionList struct {
	Body struct {
		Sessions []session.Session `json:"sessions"`
	}
}

// newSession is the body of a creation.
type newSession struct {
	World                string   `json:"world" minLength:"1" maxLength:"128" doc:"The world's id."`
	ID                   string   `json:"id,omitempty" maxLength:"128" doc:"The session's id; a used one is a conflict. Defaults to a random one."`
	Locale               string   `json:"locale,omitempty" maxLength:"35" doc:"The session's language, for its whole life. Defaults to the world's."`
	Plugins              []string `json:"plugins,omitempty" maxItems:"64" doc:"Plugins besides the world's and the core."`
	Exclude              []string `json:"exclude,omitempty" maxItems:"64" doc:"Plugins that must not be active."`
	WithoutPremadePlayer bool     `json:"withoutPremadePlayer,omitempty" doc:"Leaves the world's player character out."`
}

func (s *Server) addSessions(api huma.API) {
	huma.Register(api, operation("create-session", http.MethodPost, "/v1/sessions", "Create a session", http.StatusCreated), s.createSession)
	huma.Register(api, operation("list-sessions", http.MethodGet, "/v1/sessions", "List sessions, the newest first", http.StatusOK), s.listSessions)
	huma.Register(api, operation("read-session", http.MethodGet, "/v1/sessions/{session}", "Read a session", http.StatusOK), s.readSession)
	huma.Register(api, operation("delete-session", http.MethodDelete, "/v1/sessions/{session}",
		"Delete a session and everything of it", http.StatusNoContent), s.deleteSession)
}

func (s *Server) createSession(ctx context.Context, in *struct{ Body newSession }) (*sessionBody, error) {
	who := callerOf(ctx)
	if !who.open && !who.token.MayCreate(in.Body.World) {
		e := turn.Errorf("create session", "world_not_found", "there is no world %q for this token", in.Body.World)
		e.Field = "world"
		return nil, problemOf(e)
	}
	created, err := s.cfg.Client.CreateSession(ctx, client.CreateSession{
		ID: in.Body.ID, World: in.Body.World, Locale: in.Body.Locale, Plugins: in.Body.Plugins, Exclude: in.Body.Exclude,
		WithoutPremadePlayer: in.Body.WithoutPremadePlayer, Tenant: who.token.Tenant,
	})
	if err != nil {
		return nil, problemOf(err)
	}
	return &sessionBody{created}, nil
}

// maxListed bounds how many sessions one request looks at.
const maxListed = 1000

func (s *Server) listSessions(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}) (*sessionList, error) {
	all, err := s.cfg.Client.Sessions(ctx, maxListed)
	if err != nil {
		return nil, problemOf(err)
	}
	out := &sessionList{}
	out.Body.Sessions = []session.Session{}
	for _, found := range all {
		if len(out.Body.Sessions) < in.Limit && callerOf(ctx).may(found) {
			out.Body.Sessions = append(out.Body.Sessions, found)
		}
	}
	return out, nil
}

func (s *Server) readSession(ctx context.Context, in *SessionPath) (*sessionBody, error) {
	found, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	return &sessionBody{found}, nil
}

func (s *Server) deleteSession(ctx context.Context, in *SessionPath) (*struct{}, error) {
	if _, err := s.session(ctx, in.Session); err != nil {
		return nil, err
	}
	if err := s.cfg.Client.DeleteSession(ctx, in.Session); err != nil {
		return nil, problemOf(err)
	}
	return nil, nil
}
