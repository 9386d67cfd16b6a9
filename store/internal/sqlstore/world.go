package sqlstore

import (
	"context"

	"strings"
	"time"

	"github.com/covel-engine/covel/session"
)

const (
	characterTable = "characters"
	loreTable      = "lorebook_entries"
	inputTable     = "player_inputs"
)

// Characters lists a session's characters in creation order.
func (r Reads) Characters(ctx context.Context, sessionID string) ([]session.Character, error) {
	a := newArgs(r.Conn, "read characters", characterTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "character_list", a, func(row Row, c *session.Character) error {
		return row.Scan(&c.SessionID, &c.ID, &c.Name, &c.Type, &c.Description, decoded{&c.Aliases}, raw(&c.Fields),
			&c.Version, at(&c.CreatedAt), at(&c.UpdatedAt))
	})
}

// PutCharacters inserts or replaces characters; creation times stay.
func (t *Tx) PutCharacters(ctx context.Context, rows ...session.Character) error {
	const op = "put characters"
	for _, c := range rows {
		if err := t.pin(ctx, op, c.SessionID); err != nil {
			return err
		}
		created, updated := t.born(c.CreatedAt, c.UpdatedAt)
		a := newArgs(t.conn, op, characterTable).id("session_id", c.SessionID).id("id", c.ID).text("name", c.Name).
			text("type", c.Type).text("description", c.Description).textsOrNull("aliases", c.Aliases).json("fields", c.Fields).
			int(int64(c.Version)).time("created_at", created).time("updated_at", updated)
		if _, err := exec(ctx, t.conn, "character_put", a); err != nil {
			return err
		}
	}
	return nil
}

// born gives creation and update of a row: an update without a time is now, a
// creation without one is the update.
func (t *Tx) born(created, updated time.Time) (time.Time, time.Time) {
	updated = t.stamp(updated)
	if created.IsZero() {
		return updated, updated
	}
	return Instant(created), updated
}

// Lorebook lists a session's entries by insertion order, then creation.
func (r Reads) Lorebook(ctx context.Context, sessionID string) ([]session.LoreEntry, error) {
	a := newArgs(r.Conn, "read lorebook", loreTable).ref("session_id", sessionID)
	return many(ctx, r.Conn, "lore_list", a, func(row Row, e *session.LoreEntry) error {
		var owner string
		err := row.Scan(&e.SessionID, &owner, &e.ID, decoded{&e.Keys}, &e.Content, &e.Strategy, &e.Position,
			&e.InsertionOrder, &e.Enabled, raw(&e.Extra), at(&e.CreatedAt), at(&e.UpdatedAt))
		kind, plugin, _ := strings.Cut(owner, ":")
		e.Owner = session.LoreOwner{Kind: session.LoreOwnerKind(kind), PluginID: plugin}
		return err
	})
}

// PutLore inserts or replaces entries; their identity is session, owner and id.
func (t *Tx) PutLore(ctx context.Context, rows ...session.LoreEntry) error {
	const op = "put lorebook entries"
	for _, e := range rows {
		if err := t.pin(ctx, op, e.SessionID); err != nil {
			return err
		}
		owner := string(e.Owner.Kind)
		if e.Owner.PluginID != "" {
			owner += ":" + e.Owner.PluginID
		}
		created, updated := t.born(e.CreatedAt, e.UpdatedAt)
		a := newArgs(t.conn, op, loreTable).id("session_id", e.SessionID).id("owner", owner).id("id", e.ID).
			textsOrNull("keys", e.Keys).text("content", e.Content).text("strategy", e.Strategy).text("position", e.Position).
			int(int64(e.InsertionOrder)).bool(e.Enabled).json("extra", e.Extra).time("created_at", created).
			time("updated_at", updated)
		if _, err := exec(ctx, t.conn, "lore_put", a); err != nil {
			return err
		}
	}
	return nil
}

func scanInput(r Row, in *session.PlayerInput) error {
	return r.Scan(&in.ID, &in.SessionID, &in.Seq, &in.TurnID, &in.FormID, raw(&in.Values), at(&in.CreatedAt))
}

// LatestPlayerInput gives the input with the highest seq, if there is one.
func (r Reads) LatestPlayerInput(ctx context.Context, sessionID string) (session.PlayerInput, bool, error) {
	var in session.PlayerInput
	a := newArgs(r.Conn, "read player input", inputTable).ref("session_id", sessionID)
	err := one(ctx, r.Conn, "player_input_latest", a, func(row Row) error { return scanInput(row, &in) })
	return found(in, err)
}

// InsertPlayerInput stores a submitted form; seq 0 takes the session's next. A
// used id or seq is ALREADY_EXISTS.
func (t *Tx) InsertPlayerInput(ctx context.Context, in session.PlayerInput) error {
	const op = "insert player input"
	if err := t.pin(ctx, op, in.SessionID); err != nil {
		return err
	}
	if in.Seq == 0 {
		if err := t.lock(ctx, op, inputTable, "covel:inputs:"+in.SessionID); err != nil {
			return err
		}
		a := newArgs(t.conn, op, inputTable).id("session_id", in.SessionID)
		err := one(ctx, t.conn, "player_input_next_seq", a, func(row Row) error { return row.Scan(&in.Seq) })
		if err != nil {
			return err
		}
	}
	a := newArgs(t.conn, op, inputTable).id("id", in.ID).id("session_id", in.SessionID).int(in.Seq).ref("turn_id", in.TurnID).
		ref("form_id", in.FormID).json("values", in.Values).time("created_at", t.stamp(in.CreatedAt))
	n, err := exec(ctx, t.conn, "player_input_insert", a)
	if err == nil && n == 0 {
		return alreadyExists(op, inputTable, in.ID)
	}
	return err
}
