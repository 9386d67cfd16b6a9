package schedule

import "slices"

// Skip is a runtime that never runs because it waits for itself (spec 03
// §3.6).
type Skip struct {
	RuntimeID string
	Stage     string
	Reason    string
	SkippedBy string
	CyclePath []string
}

// Reasons and authors of skips that scheduling and gates decide.
const (
	ReasonCycle            = "dependency-cycle"
	ReasonSetupIncomplete  = "setup-incomplete"
	ReasonWorldDimensions  = "world dimensions not available"
	SkippedByCycle         = "framework:dependencyCycle"
	SkippedBySetupGate     = "framework:setupGate"
	SkippedByNeeds         = "framework:needs"
	SkippedByDimensions    = "framework:worldDimensions"
	SkippedByInputs        = "framework:inputs"
	SkippedByGuard         = "guard"
	SkippedByPreRuntime    = "hook:PreRuntime"
	skippedByFrameworkHead = "framework:"
)

// skips describes the runtimes that the levels could not place.
func (g *graph) skips(stuck []int, stage string) []Skip {
	paths := g.cyclePaths(stuck)
	list := make([]Skip, 0, len(stuck))
	for _, i := range stuck {
		at := stage
		if own := g.nodes[i].rt.Stage; stage == StageManual && own != "" {
			at = own
		}
		list = append(list, Skip{
			RuntimeID: g.nodes[i].rt.ID, Stage: at,
			Reason: ReasonCycle, SkippedBy: SkippedByCycle, CyclePath: paths[i],
		})
	}
	return list
}

// cyclePaths gives each stuck runtime the cycle it waits for: of a member the
// shortest through itself, of another that of the nearest member. A path
// follows the direction of waiting, starts with its smallest id and ends by
// repeating it.
func (g *graph) cyclePaths(stuck []int) map[int][]string {
	waits := make(map[int][]int, len(stuck))
	for _, i := range stuck {
		next := slices.Clone(g.nodes[i].hard)
		for _, o := range g.nodes[i].or {
			next = append(next, o.providers...)
		}
		next = slices.DeleteFunc(next, func(j int) bool { return !slices.Contains(stuck, j) })
		slices.Sort(next)
		waits[i] = slices.Compact(next)
	}
	own := make(map[int][]string, len(stuck))
	for _, i := range stuck {
		if cycle := shortestPath(waits, i, func(j int) bool { return j == i }); cycle != nil {
			own[i] = g.closed(cycle[:len(cycle)-1])
		}
	}
	paths := make(map[int][]string, len(stuck))
	for _, i := range stuck {
		if own[i] != nil {
			paths[i] = own[i]
			continue
		}
		way := shortestPath(waits, i, func(j int) bool { return own[j] != nil })
		if len(way) > 0 {
			paths[i] = own[way[len(way)-1]]
		}
	}
	return paths
}

// shortestPath walks breadth first from a node over at least one edge to the
// first node that matches; ties go to the smaller index.
func shortestPath(edges map[int][]int, from int, match func(int) bool) []int {
	before := map[int]int{}
	queue := []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, next := range edges[at] {
			if match(next) {
				path := []int{next}
				for n := at; ; n = before[n] {
					path = append(path, n)
					if n == from {
						slices.Reverse(path)
						return path
					}
				}
			}
			if _, seen := before[next]; !seen && next != from {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// closed rotates a cycle so that its smallest id comes first and repeats it.
func (g *graph) closed(cycle []int) []string {
	first := slices.Index(cycle, slices.Min(cycle)) // nodes are in id order
	ids := make([]string, 0, len(cycle)+1)
	for k := range len(cycle) + 1 {
		ids = append(ids, g.nodes[cycle[(first+k)%len(cycle)]].rt.ID)
	}
	return ids
}
