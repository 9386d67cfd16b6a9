package plugins

import (
	"context"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
)

// registerNarrator adds the segment with the player's sheet and everyone's
// profile (spec 05 §15.1).
func registerNarrator(h *plugin.Handlers, t texts) {
	h.Entries["narrator"] = plugin.Registration{Segments: map[string]plugin.SegmentHandler{
		"character-sheets": func(_ context.Context, v plugin.View) ([]plugin.Segment, error) {
			if t.err != nil {
				return nil, t.err
			}
			current, _ := assembler.CurrentCharacter(v.Session.Seats, v.Characters)
			return assembler.CharacterSheets(v.Characters, assembler.SheetOptions{
				CurrentCharacterID: current.ID, Lang: langOf(v), Profiles: true, Schema: v.CharacterSchema, Texts: t.catalogue,
			}), nil
		},
	}}
}
