package world

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/covel-engine/covel/plugin/source"
)

var (
	opens     = regexp.MustCompile(`(?i)^<!--\s*narrator[\s_-]*only\s*-->$`)
	closes    = regexp.MustCompile(`(?i)^<!--\s*/\s*narrator[\s_-]*only\s*-->$`)
	comment   = regexp.MustCompile(`(?s)^<!--.*-->$`)
	markWords = regexp.MustCompile(`(?i)narrator[\s_-]*only`)
)

// Lore is a world's text for its two readers (spec 01 §6.7). Models see
// everything but the marker lines, players nothing of the marked blocks.
type Lore struct {
	Model  string
	Player string
}

// marker is one authoring problem of WORLD.md; Line is 1-based.
type marker struct {
	code string
	line int
}

// splitLore applies the narrator-only markers of a text.
func splitLore(text string) (Lore, []marker) {
	lines := strings.Split(text, "\n")
	var problems []marker
	removed := make([]bool, len(lines)) // marker lines
	hidden := make([]bool, len(lines))  // lines inside a block
	var open []int
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case opens.MatchString(trimmed):
			if len(open) > 0 {
				problems = append(problems, marker{"marker-nested", i + 1})
			}
			open = append(open, i+1)
			removed[i] = true
		case closes.MatchString(trimmed):
			if len(open) == 0 {
				problems = append(problems, marker{"marker-unopened", i + 1})
			} else {
				open = open[:len(open)-1]
			}
			removed[i] = true
		case comment.MatchString(trimmed) && markWords.MatchString(trimmed):
			problems = append(problems, marker{"marker-unrecognized", i + 1})
			open = append(open, i+1)
			removed[i] = true
		default:
			hidden[i] = len(open) > 0
		}
	}
	for _, line := range open {
		problems = append(problems, marker{"marker-unclosed", line})
	}
	both := make([]bool, len(lines))
	for i := range lines {
		both[i] = removed[i] || hidden[i]
	}
	return Lore{Model: without(lines, removed), Player: without(lines, both)}, problems
}

// without drops lines; where the lines around a dropped part are both blank, one
// blank goes too.
func without(lines []string, drop []bool) string {
	var out []string
	for i := 0; i < len(lines); i++ {
		if !drop[i] {
			out = append(out, lines[i])
			continue
		}
		for i+1 < len(lines) && drop[i+1] {
			i++
		}
		blankBefore := len(out) > 0 && strings.TrimSpace(out[len(out)-1]) == ""
		if blankBefore && i+1 < len(lines) && strings.TrimSpace(lines[i+1]) == "" {
			i++
		}
	}
	return strings.Join(out, "\n")
}

func reportMarkers(problems []marker, path string, report *source.Report) {
	text := map[string][2]string{
		"marker-nested":       {"opens a narrator-only block inside another", "Close the outer block first, or remove this marker."},
		"marker-unclosed":     {"opens a narrator-only block that is never closed; players see nothing from here on", "Add a line <!-- /narrator-only --> where the block ends."},
		"marker-unopened":     {"closes a narrator-only block that was never opened", "Add a line <!-- narrator-only --> where the block begins, or remove this marker."},
		"marker-unrecognized": {"is a comment with the words narrator-only that is no marker; it counts as an opening", "Write exactly <!-- narrator-only --> or <!-- /narrator-only -->."},
	}
	for _, m := range problems {
		t := text[m.code]
		report.Warn(m.code, path, m.line, "", fmt.Sprintf("line %d of %s %s", m.line, path, t[0]), t[1])
	}
}
