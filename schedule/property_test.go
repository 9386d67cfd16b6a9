package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/covel-engine/covel/turn"
)

// drawGraph gives up to 30 post-turn runtimes with random edges. Sparse draws
// make deep graphs, dense ones cycles.
func drawGraph(t *rapid.T) []Runtime {
	n := rapid.IntRange(1, 30).Draw(t, "runtimes")
	id := func(i int) string { return fmt.Sprintf("r%02d", i) }
	contracts := []string{"k1@1", "k2@1", "k3@1"}
	forward := rapid.Bool().Draw(t, "forward") // edges to smaller ids only: no cycles
	runtimes := make([]Runtime, n)
	for i := range runtimes {
		r := rt(id(i))
		target := func(label string) string {
			most := n - 1
			if forward {
				most = i - 1
			}
			if most < 0 {
				return "absent"
			}
			return id(rapid.IntRange(0, most).Draw(t, label))
		}
		if rapid.IntRange(0, 2).Draw(t, "provides") == 0 {
			r.Contract = rapid.SampledFrom(contracts).Draw(t, "contract")
		}
		for range rapid.IntRange(0, 2).Draw(t, "edges") {
			contract := rapid.SampledFrom(contracts).Draw(t, "wanted")
			switch rapid.IntRange(0, 6).Draw(t, "edge") {
			case 0:
				r.Needs = append(r.Needs, Dependency{Runtime: target("needs")})
			case 1:
				r.After = append(r.After, Dependency{Runtime: target("after")})
			case 2:
				r.Inputs = append(r.Inputs, Binding{Name: "x", Runtime: target("input"), Required: rapid.Bool().Draw(t, "required")})
			case 3:
				r.Needs = append(r.Needs, Dependency{Contract: contract, All: rapid.Bool().Draw(t, "all")})
			case 4:
				r.Needs = append(r.Needs, Dependency{Contract: contract})
			case 5:
				r.Needs = append(r.Needs, Dependency{Runtime: target("session"), Session: true})
			case 6:
				r.Inputs = append(r.Inputs, Binding{Name: "c", Contract: contract, Committed: rapid.Bool().Draw(t, "committed")})
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "effects") {
			resource := rapid.SampledFrom([]string{"state:a", "state:*", "lorebook:x", "plugin-data:self:n"}).Draw(t, "resource")
			if rapid.Bool().Draw(t, "writes") {
				r.Effects.Writes = append(r.Effects.Writes, resource)
			} else {
				r.Effects.Reads = append(r.Effects.Reads, resource)
			}
		}
		runtimes[i] = r
	}
	return runtimes
}

// hardEdge and the OR groups as spec 03 §3.4 words them.
func refHard(all []Runtime, r Runtime) map[string]bool {
	out := map[string]bool{}
	want := func(runtime, contract string) {
		for _, p := range all {
			if runtime != "" && p.ID == runtime || runtime == "" && p.Contract == contract {
				out[p.ID] = true
			}
		}
	}
	for _, d := range r.Needs {
		if !d.Session && (d.Runtime != "" || d.All) {
			want(d.Runtime, d.Contract)
		}
	}
	for _, d := range r.After {
		want(d.Runtime, d.Contract)
	}
	for _, in := range r.Inputs {
		if !in.Committed {
			want(in.Runtime, in.Contract)
		}
	}
	return out
}

func refGroups(all []Runtime, r Runtime) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, d := range r.Needs {
		if d.Session || d.Runtime != "" || d.All {
			continue
		}
		for _, p := range all {
			if p.Contract == d.Contract {
				if out[d.Contract] == nil {
					out[d.Contract] = map[string]bool{}
				}
				out[d.Contract][p.ID] = true
			}
		}
	}
	return out
}

