package assembler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

const (
	notesTokens   = 6000
	noteLineRunes = 300
	noteListItems = 4
	notesTag      = "character-notes"
)

// Card is the part of a character card that a writer reads (spec 05 §12.5).
type Card struct {
	ID            string
	Name          string
	Voice         string
	Manner        string
	Summary       string
	Traits        []string
	Goals         []string
	Fears         []string
	Secrets       []string
	Relationships []CardEntry
	State         []CardEntry
	Rules         []CardRule
	Examples      []CardExample
}

// CardEntry is one named text of a card, in written order.
type CardEntry struct {
	Key  string
	Text string
}

// CardRule is one rule; an absent priority is 0.
type CardRule struct {
	Text     string
	Priority float64
}

// CardExample is one sample line, with what the player said before it, if any.
type CardExample struct {
	User      string
	Character string
}

// ParseCard reads a card of the character file.
func ParseCard(raw json.RawMessage) (Card, error) {
	v, err := jsonValue(raw)
	if err != nil {
		return Card{}, fmt.Errorf("character card: %w", err)
	}
	persona, scenario := v.Member("persona"), v.Member("scenarioDefaults")
	text := func(v ordered.Value, key string) string {
		s, _ := textMember(v, key)
		return s
	}
	c := Card{
		ID: text(v, "id"), Name: text(v, "name"),
		Voice: text(persona, "voice"), Manner: text(persona, "style"), Summary: text(persona, "summary"),
		Traits: texts(persona.Member("traits")), Goals: texts(persona.Member("goals")),
		Fears: texts(persona.Member("fears")), Secrets: texts(persona.Member("secrets")),
		Relationships: cardEntries(scenario.Member("relationships")), State: cardEntries(scenario.Member("state")),
	}
	for _, r := range v.Member("rules").Items {
		priority, _ := r.Member("priority").Float()
		c.Rules = append(c.Rules, CardRule{text(r, "text"), priority})
	}
	for _, e := range v.Member("dialogueExamples").Items {
		c.Examples = append(c.Examples, CardExample{text(e, "user"), text(e, "character")})
	}
	return c, nil
}

func texts(v ordered.Value) []string {
	var out []string
	for _, item := range v.Items {
		if item.Kind == ordered.String {
			out = append(out, item.Text)
		}
	}
	return out
}

func cardEntries(v ordered.Value) []CardEntry {
	var out []CardEntry
	for _, m := range v.Members {
		out = append(out, CardEntry{m.Key, render(m.Value)})
	}
	return out
}

// NotesOptions are the options of CharacterNotes.
type NotesOptions struct {
	Lang locale.Lang
	// Names are display names by id, for relationship targets that are no card.
	Names map[string]string
	// Words: P06 intro, P07.<part> labels, P07.player, P08 omitted names.
	Words Words
}

// noteLevel is how much of every card is shown.
type noteLevel struct {
	examples, rules  int
	relations, inner bool
}

// noteLevels are the levels of spec 01 §8.13, 0 to 5.
func noteLevels() []noteLevel {
	return []noteLevel{
		{2, 3, true, true}, {1, 3, true, true}, {0, 3, true, true},
		{0, 1, true, true}, {0, 0, false, true}, {0, 0, false, false},
	}
}

// CharacterNotes gives at most one <character-notes> segment (spec 01 §8.13):
// roleplay notes of the session's non-player characters, at the first level that
// fits 6,000 tokens. Voice, manner and secrets are shown at every level.
func CharacterNotes(cards []Card, characters []session.Character, o NotesOptions) []plugin.Segment {
	present := presentCards(cards, characters)
	if len(present) == 0 {
		return nil
	}
	names := noteNames(cards, o)
	intro := o.Words("P06", nil)
	for _, level := range noteLevels() {
		written, _ := writeNotes(present, level, names, o)
		if len(written) == 0 {
			return nil
		}
		if text := intro + "\n" + strings.Join(written, "\n"); notesFit(text) {
			return notesSegment(text)
		}
	}
	written, who := writeNotes(present, noteLevel{}, names, o)
	text := intro
	for i, card := range written {
		longer := text + "\n" + card
		if notesFit(longer) {
			text = longer
			continue
		}
		omitted := make([]string, 0, len(who)-i)
		for _, name := range who[i:] {
			omitted = append(omitted, Escape(clean(Fold(name))))
		}
		text += "\n" + o.Words("P08", map[string]string{"names": strings.Join(omitted, o.Lang.ListSeparator())})
		break
	}
	return notesSegment(text)
}

