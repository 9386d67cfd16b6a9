package activities

import (
	"context"
	"sync"

	"github.com/covel-engine/covel/session"
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
	rows, err := a.cfg.Store.AllRawMessages(ctx, ex.scope.SessionID)
	if err != nil {
		return nil, err
	}
	once.rows, once.done = rows, true
	return rows, nil
}
