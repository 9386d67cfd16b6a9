package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// characterUpsert is the payload of character.upsert.
type characterUpsert struct {
	ID          string          `json:"id"`
	Name        string          `json:"name,omitempty"`
	Type        string          `json:"type,omitempty"`
	Description *string         `json:"description,omitempty"`
	Aliases     []string        `json:"aliases,omitempty"`
	Fields      json.RawMessage `json:"fields,omitempty"`
}

// newCharacter and changedCharacter are the arguments of the three tools.
type newCharacter struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description *string         `json:"description"`
	Fields      json.RawMessage `json:"fields"`
	Aliases     []string        `json:"aliases"`
}

type changedCharacter struct {
	Character   string          `json:"character"`
	Description *string         `json:"description"`
	Fields      json.RawMessage `json:"fields"`
	Aliases     []string        `json:"aliases"`
}

// shownCharacter is a character in a result: no session, no instants.
type shownCharacter struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Aliases     []string        `json:"aliases,omitempty"`
	Fields      json.RawMessage `json:"fields,omitempty"`
}

// characters gives the committed characters with the pending writes of this
// run over them.
func (in invocation) characters() []session.Character {
	list := slices.Clone(in.View.Characters)
	for _, p := range in.Pending {
		var up characterUpsert
		if p.Type == turn.ProposalCharacterUpsert && json.Unmarshal(p.Payload, &up) == nil {
			list = up.over(list)
		}
	}
	return list
}

// over applies a write to a list as the commit will.
func (up characterUpsert) over(list []session.Character) []session.Character {
	i := slices.IndexFunc(list, func(c session.Character) bool { return c.ID == up.ID })
	if i < 0 {
		list = append(list, session.Character{ID: up.ID})
		i = len(list) - 1
	}
	c := &list[i]
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
	c.Fields = mergeFields(c.Fields, up.Fields)
	return list
}

func mergeFields(old, change json.RawMessage) json.RawMessage {
	var have, set map[string]json.RawMessage
	if json.Unmarshal(change, &set) != nil || len(set) == 0 {
		return old
	}
	if json.Unmarshal(old, &have) != nil || have == nil {
		have = map[string]json.RawMessage{}
	}
	for k, v := range set {
		if string(v) == "null" {
			delete(have, k)
			continue
		}
		have[k] = v
	}
	merged, err := json.Marshal(have)
	if err != nil {
		return old
	}
	return merged
}

