package compaction

import (
	"strings"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// Validate checks a provider's result before anything is written (spec 02 §7).
// The first broken rule is invalid_result with its number.
func Validate(est tokens.Estimator, sessionID string, in Input, out *Output) error {
	if out == nil {
		return nil
	}
	broken := func(rule, segment int, format string, args ...any) error {
		return failf(InvalidResult, StepValidate, "rule %d, segment %d: "+format, append([]any{rule, segment}, args...)...)
	}
	if len(out.Summaries) == 0 {
		return failf(InvalidResult, StepValidate, "rule 1: summaries is empty; answer null for nothing to do")
	}
	for i, s := range out.Summaries {
		if strings.TrimSpace(s.Content) == "" {
			return broken(2, i, "content is blank")
		}
	}
	for i, s := range out.Summaries {
		if (len(s.MessageIDs) > 0) == (len(s.ReplacesSummaryIDs) > 0) {
			return broken(3, i, "it has %d message ids and %d replaced ids; exactly one list must have some", len(s.MessageIDs), len(s.ReplacesSummaryIDs))
		}
	}
	total := 0
	for i, s := range out.Summaries {
		n := est.Count(s.Content)
		if n > in.SummaryBudget.MaxSegmentTokens {
			return broken(4, i, "content has %d tokens, at most %d are allowed", n, in.SummaryBudget.MaxSegmentTokens)
		}
		total += n
	}
	replaced := 0
	for i, s := range out.Summaries {
		for _, id := range s.ReplacesSummaryIDs {
			if replaced == len(in.ExistingSummaries) || in.ExistingSummaries[replaced].ID != id {
				return broken(5, i, "replaced id %q is not the next saved summary", id)
			}
			replaced++
		}
	}
	raw := rawRows(in.Messages)
	covered := 0
	for i, s := range out.Summaries {
		for _, id := range s.MessageIDs {
			// One cursor over raw rows also refuses an id that comes twice (rule 7).
			if covered == len(raw) || raw[covered].ID != id || raw[covered].SessionID != sessionID {
				return broken(6, i, "message id %q is not the next raw row of this session", id)
			}
			covered++
		}
	}
	kept := in.ExistingSummaries[replaced:]
	if n := len(kept) + len(out.Summaries); n > in.SummaryBudget.MaxSegments {
		return broken(8, len(out.Summaries)-1, "%d summaries would be kept, at most %d are allowed", n, in.SummaryBudget.MaxSegments)
	}
	for i := range kept {
		total += est.Count(kept[i].Content)
	}
	if total > in.SummaryBudget.MaxTokens {
		return broken(9, len(out.Summaries)-1, "all summaries would have %d tokens, at most %d are allowed", total, in.SummaryBudget.MaxTokens)
	}
	return nil
}

// rawRows gives the rows without a mark.
func rawRows(rows []session.Message) []*session.Message {
	var raw []*session.Message
	for i := range rows {
		if rows[i].CompactedBy == "" {
			raw = append(raw, &rows[i])
		}
	}
	return raw
}
