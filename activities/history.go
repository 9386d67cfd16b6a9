package activities

import (
	"context"
	"slices"
	"sync"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// rawOnce are the session's raw rows as they were at the execution's start,
// read once for all its runtimes.
type rawOnce struct {
	mu   sync.Mutex
	done bool
	rows []session.Message
}

// rawHistory gives the raw rows. Callers must not change them.
func (a *Activities) rawHistory(ctx context.Context, ex *execution) ([]session.Message, error) {
	once := &ex.raw
	once.mu.Lock()
	defer once.mu.Unlock()
	if once.done {
		return once.rows, nil
	}
	rows, err := a.readHistory(ctx, ex.scope.SessionID)
	if err != nil {
		return nil, err
	}
	once.rows, once.done = asPlayed(rows), true
	return once.rows, nil
}

// asPlayed gives the rows under the turns that a player knows: a continuation
// belongs to the turn that it opened.
func asPlayed(rows []session.Message) []session.Message {
	cloned := false
	for i := range rows {
		played := turn.OpenedTurnID(rows[i].TurnID)
		if played == rows[i].TurnID {
			continue
		}
		if !cloned {
			rows, cloned = slices.Clone(rows), true
		}
		rows[i].TurnID = played
	}
	return rows
}

// readHistory reads the rows that are new since this worker last read the
// session's, and all of them when the earlier ones no longer stand, as after a
// compaction. So a turn costs what is new, however long the history.
func (a *Activities) readHistory(ctx context.Context, sessionID string) ([]session.Message, error) {
	known, _ := a.histories.Get(sessionID)
	after := int64(0)
	if len(known) > 0 {
		after = known[len(known)-1].Seq
	}
	rows, span, err := a.cfg.Store.RawMessagesAfter(ctx, sessionID, after)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clip(known), rows...)
	if len(all) != span.Count || len(all) > 0 && (all[0].Seq != span.First || all[len(all)-1].Seq != span.Last) {
		if all, err = a.cfg.Store.AllRawMessages(ctx, sessionID); err != nil {
			return nil, err
		}
	}
	a.histories.Add(sessionID, all)
	return all, nil
}
