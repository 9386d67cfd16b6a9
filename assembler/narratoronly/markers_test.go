package narratoronly_test

import (
	"reflect"
	"testing"

	"github.com/covel-engine/covel/assembler/narratoronly"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, model, player string
		warnings            []narratoronly.Warning
	}{
		"block":    {"a\n<!-- narrator-only -->\nb\n<!-- /narrator-only -->\nc", "a\nb\nc", "a\nc", nil},
		"spelling": {"a\n  <!--Narrator_Only-->\nb\n<!-- / NARRATOR ONLY -->\nc", "a\nb\nc", "a\nc", nil},
		"unclosed": {"a\n<!-- narrator-only -->\nb", "a\nb", "a", []narratoronly.Warning{{Kind: "unclosed", Line: 2}}},
		"unopened": {"a\n<!-- /narrator-only -->\nb", "a\nb", "a\nb", []narratoronly.Warning{{Kind: "unopened", Line: 2}}},
		"nested": {
			"<!-- narrator-only -->\na\n<!-- narrator-only -->\nb\n<!-- /narrator-only -->\nc\n<!-- /narrator-only -->\nd",
			"a\nb\nc\nd", "d", []narratoronly.Warning{{Kind: "nested", Line: 3}},
		},
		"unrecognized": {"a\n<!-- narrator-only: keep -->\nb\n<!-- /narrator-only -->\nc", "a\nb\nc", "a\nc", []narratoronly.Warning{{Kind: "unrecognized", Line: 2}}},
		"blank lines":  {"a\n\n<!-- narrator-only -->\nb\n<!-- /narrator-only -->\n\nc", "a\n\nb\n\nc", "a\n\nc", nil},
		"fence":        {"```\n<!-- narrator-only -->\nb\n```", "```\nb\n```", "```", []narratoronly.Warning{{Kind: "unclosed", Line: 2}}},
		"ordinary":     {"a\n<!-- a note -->\nnarrator-only", "a\n<!-- a note -->\nnarrator-only", "a\n<!-- a note -->\nnarrator-only", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := narratoronly.ModelText(c.text); got != c.model {
				t.Errorf("model text %q, want %q", got, c.model)
			}
			if got := narratoronly.PlayerText(c.text); got != c.player {
				t.Errorf("player text %q, want %q", got, c.player)
			}
			if got := narratoronly.Check(c.text); !reflect.DeepEqual(got, c.warnings) {
				t.Errorf("warnings %v, want %v", got, c.warnings)
			}
		})
	}
}
