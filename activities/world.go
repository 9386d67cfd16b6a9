package activities

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// worldView is the session's world: what creation resolved, and the committed
// dimensions at the execution's start.
type worldView struct {
	world.Snapshot
	dimensions []world.Dimension
	// public is the map id -> {name, description?, schema, value, version} that
	// handlers and world.dimensions@1 show.
	public json.RawMessage
}

func readWorld(s session.Session) (world.Snapshot, error) {
	w, err := world.SnapshotOf(s.Metadata)
	if err != nil {
		return w, turn.Errorf("read world", "INVALID_VALUE", "session %q: %w", s.ID, err)
	}
	return w, nil
}

// readDimensions reads the rows of the dimensions' owner in definition order.
func (a *Activities) readDimensions(ctx context.Context, ex *execution) error {
	owner, ok := ex.active.Provider(schedule.ContractDimensions)
	if !ok {
		return nil
	}
	after := ""
	for {
		rows, err := a.cfg.Store.PluginData(ctx, ex.scope.SessionID, owner.ID, commit.NamespaceDimensions, after, 500)
		if err != nil {
			return err
		}
		for _, row := range rows {
			var d world.Dimension
			if err := json.Unmarshal(row.Value, &d); err != nil {
				return turn.Errorf("read dimensions", "INVALID_VALUE", "dimension %q is unreadable: %w", row.Key, err)
			}
			ex.world.dimensions = append(ex.world.dimensions, d)
			after = row.Key
		}
		if len(rows) < 500 {
			break
		}
	}
	slices.SortFunc(ex.world.dimensions, func(x, y world.Dimension) int { return x.Order - y.Order })
	return ex.world.publish()
}

// publicDimension is what everyone may see of a dimension (spec 05 §12.7).
type publicDimension struct {
	Name        json.RawMessage `json:"name,omitempty"`
	Description json.RawMessage `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Value       json.RawMessage `json:"value"`
	Version     int             `json:"version"`
}

// publish writes the public map in definition order, which encoding a Go map
// would lose.
func (w *worldView) publish() error {
	b := []byte{'{'}
	for i, d := range w.dimensions {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(d.ID)
		if err != nil {
			return err
		}
		value, err := json.Marshal(publicDimension{d.Name, d.Description, d.Schema, d.Value, d.Version})
		if err != nil {
			return err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	b = append(b, '}')
	w.public = b
	return nil
}

// forTemplates is the world as templates and lore blocks show it.
func (w *worldView) forTemplates(lore []session.LoreEntry) assembler.World {
	out := assembler.World{
		ID: w.ID, Name: w.Name, Summary: w.Summary, Tags: w.Tags, Lore: w.Lore, Schema: w.CharacterSchema,
	}
	for _, d := range w.dimensions {
		out.Dimensions = append(out.Dimensions, assembler.Dimension{
			ID: d.ID, Name: text(d.Name), Description: text(d.Description), Schema: d.Schema, Value: d.Value, Version: d.Version, Rule: text(d.UpdateRule),
		})
	}
	constant := slices.Clone(lore)
	constant = slices.DeleteFunc(constant, func(e session.LoreEntry) bool {
		return !e.Enabled || e.Strategy != "constant" || e.Owner.Kind != session.LoreOwnerWorld
	})
	slices.SortStableFunc(constant, func(x, y session.LoreEntry) int { return x.InsertionOrder - y.InsertionOrder })
	for _, e := range constant {
		key := e.ID
		if len(e.Keys) > 0 {
			key = e.Keys[0]
		}
		out.Entries = append(out.Entries, assembler.WorldEntry{Key: key, Content: e.Content})
	}
	return out
}

// text reads a JSON string, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
