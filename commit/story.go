package commit

import (
	"slices"
	"strings"

	"github.com/covel-engine/covel/turn"
)

// story checks the rules by which a story decides over the whole execution
// (spec 03 §8). It says whether a story succeeded.
func story(results []turn.RuntimeResult) (succeeded bool, fail *failure) {
	for i := range results {
		r := &results[i]
		if !r.Story {
			continue
		}
		switch {
		case r.Status == turn.RuntimeFailed:
			return false, failedResult(r)
		case r.Status == turn.RuntimeSuccess && strings.TrimSpace(r.NarrativeText()) == "":
			return false, failf(turn.CodeEmptyNarrative, "story runtime %q succeeded without text", r.RuntimeID)
		case r.Status == turn.RuntimeSuccess:
			succeeded = true
		}
	}
	if succeeded {
		return true, nil
	}
	for i := range results {
		r := &results[i]
		if r.Story && r.Status == turn.RuntimeSkipped && strings.HasPrefix(r.SkippedBy, "framework:") && !waits(r, results) {
			return false, failf(turn.CodeCommitFailed, "story runtime %q was skipped by %s: %s", r.RuntimeID, r.SkippedBy, r.Reason)
		}
	}
	return false, nil
}

// waits says whether a skipped story only waits for a suspended runtime: the
// turn then commits with its suspension (spec 03 §12.1). An upstream that
// failed still fails the turn.
func waits(story *turn.RuntimeResult, results []turn.RuntimeResult) bool {
	suspended := false
	for i := range results {
		switch r := &results[i]; r.Status {
		case turn.RuntimeSuspended:
			suspended = true
		case turn.RuntimeFailed:
			if slices.Contains(story.MissingUpstreams, r.RuntimeID) {
				return false
			}
		}
	}
	return suspended && (story.SkippedBy == "framework:needs" || story.SkippedBy == "framework:inputs")
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
