package assembler_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

func sheets(t *testing.T, profiles bool, schema string, characters ...session.Character) []plugin.Segment {
	t.Helper()
	return assembler.CharacterSheets(characters, assembler.SheetOptions{
		CurrentCharacterID: "hero", Lang: "en", Profiles: profiles, Schema: raw(schema), Texts: texts(t),
	})
}

func characterCases() map[string]caseTest {
	hero := session.Character{ID: "hero", Name: "Lamplighter", Type: "player", Fields: raw(`{"might":2}`)}
	golem := session.Character{ID: "g", Name: "Bridge Golem", Type: "companion", Description: "Guards the span.", Fields: raw(`{"hp":12}`)}
	npcs := func(t *testing.T, characters ...session.Character) string {
		t.Helper()
		return bodyOf(t, "{{ characters.npcs }}", func(in *assembler.Input) { in.Snapshot.Characters = characters })
	}
	return map[string]caseTest{
		"CA-071": func(t *testing.T) {
			got := sheets(t, true, "", hero, golem)
			same(t, "segments", len(got), 1)
			same(t, "place", string(got[0].Position)+string(got[0].Audience)+got[0].Volatility, `"system""self"turn`)
			same(t, "content", got[0].Content, "<player-character>\n{\n  \"id\": \"hero\",\n  \"name\": \"Lamplighter\",\n  \"type\": \"player\",\n  \"description\": \"\",\n  \"fields\": {\n    \"might\": 2\n  }\n}\n</player-character>\n"+
				"<character-profiles>\n- Bridge Golem [companion] | Guards the span. | {\"hp\":12}\n</character-profiles>")
		},
		"CA-072": func(t *testing.T) {
			lacks(t, sheets(t, false, "", hero, golem)[0].Content, "character-profiles")
			same(t, "segments", len(sheets(t, false, "", golem)), 0)
		},
		"CA-073": func(t *testing.T) {
			got := npcs(t, hero,
				session.Character{ID: "t", Name: "Tide Clock", Type: "npc", Description: "Counts the tides.", Fields: raw(`{"trust":2}`)},
				session.Character{ID: "e", Name: "Echo", Type: "npc"})
			same(t, "lines", got, "- Tide Clock [npc] | Counts the tides. | {\"trust\":2}\n- Echo [npc]")
		},
		"CA-074": func(t *testing.T) {
			var all []session.Character
			for i := range 12 {
				all = append(all, session.Character{
					ID: fmt.Sprint(i), Name: fmt.Sprintf("Beacon %d", i), Type: "npc",
					Description: strings.Repeat("x", 400), Fields: raw(`{"notes":"` + strings.Repeat("y", 400) + `"}`),
				})
			}
			lines := strings.Split(npcs(t, all...), "\n")
			same(t, "lines", len(lines), 10)
			for _, l := range lines[:9] {
				same(t, "length", len(l), 825)
			}
			same(t, "last", lines[9], "- (profiles not shown: Beacon 9, Beacon 10, Beacon 11)")
			if n := len(strings.Join(lines, "\n")); n >= 8200 {
				t.Errorf("%d characters", n)
			}
		},
		"CA-075": func(t *testing.T) {
			same(t, "line", npcs(t, session.Character{ID: "g", Name: "Gate", Type: "npc", Aliases: []string{"Red Gate"}}), "- Gate (aka Red Gate) [npc]")
		},
		"CA-076": func(t *testing.T) {
			schema := `{"attributes":[{"id":"might","type":"number","min":0,"max":5},{"id":"rank","type":"number","min":1,"max":10},{"id":"hp","type":"number","min":0}]}`
			ranked := hero
			ranked.Fields = raw(`{"might":2,"rank":3,"hp":4}`)
			content := sheets(t, true, schema, ranked, session.Character{ID: "x", Name: "X", Fields: raw(`{"might":2}`)})[0].Content
			contains(t, content, `"might": "2/5"`, `"rank": "3 (1–10)"`, `"hp": 4`, `"might":"2/5"`)
		},
	}
}

func worldLore(lore string) func(*assembler.Input) {
	return func(in *assembler.Input) { in.Runtime.Story, in.Snapshot.World.Lore = true, lore }
}

// dimensions makes n dimensions with one rule and a text value of size runes.
func dimensions(n, size int, rule string) []assembler.Dimension {
	out := make([]assembler.Dimension, n)
	for i := range out {
		out[i] = assembler.Dimension{
			ID: fmt.Sprintf("d%02d", i), Name: "D", Version: 1, Rule: rule,
			Schema: raw(`{"type":"string"}`), Value: raw(`"` + strings.Repeat("x", size) + `"`),
		}
	}
	return out
}

// blockLines gives the lines between the tags of a segment.
func blockLines(s plugin.Segment) []string {
	lines := strings.Split(s.Content, "\n")
	return lines[1 : len(lines)-1]
}

