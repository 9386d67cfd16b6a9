package scripted

import (
	"encoding/json"
	"regexp"
	"testing"
)

func TestMinimalInstance(t *testing.T) {
	t.Parallel()
	for schema, wanted := range map[string]string{
		`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"},"c":{}},"required":["a","b"]}`: `{"b":"text","a":0}`,
		`{"const":{"z":1,"a":2}}`:                                      `{"z":1,"a":2}`,
		`{"enum":["x","y"],"default":"y"}`:                             `"x"`,
		`{"type":"string","default":"d","examples":["e"]}`:             `"d"`,
		`{"type":"string","examples":["e"]}`:                           `"e"`,
		`{"type":"string","minLength":7}`:                              `"textxxx"`,
		`{"type":"string","maxLength":2}`:                              `"te"`,
		`{"type":"number","minimum":2.5}`:                              `2.5`,
		`{"type":"integer","minimum":-3}`:                              `-3`,
		`{"type":"boolean"}`:                                           `false`,
		`{"type":"null"}`:                                              `null`,
		`{"type":["string","null"]}`:                                   `"text"`,
		`{"type":"array","items":{"type":"boolean"},"minItems":2}`:     `[false,false]`,
		`{"type":"array","items":{"type":"boolean"}}`:                  `[]`,
		`{"anyOf":[{"type":"integer","minimum":4},{"type":"string"}]}`: `4`,
		`{"oneOf":[{"enum":[true]}]}`:                                  `true`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`:         `"text"`,
		`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"const":1}}}`:          `1`,
		`{"type":"object","required":["x"]}`:                           `{"x":null}`,
		`{}`:                                                           `null`,
	} {
		if got := string(minimalInstance(json.RawMessage(schema))); got != wanted {
			t.Errorf("%s: %s, want %s", schema, got, wanted)
		}
	}
	endless := `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]}}}`
	if got := minimalInstance(json.RawMessage(endless)); !json.Valid(got) {
		t.Errorf("%s", got)
	}
}

func TestHoldsWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, word string
		holds      bool
	}{
		{"roll for it", "roll", true}, {"I roll.", "roll", true}, {"trolls", "roll", false}, {"roll-dice", "roll", false}, {"a roll_x", "roll", false},
		{"roll-dice now", "roll-dice", true}, {"trolls roll", "roll", true}, {"", "roll", false}, {"推开门看", "门", true}, {"x", "", false},
	} {
		if got := holdsWord(c.text, c.word); got != c.holds {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}

// sentenceEnd ends a sentence: behind it comes a gap, a quote or nothing.
var sentenceEnd = regexp.MustCompile(`[.!?](\s|$)|[。！？](”?$|[^”])`)

// Each list of each language is there and each template has its place.
func TestSentences(t *testing.T) {
	t.Parallel()
	lists, err := loadSentences()
	if err != nil {
		t.Fatal(err)
	}
	for language, l := range lists {
		for name, list := range map[string][]string{"openings": l.Openings, "results": l.Results, "scenes": l.Scenes, "closings": l.Closings} {
			if len(list) < 5 {
				t.Errorf("%s %s: %d sentences", language, name, len(list))
			}
			for _, sentence := range list {
				if ends := len(sentenceEnd.FindAllString(sentence, -1)); ends != 1 {
					t.Errorf("%s %s: %q ends %d times", language, name, sentence, ends)
				}
			}
		}
		for _, theme := range l.Themes {
			if len(theme.Words) == 0 || len(theme.Scenes) == 0 {
				t.Errorf("%s: an empty theme %v", language, theme.Words)
			}
		}
	}
}
