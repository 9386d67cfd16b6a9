package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func scanSession(r Row, s *session.Session) error {
	return r.Scan(&s.ID, &s.WorldID, &s.Status, &s.Phase, &s.Locale, &s.TurnCount, &s.CompletedPlayerTurns,
		&s.PreGameCompleted, decoded{&s.SetupRuntimes}, decoded{&s.ActivePlugins}, decoded{&s.Seats}, raw(&s.Metadata),
		decoded{&s.RuntimeModelOverrides}, &s.Fence, &s.Tenant, &s.NextMessageSeq, at(&s.CreatedAt), at(&s.UpdatedAt))
}

// Session reads one session.
func (r Reads) Session(ctx context.Context, id string) (session.Session, error) {
	const op = "read session"
	var s session.Session
	err := one(ctx, r.Conn, "session_get", newArgs(r.Conn, op, "sessions").ref("id", id), func(row Row) error {
		return scanSession(row, &s)
	})
	if errors.Is(err, errNoRow) {
		return session.Session{}, notFound(op, "sessions", id)
	}
	return s, err
}

// Sessions lists the newest sessions first.
func (r Reads) Sessions(ctx context.Context, limit int) ([]session.Session, error) {
	a := newArgs(r.Conn, "list sessions", "sessions").limit(limit)
	return many(ctx, r.Conn, "session_list", a, scanSession)
}

// sessionColumns binds the members that insert and update share.
func sessionColumns(a *args, s session.Session) *args {
	for _, list := range [][]string{s.ActivePlugins} {
		for _, v := range list {
			a.checkText("active_plugins", v)
		}
	}
	for id, e := range s.SetupRuntimes {
		a.checkText("setup_runtimes", id)
		a.checkText("setup_runtimes", e.Reason)
		a.checkText("setup_runtimes", e.PluginVersion)
	}
	for id, m := range s.RuntimeModelOverrides {
		a.checkText("runtime_model_overrides", id)
		a.checkText("runtime_model_overrides", m)
	}
	for _, seat := range s.Seats {
		a.checkText("seats", seat.ID)
		a.checkText("seats", seat.CurrentCharacterID)
		for _, c := range seat.CharacterIDs {
			a.checkText("seats", c)
		}
	}
	return a.id("id", s.ID).id("world_id", s.WorldID).text("status", string(s.Status)).text("phase", string(s.Phase)).
		ref("locale", s.Locale).int(int64(s.TurnCount)).int(int64(s.CompletedPlayerTurns)).bool(s.PreGameCompleted).
		optional("setup_runtimes", s.SetupRuntimes, s.SetupRuntimes == nil).
		optional("active_plugins", s.ActivePlugins, s.ActivePlugins == nil).
		optional("seats", s.Seats, s.Seats == nil).
		json("metadata", s.Metadata).
		optional("runtime_model_overrides", s.RuntimeModelOverrides, s.RuntimeModelOverrides == nil)
}

// optional is an encoded value whose absence is NULL.
func (a *args) optional(column string, v any, absent bool) *args {
	if absent {
		return a.json(column, json.RawMessage(nil))
	}
	return a.encoded(column, v)
}

// InsertSession stores a new session; its message sequence starts at 1.
func (t *Tx) InsertSession(ctx context.Context, s session.Session) error {
	const op = "insert session"
	if s.Status == "" {
		s.Status = session.StatusActive
	}
	if err := s.Validate(); err != nil {
		return invalid(op, "sessions", s.ID, "", err.Error())
	}
	created := t.stamp(s.CreatedAt)
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = created
	}
	a := sessionColumns(newArgs(t.conn, op, "sessions"), s).ref("fence", s.Fence).
		time("created_at", created).time("updated_at", s.UpdatedAt).ref("tenant", s.Tenant)
	n, err := exec(ctx, t.conn, "session_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, "sessions", s.ID)
	}
	return err
}

// UpdateSession writes every member but fence, creation and message sequence.
func (t *Tx) UpdateSession(ctx context.Context, s session.Session) error {
	const op = "update session"
	if err := s.Validate(); err != nil {
		return invalid(op, "sessions", s.ID, "", err.Error())
	}
	a := sessionColumns(newArgs(t.conn, op, "sessions"), s).time("updated_at", t.stamp(s.UpdatedAt)).ref("tenant", s.Tenant)
	n, err := exec(ctx, t.conn, "session_update", a)
	if err == nil && n == 0 {
		return notFound(op, "sessions", s.ID)
	}
	return err
}

// SetFence gives the session to an execution.
func (t *Tx) SetFence(ctx context.Context, sessionID, executionID string) error {
	const op = "set fence"
	n, err := exec(ctx, t.conn, "session_set_fence", newArgs(t.conn, op, "sessions").id("id", sessionID).ref("fence", executionID))
	if err == nil && n == 0 {
		return notFound(op, "sessions", sessionID)
	}
	return err
}

// take reserves n numbers of a session's counter and gives the first.
func (t *Tx) take(ctx context.Context, query, op, sessionID string, n int) (int64, error) {
	var next int64
	a := newArgs(t.conn, op, "sessions").id("id", sessionID).int(int64(n))
	err := one(ctx, t.conn, query, a, func(r Row) error { return r.Scan(&next) })
	if errors.Is(err, errNoRow) {
		return 0, notFound(op, "sessions", sessionID)
	}
	return next - int64(n), err
}

var _ store.Reader = Reads{}
