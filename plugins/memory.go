package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/world"
)

const (
	memorySlot       = "memory"
	blockDefinitions = "memory.block-definitions@1"
	blockRunes       = 2000
	recalledFacts    = 8
)

// registerMemory adds the memory package's code (spec 05 §15.5).
func registerMemory(h *plugin.Handlers, t texts) {
	m := memory{texts: t}
	var root fs.FS
	if root, m.err = fs.Sub(files, "memory/prompts/server"); m.err == nil {
		m.template = locale.NewLoader(root).Load
	}
	h.Entries["memory"] = plugin.Registration{
		Services: map[string]plugin.ServiceHandler{"memory.block-access@1": m.access},
		Segments: map[string]plugin.SegmentHandler{"memory": m.segments},
	}
	h.Functions["memory/extract"] = m.extract
}

type memory struct {
	texts    texts
	template locale.LoadPrompt
	err      error
}

// definition is one block that is kept.
type definition struct {
	Key      string `json:"key"`
	Label    string `json:"label"`
	Purpose  string `json:"purpose"`
	MaxChars int    `json:"maxChars,omitempty"`
}

func (d definition) limit() int {
	if d.MaxChars <= 0 || d.MaxChars > blockRunes {
		return blockRunes
	}
	return d.MaxChars
}

type memoryBlock struct {
	Label   string `json:"label"`
	Content string `json:"content"`
}

// definitions lists the blocks to keep, by key: for equal keys the world's,
// then other packages' by id, then the own defaults.
func (m memory) definitions(ctx context.Context, v plugin.View) ([]definition, error) {
	if m.texts.err != nil {
		return nil, m.texts.err
	}
	var all []definition
	add := func(d definition) {
		if d.Key != "" && !slices.ContainsFunc(all, func(x definition) bool { return x.Key == d.Key }) {
			all = append(all, d)
		}
	}
	stored, err := rows(ctx, v.Data, "definitions")
	if err != nil {
		return nil, err
	}
	for _, row := range stored {
		var d definition
		if err := json.Unmarshal(row.Value, &d); err != nil {
			return nil, fmt.Errorf("block definition %s: %w", row.Key, err)
		}
		add(d)
	}
	if v.Services != nil {
		answers, err := v.Services.Collect(ctx, blockDefinitions, json.RawMessage(`{}`))
		if err != nil {
			return nil, fmt.Errorf("collect %s: %w", blockDefinitions, err)
		}
		for _, a := range answers {
			var given struct {
				Blocks []definition `json:"blocks"`
			}
			if json.Unmarshal(a.Output, &given) == nil {
				for _, d := range given.Blocks {
					add(d)
				}
			}
		}
	}
	words := m.texts.words(v)
	for _, key := range []string{"story-so-far", "open-threads", "player-goals"} {
		add(definition{Key: key, Label: words("P10."+key, nil), Purpose: words("P10."+key+".purpose", nil)})
	}
	slices.SortStableFunc(all, func(a, b definition) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

func (m memory) blocks(ctx context.Context, v plugin.View) (map[string]memoryBlock, error) {
	stored, err := rows(ctx, v.Data, "blocks")
	if err != nil {
		return nil, err
	}
	out := map[string]memoryBlock{}
	for _, row := range stored {
		var b memoryBlock
		if err := json.Unmarshal(row.Value, &b); err != nil {
			return nil, fmt.Errorf("memory block %s: %w", row.Key, err)
		}
		out[row.Key] = b
	}
	return out, nil
}

func (m memory) segments(ctx context.Context, v plugin.View) ([]plugin.Segment, error) {
	if m.texts.err != nil {
		return nil, m.texts.err
	}
	stored, err := m.blocks(ctx, v)
	if err != nil {
		return nil, err
	}
	var list []assembler.MemoryBlock
	for _, key := range sortedKeys(stored) {
		list = append(list, assembler.MemoryBlock{Key: key, Label: stored[key].Label, Content: stored[key].Content})
	}
	facts, err := m.recall(ctx, v)
	if err != nil {
		return nil, err
	}
	return append(assembler.MemoryBlocks(list), assembler.RecalledFacts(facts, m.texts.words(v))...), nil
}

type fact struct {
	Text string   `json:"text"`
	Keys []string `json:"keys"`
	Turn int      `json:"turn"`
}

// recall gives the newest facts with a key in the player's message, newest
// first.
func (m memory) recall(ctx context.Context, v plugin.View) ([]string, error) {
	if strings.TrimSpace(v.PlayerMessage) == "" {
		return nil, nil
	}
	stored, err := rows(ctx, v.Data, "facts")
	if err != nil {
		return nil, err
	}
	type found struct {
		key string
		fact
	}
	var hits []found
	for _, row := range stored {
		f := found{key: row.Key}
		if err := json.Unmarshal(row.Value, &f.fact); err != nil {
			return nil, fmt.Errorf("fact %s: %w", row.Key, err)
		}
		if world.AnyKeyMatches(f.Keys, v.PlayerMessage) {
			hits = append(hits, f)
		}
	}
	slices.SortStableFunc(hits, func(a, b found) int {
		if a.Turn != b.Turn {
			return b.Turn - a.Turn
		}
		return strings.Compare(b.key, a.key)
	})
	var out []string
	for _, f := range hits[:min(len(hits), recalledFacts)] {
		out = append(out, f.Text)
	}
	return out, nil
}

// access serves memory.block-access@1: op get answers the block or null, op
// update the row to write, null for an unknown key.
func (m memory) access(ctx context.Context, v plugin.View, input json.RawMessage) (json.RawMessage, error) {
	var req struct {
		Op      string `json:"op"`
		Key     string `json:"key"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(input, &req); err != nil {
		return nil, fmt.Errorf("input of memory.block-access@1: %w", err)
	}
	all, err := m.definitions(ctx, v)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(d definition) bool { return d.Key == req.Key })
	if at < 0 {
		return json.RawMessage("null"), nil
	}
	d := all[at]
	switch req.Op {
	case "get":
		stored, err := m.blocks(ctx, v)
		if err != nil {
			return nil, err
		}
		return marshal(map[string]string{"key": d.Key, "label": d.Label, "content": stored[d.Key].Content})
	case "update":
		value, err := marshal(memoryBlock{Label: d.Label, Content: assembler.Cut(req.Content, d.limit()-1, "…")})
		if err != nil {
			return nil, err
		}
		return marshal(dataWrite{Namespace: "blocks", Key: d.Key, Value: value})
	}
	return nil, fmt.Errorf("input of memory.block-access@1: op %q is not get or update", req.Op)
}

func marshal(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	n, err := source.ParseJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return n.JSON(), nil // without HTML escapes
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
