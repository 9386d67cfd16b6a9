package world

import (
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/session"
)

// applyEffects does what a source asks for besides its rows (spec 05 §12.3):
// characters makes a character of every card that has none, projections runs
// the active packages' projections of the contract.
func (s *seeding) applyEffects(src Source, value *source.Node) error {
	switch src.Effects {
	case "characters":
		if src.Contract == contractCards {
			s.addCardCharacters(value)
		}
	case "projections":
		return s.project(src, value)
	}
	return nil
}

func (s *seeding) addCardCharacters(value *source.Node) {
	known := map[string]bool{}
	for _, c := range s.seed.Characters {
		known[c.ID] = true
	}
	for _, card := range items(value) {
		id := card.Get("id").Str()
		instance := card.Get("instantiate").Get("characterId").StrOr("npc-" + id)
		if id == "" || known[id] || known["npc-"+id] || known[instance] {
			continue
		}
		known[instance] = true
		c := session.Character{
			SessionID: s.opts.SessionID, ID: instance, Name: card.Get("name").Str(), Type: "npc",
			Description: card.Get("description").StrOr(card.Get("persona").Get("summary").Str()),
			Aliases:     card.Get("aliases").Strings(), Version: 1, CreatedAt: s.opts.Now, UpdatedAt: s.opts.Now,
		}
		if t := card.Get("instantiate").Get("type").StrOr(card.Get("role").Str()); t != "" && t != session.CharacterTypePlayer && s.schema.AllowsType(t) {
			c.Type = t
		}
		fields := &source.Node{Kind: source.Map}
		if a := card.Get("attributes"); a != nil {
			for _, f := range a.Fields {
				if s.schema.refuses(f.Key, f.Value) == "" {
					fields.Fields = append(fields.Fields, f)
				}
			}
		}
		if len(fields.Fields) > 0 {
			c.Fields = fields.JSON()
		}
		s.seed.Characters = append(s.seed.Characters, c)
	}
}

// project writes one row for each output of each projection of the contract.
func (s *seeding) project(src Source, value *source.Node) error {
	if s.opts.Active == nil {
		return nil
	}
	gen := s.opts.Active.Generation()
	for _, m := range s.opts.Active.Plugins() {
		for _, id := range sortedNames(m.Contributes.WorldProjections) {
			p := m.Contributes.WorldProjections[id]
			handler, ok := gen.Projection(m.ID, id)
			if p.From != src.Contract || !ok {
				continue
			}
			out, err := handler(value.JSON())
			if err != nil {
				return s.refuse(src, "projection %s of plugin %s: %v", id, m.ID, err)
			}
			for _, output := range sortedNames(p.Outputs) {
				to := p.Outputs[output]
				if out[output] == nil {
					continue
				}
				if err := gen.CheckDatum(m.ID, to.Namespace, to.Key, out[output]); err != nil {
					return s.refuse(src, "projection %s of plugin %s: %v", id, m.ID, err)
				}
				n, err := source.ParseJSON(out[output])
				if err != nil {
					return s.refuse(src, "projection %s of plugin %s: %v", id, m.ID, err)
				}
				s.addDatum(src, plugin.Receiver{PluginID: m.ID, Name: to.Namespace, Namespace: m.Contributes.Data[to.Namespace]}, row{key: to.Key, value: n})
			}
		}
	}
	return nil
}
