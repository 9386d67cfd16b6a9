package world

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AnyKeyMatches says whether one of some keys fires for a text, by the rules of
// the lorebook (spec 01 §7.2).
func AnyKeyMatches(keys []string, text string) bool {
	text = strings.ToLower(text)
	for _, key := range keys {
		if keyMatches(strings.ToLower(strings.TrimSpace(key)), text) {
			return true
		}
	}
	return false
}

// keyMatches expects lower case. A key of printable ASCII with a letter must
// stand as a word, with an optional plural or possessive ending; any other key
// matches as a substring.
func keyMatches(key, text string) bool {
	if key == "" {
		return false
	}
	if !wordKey(key) {
		return strings.Contains(text, key)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], key)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(key)
		if edgeBefore(text[:start]) && edgeAfter(text[end:]) {
			return true
		}
		from = start + 1
	}
}

func wordKey(key string) bool {
	letter := false
	for i := range len(key) {
		c := key[i]
		if c < 0x20 || c > 0x7e {
			return false
		}
		letter = letter || c >= 'a' && c <= 'z'
	}
	return letter
}

func edgeBefore(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || isEdge(r)
}

func edgeAfter(after string) bool {
	for _, ending := range []string{"", "s", "es", "'s", "’s"} {
		if rest, ok := strings.CutPrefix(after, ending); ok {
			if r, size := utf8.DecodeRuneInString(rest); size == 0 || isEdge(r) {
				return true
			}
		}
	}
	return false
}

func isEdge(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
}
