package activities

import (
	"context"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
)

// StoredContext is the assembled context of a run as entry 0 of its transcript
// keeps it: what was built before the budget and before any reply.
type StoredContext struct {
	Slot                    string
	CurrentTurnUserMessages int
	// Sections name the parts of System and Messages.
	Sections []assembler.Section
	System   string
	Tools    []model.Tool
	Messages []model.Message
}

// ReadContext reads the context of a run; ok is false when none is stored. It
// serves tools that look at a database without an engine.
func ReadContext(ctx context.Context, st store.Store, runID string) (c StoredContext, ok bool, err error) {
	entries, err := st.Transcript(ctx, runID, 0, 1)
	if err != nil || len(entries) == 0 {
		return c, false, err
	}
	reader := &Activities{cfg: Config{Store: st}}
	stored, err := reader.readContext(ctx, entries[0].Content)
	if err != nil {
		return c, false, err
	}
	return StoredContext{
		Slot:                    stored.Head.Slot,
		CurrentTurnUserMessages: stored.Head.CurrentTurnUserMessages,
		Sections:                stored.Head.Sections,
		System:                  stored.System,
		Tools:                   stored.Tools,
		Messages:                stored.Messages,
	}, true, nil
}
