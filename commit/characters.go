package commit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// applyCharacter changes a character or makes a new one. A new player
// character joins the primary seat (spec 05 §12.8).
func (a *application) applyCharacter(ctx context.Context, p turn.Proposal, done *applied) error {
	up, err := read[CharacterUpsert](p)
	if err != nil {
		return err
	}
	if err := required("id", up.ID); err != nil {
		return err
	}
	if len(up.Fields) > 0 && string(up.Fields) != "null" && !isObject(up.Fields) {
		return rejectf("fields must be an object")
	}
	all, err := a.tx.Characters(ctx, a.plan.SessionID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(c session.Character) bool { return c.ID == up.ID })
	var c session.Character
	if at >= 0 {
		c = all[at]
	} else {
		if err := required("name", up.Name); err != nil {
			return err
		}
		if err := required("type", up.Type); err != nil {
			return err
		}
		c = session.Character{SessionID: a.plan.SessionID, ID: up.ID, CreatedAt: a.plan.Now}
	}
	if err := up.over(&c); err != nil {
		return err
	}
	c.Version++
	c.UpdatedAt = a.plan.Now
	if check := a.plan.Checks.Character; check != nil {
		schema, err := a.characterSchema(ctx)
		if err != nil {
			return err
		}
		if err := check(schema, c); err != nil {
			return &RejectedError{Code: codeValidation, Message: "character " + c.ID + ": " + err.Error()}
		}
	}
	if err := a.tx.PutCharacters(ctx, c); err != nil {
		return err
	}
	if at < 0 && c.Type == session.CharacterTypePlayer {
		a.session.Seats = seat(a.session.Seats, c.ID)
	}
	return done.event(p, EventRecordUpdated, map[string]string{"record": "character", "id": c.ID})
}

// over puts the given members over a character.
func (up CharacterUpsert) over(c *session.Character) error {
	if up.Name != "" {
		c.Name = up.Name
	}
	if up.Type != "" {
		c.Type = up.Type
	}
	if up.Description != nil {
		c.Description = *up.Description
	}
	if up.Aliases != nil {
		c.Aliases = up.Aliases
	}
	if !isObject(up.Fields) {
		return nil
	}
	fields, err := mergeObject(c.Fields, up.Fields)
	c.Fields = fields
	return err
}

// seat gives a new player character its place at the primary seat.
func seat(seats []session.Seat, characterID string) []session.Seat {
	seats = slices.Clone(seats)
	if len(seats) == 0 {
		seats = []session.Seat{{ID: "seat-1", Primary: true}}
	}
	at := max(0, slices.IndexFunc(seats, func(s session.Seat) bool { return s.Primary }))
	primary := &seats[at]
	if !slices.Contains(primary.CharacterIDs, characterID) {
		primary.CharacterIDs = append(slices.Clone(primary.CharacterIDs), characterID)
	}
	if primary.CurrentCharacterID == "" {
		primary.CurrentCharacterID = characterID
	}
	return seats
}

// characterSchema is the schema that this session has set, nil before.
func (a *application) characterSchema(ctx context.Context) (json.RawMessage, error) {
	row, err := a.tx.PluginDatum(ctx, a.plan.SessionID, PluginCharacters, NamespaceSchema, KeySchema)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return row.Value, err
}

func (a *application) applyCharacterSchema(ctx context.Context, p turn.Proposal, done *applied) error {
	set, err := read[CharacterSchemaSet](p)
	if err != nil {
		return err
	}
	if !isObject(set.Schema) {
		return rejectf("schema must be an object")
	}
	if err := a.put(ctx, PluginCharacters, NamespaceSchema, KeySchema, set.Schema, 0); err != nil {
		return err
	}
	return done.event(p, EventRecordUpdated, map[string]string{"record": "character-schema"})
}

// applyLore writes a lorebook entry of the proposing plugin (spec 05 §12.6).
func (a *application) applyLore(ctx context.Context, p turn.Proposal, done *applied) error {
	up, err := read[LoreUpsert](p)
	if err != nil {
		return err
	}
	if err := required("id", up.ID); err != nil {
		return err
	}
	if err := required("content", up.Content); err != nil {
		return err
	}
	strategy := up.Strategy
	switch strategy {
	case "constant", "keyword":
	case "":
		strategy = "constant"
		if len(up.Keys) > 0 {
			strategy = "keyword"
		}
	default:
		return rejectf("strategy %q is not one of constant, keyword", strategy)
	}
	position := up.Position
	switch position {
	case "before_plugin", "after_plugin", "at_depth":
	case "":
		position = "after_plugin"
	default:
		return rejectf("position %q is not one of before_plugin, after_plugin, at_depth", position)
	}
	entry := session.LoreEntry{
		ID: up.ID, SessionID: a.plan.SessionID,
		Owner: session.LoreOwner{Kind: session.LoreOwnerPlugin, PluginID: p.Source.PluginID},
		Keys:  up.Keys, Content: up.Content, Strategy: strategy, Position: position, InsertionOrder: up.InsertionOrder,
		Enabled: up.Enabled == nil || *up.Enabled, Extra: up.Extra, CreatedAt: a.plan.Now, UpdatedAt: a.plan.Now,
	}
	if err := a.tx.PutLore(ctx, entry); err != nil {
		return err
	}
	return done.event(p, EventRecordUpdated, map[string]string{"record": "lorebook", "id": up.ID})
}
