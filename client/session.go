package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// CreateSession asks for a new game.
type CreateSession struct {
	// Exclude lists plugins that must not be active; exclusion always wins.
	Exclude []string
	// ID is the session's id; an id that exists is ALREADY_EXISTS. Defaults to
	// a new one.
	ID string
	// Locale is fixed for the session's life. Defaults to the world's.
	Locale string
	// Plugins lists plugins to activate besides the world's and the core.
	Plugins []string
	// Tenant is the customer that the session belongs to. Defaults to none.
	Tenant string
	// WithoutPremadePlayer leaves the world's player character out.
	WithoutPremadePlayer bool
	// World is the world's id. Required.
	World string
}

// CreateSession creates a game: it resolves plugins and world once and writes
// everything in one transaction, or nothing (spec 05 §4.3, §12).
func (c *Client) CreateSession(ctx context.Context, req CreateSession) (session.Session, error) {
	const op = "create session"
	if c.cfg.Library == nil || c.cfg.Plugins == nil {
		return session.Session{}, turn.Errorf(op, "CONFIG_ERROR", "client.Config.Library or Plugins is nil; give both to create sessions")
	}
	w, ok := c.cfg.Library.World(req.World)
	if !ok {
		e := turn.Errorf(op, "world_not_found", "there is no world %q; installed are %s", req.World, worldIDs(c.cfg.Library))
		e.Field = "world"
		return session.Session{}, e
	}
	resolution, err := c.cfg.Plugins.Resolve(w.Request(req.Plugins, req.Exclude))
	if err != nil {
		return session.Session{}, err
	}
	if req.ID == "" {
		req.ID = c.cfg.NewID()
	}
	active := c.cfg.Plugins.Active(resolution.Active)
	seed, err := w.Instantiate(world.Options{
		Active:               active,
		Excluded:             req.Exclude,
		Locale:               req.Locale,
		Now:                  c.cfg.Now().UTC().Truncate(time.Millisecond),
		SessionID:            req.ID,
		WithoutPremadePlayer: req.WithoutPremadePlayer,
	})
	if err != nil {
		return session.Session{}, err
	}
	seed.Session.Tenant = req.Tenant
	seed.Session.Phase = session.PhasePlaying
	if hasSetup(active) {
		seed.Session.Phase = session.PhaseSetup
	}
	if err := c.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error { return writeSeed(ctx, tx, seed) }); err != nil {
		return session.Session{}, storeError(op, err)
	}
	return seed.Session, nil
}

// hasSetup says whether an active runtime belongs to the setup stage.
func hasSetup(active *plugin.Active) bool {
	for _, rt := range active.Runtimes() {
		if rt.Schedule.Stage == "setup" {
			return true
		}
	}
	return false
}

func writeSeed(ctx context.Context, tx store.Tx, seed *world.Seed) error {
	if err := tx.InsertSession(ctx, seed.Session); err != nil {
		return err
	}
	if err := tx.LockSession(ctx, seed.Session.ID); err != nil {
		return err
	}
	if err := tx.PutCharacters(ctx, seed.Characters...); err != nil {
		return err
	}
	if err := tx.PutLore(ctx, seed.Lorebook...); err != nil {
		return err
	}
	if err := tx.PutPluginData(ctx, seed.Data...); err != nil {
		return err
	}
	for _, m := range seed.Media {
		meta, err := json.Marshal(map[string]string{"source": m.SourceID, "path": m.Path})
		if err != nil {
			return err
		}
		ref := store.MediaRef{SessionID: seed.Session.ID, PluginID: "__world", Meta: meta, CreatedAt: seed.Session.CreatedAt}
		if _, err := tx.PutMedia(ctx, ref, m.Mime, m.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func worldIDs(lib *world.Library) string {
	var ids []string
	for _, w := range lib.Worlds() {
		ids = append(ids, w.ID)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// Session reads a game's record.
func (c *Client) Session(ctx context.Context, id string) (session.Session, error) {
	s, err := c.cfg.Store.Session(ctx, id)
	if err != nil {
		return s, sessionError("read session", id, err)
	}
	return s, nil
}

// Sessions lists games, the one changed last first.
func (c *Client) Sessions(ctx context.Context, limit int) ([]session.Session, error) {
	list, err := c.cfg.Store.Sessions(ctx, limit)
	if err != nil {
		return nil, storeError("list sessions", err)
	}
	return list, nil
}

// DeleteSession removes a game and everything of it. A running turn is
// terminated first; its late writes find no session.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	const op = "delete session"
	if _, err := c.Session(ctx, id); err != nil {
		return err
	}
	if err := c.audit(ctx, access.ActionDelete, id, ""); err != nil {
		return err
	}
	running, err := c.Running(ctx, id)
	switch {
	case err == nil:
		if err := c.cfg.Temporal.TerminateWorkflow(ctx, turn.WorkflowID(id), running.RunID, "session deleted"); err != nil {
			return unavailable(op, err)
		}
	case turn.CodeOf(err) != turn.CodeNoActiveTurn:
		return err
	}
	err = c.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.LockSession(ctx, id); err != nil {
			return err
		}
		return tx.DeleteSession(ctx, id)
	})
	if errors.Is(err, store.ErrNotFound) {
		return sessionError(op, id, err)
	}
	if err != nil {
		return storeError(op, err)
	}
	return nil
}