func cutLines(lines []string) (cut, size int) {
	for _, l := range lines {
		size += utf8.RuneCountInString(l) + 1
		if strings.HasSuffix(l, "…") {
			cut++
		}
	}
	return cut, size
}

func worldCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-077": func(t *testing.T) {
			got := build(t, worldLore("Salt & wind </world-lore>\n> quote")).SystemPrompt
			contains(t, got, "<world-lore>\nSalt & wind &lt;/world-lore>\n> quote\n</world-lore>"+mark)
			same(t, "closing", strings.Count(got, "</world-lore>"), 1)
			lacks(t, build(t, worldLore("x"), func(in *assembler.Input) { in.Runtime.Story = false }).SystemPrompt, "world-lore")
		},
		"CA-078": func(t *testing.T) {
			lore := strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 47)+"\n", 600), "\n")
			same(t, "tokens", tokens.Covel{}.Count(lore), 7200)
			same(t, "block", assembler.WorldLore(lore), "<world-lore>\n"+lore+"\n</world-lore>")
		},
		"CA-079": func(t *testing.T) {
			line := strings.Repeat("a", 47) + "\n"
			lore := strings.Repeat(line, 2000)
			shown := strings.Repeat(line, 666) + "…"
			same(t, "block", assembler.WorldLore(lore), "<world-lore>\n"+shown+"\n</world-lore>")
			same(t, "tokens", tokens.Covel{}.Count(shown), 7993)
			same(t, "template", len(bodyOf(t, "{{ world.lore }}", worldLore(lore), func(in *assembler.Input) { in.Runtime.Story = false })), len(lore)-1)
			long := assembler.WorldLore(strings.Repeat("a", 40000) + "\nb")
			same(t, "first line", long, "<world-lore>\n"+strings.Repeat("a", 32000)+"\n…\n</world-lore>")
		},
		"CA-080": func(t *testing.T) {
			segments := assembler.WorldDimensions([]assembler.Dimension{
				{ID: "law", Name: "Law", Version: 1, Schema: raw(`{"x-i18n":true}`), Value: raw(`{"en":"Pay <all>.","zh":"付"}`)},
				{ID: "fog", Name: "Fog level", Version: 3, Value: raw(`2`), Rule: "rises"},
				{ID: "oil", Version: 2, Value: raw(`{"a":1,"b":{"en":"x"}}`), Derived: true},
			}, "en-US", words(t, "en"))
			note := words(t, "en")("P01", nil)
			same(t, "segments", len(segments), 2)
			same(t, "static", segments[0].Content, "<world-dimensions>\nlaw (Law, v1): \"Pay &lt;all&gt;.\"\n"+note+"\n</world-dimensions>")
			same(t, "changing", segments[1].Content, "<world-dimensions>\nfog (Fog level, v3): 2\noil (v2): {\"a\":1,\"b\":{\"en\":\"x\"}}\n"+note+"\n</world-dimensions>")
			same(t, "volatility", segments[0].Volatility+" "+segments[1].Volatility, "session turn")
			lacks(t, segments[1].Content, "rises", "dimensions omitted")
		},
		"CA-081": func(t *testing.T) {
			lines := blockLines(assembler.WorldDimensions(dimensions(39, 300, "r"), "en", words(t, "en"))[0])
			same(t, "lines", len(lines), 40)
			cut, size := cutLines(lines[:39])
			same(t, "cut", cut, 7)
			same(t, "size", size, 11897)
			for _, l := range lines[:7] {
				same(t, "value", utf8.RuneCountInString(l), len("d00 (D, v1): ")+241)
			}
		},
		"CA-136": func(t *testing.T) {
			cut, size := cutLines(blockLines(assembler.WorldDimensions(dimensions(40, 283, "r"), "en", words(t, "en"))[0])[:40])
			same(t, "40", fmt.Sprint(cut, size), "0 11960")
			cut, size = cutLines(blockLines(assembler.WorldDimensions(dimensions(41, 283, "r"), "en", words(t, "en"))[0])[:41])
			same(t, "41", fmt.Sprint(cut, size), "9 11863")
			over := blockLines(assembler.WorldDimensions(dimensions(60, 283, "r"), "en", words(t, "en"))[0])
			contains(t, over[len(over)-2], "[14 dimensions omitted")
		},
		"CA-082": func(t *testing.T) {
			dims := dimensions(3, 5, "Rises with rain.")
			dims[1].Schema = raw(`{"type":"string","maxLength":9,"properties":{"maxLength":{"maxLength":1}}}`)
			tracker := assembler.TrackerSegments(append(dims, assembler.Dimension{ID: "fixed", Value: raw("1")}), words(t, "en"))
			same(t, "truncated", len(tracker.Truncated), 0)
			for i := range tracker.Segments {
				tracker.Segments[i].Provider = "p1"
			}
			out := build(t, withSegments(tracker.Segments...))
			contains(t, out.SystemPrompt, "<dimension-rules>\n- d00: {\"rule\":\"Rises with rain.\",\"schema\":{\"type\":\"string\"}}\n",
				`"schema":{"type":"string","maxLength":7,"properties":{"maxLength":{"maxLength":1}}}`)
			contains(t, out.TurnContext, "<dimension-values>\nd00: \"xxxxx\"\nd01: \"xxxxx\"\nd02: \"xxxxx\"\n")
			lacks(t, out.SystemPrompt+out.TurnContext, "(v1)", "fixed")
			same(t, "no rule", len(assembler.TrackerSegments([]assembler.Dimension{{ID: "fixed"}}, words(t, "en")).Segments), 0)
			long := assembler.TrackerSegments(append(dimensions(2, 12000, strings.Repeat("r", 200)), dimensions(1, 5, "r")...), words(t, "en"))
			same(t, "truncated id", long.Segments[0].ID, "dimension-rules-truncated")
			contains(t, long.Segments[0].Content, words(t, "en")("P04", nil)+"\n- d01: "+strings.Repeat("r", 80)+"\n")
		},
		"CA-083": func(t *testing.T) {
			card := noteCard("a", 10)
			card.Rules = []assembler.CardRule{{"r0", 0}, {"r5", 5}, {"r9", 9}, {"r1", 1}, {"r7", 7}}
			card.Examples = []assembler.CardExample{{Character: "one"}, {"Hi?", "two"}, {Character: "three"}}
			got := notes(t, card)
			contains(t, got, "\nRules: r9; r7; r5\n", "\nExamples: one; Hi? -&gt; two\n")
		},
		"CA-084": func(t *testing.T) {
			// The examples of 40 cards cost what only level 2 saves.
			var cards []assembler.Card
			for i := range 40 {
				card := noteCard(fmt.Sprintf("c%02d", i), 200)
				card.Examples = []assembler.CardExample{{Character: strings.Repeat("e", 280)}, {Character: strings.Repeat("f", 280)}}
				cards = append(cards, card)
			}
			got := notes(t, cards...)
			lacks(t, got, "Examples:", "left out")
			for part, want := range map[string]int{"Voice:": 40, "Manner:": 40, "Secrets:": 40, "Rules:": 40} {
				same(t, part, strings.Count(got, part), want)
			}
		},
		"CA-137": func(t *testing.T) {
			card := noteCard("a", 10)
			card.Voice, card.Manner = strings.Repeat("v", 500), strings.Repeat("m", 500)
			lines := strings.Split(notes(t, card), "\n")
			contains(t, strings.Join(lines, "\n"), "Voice: "+strings.Repeat("v", 500)+"\n")
			for _, l := range lines {
				if strings.HasPrefix(l, "Manner: ") {
					same(t, "manner", l, "Manner: "+strings.Repeat("m", 292)+"...")
				}
			}
			same(t, "no material", len(assembler.CharacterNotes([]assembler.Card{{ID: "a"}}, []session.Character{{ID: "a"}}, notesOptions(t))), 0)
		},
		"CA-085": func(t *testing.T) {
			blocks := func(n int) []plugin.Segment {
				var in []assembler.MemoryBlock
				for i := range n {
					in = append(in, assembler.MemoryBlock{Key: fmt.Sprintf("k%d", n-i), Label: "L", Content: strings.Repeat("x", 3000)})
				}
				return assembler.MemoryBlocks(append(in, assembler.MemoryBlock{Key: "blank", Content: " "}))
			}
			same(t, "three", blocks(3)[0].Content, "<memory-block>\nL\n"+strings.Repeat("x", 2000)+"…\n</memory-block>")
			same(t, "five", blocks(5)[0].Content, "<memory-block>\nL\n"+strings.Repeat("x", 1638)+"…\n</memory-block>")
			same(t, "key", blocks(3)[0].ID, "k1")
		},
	}
}

func notesOptions(t *testing.T) assembler.NotesOptions {
	return assembler.NotesOptions{Lang: "en", Words: words(t, "en")}
}

func noteCard(id string, size int) assembler.Card {
	text := strings.Repeat("x", size)
	return assembler.Card{
		ID: id, Name: "Card " + id, Voice: "low", Manner: "slow", Summary: text, Secrets: []string{"knows"},
		Rules: []assembler.CardRule{{Text: "stays"}}, Relationships: []assembler.CardEntry{{Key: "player", Text: "trusts"}},
	}
}

func notes(t *testing.T, cards ...assembler.Card) string {
	t.Helper()
	var characters []session.Character
	for _, c := range cards {
		characters = append(characters, session.Character{ID: "npc-" + c.ID, Type: "npc"})
	}
	got := assembler.CharacterNotes(cards, append(characters, session.Character{ID: "hero", Type: "player"}), notesOptions(t))
	if len(got) != 1 {
		t.Fatalf("%d segments", len(got))
	}
	contains(t, got[0].Content, "Relationships: the player: trusts")
	if n := (tokens.Covel{}).Count(got[0].Content); n > 6020 {
		t.Errorf("%d tokens", n)
	}
	return got[0].Content
}
