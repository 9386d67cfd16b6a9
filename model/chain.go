package model

import (
	"fmt"
	"slices"
	"strings"
)

// tagOf is the tag that a slot name stands for where no slot has the name.
func tagOf(name string) string {
	if slices.Contains(slotTags, name) {
		return name
	}
	return TagText
}

// resolve finds the slot of a name: exact preset, exact slot, else the first
// slot of the same tag, but for images, with one warning a name (spec 04 §3.5).
func (g *Gateway) resolve(name string) (*Slot, error) {
	if s := g.exact(name); s != nil {
		return s, nil
	}
	tag := tagOf(name)
	if g.config.Slots.File == "" {
		tag = TagText // without a file the script plays every slot
	}
	s, ok := g.config.Slots.firstOfTag(tag)
	if !ok || tag == "image" {
		return nil, Configf("slot %q: not in llm.toml, and no slot of tag %s may answer for it; configured: %s", name, tag, strings.Join(g.config.Slots.Names(), ", "))
	}
	if g.config.OnWarning != nil && g.config.Slots.File != "" && g.firstTime(name+"\n"+s.Name) {
		g.config.OnWarning(fmt.Sprintf("slot %q is not in llm.toml; slot %q answers for it", name, s.Name))
	}
	return s, nil
}

func (g *Gateway) exact(name string) *Slot {
	if i := slices.IndexFunc(g.config.Presets, func(s *Slot) bool { return s.Name == name }); i >= 0 {
		return g.config.Presets[i]
	}
	s, _ := g.config.Slots.Lookup(name)
	return s
}

// bindSlot resolves a name through the request's bindings.
func (g *Gateway) bindSlot(name string, params *Params) (*bound, error) {
	binding := params.Bindings[name]
	s, err := g.resolve(first(binding.Slot, name))
	if err != nil {
		return nil, err
	}
	if binding.Protocol != "" && protocols[binding.Protocol] == nil {
		return nil, Configf("bindings.%s.protocol: %q is not allowed; use one of %s", name, binding.Protocol, strings.Join(ProtocolIDs(), ", "))
	}
	if binding.BaseURL != "" {
		if e := CheckBaseURL(binding.BaseURL); e != nil {
			return nil, e
		}
	}
	return g.config.Table.bind(s, binding), nil
}

// chain lists the targets of a call: the slot and its fallback links up to the
// first repetition; the links belong to the requested slot, not to what it is
// bound to (spec 04 §6.2).
func (g *Gateway) chain(name string, params Params) ([]*bound, error) {
	primary, err := g.bindSlot(name, &params)
	if err != nil {
		return nil, err
	}
	chain := []*bound{primary}
	if params.NoFallback {
		return chain, nil
	}
	requested, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	visited := map[string]bool{requested.Name: true}
	presets := map[string]bool{primary.slot.Name: true}
	for next := requested.Fallback; next != "" && !visited[next]; {
		visited[next] = true
		b, err := g.bindSlot(next, &params)
		if err != nil {
			return nil, err
		}
		if !presets[b.slot.Name] {
			presets[b.slot.Name] = true
			chain = append(chain, b)
		}
		s := g.exact(next)
		if s == nil {
			break
		}
		next = s.Fallback
	}
	return chain, nil
}
