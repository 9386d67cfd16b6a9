package commit

import (
	"slices"

	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/turn"
)

// judge checks the rules by which a story decides over the whole execution
// (spec 03 §8). It says whether a story succeeded.
func (a *application) judge() (succeeded bool, fail *failure) {
	_, results := a.views()
	v := schedule.Judge(results)
	if !v.Rollback {
		return v.Story, nil
	}
	for i := range a.plan.Results {
		r := &a.plan.Results[i]
		if r.RuntimeID != v.RuntimeID || !r.Story {
			continue
		}
		switch {
		case r.Status == turn.RuntimeFailed:
			return false, failedResult(r)
		case r.Status == turn.RuntimeSkipped && a.waits(r):
			return false, nil
		}
	}
	code := v.Code
	if code == "" {
		code = turn.CodeCommitFailed
	}
	return false, failf(code, "%s", v.Reason)
}

// waits says whether a skipped story only waits for a suspended runtime: the
// turn then commits with its suspension (spec 03 §12.1). An upstream that
// failed still fails the turn.
func (a *application) waits(story *turn.RuntimeResult) bool {
	suspended := false
	for i := range a.plan.Results {
		switch r := &a.plan.Results[i]; r.Status {
		case turn.RuntimeSuspended:
			suspended = true
		case turn.RuntimeFailed:
			if slices.Contains(story.MissingUpstreams, r.RuntimeID) {
				return false
			}
		}
	}
	return suspended && (story.SkippedBy == schedule.SkippedByNeeds || story.SkippedBy == schedule.SkippedByInputs)
}

// failedResult is the failure of an execution whose result decides it.
func failedResult(r *turn.RuntimeResult) *failure {
	code, message := turn.CodeCommitFailed, r.Reason
	if r.Error != nil {
		code, message = r.Error.Code, r.Error.Message
	}
	f := failf(code, "runtime %q ended %s: %s", r.RuntimeID, r.Status, message)
	if code == turn.CodeTurnAborted {
		f.abort = AbortReasonPlayer
	}
	return f
}
