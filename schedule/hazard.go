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

// conflicts lists what a and b conflict about, in order, each once.
func conflicts(a, b Runtime) []string {
	if a.Effects.ParallelSafe || b.Effects.ParallelSafe {
		return nil
	}
	aw, bw := resources(a.Effects.Writes, a.PluginID), resources(b.Effects.Writes, b.PluginID)
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
	add(aw, bw)
	add(aw, resources(b.Effects.Reads, b.PluginID))
	add(bw, resources(a.Effects.Reads, a.PluginID))
	slices.Sort(found)
	return slices.Compact(found)
}

// settle applies the policy to one level: warnings, or serial sub-levels into
// whose first free one each runtime goes, by id.
func settle(level []Runtime, policy string) (levels [][]string, hazards []Hazard) {
	if policy != HazardStrict {
		for i, a := range level {
			for _, b := range level[i+1:] {
				for _, resource := range conflicts(a, b) {
					hazards = append(hazards, Hazard{Code: HazardEffectsConflict, Runtimes: []string{a.ID, b.ID}, Resource: resource})
				}
			}
		}
		return [][]string{ids(level)}, hazards
	}
	var subs [][]Runtime
	for _, rt := range level {
		free := slices.IndexFunc(subs, func(sub []Runtime) bool {
			return !slices.ContainsFunc(sub, func(o Runtime) bool { return len(conflicts(o, rt)) > 0 })
		})
		if free < 0 {
			subs, free = append(subs, nil), len(subs)
		}
		subs[free] = append(subs[free], rt)
	}
	for _, sub := range subs {
		levels = append(levels, ids(sub))
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