// refLevels is spec 03 §3.5, sentence by sentence.
func refLevels(all []Runtime, released map[string]bool) (levels [][]string, stuck []string) {
	placed := map[string]bool{}
	for len(placed) < len(all) {
		var ready, loose []string
		for _, r := range all {
			if placed[r.ID] {
				continue
			}
			hardOpen, orOpen, allGroupsServed := false, false, true
			for id := range refHard(all, r) {
				hardOpen = hardOpen || !placed[id]
			}
			for contract, providers := range refGroups(all, r) {
				open, served := false, released[contract]
				for id := range providers {
					open = open || !placed[id]
					served = served || placed[id]
				}
				orOpen = orOpen || open
				allGroupsServed = allGroupsServed && (!open || served)
			}
			if !hardOpen && !orOpen {
				ready = append(ready, r.ID)
			}
			if !hardOpen && allGroupsServed {
				loose = append(loose, r.ID)
			}
		}
		level := ready
		if len(level) == 0 {
			level = loose
		}
		if len(level) == 0 {
			break
		}
		slices.Sort(level)
		for _, id := range level {
			placed[id] = true
		}
		levels = append(levels, level)
	}
	for _, r := range all {
		if !placed[r.ID] {
			stuck = append(stuck, r.ID)
		}
	}
	slices.Sort(stuck)
	return levels, stuck
}

func TestPlanAgainstReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		runtimes := drawGraph(rt)
		s := Plan(playing(runtimes...))
		levels, stuck := refLevels(runtimes, nil)
		var got [][]string
		for _, stage := range s.Stages {
			got = append(got, stage.Levels...)
		}
		if diff := cmp.Diff(levels, got); diff != "" {
			rt.Fatal(diff)
		}
		var skipped []string
		for _, k := range s.Skipped {
			skipped = append(skipped, k.RuntimeID)
			checkCycle(rt, runtimes, stuck, k)
		}
		if diff := cmp.Diff(stuck, skipped); diff != "" {
			rt.Fatal(diff)
		}
		shuffled := slices.Clone(runtimes)
		rnd := rand.New(rand.NewPCG(1, uint64(len(runtimes)))) //nolint:gosec // an order, not a secret
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(s, Plan(playing(shuffled...))); diff != "" {
			rt.Fatalf("the order of the input matters: %s", diff)
		}
		strict := playing(runtimes...)
		strict.Policy = HazardStrict
		checkStrict(rt, runtimes, levels, Plan(strict))
	})
}

// checkCycle holds for a path: closed, smallest first, each step an edge among
// the stuck runtimes; of a member it contains the member.
func checkCycle(t *rapid.T, all []Runtime, stuck []string, k Skip) {
	path := k.CyclePath
	if len(path) < 2 || path[0] != path[len(path)-1] || path[0] != slices.Min(path) {
		t.Fatalf("%s: path %v", k.RuntimeID, path)
	}
	waits := func(from, to string) bool {
		for _, r := range all {
			if r.ID != from {
				continue
			}
			if refHard(all, r)[to] {
				return true
			}
			for _, providers := range refGroups(all, r) {
				if providers[to] {
					return true
				}
			}
		}
		return false
	}
	for i := range len(path) - 1 {
		if !waits(path[i], path[i+1]) || !slices.Contains(stuck, path[i]) {
			t.Fatalf("%s: %s does not wait for %s in %v", k.RuntimeID, path[i], path[i+1], path)
		}
	}
}

