package trace

import (
	"fmt"
	"math"
	"strings"
)

// Table is the report as text: one table a session, each with the sum of its
// later first requests below.
func (r Report) Table() string {
	var b strings.Builder
	for i, sessionID := range r.sessions() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "session %s\n", sessionID)
		fmt.Fprintf(&b, "%-34s %6s %6s %8s %8s %4s  %s\n", "runtime", "turns", "calls", "req tok", "shared", "%", "first difference")
		var total, shared int
		for _, row := range r.Runtimes {
			if row.SessionID != sessionID {
				continue
			}
			b.WriteString(row.line())
			t, s := row.tokens()
			total, shared = total+t, shared+s
		}
		fmt.Fprintf(&b, "later first requests: %d tokens, %d shared, %d %%\n", total, shared, percent(shared, total))
	}
	return b.String()
}

// Show gives, for each pair of one runtime, the text at the first difference
// then and now.
func (r Report) Show(runtimeID string) string {
	var b strings.Builder
	for _, row := range r.Runtimes {
		if row.RuntimeID != runtimeID {
			continue
		}
		fmt.Fprintf(&b, "session %s runtime %s\n", row.SessionID, row.RuntimeID)
		if len(row.Pairs) == 0 {
			fmt.Fprintf(&b, "  %s\n", OneTurnOnly)
		}
		for i, p := range row.Pairs {
			fmt.Fprintf(&b, "turn %d: %s +%d\n  was: %s\n  now: %s\n", i+2, p.FirstDifference, p.Offset, p.Was, p.Now)
		}
	}
	return b.String()
}

// Percent is the shared part of a runtime's later first requests, in tokens.
func (p RuntimePrefix) Percent() int {
	total, shared := p.tokens()
	return percent(shared, total)
}

func (p RuntimePrefix) line() string {
	if len(p.Pairs) == 0 {
		return fmt.Sprintf("%-34s %6d %6d %8s %8s %4s  %s\n", p.RuntimeID, p.Turns, p.Calls, "-", "-", "-", OneTurnOnly)
	}
	total, shared := p.tokens()
	n, last := float64(len(p.Pairs)), p.Pairs[len(p.Pairs)-1]
	return fmt.Sprintf("%-34s %6d %6d %8.0f %8.0f %4d  %s +%d\n", p.RuntimeID, p.Turns, p.Calls,
		math.Round(float64(total)/n), math.Round(float64(shared)/n), percent(shared, total), last.FirstDifference, last.Offset)
}

// tokens sums the pairs.
func (p RuntimePrefix) tokens() (total, shared int) {
	for _, pair := range p.Pairs {
		total += pair.Tokens
		shared += pair.SharedTokens
	}
	return total, shared
}

func percent(shared, total int) int {
	return int(math.Round(100 * float64(shared) / float64(max(1, total))))
}

// sessions lists the sessions in the order of their first runtime.
func (r Report) sessions() []string {
	var ids []string
	seen := make(map[string]bool)
	for _, row := range r.Runtimes {
		if !seen[row.SessionID] {
			seen[row.SessionID] = true
			ids = append(ids, row.SessionID)
		}
	}
	return ids
}
