package agentloop

import (
	"slices"

	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/turn"
)

// Seed is what a resumed run takes over.
type Seed = turn.RunSeed

// SeedOf reads a continuation. Hash identifies the arguments of a call, as in
// turn.CallFact; the resumed transcript keeps the entries of the frozen one.
func SeedOf(p continuation.Payload, hash func(arguments string) string) Seed {
	s := Seed{Length: p.Transcript.Length, CapturedAt: p.CapturedAt, Parts: p.Parts, Groups: p.SuspendToolCallID != ""}
	lastID := map[string]string{} // by tool, of its latest success
	for _, r := range p.ToolCallsSoFar {
		if r.Code == turn.ResultCancelled {
			continue // neither executed nor denied (spec 03 §11.9)
		}
		if r.OK {
			lastID[r.Name] = r.ID
		}
		s.Recent = append(s.Recent, turn.CallFact{ID: r.ID, Name: r.Name, Hash: hash(string(r.Arguments))})
	}
	for _, c := range p.CompletionCalls {
		s.Calls = append(s.Calls, turn.CompletedCall{ID: lastID[c.Name], Name: c.Name, Success: c.Success})
	}
	return s
}

// Resume makes the machine of a resumed run.
func Resume(spec turn.AgentSpec, seed Seed) *Machine {
	m := New(spec)
	m.length = max(1, seed.Length)
	m.captured = seed.CapturedAt
	m.parts = slices.Clone(seed.Parts)
	m.groups = seed.Groups
	for _, c := range seed.Recent {
		m.remember(c)
	}
	for _, c := range seed.Calls {
		m.work.called(c.Name, c.Success, slices.Contains(spec.AfterTools, c.Name), c.ID)
	}
	return m
}

// CompletionCalls gives the executed calls of this run, those of its seed
// first: completionCalls of a continuation. Denied and cancelled calls are not
// among them.
func (m *Machine) CompletionCalls() []continuation.CompletionCall {
	return slices.Clone(m.work.calls)
}
