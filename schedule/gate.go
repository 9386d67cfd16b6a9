package schedule

import (
	"slices"
	"strings"

	"github.com/covel-engine/covel/turn"
)

// ContractDimensions is the contract of the session's world dimensions.
const ContractDimensions = "world.dimensions@1"

// Facts are what the gates of one runtime look at.
type Facts struct {
	// Runtimes are the active ones.
	Runtimes []Runtime
	// Results of this execution so far, seeds included, in any order.
	Results []Result
	// Setup holds the entries as they are now: a late setup runtime that
	// completed in this execution is done.
	Setup SetupMap
}

// Decision answers a gate: run, or skip with the members of the result.
type Decision struct {
	Run              bool
	Reason           string
	SkippedBy        string
	MissingUpstreams []string
}

// Gate checks setup, needs and world state, in this order (spec 03 §5.1 steps
// 1 to 3). Payload, inputs, hooks and guard follow.
func Gate(rt Runtime, f Facts) Decision {
	if !rt.Setup() {
		for _, s := range f.Runtimes {
			if s.PluginID == rt.PluginID && s.Setup() && !f.Setup.finished(s) {
				return Decision{Reason: ReasonSetupIncomplete, SkippedBy: SkippedBySetupGate}
			}
		}
	}
	if missing := f.missingNeeds(rt); len(missing) > 0 {
		return Decision{
			Reason: "upstream not success: " + strings.Join(missing, ", "), SkippedBy: SkippedByNeeds, MissingUpstreams: missing,
		}
	}
	if rt.Story {
		for _, r := range f.Results {
			if r.Contract == ContractDimensions && !r.Seed && (r.Status == turn.RuntimeFailed || r.Status == turn.RuntimeSuspended) {
				return Decision{Reason: ReasonWorldDimensions, SkippedBy: SkippedByDimensions}
			}
		}
	}
	return Decision{Run: true}
}

// GateInputs decides on the resolved bindings: has says which ones got a
// value (spec 03 §5.1 step 4).
func GateInputs(rt Runtime, has func(binding string) bool) Decision {
	for _, in := range rt.Inputs {
		if in.Required && !has(in.Name) {
			return Decision{Reason: "missing input: " + in.Name, SkippedBy: SkippedByInputs}
		}
	}
	return Decision{Run: true}
}

// missingNeeds names what keeps the needs unsatisfied: runtime ids, or a
// contract that has no provider (spec 03 §5.2).
func (f Facts) missingNeeds(rt Runtime) []string {
	var missing []string
	for _, d := range rt.Needs {
		for _, name := range f.missing(d) {
			if !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

func (f Facts) missing(d Dependency) []string {
	if d.Runtime != "" {
		if f.satisfied(d.Runtime) {
			return nil
		}
		return []string{d.Runtime}
	}
	providers := f.providers(d.Contract)
	var open []string
	for _, id := range providers {
		if !f.satisfied(id) {
			open = append(open, id)
		}
	}
	switch {
	case len(providers) == 0:
		return []string{d.Contract}
	case !d.All && len(open) < len(providers):
		return nil
	}
	return open
}

// satisfied says whether a runtime's result or its done entry satisfies.
func (f Facts) satisfied(id string) bool {
	if slices.ContainsFunc(f.Results, func(r Result) bool { return r.ID == id && r.satisfies() }) {
		return true
	}
	return slices.ContainsFunc(f.Runtimes, func(rt Runtime) bool { return rt.ID == id && rt.Setup() && f.Setup.finished(rt) })
}

// providers are the runtimes of a contract that took part in this execution,
// and the finished setup runtimes; in id order.
func (f Facts) providers(contract string) []string {
	var list []string
	for _, r := range f.Results {
		if r.Contract == contract {
			list = append(list, r.ID)
		}
	}
	for _, rt := range f.Runtimes {
		if rt.Contract == contract && rt.Setup() && f.Setup.finished(rt) {
			list = append(list, rt.ID)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
