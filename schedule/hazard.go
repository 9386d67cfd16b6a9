package schedule

import (
	"slices"
	"strings"

	"github.com/covel-engine/covel/turn"
)

// Policies for conflicting effects (spec 03 §3.7).
const (
	HazardWarn   = "warn"
	HazardStrict = "strict"
)

// Codes of scheduling.hazard events.
const (
	HazardEffectsConflict     = "effects-conflict"
	HazardEventDropped        = "event-payload-dropped"
	HazardDetachedIneligible  = "detached-runtime-ineligible"
	HazardDetachedSetupInline = "detached-setup-runtime-foreground"
)

// Hazard is one scheduling.hazard event.
type Hazard struct {
	Code     string
	Runtimes []string
	// Resource is what two runtimes conflict about, or the topic of a lost
	// payload, whose data is Lost.
	Resource string
	Lost     *turn.Event
}

// guarded are the kinds of resources that can conflict.
var guarded = []string{"plugin-data:", "state:", "characters:", "lorebook:", "dimensions:"}

// resources gives the guarded ones, plugin-data:self spelled with its owner.
func resources(list []string, pluginID string) []string {
	var out []string
	for _, r := range list {
		if rest, ok := strings.CutPrefix(r, "plugin-data:self:"); ok {
			r = "plugin-data:" + pluginID + ":" + rest
		}
		if slices.ContainsFunc(guarded, func(kind string) bool { return strings.HasPrefix(r, kind) }) {
			out = append(out, r)
		}
	}
	return out
}

// overlap names the resource two declarations share, the narrower spelling of
// the two, "" for none. A name that ends in * stands for all of its kind.
func overlap(a, b string) string {
	switch {
	case a == b:
		return a
	case strings.HasSuffix(a, "*") && strings.HasPrefix(b, strings.TrimSuffix(a, "*")):
		return b
	case strings.HasSuffix(b, "*") && strings.HasPrefix(a, strings.TrimSuffix(b, "*")):
		return a
	}
	return ""
}

// claims are the guarded resources of one runtime.
type claims struct {
	id            string
	reads, writes []string
}

func claimsOf(rt Runtime) claims {
	c := claims{id: rt.ID}
	if !rt.Effects.ParallelSafe {
		c.reads, c.writes = resources(rt.Effects.Reads, rt.PluginID), resources(rt.Effects.Writes, rt.PluginID)
	}
	return c
}

// conflicts lists what a and b conflict about, in order, each once.
func conflicts(a, b claims) []string {
	var found []string
	add := func(writes, others []string) {
		for _, w := range writes {
			for _, o := range others {
				if r := overlap(w, o); r != "" {
					found = append(found, r)
				}
			}
		}
	}
	add(a.writes, b.writes)
	add(a.writes, b.reads)
	add(b.writes, a.reads)
	slices.Sort(found)
	return slices.Compact(found)
}

// settle applies the policy to one level: warnings, or serial sub-levels into
// whose first free one each runtime goes, by id.
func settle(level []Runtime, policy string) (levels [][]string, hazards []Hazard) {
	all := make([]claims, len(level))
	for i, rt := range level {
		all[i] = claimsOf(rt)
	}
	if policy != HazardStrict {
		for i, a := range all {
			for _, b := range all[i+1:] {
				for _, resource := range conflicts(a, b) {
					hazards = append(hazards, Hazard{Code: HazardEffectsConflict, Runtimes: []string{a.id, b.id}, Resource: resource})
				}
			}
		}
		return [][]string{ids(level)}, hazards
	}
	var subs [][]claims
	for _, c := range all {
		free := slices.IndexFunc(subs, func(sub []claims) bool {
			return !slices.ContainsFunc(sub, func(o claims) bool { return len(conflicts(o, c)) > 0 })
		})
		if free < 0 {
			subs, free = append(subs, nil), len(subs)
		}
		subs[free] = append(subs[free], c)
	}
	for _, sub := range subs {
		var names []string
		for _, c := range sub {
			names = append(names, c.id)
		}
		levels = append(levels, names)
	}
	return levels, nil
}

func ids(runtimes []Runtime) []string {
	list := make([]string, 0, len(runtimes))
	for _, rt := range runtimes {
		list = append(list, rt.ID)
	}
	return list
}
