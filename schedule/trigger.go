package schedule

import (
	"fmt"

	"github.com/covel-engine/covel/turn"
)

// Run is one runtime's line of the trigger ledger (spec 03 §4.2).
type Run struct {
	Count    int
	LastTurn int
}

// missed says which condition of spec 03 §4.1 fails first, "" for none. The
// trigger type is checked by the caller.
func missed(t Trigger, ledger Run, logicalTurn int) string {
	switch {
	case logicalTurn < t.StartTurn:
		return fmt.Sprintf("startTurn %d is later than turn %d", t.StartTurn, logicalTurn)
	case t.MaxCount > 0 && ledger.Count >= t.MaxCount:
		return fmt.Sprintf("maxTriggerCount %d is used up", t.MaxCount)
	case ledger.Count > 0 && logicalTurn-ledger.LastTurn < t.CooldownTurns:
		return fmt.Sprintf("cooldownTurns %d since turn %d is not over", t.CooldownTurns, ledger.LastTurn)
	}
	return ""
}

// missedByType adds the trigger type of a stage runtime.
func missedByType(t Trigger, ledger Run, logicalTurn int) string {
	if why := missed(t, ledger, logicalTurn); why != "" {
		return why
	}
	switch t.Type {
	case TriggerAuto, "":
		return ""
	case TriggerScheduled:
		if every := max(1, t.Interval); logicalTurn%every != 0 {
			return fmt.Sprintf("interval %d does not divide turn %d", every, logicalTurn)
		}
		return ""
	}
	return "trigger type " + t.Type + " does not run in a stage"
}

// Counted gives the runtimes whose run the ledger counts: triggered
// automatically and ended in success (spec 03 §4.2). Dropped runtimes are no
// longer successes when the ledger is written.
func Counted(results []Result, targets []string) []string {
	manual := idSet(targets)
	var ids []string
	for _, r := range results {
		if r.Status == turn.RuntimeSuccess && !r.Seed && !manual[r.ID] {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func idSet(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
