package assembler_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden holds the bytes of one request with everything in it, per
// instruction language.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"en-GB", "zh-CN"} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			out := build(t, full, inLocale(tag), history("u I row.", "a Fog lies on the water."), withSegments(
				segment("goal", "goal: find the oar", "system", "turn"), segment("note", "depth note", `{"depth":1}`, "session"),
				segment("close", "Stop where the player must act.", "post-history", "stable"),
			), ownData("notes", "summary", rows(6, 4, `{"text":"Salt & wind"}`)), func(in *assembler.Input) {
				in.Story = []assembler.Story{{Name: "narrator", Content: "The tide fell."}}
				in.Inputs = []assembler.Slot{{Name: "scene", InputSlot: one(`"The tide fell."`, "narrator", "narrator", "")}}
				in.Summaries = []session.Summary{{ID: "s", Content: "They left the <harbour>.", FocusSections: []string{"Places"}}}
				in.Pictures = []assembler.Picture{{Description: "a red lighthouse", MediaRef: "media"}}
			})
			got := printed(out)
			path := filepath.Join("testdata", "golden", tag+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; run with -update after checking\n%s", path, got)
			}
		})
	}
}

// printed shows a request section by section.
func printed(out *assembler.Assembled) string {
	var b strings.Builder
	for _, s := range out.Sections {
		if s.Zone == assembler.ZoneSystem {
			text := strings.ReplaceAll(out.SystemPrompt[s.From:s.To], assembler.Sentinel, "⟂")
			fmt.Fprintf(&b, "== system: %s\n%s\n", s.Name, text)
			continue
		}
		for _, m := range out.Messages[s.From:s.To] {
			fmt.Fprintf(&b, "== %s: %s %s\n%s\n", m.Role, s.Name, m.Name, m.Content)
			for _, p := range m.Parts {
				fmt.Fprintf(&b, "[%s] %s%s\n", p.Type, p.Text, p.MediaRef)
			}
		}
	}
	return b.String()
}
