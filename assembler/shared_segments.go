package assembler

import (
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
)

const (
	memoryBlocks     = 60
	memoryBlockRunes = 2000
	memoryRunes      = 8192
)

// ExistingCharacters is the roster of a character tracker (spec 01 §8.14):
// what of a character rarely changes.
func ExistingCharacters(characters []session.Character) []plugin.Segment {
	if len(characters) == 0 {
		return nil
	}
	items := make([]ordered.Value, len(characters))
	for i, c := range characters {
		items[i] = ordered.Obj(
			ordered.Member{Key: "id", Value: ordered.Str(c.ID)},
			ordered.Member{Key: "name", Value: ordered.Str(c.Name)},
			ordered.Member{Key: "type", Value: ordered.Str(c.Type)},
			ordered.Member{Key: "description", Value: ordered.Str(c.Description)},
		)
	}
	return []plugin.Segment{selfSegment("character-roster", VolatilitySession,
		block("existing-characters", Escape(clean(ordered.List(items...).JSON()))))}
}

// CharacterFields is what of a character changes often, one line each.
func CharacterFields(characters []session.Character) []plugin.Segment {
	if len(characters) == 0 {
		return nil
	}
	lines := make([]string, len(characters))
	for i, c := range characters {
		lines[i] = Escape(clean(Fold(c.ID) + ": " + project(fieldsOf(c)).JSON()))
	}
	return []plugin.Segment{selfSegment("character-fields", VolatilityTurn, block("character-fields", strings.Join(lines, "\n")))}
}

// MemoryBlock is one block of the memory plugin.
type MemoryBlock struct {
	Key     string
	Label   string
	Content string
}

// MemoryBlocks gives one segment for each non-blank block, by key, the first 60,
// their texts cut to an equal share of 8,192 runes.
func MemoryBlocks(blocks []MemoryBlock) []plugin.Segment {
	var kept []MemoryBlock
	for _, b := range blocks {
		if !blank(b.Content) {
			kept = append(kept, b)
		}
	}
	slices.SortStableFunc(kept, func(a, b MemoryBlock) int { return strings.Compare(a.Key, b.Key) })
	kept = kept[:min(len(kept), memoryBlocks)]
	var out []plugin.Segment
	for _, b := range kept {
		text := Cut(b.Content, min(memoryBlockRunes, memoryRunes/len(kept)), "…")
		out = append(out, plugin.Segment{
			ID: b.Key, Content: block("memory-block", Escape(clean(joinNonEmpty("\n", Fold(b.Label), text)))),
			Position: Quoted(PositionSystem), Audience: Quoted(AudienceStory), Volatility: VolatilityTurn,
		})
	}
	return out
}

// RecalledFacts lists remembered facts under a heading (P09), as lines.
func RecalledFacts(facts []string, words Words) []plugin.Segment {
	var lines []string
	for _, f := range facts {
		if f = Fold(f); f != "" {
			lines = append(lines, Escape(clean("- "+f)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []plugin.Segment{{
		ID: "recalled-facts", Order: 1, Content: block("recalled-facts", words("P09", nil)+"\n"+strings.Join(lines, "\n")),
		Position: Quoted(PositionSystem), Audience: Quoted(AudienceStory), Volatility: VolatilityTurn,
	}}
}
