package assembler

import (
	"iter"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// Pruning is the outcome of Prune.
type Pruning struct {
	Messages []model.Message
	// Pruned counts the dropped messages.
	Pruned     int
	Total      int
	OverBudget bool
}

// Pruner drops the oldest messages of a request (spec 01 §15.4).
type Pruner struct {
	// Cap is the limit that system and messages must fit.
	Cap       int
	Estimator tokens.Estimator
	// Fixed is the cost of everything that is no message.
	Fixed int
	// Marker stands for what was dropped.
	Marker string
	// Protect counts user messages from the end; they and what follows stay.
	Protect int
	// Texts tell which messages are summaries, which are never dropped.
	Texts *locale.Texts
}

// Prune drops the oldest messages that are neither protected nor summaries
// until the request falls to about 70 % of the cap. The messages are not
// changed in place.
func (p Pruner) Prune(messages []model.Message) Pruning {
	costs := make([]int, len(messages))
	for i, m := range messages {
		costs[i] = MessageCost(p.Estimator, m)
	}
	return p.prune(messages, costs)
}

func (p Pruner) prune(messages []model.Message, costs []int) Pruning {
	total := p.Fixed
	for _, c := range costs {
		total += c
	}
	if total <= p.Cap {
		return Pruning{Messages: messages, Total: total}
	}
	marked, markerCost := false, 0
	for _, m := range messages {
		marked = marked || isMarker(m, p.Marker)
	}
	markerMessage := model.Message{Role: model.RoleSystem, Content: p.Marker}
	if !marked {
		markerCost = MessageCost(p.Estimator, markerMessage)
	}
	step := max(1, p.Cap*3/10)
	need := total + markerCost - p.Cap
	target := (need + step - 1) / step * step

	start := protectedStart(messages, p.Protect)
	drop := make([]bool, len(messages))
	removed, count, cut := 0, 0, -1
	for i := 0; i < start && removed < target; i++ {
		if isMarker(messages[i], p.Marker) || isEnvelope(p.Texts, messages[i]) {
			continue
		}
		drop[i] = true
		removed += costs[i]
		count++
		cut = i
	}
	if count == 0 {
		return Pruning{Messages: messages, Total: total, OverBudget: true}
	}
	for i := range orphans(messages, drop, cut) {
		removed += costs[i]
		count++
	}
	kept := make([]model.Message, 0, len(messages)-count+1)
	if !marked {
		kept = append(kept, markerMessage)
	}
	for i, m := range messages {
		if !drop[i] {
			kept = append(kept, m)
		}
	}
	total += markerCost - removed
	return Pruning{Messages: kept, Pruned: count, Total: total, OverBudget: total > p.Cap}
}

// orphans marks and yields the tool results that lost their call: those right
// at the cut, and any other whose call was dropped.
func orphans(messages []model.Message, drop []bool, cut int) iter.Seq[int] {
	return func(yield func(int) bool) {
		lost := map[string]bool{}
		atCut := true
		for i, m := range messages {
			switch {
			case drop[i]:
				for _, c := range m.ToolCalls {
					lost[c.ID] = true
				}
				continue
			case m.Role == model.RoleTool && (i > cut && atCut || lost[m.ToolCallID]):
				drop[i] = true
				if !yield(i) {
					return
				}
				continue
			}
			for _, c := range m.ToolCalls {
				delete(lost, c.ID)
			}
			if i > cut {
				atCut = false
			}
		}
	}
}

func isMarker(m model.Message, marker string) bool {
	return m.Role == model.RoleSystem && m.Content == marker
}

// protectedStart is the index of the first message of the protected range: the
// n-th user message from the end and the system messages right before it.
func protectedStart(messages []model.Message, n int) int {
	if n <= 0 {
		return len(messages)
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != model.RoleUser {
			continue
		}
		if n--; n > 0 {
			continue
		}
		for i > 0 && (messages[i-1].Role == model.RoleSystem || messages[i-1].Role == model.RoleDeveloper) {
			i--
		}
		return i
	}
	return 0
}
