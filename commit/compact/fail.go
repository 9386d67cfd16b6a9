package compact

import (
	"context"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/store"
)

// noticeEvery is how many failures in a row the player is told of.
const noticeEvery = 3

// fail stores a failure, counts it, and says what the player is told. A row
// that never fits is told once a session and never counted (spec 02 §9).
func (r *Runner) fail(ctx context.Context, req *Request, result Result, f *compaction.Error) (Result, error) {
	quiet := false
	result, err := r.within(ctx, req, func(ctx context.Context, tx store.Tx) (Result, error) {
		state, err := tx.CompactionState(ctx, req.SessionID)
		if err != nil {
			return Result{}, err
		}
		done := result
		done.Outcome, done.Reason, quiet = Failed, f.Reason, false
		now := r.clock()
		state.SessionID, state.UpdatedAt = req.SessionID, now
		switch {
		case f.Reason.Counted():
			state.ConsecutiveFailures++
			if state.ConsecutiveFailures%noticeEvery == 0 {
				done.Notice = r.notice(req, NoticeFailing, state.ConsecutiveFailures, f.Reason)
			}
		case state.OversizedRowID == "":
			done.Outcome, state.OversizedRowID = Blocked, f.RowID
			done.Notice = r.notice(req, NoticeBlocked, 0, f.Reason)
		default:
			done.Outcome, quiet = Blocked, true
		}
		done.Failures = state.ConsecutiveFailures
		if !quiet {
			if err := tx.PutCompactionState(ctx, state); err != nil {
				return Result{}, err
			}
		}
		return done, insertRun(ctx, tx, req, done, now)
	})
	if err != nil || result.Repeated || quiet {
		return result, err
	}
	r.trace(ctx, req, r.clock(), failedEvent(req, result, f))
	if result.Notice != nil {
		r.trace(ctx, req, r.clock(), noticeEvent(req, result.Notice))
	}
	return result, nil
}

func (r *Runner) notice(req *Request, code string, count int, reason compaction.Reason) *Notice {
	return &Notice{Code: code, Count: count, Reason: reason, Message: r.texts.Get(req.Lang, "T35."+code, nil)}
}
