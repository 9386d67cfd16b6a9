package tool

import (
	"encoding/json"
	"slices"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// Set is the tools of one runtime: those it may call and those a request
// offers. It does not change.
type Set struct {
	registry *Registry
	runtime  *plugin.Runtime
	packages packages
	entries  []entry
}

// entry is one authorised tool. Neither builtin nor plugin set: the name is
// declared and nothing stands behind it.
type entry struct {
	name     string
	def      model.Tool
	schema   *plugin.Schema
	builtin  handler
	plugin   *plugin.Tool
	deferred bool // offered only after search-tools found it
	silent   bool // authorised, never offered
}

func (e *entry) exists() bool { return e.builtin != nil || e.plugin != nil }

// Offered gives the definitions for a request: builtin tools, then plugin
// tools, both in declared order, search-tools, the deferred tools that were
// loaded, and runtime-done last where the completion mode offers it.
func (s Set) Offered(loaded []string) []model.Tool {
	list := make([]model.Tool, 0, len(s.entries))
	add := func(want func(e *entry) bool) {
		for i := range s.entries {
			if e := &s.entries[i]; e.exists() && !e.silent && want(e) {
				list = append(list, e.def)
			}
		}
	}
	add(func(e *entry) bool { return !e.deferred && e.name != turn.ToolRuntimeDone })
	add(func(e *entry) bool { return e.deferred && slices.Contains(loaded, e.name) })
	add(func(e *entry) bool { return e.name == turn.ToolRuntimeDone })
	return list
}

// Loaded names the deferred tools that earlier calls of search-tools in a
// transcript found; their definitions are offered from the next step on.
func (s Set) Loaded(transcript []model.Message) []string {
	searches := map[string]bool{}
	var names []string
	for _, m := range transcript {
		for _, c := range m.ToolCalls {
			searches[c.ID] = c.Name == turn.ToolSearchTools
		}
		if m.Role != model.RoleTool || !searches[m.ToolCallID] {
			continue
		}
		var found struct {
			Data foundTools `json:"data"`
		}
		if json.Unmarshal([]byte(m.Content), &found) != nil {
			continue
		}
		for _, t := range found.Data.Tools {
			if !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

// Names lists the runtime's own tools, deferred ones too, without those of the
// loop: the business tools of spec 03 §11.3.
func (s Set) Names() []string {
	var names []string
	for _, e := range s.entries {
		if e.name != turn.ToolRuntimeDone && e.name != turn.ToolSearchTools {
			names = append(names, e.name)
		}
	}
	return names
}

// Remote says whether a call has effects beyond proposals and is not
// idempotent, so that it must never be made twice.
func (s Set) Remote(name string) bool {
	e := s.find(name)
	return e != nil && e.plugin != nil && !e.plugin.Idempotent
}

// OffersDone says whether runtime-done is offered.
func (s Set) OffersDone() bool {
	e := s.find(turn.ToolRuntimeDone)
	return e != nil && !e.silent
}

func (s Set) find(name string) *entry {
	for i := range s.entries {
		if s.entries[i].name == name {
			return &s.entries[i]
		}
	}
	return nil
}
