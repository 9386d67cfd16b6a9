// Package narratoronly reads the marker lines of world text that hide a part
// from players (spec 01 §6.7).
//
//	lore := "The vault stands open.\n<!-- narrator-only -->\nIt is empty.\n<!-- /narrator-only -->"
//	narratoronly.ModelText(lore)  // both sentences
//	narratoronly.PlayerText(lore) // "The vault stands open."
//	narratoronly.Check(lore)      // authoring warnings, none here
package narratoronly

import (
	"regexp"
	"strings"
)

// Kinds of authoring warnings; the code is "marker-" and the kind.
const (
	Unclosed     = "unclosed"
	Unopened     = "unopened"
	Nested       = "nested"
	Unrecognized = "unrecognized"
)

// Warning is a marker that may not mean what its author wanted. Line counts
// from 1.
type Warning struct {
	Kind string
	Line int
}

// Code is the warning's code, as "marker-unclosed".
func (w Warning) Code() string { return "marker-" + w.Kind }

var (
	exact = regexp.MustCompile(`(?i)^<!--\s*(/?)\s*narrator[\s_-]*only\s*-->$`)
	words = regexp.MustCompile(`(?i)^<!--.*narrator[\s_-]*only.*-->$`)
)

type line struct {
	text   string
	marker bool
	hidden bool
}

// read marks lines. Text is hidden while any opening is unclosed.
func read(text string) ([]line, []Warning) {
	var warnings []Warning
	var open []int
	raw := strings.Split(text, "\n")
	lines := make([]line, len(raw))
	for i, l := range raw {
		lines[i] = line{text: l, hidden: len(open) > 0}
		trimmed := strings.TrimSpace(l)
		if !strings.HasPrefix(trimmed, "<!--") {
			continue
		}
		m := exact.FindStringSubmatch(trimmed)
		if m == nil && !words.MatchString(trimmed) {
			continue
		}
		lines[i].marker = true
		switch {
		case m != nil && m[1] == "/":
			if len(open) == 0 {
				warnings = append(warnings, Warning{Unopened, i + 1})
				break
			}
			open = open[:len(open)-1]
		default:
			if m == nil {
				warnings = append(warnings, Warning{Unrecognized, i + 1})
			}
			if len(open) > 0 {
				warnings = append(warnings, Warning{Nested, i + 1})
			}
			open = append(open, i+1)
		}
	}
	for _, at := range open {
		warnings = append(warnings, Warning{Unclosed, at})
	}
	return lines, warnings
}

// ModelText is everything but the marker lines.
func ModelText(text string) string {
	lines, _ := read(text)
	return join(lines, func(l line) bool { return !l.marker })
}

// PlayerText also lacks what the markers hide.
func PlayerText(text string) string {
	lines, _ := read(text)
	return join(lines, func(l line) bool { return !l.marker && !l.hidden })
}

// Check lists authoring warnings in the order they are found: unclosed openings
// last.
func Check(text string) []Warning {
	_, warnings := read(text)
	return warnings
}

// join keeps lines. When the lines before and after a removed part are both
// blank, one of them goes too.
func join(lines []line, keep func(line) bool) string {
	out := make([]string, 0, len(lines))
	removed := false
	for _, l := range lines {
		if !keep(l) {
			removed = true
			continue
		}
		if removed && blank(l.text) && (len(out) > 0 && blank(out[len(out)-1])) {
			removed = false
			continue
		}
		removed = false
		out = append(out, l.text)
	}
	return strings.Join(out, "\n")
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
