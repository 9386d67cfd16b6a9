package assembler

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
)

const (
	profileBudget = 8000 // runes
	profileRunes  = 400
)

// SheetOptions are the options of CharacterSheets.
type SheetOptions struct {
	// CurrentCharacterID is the character that the player plays now.
	CurrentCharacterID string
	Lang               locale.Lang
	// Profiles adds the other characters.
	Profiles bool
	// Schema is the world's character schema; with it, bounded numbers show
	// their range.
	Schema json.RawMessage
	// Texts is the framework's catalogue.
	Texts *locale.Texts
}

// CharacterSheets gives at most one segment (spec 01 §8.9): the sheet of the
// current character and, on request, a line for everyone else.
func CharacterSheets(characters []session.Character, o SheetOptions) []plugin.Segment {
	ranges := RangesOf(o.Schema)
	var blocks []string
	for _, c := range characters {
		if c.ID == o.CurrentCharacterID && c.ID != "" {
			blocks = append(blocks, block("player-character", Escape(clean(project(characterSheet(c, ranges)).Indented()))))
			break
		}
	}
	if o.Profiles {
		if lines := CharacterLines(characters, o.CurrentCharacterID, ranges, o.Texts, o.Lang); lines != "" {
			blocks = append(blocks, block("character-profiles", Escape(lines)))
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	return []plugin.Segment{{
		ID: "character-sheets", Content: strings.Join(blocks, "\n"), Position: Quoted(PositionSystem),
		Audience: Quoted(AudienceSelf), Volatility: VolatilityTurn,
	}}
}

// characterSheet is {id, name, type, description, fields}.
func characterSheet(c session.Character, ranges Ranges) ordered.Value {
	return ordered.Obj(
		ordered.Member{Key: "id", Value: ordered.Str(c.ID)},
		ordered.Member{Key: "name", Value: ordered.Str(c.Name)},
		ordered.Member{Key: "type", Value: ordered.Str(c.Type)},
		ordered.Member{Key: "description", Value: ordered.Str(c.Description)},
		ordered.Member{Key: "fields", Value: ranges.show(fieldsOf(c))},
	)
}

func fieldsOf(c session.Character) ordered.Value {
	fields, err := jsonValue(c.Fields)
	if err != nil || fields.Kind != ordered.Object {
		return ordered.Obj()
	}
	return fields
}

// CharacterLines writes one line for every character but the excluded one
// within 8,000 runes; the rest is listed by name (spec 01 §8.10). The text is
// not escaped.
func CharacterLines(characters []session.Character, exclude string, ranges Ranges, texts *locale.Texts, lang locale.Lang) string {
	var lines, unlisted []string
	used := 0
	for _, c := range characters {
		if c.ID == exclude && exclude != "" {
			continue
		}
		if unlisted == nil {
			line := CharacterLine(c, ranges)
			if used += runeLen(line) + 1; used <= profileBudget {
				lines = append(lines, line)
				continue
			}
		}
		unlisted = append(unlisted, Fold(c.Name))
	}
	if unlisted != nil {
		lines = append(lines, texts.Get(lang, "T32", map[string]string{"names": strings.Join(unlisted, lang.ListSeparator())}))
	}
	return clean(strings.Join(lines, "\n"))
}

// CharacterLine is one profile: name, aliases, type, description, fields.
func CharacterLine(c session.Character, ranges Ranges) string {
	line := "- " + Fold(c.Name)
	var aliases []string
	for _, a := range c.Aliases {
		if a = Fold(a); a != "" {
			aliases = append(aliases, a)
		}
	}
	if len(aliases) > 0 {
		line += " (aka " + strings.Join(aliases, ", ") + ")"
	}
	if kind := Fold(c.Type); kind != "" {
		line += " [" + kind + "]"
	}
	if d := Fold(c.Description); d != "" {
		line += " | " + Cut(d, profileRunes, "...")
	}
	if fields := project(ranges.show(fieldsOf(c))); len(fields.Members) > 0 {
		line += " | " + Cut(fields.JSON(), profileRunes, "...")
	}
	return line
}

// Ranges are the bounds of numeric attributes, by field name.
type Ranges map[string]bounds

type bounds struct{ min, max string }

// RangesOf reads the attributes of a character schema that are numeric and
// declare both min and max.
func RangesOf(schema json.RawMessage) Ranges {
	v, err := jsonValue(schema)
	if err != nil {
		return nil
	}
	ranges := Ranges{}
	add := func(name string, attribute ordered.Value) {
		kind, _ := textMember(attribute, "type")
		low, high := attribute.Member("min"), attribute.Member("max")
		if name != "" && (kind == "number" || kind == "integer") && low.Kind == ordered.Number && high.Kind == ordered.Number {
			ranges[name] = bounds{low.Text, high.Text}
		}
	}
	attributes, ok := v.Get("attributes")
	if !ok {
		attributes = v
	}
	for _, a := range attributes.Items {
		id, _ := textMember(a, "id")
		add(id, a)
	}
	for _, m := range attributes.Members {
		add(m.Key, m.Value)
	}
	return ranges
}

// show writes bounded numbers with their range: "2/5" from 0, else "2 (1–5)".
func (r Ranges) show(fields ordered.Value) ordered.Value {
	if len(r) == 0 {
		return fields
	}
	members := make([]ordered.Member, len(fields.Members))
	for i, m := range fields.Members {
		if b, ok := r[m.Key]; ok && m.Value.Kind == ordered.Number {
			text := m.Value.Text + " (" + b.min + "–" + b.max + ")"
			if b.min == "0" {
				text = m.Value.Text + "/" + b.max
			}
			m.Value = ordered.Str(text)
		}
		members[i] = m
	}
	return ordered.Obj(members...)
}
