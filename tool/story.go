package tool

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/covel-engine/covel/assembler"
)

var thinking = regexp.MustCompile(`(?is)<think>.*?</think>|<thinking>.*?</thinking>`)

// SanitiseStory cleans a story's text (spec 03 §11.7): complete think blocks,
// internal markers, control characters other than newline and tab, and outer
// white space go.
func SanitiseStory(text string) string {
	text = thinking.ReplaceAllString(text, "")
	text = assembler.StripSentinels(text)
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