// findCharacter looks up an id, a name or an alias. Names and aliases match
// without case; several matches are refused, naming the ids.
func findCharacter(tool, field string, list []session.Character, wanted string) (session.Character, *refusal) {
	for _, c := range list {
		if c.ID == wanted {
			return c, nil
		}
	}
	same := func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), strings.TrimSpace(wanted)) }
	for _, match := range []func(c session.Character) bool{
		func(c session.Character) bool { return same(c.Name) },
		func(c session.Character) bool { return slices.ContainsFunc(c.Aliases, same) },
	} {
		var found []session.Character
		for _, c := range list {
			if match(c) {
				found = append(found, c)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		ids := make([]string, len(found))
		for i, c := range found {
			ids[i] = c.ID
		}
		return session.Character{}, violation(tool, Problem{field, fmt.Sprintf("%q means several characters; use one of the ids %s", wanted, strings.Join(ids, ", "))})
	}
	return session.Character{}, violation(tool, Problem{field, fmt.Sprintf("there is no character %q", wanted)})
}

func listCharacters(_ context.Context, in invocation) (answer, *refusal) {
	args := struct {
		Type  string
		Limit int
	}{Limit: 50}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	all := in.characters()
	if args.Type != "" {
		all = slices.DeleteFunc(all, func(c session.Character) bool { return c.Type != args.Type })
	}
	shown := make([]shownCharacter, 0, min(len(all), args.Limit))
	for _, c := range all[:min(len(all), args.Limit)] {
		shown = append(shown, shownCharacter{ID: c.ID, Name: c.Name, Type: c.Type, Description: c.Description, Aliases: c.Aliases})
	}
	data, refused := encode(map[string]any{"characters": shown, "total": len(all)})
	return answer{summary: fmt.Sprintf("%d of %d characters", len(shown), len(all)), data: data}, refused
}

func getCharacter(_ context.Context, in invocation) (answer, *refusal) {
	var args struct{ Name string }
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	c, refused := findCharacter(in.Name, "name", in.characters(), args.Name)
	if refused != nil {
		return answer{}, refused
	}
	data, refused := encode(shownCharacter{c.ID, c.Name, c.Type, c.Description, c.Aliases, c.Fields})
	return answer{summary: c.Name, data: data}, refused
}

func createCharacter(_ context.Context, in invocation) (answer, *refusal) {
	var args newCharacter
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	return in.writeCharacters([]newCharacter{args}, nil, func(int) string { return "" })
}

func updateCharacter(_ context.Context, in invocation) (answer, *refusal) {
	var args changedCharacter
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	return in.writeCharacters(nil, []changedCharacter{args}, func(int) string { return "" })
}

func syncCharacters(_ context.Context, in invocation) (answer, *refusal) {
	var args struct {
		Create []newCharacter     `json:"create"`
		Update []changedCharacter `json:"update"`
	}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	if len(args.Create)+len(args.Update) == 0 {
		return answer{summary: "No character changed."}, nil
	}
	return in.writeCharacters(args.Create, args.Update, func(i int) string {
		if i < len(args.Create) {
			return fmt.Sprintf("create[%d].", i)
		}
		return fmt.Sprintf("update[%d].", i-len(args.Create))
	})
}

// writeCharacters checks all changes before it proposes any. Field gives the
// prefix of the i-th change in the arguments.
func (in invocation) writeCharacters(create []newCharacter, update []changedCharacter, field func(i int) string) (answer, *refusal) {
	list := in.characters()
	var ids []string
	var out answer
	put := func(at string, up characterUpsert) *refusal {
		list = up.over(list)
		i := slices.IndexFunc(list, func(c session.Character) bool { return c.ID == up.ID })
		if check := in.set.registry.cfg.CheckCharacter; check != nil {
			if err := check(in.View.CharacterSchema, list[i]); err != nil {
				return violation(in.Name, Problem{at + "fields", err.Error()})
			}
		}
		write, refused := propose(turn.ProposalCharacterUpsert, up)
		out.proposals = append(out.proposals, write)
		ids = append(ids, up.ID)
		return refused
	}
	types := characterTypes(in.View.CharacterSchema)
	for i, c := range create {
		if !slices.Contains(types, c.Type) {
			return answer{}, violation(in.Name, Problem{field(i) + "type", fmt.Sprintf("%q is not one of %s", c.Type, strings.Join(types, ", "))})
		}
		up := characterUpsert{characterID(c, list), c.Name, c.Type, c.Description, c.Aliases, c.Fields}
		if refused := put(field(i), up); refused != nil {
			return answer{}, refused
		}
	}
	for i, c := range update {
		at := field(len(create) + i)
		known, refused := findCharacter(in.Name, at+"character", list, c.Character)
		if refused != nil {
			return answer{}, refused
		}
		up := characterUpsert{ID: known.ID, Description: c.Description, Aliases: c.Aliases, Fields: c.Fields}
		if refused := put(at, up); refused != nil {
			return answer{}, refused
		}
	}
	data, refused := encode(map[string]any{"created": ids[:len(create)], "updated": ids[len(create):]})
	out.summary, out.data = fmt.Sprintf("%d created, %d updated", len(create), len(update)), data
	return out, refused
}

// characterTypes are the types of the world, and player (spec 05 §12.1).
func characterTypes(schema json.RawMessage) []string {
	var s struct {
		Types []string `json:"types"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Types) == 0 {
		s.Types = []string{"npc", "companion"}
	}
	return append(slices.Clone(s.Types), session.CharacterTypePlayer)
}

// characterID makes a readable id: npc-<slug> or player-<slug>, at most 64
// characters, unique among the characters.
func characterID(c newCharacter, list []session.Character) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(list, func(c session.Character) bool { return c.ID == id })
	}
	prefix := "npc-"
	if c.Type == session.CharacterTypePlayer {
		prefix = "player-"
	}
	slug := slugOf(c.Name)
	if slug == "" {
		for n := 1; ; n++ {
			if id := prefix + strconv.Itoa(n); !taken(id) {
				return id
			}
		}
	}
	const longest = 64
	for n := 1; ; n++ {
		suffix := ""
		if n > 1 {
			suffix = "-" + strconv.Itoa(n)
		}
		cut := slug[:min(len(slug), longest-len(prefix)-len(suffix))]
		if id := prefix + strings.TrimRight(cut, "-") + suffix; !taken(id) {
			return id
		}
	}
}

// slugOf joins the ASCII letters and digits of a name by dashes.
func slugOf(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(parts, "-")
}
