package storetest

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func testWorld(t *testing.T, st store.Store) {
	id := newSession(t, st)
	t.Run("characters", func(t *testing.T) {
		rows := []session.Character{
			{SessionID: id, ID: "b", Name: "Bo", Type: "player", Aliases: []string{"B"}, Fields: object(`{"z": 1, "a":2}`), Version: 2, CreatedAt: noon, UpdatedAt: noon},
			{SessionID: id, ID: "a", Name: "阿", Type: "npc", Description: "quiet", Aliases: []string{}, CreatedAt: after(1), UpdatedAt: after(1)},
			{SessionID: id, ID: "c", Name: "C", Type: "npc", CreatedAt: after(1), UpdatedAt: after(2)},
		}
		put := func(rows ...session.Character) {
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutCharacters(ctx, rows...) })
		}
		put(rows[2], rows[0], rows[1])
		wantEqual(t, read[[]session.Character](t)(st.Characters(t.Context(), id)), rows)
		rows[0].Name, rows[0].Version, rows[0].UpdatedAt = "Bob", 3, after(9)
		changed := rows[0]
		changed.CreatedAt = after(50) // creation stays
		put(changed)
		wantEqual(t, read[[]session.Character](t)(st.Characters(t.Context(), id)), rows)
	})
	t.Run("lorebook", func(t *testing.T) {
		entry := func(entryID string, owner session.LoreOwner, order int) session.LoreEntry {
			return session.LoreEntry{
				ID: entryID, SessionID: id, Owner: owner, Keys: []string{"fog"}, Content: "text", Strategy: "keyword", Position: "before",
				InsertionOrder: order, Enabled: order != 2, Extra: object(`{"b":1, "a":1}`), CreatedAt: noon, UpdatedAt: noon,
			}
		}
		world := session.LoreOwner{Kind: session.LoreOwnerWorld}
		plugin := session.LoreOwner{Kind: session.LoreOwnerPlugin, PluginID: "books"}
		rows := []session.LoreEntry{entry("x", world, 1), entry("x", plugin, 2), entry("y", world, 3)}
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutLore(ctx, rows[1], rows[2], rows[0]) })
		wantEqual(t, read[[]session.LoreEntry](t)(st.Lorebook(t.Context(), id)), rows)
		rows[1].Content, rows[1].Enabled, rows[1].Keys = "new", true, nil
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutLore(ctx, rows[1]) })
		wantEqual(t, read[[]session.LoreEntry](t)(st.Lorebook(t.Context(), id)), rows)
	})
	t.Run("the latest player input", func(t *testing.T) {
		if _, ok, err := st.LatestPlayerInput(t.Context(), id); ok || err != nil {
			t.Errorf("before any: %v, %v", ok, err)
		}
		input := func(seq int64) session.PlayerInput {
			return session.PlayerInput{ID: newID("i"), SessionID: id, Seq: seq, TurnID: "t", FormID: "f", Values: object(`{"b": 1}`), CreatedAt: noon}
		}
		insert := func(in session.PlayerInput) func(context.Context, store.Tx) error {
			return func(ctx context.Context, tx store.Tx) error { return tx.InsertPlayerInput(ctx, in) }
		}
		first, second, third := input(0), input(5), input(0)
		for _, in := range []session.PlayerInput{first, second, third} {
			write(t, st, insert(in))
		}
		third.Seq = 6
		got, ok, err := st.LatestPlayerInput(t.Context(), id)
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		wantEqual(t, got, third)
		refused(t, st, store.CodeAlreadyExists, insert(input(5)))
		refused(t, st, store.CodeAlreadyExists, insert(first), first.ID)
	})
}

func testClientTables(t *testing.T, st store.Store) {
	id := newSession(t, st)
	t.Run("mirror messages", func(t *testing.T) {
		rows := []store.MirrorMessage{
			{ID: newID("b"), SessionID: id, Role: "user", Content: "hi", Metadata: object(`{"a": 1}`), CreatedAt: after(2)},
			{ID: newID("a"), SessionID: id, Role: "assistant", Content: "hello", CreatedAt: after(1)},
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for _, m := range rows {
				if err := tx.InsertMirrorMessage(ctx, m); err != nil {
					return err
				}
			}
			return nil
		})
		wantEqual(t, read[[]store.MirrorMessage](t)(st.MirrorMessages(t.Context(), id)), rows)
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertMirrorMessage(ctx, rows[0]) }, rows[0].ID)
	})
	t.Run("events", func(t *testing.T) {
		rows := []store.Event{
			{ID: newID("e"), SessionID: id, Type: "domain", Topic: "rain", Payload: object(`{"mm": 3}`), TargetRuntime: "r", TurnID: "t", CreatedAt: after(2)},
			{ID: newID("e"), SessionID: id, Type: "domain", Topic: "fog", TurnID: "t", CreatedAt: after(1)},
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for _, e := range rows {
				if err := tx.InsertEvent(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		wantEqual(t, read[[]store.Event](t)(st.Events(t.Context(), id, "")), rows)
		wantEqual(t, read[[]store.Event](t)(st.Events(t.Context(), id, "fog")), rows[1:])
	})
	t.Run("runtime outputs and interactions", func(t *testing.T) {
		output := store.RuntimeOutput{
			ID: newID("o"), SessionID: id, TurnID: "t", RuntimeResultID: "rr", PluginID: "p", RuntimeID: "r", Timestamp: after(1),
			Results: object("[1, 2]"), MetaData: object("{}"), CreatedAt: noon,
		}
		act := store.Interaction{
			ID: newID("i"), SessionID: id, TurnID: "t", Timestamp: after(1), Source: "player", Channel: "form", Type: "choice",
			TargetIDs: []string{"a"}, Payload: object(`{"b": 2}`), MetaData: object("{}"), CreatedAt: noon,
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if err := tx.InsertRuntimeOutput(ctx, output); err != nil {
				return err
			}
			return tx.InsertInteraction(ctx, act)
		})
		wantEqual(t, read[[]store.RuntimeOutput](t)(st.RuntimeOutputs(t.Context(), id, "t")), []store.RuntimeOutput{output})
		wantEqual(t, read[[]store.Interaction](t)(st.Interactions(t.Context(), id, "choice")), []store.Interaction{act})
		if other := read[[]store.Interaction](t)(st.Interactions(t.Context(), id, "other")); len(other) != 0 {
			t.Errorf("got %v", other)
		}
	})
}
