package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// transcript gives the messages of entries [1, length) of a run.
func (a *Activities) transcript(ctx context.Context, scope turn.Scope, runtimeID string, length int) ([]model.Message, error) {
	if length <= 1 {
		return nil, nil
	}
	entries, err := a.cfg.Store.Transcript(ctx, turn.RunID(scope.ExecutionID, runtimeID), 1, length)
	if err != nil {
		return nil, err
	}
	if len(entries) != length-1 {
		return nil, fmt.Errorf("transcript of %s has %d entries; %d are expected", runtimeID, len(entries)+1, length)
	}
	messages := make([]model.Message, len(entries))
	for i := range entries {
		if err := json.Unmarshal(entries[i].Content, &messages[i]); err != nil {
			return nil, fmt.Errorf("transcript entry %d of %s is unreadable: %w", i+1, runtimeID, err)
		}
	}
	return messages, nil
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
