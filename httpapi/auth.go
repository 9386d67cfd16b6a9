package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"
)

// Tokens finds the token of a secret's hash; package store has them.
type Tokens interface {
	TokenByHash(ctx context.Context, hash string) (access.Token, error)
}

// caller is who sends a request.
type caller struct {
	token access.Token
	// open is a caller without a token on a server that asks for none.
	open bool
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// may says whether the caller reaches the session.
func (c caller) may(s session.Session) bool { return c.open || c.token.May(s.ID, s.WorldID, s.Tenant) }

// identify is the middleware that knows the caller, holds its rate limit and
// refuses strangers.
func (s *Server) identify(ctx huma.Context, next func(huma.Context)) {
	if s.cfg.Tokens == nil {
		who := caller{open: true}
		if !s.limits.allow("") {
			s.refuse(ctx, overRate())
			return
		}
		next(huma.WithValue(ctx, callerKey{}, who))
		return
	}
	token, err := s.authenticate(ctx)
	if err != nil {
		s.refuse(ctx, err)
		return
	}
	if !s.limits.allow(token.ID) {
		s.refuse(ctx, overRate())
		return
	}
	ctx = huma.WithValue(ctx, callerKey{}, caller{token: token})
	next(huma.WithContext(ctx, access.WithActor(ctx.Context(), "token "+token.Name+" ("+token.ID+")")))
}

// authenticate finds the request's token. Every fault is the same answer.
func (s *Server) authenticate(ctx huma.Context) (access.Token, error) {
	stranger := &Problem{
		Type: "about:blank", Title: http.StatusText(http.StatusUnauthorized), Status: http.StatusUnauthorized,
		Kind: turn.KindRefused, Code: codeUnauthorized, Detail: "no valid bearer token; send Authorization: Bearer <secret>",
	}
	scheme, secret, _ := strings.Cut(ctx.Header("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return access.Token{}, stranger
	}
	if !s.strangers.Allow() {
		return access.Token{}, overRate()
	}
	token, err := s.cfg.Tokens.TokenByHash(ctx.Context(), access.HashSecret(strings.TrimSpace(secret)))
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && token.Expired(s.cfg.Now()):
		return access.Token{}, stranger
	case err != nil:
		return access.Token{}, problemOf(turn.Errorf("", turn.CodeUnavailable, "%w", err))
	}
	return token, nil
}

// refuse answers with a problem and ends the request.
func (s *Server) refuse(ctx huma.Context, err error) {
	var p *Problem
	if !errors.As(err, &p) {
		p = problemOf(err)
	}
	_, w := humago.Unwrap(ctx)
	writeProblem(w, p)
}

func overRate() *Problem {
	p := problemOf(turn.Errorf("", codeRateLimited, "too many requests; wait a second and send it again"))
	return p
}

// session reads the session of a request. One that the caller may not reach
// looks like one that does not exist.
func (s *Server) session(ctx context.Context, id string) (session.Session, error) {
	found, err := s.cfg.Client.Session(ctx, id)
	if err == nil && !callerOf(ctx).may(found) {
		err = sessionUnknown(id)
	}
	if err != nil {
		return session.Session{}, problemOf(err)
	}
	return found, nil
}

func sessionUnknown(id string) error {
	e := turn.Errorf("read session", turn.CodeSessionNotFound, "there is no session %q; create one or list them", id)
	e.Session = id
	return e
}

// strangersRate bounds how many secrets are looked up a second, right or wrong.
const strangersRate = rate.Limit(2000)
