package schedule

import (
	"slices"

	"github.com/covel-engine/covel/turn"
)

// Drop is one runtime that does not commit.
type Drop struct {
	RuntimeID string
	Reason    string
}

// Cascade is what the dropping of runtimes leads to (spec 03 §10.4 item 3).
type Cascade struct {
	// Dropped are the further ones, in order of dropping.
	Dropped []Drop
	// Rollback names a story or setup runtime that would be dropped.
	Rollback string
}

// DropDependents drops the hard dependents of dropped runtimes, repeatedly.
// Results are in stored order; runtimes declare their dependencies.
func DropDependents(runtimes []Runtime, results []Result, setup SetupMap, dropped []string) Cascade {
	c := cascade{
		runtimes: make(map[string]Runtime, len(runtimes)),
		results:  results, setup: setup, gone: idSet(dropped), facts: Facts{Runtimes: runtimes, Setup: setup},
	}
	for _, rt := range runtimes {
		c.runtimes[rt.ID] = rt
	}
	for again := true; again; {
		again = false
		for _, r := range results {
			if c.gone[r.ID] || !droppable(r) {
				continue
			}
			upstream := c.lost(r)
			if upstream == "" {
				continue
			}
			if rt := c.runtimes[r.ID]; !rt.Optional() || r.Story {
				c.out.Rollback = r.ID
				return c.out
			}
			c.gone[r.ID] = true
			c.out.Dropped = append(c.out.Dropped, Drop{RuntimeID: r.ID, Reason: "upstream " + upstream + " did not commit"})
			again = true
		}
	}
	return c.out
}

// droppable results contribute something to the commit.
func droppable(r Result) bool {
	return !r.Seed && (r.Status == turn.RuntimeSuccess || r.Status == turn.RuntimeSuspended ||
		r.Status == turn.RuntimeSkipped && r.Writes)
}

type cascade struct {
	runtimes map[string]Runtime
	results  []Result
	setup    SetupMap
	facts    Facts
	gone     map[string]bool
	out      Cascade
}

// lost names the dropped upstream that a result cannot do without.
func (c *cascade) lost(r Result) string {
	rt := c.runtimes[r.ID]
	for _, d := range rt.Needs {
		if d.Session {
			continue
		}
		if id := c.lostSource(d.Runtime, d.Contract, d.All); id != "" {
			return id
		}
	}
	for _, in := range rt.Inputs {
		if in.Committed || !in.Required {
			continue
		}
		if id := c.lostSource(in.Runtime, in.Contract, in.All); id != "" {
			return id
		}
	}
	if r.Depth > 0 {
		return c.lostEmitter(r)
	}
	return ""
}

// lostSource names a dropped runtime or provider. One provider of a contract
// is enough while it committed.
func (c *cascade) lostSource(runtime, contract string, all bool) string {
	if runtime != "" {
		if c.gone[runtime] {
			return runtime
		}
		return ""
	}
	lost, kept := "", false
	for _, r := range c.results {
		if r.Contract != contract {
			continue
		}
		switch {
		case c.gone[r.ID] && lost == "":
			lost = r.ID
		case !c.gone[r.ID] && r.satisfies():
			kept = true
		}
	}
	for _, rt := range c.facts.Runtimes {
		kept = kept || rt.Contract == contract && rt.Setup() && c.setup.finished(rt)
	}
	if kept && !all {
		return ""
	}
	return lost
}

// lostEmitter names the first emitter of a follower all of whose emitters were
// dropped.
func (c *cascade) lostEmitter(r Result) string {
	first := ""
	for _, e := range c.results {
		if e.Depth != r.Depth-1 || e.Status != turn.RuntimeSuccess ||
			!slices.ContainsFunc(e.Events, func(ev turn.Event) bool { return ev.Topic == r.Topic }) {
			continue
		}
		if !c.gone[e.ID] {
			return ""
		}
		if first == "" {
			first = e.ID
		}
	}
	return first
}
