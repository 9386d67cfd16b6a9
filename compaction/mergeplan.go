package compaction

// minMergeTokens is the least budget of a merge (spec 02 §6.9).
const minMergeTokens = 64

// MergePlan says how many of the oldest summaries are merged into one of at
// most Budget tokens; 0 merges none.
type MergePlan struct {
	Merge  int
	Budget int
}

// planMerge finds the smallest merge that makes room for a fresh segment of
// fresh tokens. sizes are the saved summaries' tokens, oldest first; least is
// minMerge of spec 02 §6.9.
func planMerge(sizes []int, fresh int, budget Budget, least int) (MergePlan, bool) {
	n, old := len(sizes), 0
	for _, e := range sizes {
		old += e
	}
	if n+1 <= budget.MaxSegments && old+fresh <= budget.MaxTokens {
		return MergePlan{}, true
	}
	selected := 0
	for k := 1; k <= n; k++ {
		selected += sizes[k-1]
		share := ceilDiv(3*selected, 4)
		if k == n {
			share = max(least, share)
		}
		room := min(budget.MaxSegmentTokens, budget.MaxTokens-fresh-(old-selected), share)
		if n-k+2 <= budget.MaxSegments && room >= least {
			return MergePlan{Merge: k, Budget: room}, true
		}
	}
	return MergePlan{}, false
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
