package schedule

import (
	"strings"

	"github.com/covel-engine/covel/turn"
)

// Verdict says what the story rules of spec 03 §8 make of an execution.
type Verdict struct {
	// Rollback names why the whole execution is rolled back; RuntimeID whose
	// result it is. Code is set when a failed story has none of its own.
	Rollback  bool
	RuntimeID string
	Code      string
	Reason    string
	// Story says that a story runtime succeeded, so that optional runtimes get
	// savepoints of their own.
	Story bool
	// Suspended says that a result is suspended: the execution counts as none.
	Suspended bool
}

// Judge applies the story rules to the results, in stored order.
func Judge(results []Result) Verdict {
	var v Verdict
	var gated *Result
	for i, r := range results {
		if r.Seed {
			continue
		}
		v.Suspended = v.Suspended || r.Status == turn.RuntimeSuspended
		if !r.Story || v.Rollback {
			continue
		}
		switch {
		case r.Status == turn.RuntimeFailed:
			v.Rollback, v.RuntimeID, v.Reason = true, r.ID, "story runtime "+r.ID+" failed"
		case r.Status == turn.RuntimeSuccess && r.EmptyStory:
			v.Rollback, v.RuntimeID, v.Code, v.Reason = true, r.ID, turn.CodeEmptyNarrative, "story runtime "+r.ID+" gave no text"
		case r.Status == turn.RuntimeSuccess:
			v.Story = true
		case r.Status == turn.RuntimeSkipped && strings.HasPrefix(r.SkippedBy, skippedByFrameworkHead) && gated == nil:
			gated = &results[i]
		}
	}
	if !v.Rollback && !v.Story && gated != nil {
		v.Rollback, v.RuntimeID, v.Reason = true, gated.ID, "story runtime "+gated.ID+" was skipped by "+gated.SkippedBy
	}
	return v
}
