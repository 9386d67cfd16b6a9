package schedule

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// SetupMap is a session's setup entries by runtime id.
type SetupMap map[string]session.SetupEntry

// Why a setup runtime is blocked (spec 03 §4.3).
const (
	BlockedAttempts = "attempts-exhausted"
	blockedCycle    = "setup-session-cycle: "
)

// SetupBlock is a setup runtime that becomes blocked without a run.
type SetupBlock struct {
	RuntimeID string
	Reason    string
}

// finished holds for a runtime whose entry is done for its plugin version.
func (m SetupMap) finished(rt Runtime) bool {
	e, ok := m[rt.ID]
	return ok && e.State == session.SetupDone && e.PluginVersion == rt.PluginVersion
}

// runnable holds for an absent or pending entry, or one that is done for
// another version.
func (m SetupMap) runnable(rt Runtime) bool {
	e, ok := m[rt.ID]
	return !ok || e.State == session.SetupPending || e.State == session.SetupDone && e.PluginVersion != rt.PluginVersion
}

// Attempt gives the entry after one run: done, pending, or blocked when the
// last attempt of maxTriggerCount is used. A run for another plugin version
// than the stored one starts with no attempts used. The caller stamps
// BlockedAt.
func (m SetupMap) Attempt(rt Runtime, completed bool) session.SetupEntry {
	e := m[rt.ID]
	if e.State == session.SetupDone && e.PluginVersion != rt.PluginVersion {
		e.Attempts = 0
	}
	e.State, e.PluginVersion, e.Reason = session.SetupPending, rt.PluginVersion, ""
	e.Attempts++
	switch {
	case completed:
		e.State = session.SetupDone
	case rt.Trigger.MaxCount > 0 && e.Attempts >= rt.Trigger.MaxCount:
		e.State, e.Reason = session.SetupBlocked, BlockedAttempts
	}
	return e
}

// SetupCompleted says whether a setup runtime's result completes it: a
// success that says so (completion done, which an ending by a completing tool
// also sets, or preGameDone: true), or a guard's skip.
func SetupCompleted(r *turn.RuntimeResult) bool {
	switch r.Status {
	case turn.RuntimeSkipped:
		return r.SkippedBy == SkippedByGuard
	case turn.RuntimeSuccess:
		return r.Completion == "done" || preGameDone(r.CanonicalValue) || preGameDone(r.Output)
	}
	return false
}

func preGameDone(value json.RawMessage) bool {
	var v struct {
		PreGameDone bool `json:"preGameDone"`
	}
	return json.Unmarshal(value, &v) == nil && v.PreGameDone
}

// unfinishedSetup are the active setup runtimes that are not done.
func unfinishedSetup(runtimes []Runtime, setup SetupMap) []Runtime {
	var list []Runtime
	for _, rt := range runtimes {
		if rt.Setup() && !setup.finished(rt) {
			list = append(list, rt)
		}
	}
	return list
}

// SetupFinished says whether every active setup runtime is done.
func SetupFinished(runtimes []Runtime, setup SetupMap) bool {
	return len(unfinishedSetup(runtimes, setup)) == 0
}

// setupCycles finds the runnable setup runtimes that wait for each other
// through needs of scope session.
func setupCycles(pending []Runtime) []SetupBlock {
	waiting := make([]Runtime, 0, len(pending))
	for _, rt := range pending {
		view := Runtime{ID: rt.ID, Contract: rt.Contract}
		for _, d := range rt.Needs {
			if d.Session {
				d.Session = false
				view.Needs = append(view.Needs, d)
			}
		}
		waiting = append(waiting, view)
	}
	g := newGraph(waiting, nil)
	_, stuck := g.levels()
	var blocks []SetupBlock
	for _, s := range g.skips(stuck, StageSetup) {
		if slices.Contains(s.CyclePath, s.RuntimeID) {
			blocks = append(blocks, SetupBlock{RuntimeID: s.RuntimeID, Reason: blockedCycle + strings.Join(s.CyclePath, " → ")})
		}
	}
	return blocks
}
