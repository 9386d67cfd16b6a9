package world

import (
	"fmt"
	"slices"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/session"
)

// checkCharacters applies the rules of spec 05 §12.5 to one file.
func (p *pack) checkCharacters(file *source.File) {
	player := ""
	for _, c := range p.characters {
		if c.node.Get("type").Str() == session.CharacterTypePlayer {
			player = c.node.Get("id").Str()
		}
	}
	for i, n := range file.Root.Items {
		at := shape.Index("", i)
		id := n.Get("id").Str()
		if slices.ContainsFunc(p.characters, func(c located) bool { return c.node.Get("id").Str() == id && id != "" }) {
			p.report.Add("duplicate-id", file.Path, n.Get("id").LineOr(n.Line), at+".id", fmt.Sprintf("%s.id %q is used by two characters", at, id), "Give each character an id of its own.")
		}
		typ := n.Get("type").Str()
		if typ != "" && !p.schema.AllowsType(typ) {
			p.report.Add("field-invalid", file.Path, n.Get("type").Line, at+".type", fmt.Sprintf("%s.type %q of character %q is not in characterSchema.types", at, typ, id), "Use player or one of the schema's types.")
		}
		if typ == session.CharacterTypePlayer {
			if player != "" {
				p.report.Add("player-duplicate", file.Path, n.Get("type").Line, at+".type", fmt.Sprintf("%s.type: characters %q and %q are both of type player", at, player, id), "Keep one player character.")
			}
			player = id
		}
		for _, f := range fields(n.Get("fields")) {
			if why := p.schema.refuses(f.Key, f.Value); why != "" {
				field := at + ".fields." + f.Key
				p.report.Add("field-invalid", file.Path, f.Line, field, fmt.Sprintf("%s %s of character %q %s", field, source.Show(f.Value), id, why), "Correct the value or the character schema.")
			}
		}
		p.characters = append(p.characters, located{node: n, path: file.Path, at: at})
	}
}

// checkCards finds cards that belong to no character (spec 05 §12.5).
func (p *pack) checkCards() {
	ids := map[string]bool{}
	for _, c := range p.characters {
		ids[c.node.Get("id").Str()] = true
	}
	seen := map[string]bool{}
	for _, c := range p.cards {
		id := c.node.Get("id").Str()
		if id == "" {
			continue
		}
		if seen[id] {
			p.report.Add("duplicate-id", c.path, c.node.Get("id").Line, c.at+".id", fmt.Sprintf("%s.id %q is used by two cards", c.at, id), "Give each card an id of its own.")
		}
		seen[id] = true
		if !ids[id] && !ids["npc-"+id] {
			p.report.Warn("card-unmatched", c.path, c.node.Get("id").Line, c.at+".id", fmt.Sprintf("%s.id: card %q belongs to no character; neither %q nor %q exists", c.at, id, id, "npc-"+id), "Add the character, or correct the card's id.")
		}
	}
}

func characterOf(n *source.Node) session.Character {
	c := session.Character{
		ID: n.Get("id").Str(), Name: n.Get("name").Str(), Type: n.Get("type").Str(), Description: n.Get("description").Str(),
		Aliases: n.Get("aliases").Strings(), Version: 1,
	}
	if f := n.Get("fields"); f != nil && f.Kind == source.Map {
		c.Fields = f.JSON()
	}
	return c
}
