package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// registerCharacterBlueprint adds the character-blueprint package's code
// (spec 05 §15.4).
func registerCharacterBlueprint(h *plugin.Handlers, t texts) {
	h.Entries["character-blueprint"] = plugin.Registration{Segments: map[string]plugin.SegmentHandler{
		"character-notes": func(ctx context.Context, v plugin.View) ([]plugin.Segment, error) { return characterNotes(ctx, v, t) },
	}}
	h.Functions["character-blueprint/import"] = importCards
	h.Functions["character-blueprint/presence"] = cardPresence
}

func cards(ctx context.Context, v plugin.View) ([]*source.Node, error) {
	stored, err := rows(ctx, v.Data, "blueprints")
	if err != nil {
		return nil, err
	}
	out := make([]*source.Node, len(stored))
	for i, row := range stored {
		if out[i], err = source.ParseJSON(row.Value); err != nil {
			return nil, fmt.Errorf("card %s: %w", row.Key, err)
		}
	}
	return out, nil
}

func characterNotes(ctx context.Context, v plugin.View, t texts) ([]plugin.Segment, error) {
	if t.err != nil {
		return nil, t.err
	}
	nodes, err := cards(ctx, v)
	if err != nil {
		return nil, err
	}
	parsed := make([]assembler.Card, len(nodes))
	for i, n := range nodes {
		if parsed[i], err = assembler.ParseCard(n.JSON()); err != nil {
			return nil, err
		}
	}
	return assembler.CharacterNotes(parsed, v.Characters, assembler.NotesOptions{
		Lang: langOf(v), Names: dimensionNames(v.Dimensions), Words: t.words(v),
	}), nil
}

// dimensionNames collects the entries with id and name that dimension values
// hold: relationship targets that are no card are looked up there (spec 05 §13).
func dimensionNames(dimensions json.RawMessage) map[string]string {
	names := map[string]string{}
	root, err := source.ParseJSON(dimensions)
	if err != nil {
		return names
	}
	var walk func(n *source.Node, key string)
	walk = func(n *source.Node, key string) {
		if name := n.Get("name").Str(); name != "" && key != "" {
			if id := n.Get("id").StrOr(key); names[id] == "" {
				names[id] = name
			}
		}
		for _, item := range n.Items {
			walk(item, item.Get("id").Str())
		}
		for _, f := range n.Fields {
			walk(f.Value, f.Key)
		}
	}
	for _, f := range root.Fields {
		if value := f.Value.Get("value"); value != nil {
			walk(value, "")
		}
	}
	return names
}

// characterOf finds a card's character: the card id, npc- and the card id, or
// the id it was instantiated under.
func characterOf(card *source.Node, characters []session.Character) (session.Character, bool) {
	id := card.Get("id").Str()
	wanted := []string{id, "npc-" + id, instanceID(card)}
	i := slices.IndexFunc(characters, func(c session.Character) bool { return slices.Contains(wanted, c.ID) })
	if i < 0 {
		return session.Character{}, false
	}
	return characters[i], true
}

func instanceID(card *source.Node) string {
	return card.Get("instantiate").Get("characterId").StrOr("npc-" + card.Get("id").Str())
}

func instanceType(card *source.Node, schema *world.CharacterSchema) string {
	wanted := card.Get("instantiate").Get("type").StrOr(card.Get("role").StrOr("npc"))
	if schema != nil && !schema.AllowsType(wanted) {
		return "npc"
	}
	return wanted
}

func importCards(ctx context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	var payload struct {
		CardIDs []string `json:"cardIds"`
	}
	if len(c.Payload) > 0 {
		if err := json.Unmarshal(c.Payload, &payload); err != nil {
			return plugin.FunctionResult{}, fmt.Errorf("payload: %w", err)
		}
	}
	nodes, err := cards(ctx, c.View)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	for _, id := range payload.CardIDs {
		if !slices.ContainsFunc(nodes, func(n *source.Node) bool { return n.Get("id").Str() == id }) {
			return plugin.FunctionResult{}, fmt.Errorf("payload.cardIds: %q is no card of this session", id)
		}
	}
	schema, err := world.ParseCharacterSchema(c.CharacterSchema)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	result := plugin.FunctionResult{}
	created := []string{}
	for _, card := range nodes {
		id := card.Get("id").Str()
		if payload.CardIDs != nil && !slices.Contains(payload.CardIDs, id) {
			continue
		}
		if _, exists := characterOf(card, c.Characters); exists {
			continue
		}
		description := card.Get("description").StrOr(card.Get("persona").Get("summary").Str())
		write, err := propose(turn.ProposalCharacterUpsert, struct {
			ID          string          `json:"id"`
			Name        string          `json:"name"`
			Type        string          `json:"type"`
			Description string          `json:"description,omitempty"`
			Aliases     []string        `json:"aliases,omitempty"`
			Fields      json.RawMessage `json:"fields,omitempty"`
		}{
			instanceID(card), strings.TrimSpace(card.Get("name").Str()), instanceType(card, schema), description,
			card.Get("aliases").Strings(), characterFields(c.CharacterSchema, card.Get("attributes")),
		})
		if err != nil {
			return plugin.FunctionResult{}, err
		}
		result.Proposals = append(result.Proposals, write)
		created = append(created, instanceID(card))
	}
	result.Value, err = json.Marshal(map[string]any{"created": created})
	return result, err
}

func cardPresence(ctx context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	nodes, err := cards(ctx, c.View)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	type presence struct {
		CardID      string `json:"cardId"`
		CharacterID string `json:"characterId"`
		InSession   bool   `json:"inSession"`
	}
	out := []presence{}
	for _, card := range nodes {
		p := presence{CardID: card.Get("id").Str(), CharacterID: instanceID(card)}
		if found, ok := characterOf(card, c.Characters); ok {
			p.CharacterID, p.InSession = found.ID, true
		}
		out = append(out, p)
	}
	value, err := json.Marshal(out)
	return plugin.FunctionResult{Value: value}, err
}
