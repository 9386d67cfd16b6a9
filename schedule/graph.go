package schedule

import (
	"slices"
)

// graph is the dependency graph of one stage or one depth. Nodes are in id
// order, so that names break ties.
type graph struct {
	nodes []node
	index map[string]int
	// released are contracts that an earlier depth satisfied (spec 03 §3.5).
	released map[string]bool
}

type node struct {
	rt Runtime
	// hard are the nodes that must be placed first.
	hard []int
	// or are the groups of providers of which one may be enough.
	or []group
}

// group is an OR edge: the in-graph providers of one contract.
type group struct {
	contract  string
	providers []int
}

// newGraph builds the edges of spec 03 §3.4 among runtimes.
func newGraph(runtimes []Runtime, released map[string]bool) *graph {
	g := &graph{index: make(map[string]int, len(runtimes)), released: released}
	sorted := slices.Clone(runtimes)
	slices.SortFunc(sorted, func(a, b Runtime) int { return compareID(a.ID, b.ID) })
	for i, rt := range sorted {
		g.nodes = append(g.nodes, node{rt: rt})
		g.index[rt.ID] = i
	}
	for i := range g.nodes {
		g.connect(&g.nodes[i])
	}
	return g
}

func (g *graph) connect(n *node) {
	hard := func(runtime, contract string) {
		if runtime != "" {
			if i, ok := g.index[runtime]; ok {
				n.hard = append(n.hard, i)
			}
			return
		}
		n.hard = append(n.hard, g.providers(contract)...)
	}
	for _, d := range n.rt.Needs {
		switch {
		case d.Session:
		case d.Runtime == "" && !d.All:
			if p := g.providers(d.Contract); len(p) > 0 {
				n.or = append(n.or, group{contract: d.Contract, providers: p})
			}
		default:
			hard(d.Runtime, d.Contract)
		}
	}
	for _, d := range n.rt.After {
		hard(d.Runtime, d.Contract)
	}
	for _, in := range n.rt.Inputs {
		if !in.Committed {
			hard(in.Runtime, in.Contract)
		}
	}
	slices.Sort(n.hard)
	n.hard = slices.Compact(n.hard)
}

func (g *graph) providers(contract string) []int {
	var list []int
	if contract == "" {
		return nil
	}
	for i := range g.nodes {
		if g.nodes[i].rt.Contract == contract {
			list = append(list, i)
		}
	}
	return list
}

// levels places every runtime that can be placed (spec 03 §3.5); stuck are
// cycle members and everything behind them.
func (g *graph) levels() (levels [][]int, stuck []int) {
	placed := make([]bool, len(g.nodes))
	all := func(ids []int) bool {
		return !slices.ContainsFunc(ids, func(i int) bool { return !placed[i] })
	}
	ready := func(n *node) bool {
		return all(n.hard) && !slices.ContainsFunc(n.or, func(o group) bool { return !all(o.providers) })
	}
	// loose holds when only OR providers block, and each group has one already.
	loose := func(n *node) bool {
		return all(n.hard) && !slices.ContainsFunc(n.or, func(o group) bool {
			return !all(o.providers) && !g.released[o.contract] &&
				!slices.ContainsFunc(o.providers, func(i int) bool { return placed[i] })
		})
	}
	for left := len(g.nodes); left > 0; {
		level := g.unplaced(placed, ready)
		if len(level) == 0 {
			level = g.unplaced(placed, loose)
		}
		if len(level) == 0 {
			return levels, g.unplaced(placed, func(*node) bool { return true })
		}
		for _, i := range level {
			placed[i] = true
		}
		levels = append(levels, level)
		left -= len(level)
	}
	return levels, nil
}

func (g *graph) unplaced(placed []bool, may func(*node) bool) []int {
	var list []int
	for i := range g.nodes {
		if !placed[i] && may(&g.nodes[i]) {
			list = append(list, i)
		}
	}
	return list
}

func (g *graph) runtimes(level []int) []Runtime {
	list := make([]Runtime, 0, len(level))
	for _, i := range level {
		list = append(list, g.nodes[i].rt)
	}
	return list
}

func compareID(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
