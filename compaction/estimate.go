package compaction

import (
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// Preview is the prompt of the agent that reached the barrier first.
type Preview struct {
	SystemPrompt string
	TurnContext  string
}

// Estimate is what the threshold is compared with (spec 02 §3.4): the preview,
// every raw row of the projected history, the envelope of every saved summary.
// Each is estimated on its own.
func Estimate(
	est tokens.Estimator, texts *locale.Texts, lang locale.Lang, preview Preview, rows []session.Message, summaries []session.Summary,
) int {
	n := est.Count(preview.SystemPrompt) + est.Count(preview.TurnContext)
	for i := range rows {
		if rows[i].CompactedBy == "" {
			n += est.Count(rows[i].Content)
		}
	}
	for i := range summaries {
		n += est.Count(Envelope(texts, lang, summaries[i]))
	}
	return n
}

// Due says whether an estimate is strictly above a fraction of the window
// (spec 02 §3.5).
func Due(estimated, window, thousandths int) bool { return estimated*1000 > window*thousandths }
