package activities

import (
	"context"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
)

// roleGeneration marks the transcript that keeps a plugin set's files.
const roleGeneration = "generation"

// generationsKept is how many earlier plugin sets a worker remembers.
const generationsKept = 8

// generationRun names the stored files of a plugin set of a session. They are
// kept as long as the session; equal files of all sessions are stored once.
func generationRun(sessionID, id string) string { return "generation/" + sessionID + "/" + id }

// keepGeneration stores the files of the set that a paused runtime ran under,
// so that any worker can load it again, whatever its own plugins are by then.
func (a *Activities) keepGeneration(ctx context.Context, tx store.Tx, ex *execution) error {
	run := generationRun(ex.scope.SessionID, ex.gen.ID)
	kept, err := tx.Transcript(ctx, run, 0, 1)
	if err != nil || len(kept) > 0 {
		return err
	}
	archive, err := ex.gen.Archive()
	if err != nil {
		return err
	}
	_, _, err = tx.AppendTranscript(ctx, store.TranscriptEntry{
		RunID: run, SessionID: ex.scope.SessionID, TurnID: ex.scope.TurnID, Role: roleGeneration, Content: archive, CreatedAt: a.cfg.Now(),
	})
	return err
}

// generation gives a plugin set by its id: the loaded one, or an earlier one
// that a session has kept. ok is false when neither is it.
func (a *Activities) generation(ctx context.Context, r store.Reader, sessionID, id string) (gen *plugin.Generation, ok bool, err error) {
	if a.cfg.Plugins.ID == id {
		return a.cfg.Plugins, true, nil
	}
	if gen, ok := a.generations.Get(id); ok {
		return gen, true, nil
	}
	kept, err := r.Transcript(ctx, generationRun(sessionID, id), 0, 1)
	if err != nil || len(kept) == 0 {
		return nil, false, err
	}
	gen, err = a.cfg.Plugins.Restore(kept[0].Content)
	if err != nil || gen.ID != id {
		a.cfg.Log.Sugar().Warnw("a kept plugin set cannot be loaded whole", "session", sessionID, "generation", id, "error", err)
		return nil, false, nil
	}
	a.generations.Add(id, gen)
	return gen, true, nil
}