// notesFit costs the whole block, intro and tags included.
func notesFit(text string) bool {
	return tokens.Covel{}.Count(block(notesTag, text)) <= notesTokens
}

func notesSegment(text string) []plugin.Segment {
	return []plugin.Segment{{
		ID: notesTag, Content: block(notesTag, text), Position: Quoted(PositionSystem),
		Audience: Quoted(AudienceStory), Volatility: VolatilitySession,
	}}
}

// presentCards gives the cards of non-player characters, by character id.
func presentCards(cards []Card, characters []session.Character) []Card {
	type present struct {
		characterID string
		card        Card
	}
	var found []present
	for _, card := range cards {
		for _, c := range characters {
			if c.Type != session.CharacterTypePlayer && (c.ID == card.ID || c.ID == "npc-"+card.ID) {
				found = append(found, present{c.ID, card})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b present) int { return strings.Compare(a.characterID, b.characterID) })
	out := make([]Card, len(found))
	for i, p := range found {
		out[i] = p.card
	}
	return out
}

func noteNames(cards []Card, o NotesOptions) map[string]string {
	names := map[string]string{}
	maps.Copy(names, o.Names)
	for _, c := range cards {
		names[c.ID], names["npc-"+c.ID] = c.Name, c.Name
	}
	names["player"] = o.Words("P07.player", nil)
	return names
}

// writeNotes writes the cards that have material, and their names.
func writeNotes(cards []Card, level noteLevel, names map[string]string, o NotesOptions) (written, who []string) {
	for _, c := range cards {
		if lines := noteLines(c, level, names, o); len(lines) > 0 {
			written = append(written, Escape(clean("### "+Fold(c.Name)))+"\n"+strings.Join(lines, "\n"))
			who = append(who, c.Name)
		}
	}
	return written, who
}

func noteLines(c Card, level noteLevel, names map[string]string, o NotesOptions) []string {
	var lines []string
	add := func(part, text string, cut bool) {
		if text = Fold(text); text == "" {
			return
		}
		line := o.Words("P07."+part, nil) + o.Lang.Colon() + text
		if cut {
			line = Cut(line, noteLineRunes, "...")
		}
		lines = append(lines, Escape(clean(line)))
	}
	list := func(part string, items []string, limit int) {
		kept := make([]string, 0, limit)
		for _, item := range items {
			if item = Fold(item); item != "" && len(kept) < limit {
				kept = append(kept, item)
			}
		}
		add(part, strings.Join(kept, o.Lang.ItemSeparator()), true)
	}
	add("voice", c.Voice, false)
	add("manner", c.Manner, true)
	if level.inner {
		add("summary", c.Summary, true)
		list("traits", c.Traits, noteListItems)
		list("goals", c.Goals, noteListItems)
		list("fears", c.Fears, noteListItems)
	}
	list("secrets", c.Secrets, noteListItems)
	if level.relations {
		list("relationships", entryTexts(c.Relationships, names, o.Lang), noteListItems)
		list("state", entryTexts(c.State, nil, o.Lang), noteListItems)
	}
	list("rules", ruleTexts(c.Rules), level.rules)
	list("examples", exampleTexts(c.Examples), level.examples)
	return lines
}

func entryTexts(entries []CardEntry, names map[string]string, lang locale.Lang) []string {
	var out []string
	for _, e := range entries {
		name := e.Key
		if n, ok := names[e.Key]; ok {
			name = n
		}
		out = append(out, name+lang.Colon()+e.Text)
	}
	return out
}

func ruleTexts(rules []CardRule) []string {
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(a, b CardRule) int { return cmp.Compare(b.Priority, a.Priority) })
	out := make([]string, len(sorted))
	for i, r := range sorted {
		out[i] = r.Text
	}
	return out
}

func exampleTexts(examples []CardExample) []string {
	out := make([]string, len(examples))
	for i, e := range examples {
		if out[i] = e.Character; !blank(e.User) {
			out[i] = Fold(e.User) + " -> " + e.Character
		}
	}
	return out
}