// checkStrict holds for serial sub-levels: each level is split, conflicts never
// meet, and a runtime stands in the first sub-level that was free.
func checkStrict(t *rapid.T, all []Runtime, levels [][]string, s Schedule) {
	byID := map[string]Runtime{}
	for _, r := range all {
		byID[r.ID] = r
	}
	var subs [][]string
	for _, stage := range s.Stages {
		subs = append(subs, stage.Levels...)
	}
	clash := func(sub []string, id string) bool {
		return slices.ContainsFunc(sub, func(o string) bool { return len(conflicts(claimsOf(byID[o]), claimsOf(byID[id]))) > 0 })
	}
	for _, level := range levels {
		var want [][]string
		for _, id := range level {
			i := slices.IndexFunc(want, func(sub []string) bool { return !clash(sub, id) })
			if i < 0 {
				want = append(want, nil)
				i = len(want) - 1
			}
			want[i] = append(want[i], id)
		}
		if len(subs) < len(want) {
			t.Fatalf("strict levels %v, want %v next", subs, want)
		}
		if diff := cmp.Diff(want, subs[:len(want)]); diff != "" {
			t.Fatal(diff)
		}
		subs = subs[len(want):]
	}
	if len(subs) != 0 || len(s.Hazards) != 0 {
		t.Fatalf("strict left %v and hazards %v", subs, s.Hazards)
	}
}

// TestDepthAgainstReference checks a depth's graph with providers of earlier
// depths, and that gates of a chain never run what §5.2 forbids.
func TestDepthAgainstReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		runtimes := drawGraph(rt)
		for i := range runtimes {
			runtimes[i].Stage, runtimes[i].Trigger = "", Trigger{Type: TriggerEvent, Topic: "t"}
		}
		results := []Result{ok("e", emits("t", "1"))}
		released := map[string]bool{}
		for _, contract := range []string{"k1@1", "k2@1"} {
			status := rapid.SampledFrom([]turn.RuntimeStatus{turn.RuntimeSuccess, turn.RuntimeFailed, turn.RuntimeSkipped}).Draw(rt, "status")
			released[contract] = status == turn.RuntimeSuccess
			results = append(results, Result{ID: "early-" + contract, Contract: contract, Status: status})
		}
		d := NextDepth(ChainInput{Runtimes: runtimes, Depth: 1, Results: results})
		levels, stuck := refLevels(runtimes, released)
		if diff := cmp.Diff(levels, d.Stage.Levels); diff != "" {
			rt.Fatal(diff)
		}
		if len(stuck) != len(d.Skipped) {
			rt.Fatalf("skipped %v, want %v", d.Skipped, stuck)
		}
	})
}

// TestDropsClose holds for a cascade: nothing that is kept needs something
// that is dropped, and nothing is dropped without a dropped upstream.
func TestDropsClose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		runtimes := drawGraph(rt)
		var results []Result
		for _, r := range runtimes {
			results = append(results, Result{ID: r.ID, Contract: r.Contract, Status: turn.RuntimeSuccess})
		}
		first := runtimes[rapid.IntRange(0, len(runtimes)-1).Draw(rt, "dropped")].ID
		c := DropDependents(runtimes, results, nil, []string{first})
		gone := map[string]bool{first: true}
		for _, d := range c.Dropped {
			if gone[d.RuntimeID] {
				rt.Fatalf("%s is dropped twice", d.RuntimeID)
			}
			gone[d.RuntimeID] = true
		}
		for _, r := range runtimes {
			must := false
			for _, d := range r.Needs {
				must = must || !d.Session && (d.Runtime != "" && gone[d.Runtime])
			}
			for _, in := range r.Inputs {
				must = must || in.Required && !in.Committed && in.Runtime != "" && gone[in.Runtime]
			}
			if must && !gone[r.ID] {
				rt.Fatalf("%s is kept without its upstream", r.ID)
			}
		}
	})
}

func BenchmarkPlan30(b *testing.B) {
	var runtimes []Runtime
	for i := range 30 {
		r := rt(fmt.Sprintf("r%02d", i), writes("state:a"))
		if i%3 != 0 {
			r.Needs = []Dependency{{Runtime: fmt.Sprintf("r%02d", i-1)}, {Contract: "k@1"}}
		} else {
			r.Contract = "k@1"
		}
		runtimes = append(runtimes, r)
	}
	in := playing(runtimes...)
	b.ReportAllocs()
	for b.Loop() {
		if s := Plan(in); len(s.Stages) == 0 {
			b.Fatal("nothing planned")
		}
	}
}
