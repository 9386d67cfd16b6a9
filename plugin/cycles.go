package plugin

import (
	"fmt"
	"slices"
	"strings"
)

// checkPackageCycles refuses runtimes of one package that wait for each other
// (spec 05 §3.1).
func (p *pkg) checkPackageCycles() {
	edges := map[string][]string{}
	for _, r := range p.manifest.Runtimes {
		add := func(runtime, contract string) {
			for _, to := range p.manifest.Runtimes {
				if runtime == to.ID || contract != "" && to.IO.Output.Contract == contract {
					edges[r.ID] = append(edges[r.ID], to.ID)
				}
			}
		}
		for _, d := range r.Schedule.Needs {
			add(d.Runtime, d.Contract)
		}
		for _, d := range r.Schedule.After {
			add(d.Runtime, d.Contract)
		}
		for _, in := range r.IO.Inputs {
			if in.Scope == "turn" {
				add(in.Runtime, in.Contract)
			}
		}
	}
	reported := map[string]bool{}
	for i, r := range p.manifest.Runtimes {
		cycle := findCycle(r.ID, edges)
		if cycle == nil || reported[r.ID] {
			continue
		}
		for _, id := range cycle {
			reported[id] = true
		}
		rf := p.runtimes[i]
		p.add("dependency-cycle", rf.file.Path, at(rf.prefix, "schedule"), rf.node.Get("schedule"), rf.node,
			fmt.Sprintf("%s: %s wait for each other", at(rf.prefix, "schedule"), strings.Join(append(cycle, cycle[0]), " → ")), "Remove one of the dependencies.")
	}
}

// findCycle gives the shortest way from a runtime back to itself.
func findCycle(start string, edges map[string][]string) []string {
	type step struct{ path []string }
	queue := []step{{path: []string{start}}}
	seen := map[string]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, next := range edges[s.path[len(s.path)-1]] {
			if next == start {
				return s.path
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, step{path: append(slices.Clone(s.path), next)})
			}
		}
	}
	return nil
}
