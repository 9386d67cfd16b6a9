package assembler

import (
	"strings"
	"unicode"

	"github.com/covel-engine/covel/tokens"
)

// worldLoreTokens bounds the <world-lore> block (spec 01 §8.8).
const worldLoreTokens = 8000

const worldLoreTag = "world-lore"

// WorldLore writes the <world-lore> block of a story runtime, "" for blank
// lore. World text is long Markdown, so it stays as it is but for a literal
// closing tag; above 8,000 tokens it ends after the last whole line that fits.
func WorldLore(lore string) string {
	lore = clean(lore)
	if blank(lore) {
		return ""
	}
	closing := "</" + worldLoreTag + ">"
	return block(worldLoreTag, strings.ReplaceAll(cutLore(lore), closing, "&lt;"+closing[1:]))
}

func cutLore(lore string) string {
	est := tokens.Covel{}
	if est.Count(lore) <= worldLoreTokens {
		return lore
	}
	used, end := 0, 0
	for end < len(lore) {
		next := len(lore)
		if i := strings.IndexByte(lore[end:], '\n'); i >= 0 {
			next = end + i + 1
		}
		if used += est.Count(lore[end:next]); used > worldLoreTokens {
			break
		}
		end = next
	}
	if end == 0 {
		end = fittingPrefix(lore, worldLoreTokens)
	}
	return strings.TrimRightFunc(lore[:end], unicode.IsSpace) + "\n…"
}

// fittingPrefix is the length of the longest prefix of the first line that
// costs at most limit.
func fittingPrefix(text string, limit int) int {
	est := tokens.Covel{}
	wide, other := 0, 0
	for i, r := range text {
		if r == '\n' {
			return i
		}
		if tokens.Wide(r) {
			wide++
		} else {
			other++
		}
		if est.Cost(wide, other) > limit {
			return i
		}
	}
	return len(text)
}
