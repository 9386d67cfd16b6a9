package assembler

// Ledger remembers what the budget of one run has shortened (spec 01 §15.8). It
// only grows, serialises as small JSON (ids, no texts), and starts empty in a
// resumed run.
type Ledger struct {
	Elisions []Elision `json:"elisions,omitempty"`
	Digests  []Digest  `json:"digests,omitempty"`
}

// Elision is one tool result that was left out: result number Result of a group.
type Elision struct {
	Group  string `json:"group"`
	Result int    `json:"result"`
}

// Digest is one collapse event: its groups in order.
type Digest struct {
	Groups []string `json:"groups"`
}

// replay repeats what the ledger holds. An entry counts only when its groups
// are found exactly once; else it is skipped.
func (f *fitting) replay(ledger *Ledger) {
	if ledger == nil || len(ledger.Elisions)+len(ledger.Digests) == 0 {
		return
	}
	at := make(map[string]int, len(f.groups))
	for i, g := range f.groups {
		if _, twice := at[g.id]; twice {
			at[g.id] = -1
			continue
		}
		at[g.id] = i
	}
	find := func(id string) (int, bool) {
		i, ok := at[id]
		return i, ok && i >= 0
	}
	for _, d := range ledger.Digests {
		groups := make([]int, 0, len(d.Groups))
		for _, id := range d.Groups {
			if i, ok := find(id); ok && !f.collapsed[i] {
				groups = append(groups, i)
			}
		}
		if len(groups) == len(d.Groups) && len(groups) > 0 {
			f.setDigest(groups)
		}
	}
	for _, e := range ledger.Elisions {
		i, ok := find(e.Group)
		if !ok || f.collapsed[i] || e.Result < 0 || e.Result >= f.groups[i].size-1 {
			continue
		}
		if text, ok := f.elided(f.groups[i].from + 1 + e.Result); ok {
			f.set(f.groups[i].from+1+e.Result, text)
		}
	}
}
