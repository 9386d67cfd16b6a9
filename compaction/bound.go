package compaction

import (
	"sort"
	"strings"
	"unicode"

	"github.com/covel-engine/covel/tokens"
)

// Bound trims a reply and shortens it to at most limit tokens, with the marker
// at its end. It says whether the text was shortened, and false for ok when not
// even one rune fits (spec 02 §6.8).
func Bound(est tokens.Estimator, reply, marker string, limit int) (text string, truncated, ok bool) {
	text = strings.TrimSpace(reply)
	if est.Count(text) <= limit {
		return text, false, true
	}
	runes := []rune(text)
	prefix := func(n int) string { return strings.TrimRightFunc(string(runes[:n]), unicode.IsSpace) }
	fits := func(n int) bool { return est.Count(prefix(n)+marker) <= limit }
	// The first length that does not fit; estimates grow with the text.
	n := sort.Search(len(runes)+1, func(n int) bool { return !fits(n) }) - 1
	if n < 1 || prefix(n) == "" {
		return "", false, false
	}
	return prefix(n) + marker, true, true
}
