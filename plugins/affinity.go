package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// registerAffinity adds the affinity package's tool (spec 05 §15.8).
func registerAffinity(h *plugin.Handlers) {
	h.Entries["affinity"] = plugin.Registration{}
	h.Tools["affinity/update-affinity"] = updateAffinity
}

const maxScore = 100

type score struct {
	Score int    `json:"score"`
	Note  string `json:"note,omitempty"`
}

// updateAffinity adds each delta to the stored score, from 0, clamped to ±100.
// An unknown character refuses the whole call.
func updateAffinity(ctx context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args struct {
		Changes []struct {
			Character string `json:"character"`
			Delta     int    `json:"delta"`
			Reason    string `json:"reason"`
		} `json:"changes"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	scores := map[string]score{}
	var order []string
	for i, change := range args.Changes {
		character, ok := findCharacter(c.Characters, change.Character)
		if !ok {
			return refuse("changes[%d].character %q is no character of this session; use an id or a name", i, change.Character), nil
		}
		s, ok := scores[character.ID]
		if !ok {
			stored, err := c.Data.Get(ctx, "scores", character.ID)
			if err != nil {
				return plugin.ToolResult{}, fmt.Errorf("read score of %s: %w", character.ID, err)
			}
			if stored != nil {
				if err := json.Unmarshal(stored, &s); err != nil {
					return plugin.ToolResult{}, fmt.Errorf("stored score of %s: %w", character.ID, err)
				}
			}
			order = append(order, character.ID)
		}
		s.Score = min(max(s.Score+change.Delta, -maxScore), maxScore)
		if change.Reason != "" {
			s.Note = change.Reason
		}
		scores[character.ID] = s
	}
	if len(order) == 0 {
		return plugin.ToolResult{Summary: "no change", Data: json.RawMessage(`{"scores":{}}`)}, nil
	}
	batch := dataBatch{Namespace: "scores"}
	current := map[string]int{}
	for _, id := range order {
		value, err := json.Marshal(scores[id])
		if err != nil {
			return plugin.ToolResult{}, fmt.Errorf("encode score of %s: %w", id, err)
		}
		batch.Entries = append(batch.Entries, batchEntry{Key: id, Value: value})
		current[id] = scores[id].Score
	}
	write, err := propose(turn.ProposalPluginDataBatch, batch)
	if err != nil {
		return plugin.ToolResult{}, err
	}
	data, err := json.Marshal(map[string]any{"scores": current})
	if err != nil {
		return plugin.ToolResult{}, fmt.Errorf("encode scores: %w", err)
	}
	return plugin.ToolResult{Summary: fmt.Sprintf("%d score(s) changed", len(order)), Data: data, Proposals: []plugin.ProposedWrite{write}}, nil
}

func sameName(a, b string) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
	return fold(a) != "" && fold(a) == fold(b)
}
