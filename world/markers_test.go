package world

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitLore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, model, player string
		problems            []string
	}{
		"plain":        {"a\nb", "a\nb", "a\nb", nil},
		"block":        {"a\n<!-- narrator-only -->\nx\n<!-- /narrator-only -->\nb", "a\nx\nb", "a\nb", nil},
		"blank lines":  {"a\n\n<!-- narrator-only -->\n\nx\n\n<!-- /narrator-only -->\n\nb", "a\n\nx\n\nb", "a\n\nb", nil},
		"spellings":    {"<!--NARRATOR_ONLY-->\nx\n<!-- /  narrator only-->\nb", "x\nb", "b", nil},
		"AF-118":       {"1\n2\n3\n4\n<!-- narrator-only -->\n6", "1\n2\n3\n4\n6", "1\n2\n3\n4", []string{"marker-unclosed 5"}},
		"AF-119":       {"1\n2\n<!-- /narrator-only -->\n4", "1\n2\n4", "1\n2\n4", []string{"marker-unopened 3"}},
		"nested":       {"<!-- narrator-only -->\na\n<!-- narrator-only -->\nb\n<!-- /narrator-only -->\nc\n<!-- /narrator-only -->\nd", "a\nb\nc\nd", "d", []string{"marker-nested 3"}},
		"unrecognized": {"a\n<!-- end of narrator-only part -->\nb", "a\nb", "a", []string{"marker-unrecognized 2", "marker-unclosed 2"}},
		"code fence":   {"```\n<!-- narrator-only -->\nx\n<!-- /narrator-only -->\n```", "```\nx\n```", "```\n```", nil},
		"ordinary":     {"<!-- a comment -->\nb", "<!-- a comment -->\nb", "<!-- a comment -->\nb", nil},
		"mentioned":    {"The marker <!-- narrator-only --> in a line", "The marker <!-- narrator-only --> in a line", "The marker <!-- narrator-only --> in a line", nil},
	} {
		lore, problems := splitLore(c.text)
		var got []string
		for _, p := range problems {
			got = append(got, p.code+" "+string(rune('0'+p.line)))
		}
		if lore.Model != c.model || lore.Player != c.player || !slices.Equal(got, c.problems) {
			t.Errorf("%s: %q, %q, %v", name, lore.Model, lore.Player, got)
		}
	}
	// Players never see more than models, and nobody sees a marker.
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "a", "b & c", "<!-- narrator-only -->", "<!-- /narrator-only -->", "<!-- narratoronly? -->"})
		lore, _ := splitLore(strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "\n"))
		if strings.Contains(lore.Model, "narrator") || strings.Contains(lore.Player, "narrator") {
			t.Fatal("a marker is shown")
		}
		model := strings.Split(lore.Model, "\n")
		for _, l := range strings.Split(lore.Player, "\n") {
			if i := slices.Index(model, l); l != "" && i < 0 {
				t.Fatalf("players see %q, models do not", l)
			}
		}
	})
}
