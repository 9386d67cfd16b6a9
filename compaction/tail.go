package compaction

import (
	"strconv"

	"github.com/covel-engine/covel/session"
)

// Protection is how much of the newest history the default strategy leaves
// alone; 0 switches a rule off.
type Protection struct {
	UserTurns int
	Messages  int
}

// DefaultProtection is used when nothing is set.
func DefaultProtection() Protection { return Protection{UserTurns: 2, Messages: 5} }

// Validate names the option that is below 0.
func (p Protection) Validate() error {
	if p.UserTurns < 0 {
		return &SettingError{SettingProtectUserTurns, strconv.Itoa(p.UserTurns), "a whole number of at least 0"}
	}
	if p.Messages < 0 {
		return &SettingError{SettingProtectMessages, strconv.Itoa(p.Messages), "a whole number of at least 0"}
	}
	return nil
}

// Boundary is the index of the first protected row (spec 02 §6.1).
func (p Protection) Boundary(rows []session.Message) int {
	n := len(rows)
	return min(max(0, n-p.Messages), p.userStart(rows))
}

// userStart is where the protected user turns begin. A turn is a user turn by
// a user row that is no system row, such as a picture's description.
func (p Protection) userStart(rows []session.Message) int {
	if p.UserTurns == 0 {
		return len(rows)
	}
	var firsts []int // index of the first user row of each user turn, by first appearance
	seen := make(map[string]bool)
	for i := range rows {
		r := &rows[i]
		if r.Role == session.RoleUser && r.SourceType != session.SourceSystem && !seen[r.TurnID] {
			seen[r.TurnID] = true
			firsts = append(firsts, i)
		}
	}
	if len(firsts) < p.UserTurns {
		return 0
	}
	return firsts[len(firsts)-p.UserTurns]
}

// Candidates are the rows after the last marked one and before the boundary
// (spec 02 §6.2).
func (p Protection) Candidates(rows []session.Message) []session.Message {
	from := 0
	for i := range rows {
		if rows[i].CompactedBy != "" {
			from = i + 1
		}
	}
	boundary := p.Boundary(rows)
	if from >= boundary {
		return nil
	}
	return rows[from:boundary]
}
