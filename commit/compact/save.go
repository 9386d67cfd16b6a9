package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// save writes a validated result in one transaction of its own (spec 02 §8).
// It stays although the turn may roll back later.
func (r *Runner) save(ctx context.Context, req *Request, sizes Result, in compaction.Input, out *compaction.Output) (Result, error) {
	begun := r.clock() // the event's time: before saving
	var last session.Summary
	result, err := r.within(ctx, req, func(ctx context.Context, tx store.Tx) (Result, error) {
		now := r.clock()
		current, err := tx.Summaries(ctx, req.SessionID)
		if err != nil {
			return Result{}, err
		}
		if !sameSummaries(current, in.ExistingSummaries) {
			return Result{}, &compaction.Error{
				Reason: compaction.SummariesChanged, Step: compaction.StepSave,
				Detail: fmt.Sprintf("%d summaries were given to the provider, %d stand now, not all the same", len(in.ExistingSummaries), len(current)),
			}
		}
		done := sizes
		rows, same, err := prefix(ctx, tx, req.SessionID, out)
		switch {
		case err != nil:
			return Result{}, err
		case !same:
			done.Outcome, done.Reason = Skipped, compaction.PrefixDiffers
			return done, insertRun(ctx, tx, req, done, now)
		}
		w := writer{runner: r, tx: tx, req: req, now: now, existing: current, rows: rows}
		for _, segment := range out.Summaries {
			if last, err = w.write(ctx, segment); err != nil {
				return Result{}, err
			}
			done.SummaryIDs = append(done.SummaryIDs, last.ID)
		}
		state, err := tx.CompactionState(ctx, req.SessionID)
		if err != nil {
			return Result{}, err
		}
		state.SessionID, state.ConsecutiveFailures, state.UpdatedAt = req.SessionID, 0, now
		if err := tx.PutCompactionState(ctx, state); err != nil {
			return Result{}, err
		}
		done.Outcome, done.SummaryID, done.Messages = Compacted, last.ID, len(rows)
		return done, insertRun(ctx, tx, req, done, now)
	})
	if err != nil {
		return r.saveFailed(ctx, req, sizes, err)
	}
	if result.Repeated {
		return result, nil
	}
	if result.Outcome == Skipped {
		r.trace(ctx, req, r.clock(), skippedEvent(req, result.Reason))
		return result, nil
	}
	r.trace(ctx, req, begun, compactedEvent(req, result, in, out, last))
	return result, nil
}

// saveFailed tells a failed save from one that must not be recorded: a session
// that is lost or gone, and a cancelled context.
func (r *Runner) saveFailed(ctx context.Context, req *Request, sizes Result, err error) (Result, error) {
	if f, ok := errors.AsType[*compaction.Error](err); ok {
		return r.fail(ctx, req, sizes, f)
	}
	var se *store.Error
	lost := errors.As(err, &se) && (se.Code == store.CodeSessionLost || se.Code == store.CodeNotFound)
	if ctx.Err() != nil || lost {
		return Result{}, err
	}
	return r.fail(ctx, req, sizes, &compaction.Error{
		Reason: compaction.StoreError, Step: compaction.StepSave, Detail: err.Error(), Err: err,
	})
}

// sameSummaries compares number, order, id and content.
func sameSummaries(a, b []session.Summary) bool {
	return slices.EqualFunc(a, b, func(x, y session.Summary) bool { return x.ID == y.ID && x.Content == y.Content })
}

// prefix reads as many raw rows as the result covers and compares their ids:
// what a history transform hid or moved must not be marked.
func prefix(ctx context.Context, tx store.Tx, sessionID string, out *compaction.Output) ([]session.Message, bool, error) {
	var ids []string
	for _, s := range out.Summaries {
		ids = append(ids, s.MessageIDs...)
	}
	if len(ids) == 0 {
		return nil, true, nil
	}
	rows, err := tx.RawMessages(ctx, sessionID, len(ids))
	if err != nil {
		return nil, false, err
	}
	return rows, slices.EqualFunc(rows, ids, func(row session.Message, id string) bool { return row.ID == id }), nil
}

// writer writes the segments of one result in output order.
type writer struct {
	runner   *Runner
	tx       store.Tx
	req      *Request
	now      time.Time
	existing []session.Summary // what stands after the segments so far
	rows     []session.Message // raw rows not yet covered
}

func (w *writer) write(ctx context.Context, s compaction.Segment) (session.Summary, error) {
	if len(s.ReplacesSummaryIDs) > 0 {
		return w.merge(ctx, s)
	}
	return w.insert(ctx, s)
}

// merge turns the oldest replaced record into the merged one.
func (w *writer) merge(ctx context.Context, s compaction.Segment) (session.Summary, error) {
	at := slices.IndexFunc(w.existing, func(old session.Summary) bool { return old.ID == s.ReplacesSummaryIDs[0] })
	n := len(s.ReplacesSummaryIDs)
	merged, newest, others := w.existing[at], w.existing[at+n-1], s.ReplacesSummaryIDs[1:]
	merged.Content, merged.FocusSections, merged.TurnRangeEnd = s.Content, sections(s), newest.TurnRangeEnd
	if err := w.tx.UpdateSummary(ctx, merged); err != nil {
		return merged, err
	}
	if err := w.tx.RemarkMessages(ctx, w.req.SessionID, others, merged.ID); err != nil {
		return merged, err
	}
	if err := w.tx.DeleteSummaries(ctx, w.req.SessionID, others); err != nil {
		return merged, err
	}
	w.existing = slices.Replace(slices.Clone(w.existing), at, at+n, merged)
	return merged, nil
}

// insert saves a fresh record after every other one and marks its rows.
func (w *writer) insert(ctx context.Context, s compaction.Segment) (session.Summary, error) {
	n := len(s.MessageIDs)
	first, last := w.rows[0], w.rows[n-1]
	w.rows = w.rows[n:]
	created := w.now
	for _, old := range w.existing {
		if after := old.CreatedAt.Add(time.Millisecond); after.After(created) {
			created = after
		}
	}
	fresh := session.Summary{
		ID: w.runner.newID(), SessionID: w.req.SessionID, TurnRangeStart: first.TurnID, TurnRangeEnd: last.TurnID,
		Content: s.Content, FocusSections: sections(s), CreatedAt: created,
	}
	if err := w.tx.InsertSummary(ctx, fresh); err != nil {
		return fresh, err
	}
	w.existing = append(w.existing, fresh)
	return fresh, w.tx.MarkMessages(ctx, w.req.SessionID, s.MessageIDs, fresh.ID)
}

// sections are never null in a record.
func sections(s compaction.Segment) []string { return append([]string{}, s.FocusSections...) }
