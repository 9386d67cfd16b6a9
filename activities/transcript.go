package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// transcript gives the messages of entries [1, length) of a run, and the
// budget's ledger as the last reply left it.
func (a *Activities) transcript(ctx context.Context, scope turn.Scope, runtimeID string, length int) ([]model.Message, *assembler.Ledger, error) {
	ledger := &assembler.Ledger{}
	if length <= 1 {
		return nil, ledger, nil
	}
	entries, err := a.cfg.Store.Transcript(ctx, turn.RunID(scope.ExecutionID, runtimeID), 1, length)
	if err != nil {
		return nil, nil, err
	}
	if len(entries) != length-1 {
		return nil, nil, fmt.Errorf("transcript of %s has %d entries; %d are expected", runtimeID, len(entries)+1, length)
	}
	messages := make([]model.Message, len(entries))
	for i := range entries {
		var entry replyEntry
		if err := json.Unmarshal(entries[i].Content, &entry); err != nil {
			return nil, nil, fmt.Errorf("transcript entry %d of %s is unreadable: %w", i+1, runtimeID, err)
		}
		messages[i] = entry.Message
		if entry.Meta.Ledger != nil {
			ledger = entry.Meta.Ledger
		}
	}
	return messages, ledger, nil
}

// entry reads one message of a run; ok is false when it is not stored yet.
func (a *Activities) entry(ctx context.Context, scope turn.Scope, runtimeID string, seq int, v any) (ok bool, err error) {
	entries, err := a.cfg.Store.Transcript(ctx, turn.RunID(scope.ExecutionID, runtimeID), seq, seq+1)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	if err := json.Unmarshal(entries[0].Content, v); err != nil {
		return false, fmt.Errorf("transcript entry %d of %s is unreadable: %w", seq, runtimeID, err)
	}
	return true, nil
}

// appendEntry stores one message at its place once. A repeat changes nothing.
func (a *Activities) appendEntry(ctx context.Context, tx store.Tx, scope turn.Scope, runtimeID string, seq int, role model.Role, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("transcript entry %d of %s: %w", seq, runtimeID, err)
	}
	_, _, err = tx.AppendTranscript(ctx, store.TranscriptEntry{
		RunID: turn.RunID(scope.ExecutionID, runtimeID), Seq: seq, SessionID: scope.SessionID, TurnID: scope.TurnID,
		Role: string(role), Content: content, CreatedAt: a.cfg.Now(),
	})
	return err
}
