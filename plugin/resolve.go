package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// RootContract is what every session needs: a story runtime (spec 05 §4.3).
const RootContract = "narrative-engine@2"

// Request says which packages a new session wants (spec 05 §4.3). Requested
// and WorldRequested keep their order, which decides conflicts.
type Request struct {
	Requested      []string
	Excluded       []string
	Approved       []string
	WorldRequested []string
	WorldRequires  []string
}

// Resolution is which packages a session gets, and why others not.
type Resolution struct {
	Active    []string
	AutoAdded []string
	Rejected  []Rejection
	Unmet     []Unmet
}

// Rejection is a package that was wanted and is not active.
type Rejection struct {
	ID     string
	Code   string // conflict, default-replaced, excluded or not-installed
	By     string // the package or contract that caused it
	Detail string
}

// Unmet is a requirement without an active provider. By is the requiring
// package, "world" or "session".
type Unmet struct {
	Code       string // missing-provider, ambiguous-provider, excluded or approval-required
	Contract   string
	By         string
	Candidates []string
}

// Error names the requirement and what to do.
func (u Unmet) Error() string {
	what := fmt.Sprintf("%s requires contract %s", u.By, u.Contract)
	switch u.Code {
	case "ambiguous-provider":
		return fmt.Sprintf("%s, which %s provide; request one of them", what, strings.Join(u.Candidates, " and "))
	case "excluded":
		return fmt.Sprintf("%s, but its providers are excluded: %s; stop excluding one", what, strings.Join(u.Candidates, ", "))
	case "approval-required":
		return fmt.Sprintf("%s, which only %s of the user directory provides; approve or request it", what, strings.Join(u.Candidates, ", "))
	}
	return what + ", which no installed package provides; install one"
}

// wanted ranks why a package is active; lower wins a conflict.
type wanted struct {
	rank  int // 0 requested, 1 world-requested, 2 core, 3 auto-added
	index int
}

type resolver struct {
	gen      *Generation
	req      Request
	explicit map[string]wanted
	rejected map[string]Rejection
	auto     map[string]bool
	unmet    []Unmet
}

// Resolve decides which packages a session gets. The result is always
// complete; the error is a *turn.Error whose code blocks creation:
// missing-provider, ambiguous-provider, any lack of narrative-engine@2, or
// unknown-reference for a requested package that is not loaded.
func (g *Generation) Resolve(req Request) (Resolution, error) {
	r := &resolver{gen: g, req: req, explicit: map[string]wanted{}, rejected: map[string]Rejection{}}
	unknown := r.start()
	for r.settle() {
	}
	out := r.result()
	if unknown != "" {
		return out, refusef("plugin.Resolve", "unknown-reference", "requested plugin %q is not loaded%s; loaded are %s", unknown, r.whyBroken(unknown), strings.Join(g.ids, ", "))
	}
	for _, u := range out.Unmet {
		if u.Code == "missing-provider" || u.Code == "ambiguous-provider" || u.Contract == RootContract {
			return out, refusef("plugin.Resolve", u.Code, "%w", u)
		}
	}
	return out, nil
}

func (r *resolver) whyBroken(id string) string {
	b, ok := r.gen.broken[id]
	switch {
	case !ok:
		return ""
	case b.Replaces != "":
		return fmt.Sprintf(" (the package in %s has errors, and %s does not stand in for it; run covel check plugin)", b.Origin, b.Replaces)
	}
	return fmt.Sprintf(" (the package in %s has errors; run covel check plugin)", b.Origin)
}

// start fills the explicit set: exclusion always wins, even for core.
func (r *resolver) start() (unknown string) {
	want := func(id string, w wanted) bool {
		if _, ok := r.gen.manifest[id]; !ok {
			return false
		}
		if slices.Contains(r.req.Excluded, id) {
			r.rejected[id] = Rejection{ID: id, Code: "excluded", By: "request", Detail: "the request excludes it"}
			return true
		}
		if _, ok := r.explicit[id]; !ok {
			r.explicit[id] = w
		}
		return true
	}
	for i, id := range r.req.Requested {
		if !want(id, wanted{0, i}) && unknown == "" {
			unknown = id
		}
	}
	for i, id := range r.req.WorldRequested {
		if !want(id, wanted{1, i}) {
			r.rejected[id] = Rejection{ID: id, Code: "not-installed", By: "world", Detail: "the world requests it, but it is not loaded" + r.whyBroken(id)}
		}
	}
	for i, id := range r.gen.ids {
		if r.gen.manifest[id].Kind == "core" {
			want(id, wanted{2, i})
		}
	}
	return unknown
}

// settle computes the auto-added packages anew and removes one package that may
// not stay; it says whether it must be called again.
func (r *resolver) settle() bool {
	r.auto, r.unmet = map[string]bool{}, nil
	for changed := true; changed; {
		changed = false
		r.unmet = nil
		for _, need := range r.needs() {
			if r.activeProvider(need.Contract) {
				continue
			}
			if id, unmet := r.choose(need); id != "" {
				r.auto[id] = true
				changed = true
				break
			} else if !slices.ContainsFunc(r.unmet, func(u Unmet) bool { return u.Contract == unmet.Contract }) {
				r.unmet = append(r.unmet, unmet)
			}
		}
	}
	return r.stepAside() || r.conflict()
}

