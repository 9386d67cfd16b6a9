package schedule

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/turn"
)

// Result is what gates, the event chain and the commit must know of one
// runtime's result.
type Result struct {
	ID       string
	PluginID string
	Contract string // the runtime's output contract
	Status   turn.RuntimeStatus
	Story    bool
	// EmptyStory marks a story success whose sanitised text is empty.
	EmptyStory bool
	// Initialized marks a guard's skip that said initialized: true.
	Initialized bool
	SkippedBy   string
	// Seed results come from an earlier turn and did not run in this one.
	Seed bool
	// Events are the result's effects.events.
	Events []turn.Event
	// Depth is the event chain depth the runtime ran in, 0 for a stage, and
	// Topic what activated it there.
	Depth int
	Topic string
	// Writes says that the result carries proposals.
	Writes bool
}

// satisfies holds spec 03 §5.2 for a result.
func (r Result) satisfies() bool {
	return r.Status == turn.RuntimeSuccess || r.Status == turn.RuntimeSkipped && r.Initialized
}

// ResultOf reads the scheduling view of a stored result.
func ResultOf(rt Runtime, r *turn.RuntimeResult) Result {
	out := Result{
		ID: r.RuntimeID, PluginID: r.PluginID, Contract: rt.Contract, Status: r.Status, Story: rt.Story,
		SkippedBy: r.SkippedBy, Writes: len(r.Proposals) > 0, Depth: FollowUpDepth(r.Stage),
	}
	if out.Depth > 0 {
		out.Topic = rt.Trigger.Topic
	}
	if rt.Story && r.Status == turn.RuntimeSuccess {
		out.EmptyStory = strings.TrimSpace(r.NarrativeText()) == ""
	}
	if r.Status == turn.RuntimeSkipped && r.SkippedBy == SkippedByGuard {
		var rest struct {
			Initialized bool `json:"initialized"`
		}
		value := r.CanonicalValue
		if len(value) == 0 {
			value = r.Output
		}
		if json.Unmarshal(value, &rest) == nil {
			out.Initialized = rest.Initialized
		}
	}
	if e := r.Effects; e != nil && r.Status == turn.RuntimeSuccess {
		out.Events = e.Events
	}
	return out
}

// Names of the stages that are not in a manifest. Each is part of a Stage
// workflow's id, so no two stages of an execution share one.
const (
	StageLateSetup = "late-setup"
	StageManual    = "manual"
	followUps      = "follow-ups-"
)

// FollowUpStage names a depth of the event chain, counted from 1.
func FollowUpStage(depth int) string { return followUps + strconv.Itoa(depth) }

// FollowUpDepth gives the depth that a stage name stands for, 0 for none.
func FollowUpDepth(stage string) int {
	n, ok := strings.CutPrefix(stage, followUps)
	if !ok {
		return 0
	}
	depth, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return depth
}

// rank orders stages as results are stored: late setup, the stages, manual
// targets without a stage, then the event chain by depth.
func rank(stage string) int {
	switch stage {
	case StageLateSetup:
		return 0
	case StageSetup:
		return 1
	case StagePreTurn:
		return 2
	case StageNarrative:
		return 3
	case StagePostTurn:
		return 4
	case StageAudit:
		return 5
	}
	return 6 + FollowUpDepth(stage)
}

// CompareStored orders two results as spec 03 §3.3 stores them.
func CompareStored(a, b *turn.RuntimeResult) int {
	return cmp.Or(
		cmp.Compare(rank(a.Stage), rank(b.Stage)),
		cmp.Compare(a.Level, b.Level),
		cmp.Compare(a.RuntimeID, b.RuntimeID),
	)
}

// SortStored puts results in stored order.
func SortStored(results []*turn.RuntimeResult) { slices.SortStableFunc(results, CompareStored) }
