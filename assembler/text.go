package assembler

import (
	"strings"
	"unicode/utf8"

	"github.com/covel-engine/covel/compaction"
)

const blankLine = "\n\n"

// Escape writes text so that it can neither open nor close a tag block.
func Escape(text string) string { return compaction.Escape(text) }

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// Fold makes line breaks and runs of white space one blank and trims the ends.
func Fold(text string) string { return strings.Join(strings.Fields(text), " ") }

// Cut gives the first n runes followed by the suffix when text is longer than
// n runes, else text.
func Cut(text string, n int, suffix string) string {
	if len(text) <= n {
		return text
	}
	if head, longer := firstRunes(text, n); longer {
		return head + suffix
	}
	return text
}

// firstRunes gives the first n runes, and whether there are more.
func firstRunes(text string, n int) (string, bool) {
	if n <= 0 {
		return "", text != ""
	}
	seen := 0
	for i := range text {
		if seen == n {
			return text[:i], true
		}
		seen++
	}
	return text, false
}

func runeLen(text string) int { return utf8.RuneCountInString(text) }

// clean makes outside text fit for a prompt: no sentinel, valid UTF-8.
func clean(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return StripSentinels(text)
}

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(sep string, parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}

// block writes <tag>, newline, body, newline, </tag>.
func block(tag, body string) string {
	return "<" + tag + ">\n" + body + "\n</" + tag + ">"
}

// tagName checks a tag that an author chose: one leading "<" and one trailing
// ">" are removed, the rest is letters, digits, "_" and "-".
func tagName(as string) (string, bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(as, "<"), ">")
	return name, nameLen(name) == len(name) && name != ""
}

// nameLen is the length of the tag name that text starts with.
func nameLen(text string) int {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return i
		}
	}
	return len(text)
}