func (r *resolver) active() []string {
	var out []string
	for _, id := range r.gen.ids {
		if _, gone := r.rejected[id]; gone {
			continue
		}
		if _, ok := r.explicit[id]; ok || r.auto[id] {
			out = append(out, id)
		}
	}
	return out
}

func (r *resolver) needs() []Unmet {
	out := []Unmet{{Contract: RootContract, By: "session"}}
	for _, c := range r.req.WorldRequires {
		out = append(out, Unmet{Contract: c, By: "world"})
	}
	for _, id := range r.active() {
		for _, c := range r.gen.manifest[id].Requires {
			out = append(out, Unmet{Contract: c, By: id})
		}
	}
	return out
}

func (r *resolver) activeProvider(contract string) bool {
	return slices.ContainsFunc(r.active(), func(id string) bool { return r.gen.manifest[id].provides(contract) })
}

// choose picks a provider: the only candidate, else the only default one.
func (r *resolver) choose(need Unmet) (string, Unmet) {
	var usable, defaults, excluded, unapproved []string
	for _, id := range r.gen.ids {
		m := r.gen.manifest[id]
		if !m.provides(need.Contract) {
			continue
		}
		if rej, gone := r.rejected[id]; gone {
			if rej.Code == "excluded" {
				excluded = append(excluded, id)
			}
			continue
		}
		switch {
		case slices.Contains(r.req.Excluded, id):
			excluded = append(excluded, id)
		case slices.Contains(m.Tags, "test"):
		case m.User && !slices.Contains(r.req.Approved, id):
			unapproved = append(unapproved, id)
		default:
			usable = append(usable, id)
			if slices.ContainsFunc(m.Provides, func(p Provided) bool { return p.Contract == need.Contract && p.Default }) {
				defaults = append(defaults, id)
			}
		}
	}
	switch {
	case len(usable) == 1:
		return usable[0], Unmet{}
	case len(defaults) == 1:
		return defaults[0], Unmet{}
	case len(usable) > 1:
		need.Code, need.Candidates = "ambiguous-provider", usable
	case len(unapproved) > 0:
		need.Code, need.Candidates = "approval-required", unapproved
	case len(excluded) > 0:
		need.Code, need.Candidates = "excluded", excluded
	default:
		need.Code = "missing-provider"
	}
	return "", need
}

// stepAside rejects a default provider that an explicit one replaces. A package
// that the request or the world names is never a mere default.
func (r *resolver) stepAside() bool {
	active := r.active()
	for _, id := range active {
		if w, ok := r.explicit[id]; ok && w.rank < 2 {
			continue
		}
		for _, p := range r.gen.manifest[id].Provides {
			if !p.Default {
				continue
			}
			for _, other := range active {
				if other != id && slices.ContainsFunc(r.gen.manifest[other].Provides, func(q Provided) bool { return q.Contract == p.Contract && !q.Default }) {
					r.rejected[id] = Rejection{ID: id, Code: "default-replaced", By: other, Detail: fmt.Sprintf("%s provides %s explicitly", other, p.Contract)}
					return true
				}
			}
		}
	}
	return false
}

// conflict rejects the later of two packages of which one does not stand the
// other's contract.
func (r *resolver) conflict() bool {
	active := r.active()
	slices.SortFunc(active, func(a, b string) int { return r.order(a, b) })
	for i, earlier := range active {
		for _, later := range active[i+1:] {
			if c := conflictOf(r.gen.manifest[earlier], r.gen.manifest[later]); c != "" {
				r.rejected[later] = Rejection{ID: later, Code: "conflict", By: earlier, Detail: fmt.Sprintf("%s and %s conflict about %s", earlier, later, c)}
				return true
			}
		}
	}
	return false
}

func conflictOf(a, b *Manifest) string {
	for _, c := range a.Conflicts {
		if b.provides(c) {
			return c
		}
	}
	for _, c := range b.Conflicts {
		if a.provides(c) {
			return c
		}
	}
	return ""
}

func (r *resolver) order(a, b string) int {
	rank := func(id string) wanted {
		if w, ok := r.explicit[id]; ok {
			return w
		}
		return wanted{rank: 3}
	}
	x, y := rank(a), rank(b)
	return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.index, y.index), cmp.Compare(a, b))
}

func (r *resolver) result() Resolution {
	out := Resolution{Active: r.active(), Unmet: r.unmet}
	for _, id := range out.Active {
		if _, explicit := r.explicit[id]; !explicit {
			out.AutoAdded = append(out.AutoAdded, id)
		}
	}
	for _, id := range sortedKeys(r.rejected) {
		out.Rejected = append(out.Rejected, r.rejected[id])
	}
	return out
}
