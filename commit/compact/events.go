package compact

import (
	"context"
	"slices"
	"time"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
)

// detailRunes bounds the detail of a failure in the trace.
const detailRunes = 300

// trace writes one event after the fact; a failure to do so changes nothing.
func (r *Runner) trace(ctx context.Context, req *Request, at time.Time, e trace.Event) {
	if e.TraceID == "" {
		e.TraceID = req.TraceID
	}
	err := r.store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error { return trace.Insert(ctx, tx, at, e) })
	if err != nil {
		r.warn("trace event "+e.Type+" was not written", err)
	}
}

func event(req *Request, typ string, payload any) trace.Event {
	return trace.Event{Scope: req.Scope, Type: typ, Key: req.ExecutionID, Payload: payload}
}

// compactedEvent tells of a saved result. Without a trace it stands under the
// summary's id and the turn up to which history was condensed.
func compactedEvent(req *Request, result Result, in compaction.Input, out *compaction.Output, last session.Summary) trace.Event {
	payload := struct {
		SummaryID          string   `json:"summaryId"`
		SummaryIDs         []string `json:"summaryIds"`
		MessagesCompacted  int      `json:"messagesCompacted"`
		TokenSavings       int      `json:"tokenSavings"`
		FocusSections      []string `json:"focusSections"`
		SummariesMerged    int      `json:"summariesMerged"`
		SummaryTokens      int      `json:"summaryTokens"`
		TotalSummaryTokens int      `json:"totalSummaryTokens"`
		SummaryTruncated   bool     `json:"summaryTruncated"`
		TurnRangeEnd       string   `json:"turnRangeEnd"`
	}{SummaryID: result.SummaryID, SummaryIDs: result.SummaryIDs, FocusSections: []string{}, TurnRangeEnd: last.TurnRangeEnd}
	est := req.Services.Estimator
	covered := make(map[string]bool)
	for _, s := range out.Summaries {
		payload.MessagesCompacted += len(s.MessageIDs)
		payload.SummariesMerged += len(s.ReplacesSummaryIDs)
		payload.SummaryTokens += est.Count(s.Content)
		payload.SummaryTruncated = payload.SummaryTruncated || s.Truncated
		for _, id := range s.MessageIDs {
			covered[id] = true
		}
		for _, name := range s.FocusSections {
			if !slices.Contains(payload.FocusSections, name) {
				payload.FocusSections = append(payload.FocusSections, name)
			}
		}
	}
	for i := range in.Messages {
		if covered[in.Messages[i].ID] {
			payload.TokenSavings += est.Count(in.Messages[i].Content)
		}
	}
	payload.TotalSummaryTokens = payload.SummaryTokens
	for i := range in.ExistingSummaries[payload.SummariesMerged:] {
		payload.TotalSummaryTokens += est.Count(in.ExistingSummaries[payload.SummariesMerged+i].Content)
	}
	e := event(req, trace.ContextCompacted, payload)
	if req.TraceID == "" {
		e.TraceID, e.TurnID = result.SummaryID, last.TurnRangeEnd
	}
	return e
}

func failedEvent(req *Request, result Result, f *compaction.Error) trace.Event {
	detail := []rune(f.Detail)
	return event(req, trace.CompactionFailed, struct {
		Reason          compaction.Reason `json:"reason"`
		Step            compaction.Step   `json:"step"`
		Detail          string            `json:"detail"`
		Failures        int               `json:"failures"`
		EstimatedTokens int               `json:"estimatedTokens"`
		ContextWindow   int               `json:"contextWindow"`
		InputWindow     int               `json:"inputWindow"`
		RowID           string            `json:"rowId,omitempty"`
		Needed          int               `json:"tokensNeeded,omitempty"`
		Available       int               `json:"tokensAvailable,omitempty"`
	}{
		f.Reason, f.Step, string(detail[:min(len(detail), detailRunes)]), result.Failures, result.EstimatedTokens,
		result.ContextWindow, result.InputWindow, f.RowID, f.Needed, f.Available,
	})
}

func skippedEvent(req *Request, reason compaction.Reason) trace.Event {
	return event(req, trace.CompactionSkipped, map[string]any{"reason": reason})
}

func noticeEvent(req *Request, n *Notice) trace.Event {
	return event(req, trace.SessionNotice, n)
}

// serviceEvent tells of the provider's call.
func serviceEvent(req *Request, failure *compaction.Error) trace.Event {
	outcome := "success"
	if failure != nil {
		outcome = "error"
	}
	return event(req, trace.ServiceCompleted, map[string]string{"outcome": outcome, "extensionPoint": compaction.ExtensionPoint})
}
