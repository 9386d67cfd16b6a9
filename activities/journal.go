package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Kinds of journal entries.
const (
	journalPlan     = "plan"
	journalResult   = "result"
	journalTool     = "tool"
	journalFunction = "function"
	journalGuard    = "guard"
	journalSetup    = "setup"
	journalChain    = "chain"
	// journalSuspension is what the commit saves of a paused runtime.
	journalSuspension = "suspension"
	// journalEdit is an edit's result.
	journalEdit = "edit"
)

// recorded reads a recorded answer into v.
func (a *Activities) recorded(ctx context.Context, scope turn.Scope, kind, key string, v any) (bool, error) {
	entry, ok, err := a.cfg.Store.JournalEntry(ctx, scope.SessionID, scope.ExecutionID, kind, key)
	if err != nil || !ok {
		return false, err
	}
	return true, decodeEntry(entry, v, nil)
}

// decodeEntry reads an entry into v, unless err stands already.
func decodeEntry(entry store.JournalEntry, v any, err error) error {
	if err != nil {
		return err
	}
	if err := json.Unmarshal(entry.Payload, v); err != nil {
		return fmt.Errorf("journal %s %s of %s is unreadable: %w", entry.Kind, entry.Key, entry.ExecutionID, err)
	}
	return nil
}

// record stores an answer once, before its activity returns. When a repeat
// finds one stored already, the stored one is read into v: it is the answer.
func (a *Activities) record(ctx context.Context, tx store.Tx, scope turn.Scope, kind, key string, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal %s %s: %w", kind, key, err)
	}
	stored, fresh, err := tx.PutJournal(ctx, store.JournalEntry{
		SessionID:   scope.SessionID,
		ExecutionID: scope.ExecutionID,
		Kind:        kind,
		Key:         key,
		Payload:     payload,
		CreatedAt:   a.cfg.Now(),
	})
	if err != nil || fresh {
		return err
	}
	return json.Unmarshal(stored.Payload, v)
}
