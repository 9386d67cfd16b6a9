package assembler

import (
	"encoding/json"
	"strconv"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/tokens"
)

// WithResponseFormat ends a system prompt with the JSON rules and the compact
// schema (text T22). The budget counts the schema itself, so this is added after
// Budget.Apply. Without a schema the prompt stays.
func WithResponseFormat(system string, schema json.RawMessage, texts *locale.Texts, lang locale.Lang) string {
	if len(schema) == 0 {
		return system
	}
	return joinNonEmpty(blankLine, system, texts.Get(lang, "T22", map[string]string{"schema": modelJSON(schema)}))
}

// RetryHint is the hint of retry n, from 1 (text T15).
func RetryHint(texts *locale.Texts, lang locale.Lang, n int) string {
	return texts.Get(lang, "T15", map[string]string{"n": strconv.Itoa(n)})
}

// LongestRetryHint is the costliest hint that one of so many retries may add,
// "" without retries: what Budget.RetryHint reserves room for.
func LongestRetryHint(texts *locale.Texts, lang locale.Lang, est tokens.Estimator, retries int) string {
	if retries <= 0 {
		return ""
	}
	longest := RetryHint(texts, lang, retries)
	if cut := texts.Get(lang, "T16", nil); est.Count(cut) > est.Count(longest) {
		return cut
	}
	return longest
}
