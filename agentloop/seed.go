package agentloop

import (
	"slices"

	"github.com/covel-engine/covel/turn"
)

// Seed is what a resumed run takes over from the suspended one (spec 03 §12.3
// item 5). Steps, time and corrections are fresh.
type Seed struct {
	Length     int             // transcript entries, the answered placeholder included
	CapturedAt int             // entry of the captured text, 0 for none
	Parts      []int           // earlier answers that late steering joined
	Calls      []CompletedCall // executed calls, in order
	Recent     []turn.CallFact // the calls that loop detection compares
	Groups     bool            // the transcript holds a complete tool group
}

// CompletedCall is one executed call, as contracts see it: one member of
// completionCalls (spec 03 §12.2) with the call's id.
type CompletedCall struct {
	ID      string
	Name    string
	Success bool
	// Denied calls are neither success nor failure.
	Denied bool
}

// Resume makes the machine of a resumed run.
func Resume(spec turn.AgentSpec, seed Seed) *Machine {
	m := New(spec)
	m.length = max(1, seed.Length)
	m.captured = seed.CapturedAt
	m.parts = slices.Clone(seed.Parts)
	m.groups = seed.Groups
	m.recent = slices.Clone(seed.Recent)
	if over := len(m.recent) - m.limits.window; over > 0 {
		m.recent = m.recent[over:]
	}
	for _, c := range seed.Calls {
		switch {
		case c.Denied || c.Name == turn.ToolSearchTools:
		case c.Name == turn.ToolRuntimeDone:
			m.work.done = m.work.done || c.Success
		case c.Success:
			m.work.succeeded(c.Name)
			if slices.Contains(spec.AfterTools, c.Name) {
				m.work.completedBy = c.ID
			}
		default:
			m.work.failed(c.Name)
		}
	}
	return m
}
