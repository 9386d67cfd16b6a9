package commit

import (
	"encoding/json"
	"slices"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// scopeTurn is the default scope of needs and inputs; others are no edges.
const scopeTurn = "turn"

// cascade finds what must go with dropped runtimes (spec 03 §10.4 item 3).
type cascade struct {
	results  []turn.RuntimeResult
	runtimes map[string]*plugin.Runtime
	// has says whether a result would leave anything behind.
	has func(*turn.RuntimeResult) bool
}

// dependents gives the results that lose their ground once the given runtimes
// are dropped, repeatedly, in stored order of each round.
func (c *cascade) dependents(dropped []Isolated) []Isolated {
	gone := make(map[string]bool, len(dropped))
	for _, d := range dropped {
		gone[d.RuntimeID] = true
	}
	var found []Isolated
	for again := true; again; {
		again = false
		for i := range c.results {
			r := &c.results[i]
			if gone[r.RuntimeID] || !c.has(r) {
				continue
			}
			if upstream, lost := c.lost(r, gone); lost {
				gone[r.RuntimeID] = true
				found = append(found, Isolated{r.RuntimeID, "upstream " + upstream + " did not commit"})
				again = true
			}
		}
	}
	return found
}

// lost says whether a result hangs on a dropped runtime, and on which.
func (c *cascade) lost(r *turn.RuntimeResult, gone map[string]bool) (string, bool) {
	rt, ok := c.runtimes[r.RuntimeID]
	if !ok {
		return "", false
	}
	for _, need := range rt.Schedule.Needs {
		if need.Scope != "" && need.Scope != scopeTurn {
			continue
		}
		if upstream, lost := c.edgeLost(need.Runtime, need.Contract, need.Cardinality, gone); lost {
			return upstream, true
		}
	}
	for _, in := range rt.IO.Inputs {
		if !in.Required || in.Kernel != "" || in.Scope != "" && in.Scope != scopeTurn {
			continue
		}
		if upstream, lost := c.edgeLost(in.Runtime, in.Contract, in.Cardinality, gone); lost {
			return upstream, true
		}
	}
	return c.emittersLost(rt, gone)
}

func (c *cascade) edgeLost(runtime, contract, cardinality string, gone map[string]bool) (string, bool) {
	if runtime != "" {
		return runtime, gone[runtime]
	}
	first := ""
	for i := range c.results {
		r := &c.results[i]
		rt, ok := c.runtimes[r.RuntimeID]
		if !ok || contract == "" || rt.IO.Output.Contract != contract {
			continue
		}
		switch {
		case gone[r.RuntimeID] && first == "":
			first = r.RuntimeID
		case !gone[r.RuntimeID] && provides(r) && cardinality != cardinalityAll:
			return "", false
		}
	}
	return first, first != ""
}

const cardinalityAll = "all"

// provides says whether a result satisfies a need (spec 03 §5.2).
func provides(r *turn.RuntimeResult) bool {
	return r.Status == turn.RuntimeSuccess || r.Status == turn.RuntimeSkipped && initialized(r)
}

// emittersLost says whether an event follower has lost every emitter of its
// topic. A runtime whose topic nobody emitted ran as a target.
func (c *cascade) emittersLost(rt *plugin.Runtime, gone map[string]bool) (string, bool) {
	if rt.Schedule.Trigger.Type != plugin.TriggerEvent {
		return "", false
	}
	first := ""
	for i := range c.results {
		r := &c.results[i]
		if r.RuntimeID == rt.ID || !emits(r, rt.Schedule.Trigger.Topic) {
			continue
		}
		if !gone[r.RuntimeID] {
			return "", false
		}
		if first == "" {
			first = r.RuntimeID
		}
	}
	return first, first != ""
}

func emits(r *turn.RuntimeResult, topic string) bool {
	return r.Status == turn.RuntimeSuccess && r.Effects != nil &&
		slices.ContainsFunc(r.Effects.Events, func(e turn.Event) bool { return e.Topic == topic })
}

// initialized reads a guard's answer: a skip that says initialized: true.
func initialized(r *turn.RuntimeResult) bool {
	var value struct {
		Initialized bool `json:"initialized"`
	}
	for _, raw := range []json.RawMessage{r.CanonicalValue, r.Output} {
		if len(raw) > 0 && json.Unmarshal(raw, &value) == nil && value.Initialized {
			return true
		}
	}
	return false
}
