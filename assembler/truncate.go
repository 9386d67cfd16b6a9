package assembler

import (
	"slices"
	"sort"
	"strings"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// truncate cuts tool results, oldest first, then summary envelopes, oldest
// first, until the request fits (spec 01 §15.9).
func (f *fitting) truncate(messages []model.Message) []model.Message {
	messages = slices.Clone(messages)
	marker := f.Texts.Get(f.Lang, "T09", nil)
	for i, m := range messages {
		if !f.over() {
			return messages
		}
		if m.Role != model.RoleTool || m.Parts != nil {
			continue
		}
		text, saved := HeadTail(f.Estimator, m.Content, marker, f.estimate-f.limit)
		if saved <= 0 {
			continue
		}
		messages[i].Content = text
		f.estimate -= saved
		f.report.TruncatedResults++
		f.report.ToolResultSaved += saved
	}
	for i, m := range messages {
		if !f.over() {
			break
		}
		text, saved := f.cutEnvelope(m)
		if saved <= 0 {
			continue
		}
		messages[i].Content = text
		f.estimate -= saved
		f.report.TruncatedSummaries++
		f.report.SummarySaved += saved
	}
	return messages
}

// HeadTail shortens a text so that it saves need tokens: its first and last
// characters stay with the marker between, or the trimmed marker alone. It gives
// the text and the tokens saved, 0 when nothing was done.
func HeadTail(est tokens.Estimator, text, marker string, need int) (string, int) {
	cost, least := est.Count(text), est.Count(marker)
	if cost <= least || need <= 0 {
		return text, 0
	}
	target := max(least, cost-need-1)
	short := headTail(est, text, marker, target)
	return short, cost - est.Count(short)
}

func headTail(est tokens.Estimator, text, marker string, target int) string {
	if est.Count(marker) >= target {
		return strings.TrimSpace(marker)
	}
	cut := newCutter(text)
	k := cut.largest(func(k int) bool { return est.Count(cut.keep(k, marker)) <= target })
	return cut.keep(k, marker)
}

// cutter keeps the outer runes of a text.
type cutter struct {
	text    string
	offsets []int // byte offset of every rune, and the end
}

func newCutter(text string) cutter {
	offsets := make([]int, 0, len(text)+1)
	for i := range text {
		offsets = append(offsets, i)
	}
	return cutter{text, append(offsets, len(text))}
}

func (c cutter) runes() int { return len(c.offsets) - 1 }

// keep is the first ceil(k/2) runes, the marker, and the last floor(k/2).
func (c cutter) keep(k int, marker string) string {
	return c.text[:c.offsets[(k+1)/2]] + marker + c.text[c.offsets[c.runes()-k/2]:]
}

// largest finds the largest k below the text's length that fits.
func (c cutter) largest(fits func(k int) bool) int {
	n := sort.Search(c.runes(), func(k int) bool { return !fits(k) })
	return max(0, n-1)
}

// cutEnvelope cuts the inner text of a summary (spec 02 §11).
func (f *fitting) cutEnvelope(m model.Message) (text string, saved int) {
	if !isEnvelope(f.Texts, m) {
		return "", 0
	}
	text, _ = compaction.CutEnvelope(f.Texts, f.Lang, f.Estimator, m.Content, f.estimate-f.limit)
	return text, f.Estimator.Count(m.Content) - f.Estimator.Count(text)
}
