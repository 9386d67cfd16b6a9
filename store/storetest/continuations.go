package storetest

import (
	"context"
	"sync"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func testContinuations(t *testing.T, st store.Store) {
	id := newSession(t, st)
	open := func(t *testing.T, change ...func(*session.Suspension)) session.Suspension {
		t.Helper()
		s := session.Suspension{
			ID: newID("c"), SessionID: id, TurnID: "t1", RuntimeID: "narrator", PluginID: "story", Reason: "choice",
			ResumeSchema: object(`{"type": "object"}`), Payload: object(`{"schema": 1, "z":2,"a":3}`), Status: session.SuspensionOpen, CreatedAt: noon,
		}
		for _, c := range change {
			c(&s)
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.SaveSuspension(ctx, s) })
		return s
	}
	stored := func(t *testing.T, cid string) session.Suspension {
		t.Helper()
		return read[session.Suspension](t)(st.Suspension(t.Context(), cid))
	}
	claim := func(cid, token string, ms int) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.ClaimSuspension(ctx, cid, token, after(ms)) }
	}
	release := func(cid, token string) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.ReleaseSuspension(ctx, cid, token) }
	}
	resolve := func(cid, token string, ms int) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.ResolveSuspension(ctx, cid, token, after(ms)) }
	}
	cancel := func(cid string) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error {
			return tx.CancelSuspension(ctx, cid, "operator", after(8))
		}
	}
	t.Run("saved, updated, listed", func(t *testing.T) {
		other := newSession(t, st)
		deadline := after(500)
		s := open(t, func(s *session.Suspension) { s.SessionID, s.Deadline = other, &deadline })
		wantEqual(t, stored(t, s.ID), s)
		s.Reason, s.Payload, s.ResumeSchema, s.Deadline = "again", object(`{"schema":1}`), nil, nil
		changed := s
		changed.TurnID, changed.CreatedAt = "t9", after(99) // these stay
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.SaveSuspension(ctx, changed) })
		wantEqual(t, stored(t, s.ID), s)
		earlier := open(t, func(s *session.Suspension) { s.SessionID, s.CreatedAt = other, after(-1) })
		wantEqual(t, read[[]session.Suspension](t)(st.Suspensions(t.Context(), other)), []session.Suspension{earlier, s})
	})
	t.Run("C2-112", func(t *testing.T) {
		s := open(t)
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			codes = map[string]int{}
		)
		for _, token := range []string{"T", "U"} {
			group.Go(func() {
				err := st.WithTx(t.Context(), claim(s.ID, token, 1))
				mu.Lock()
				defer mu.Unlock()
				codes[codeOf(err)]++
			})
		}
		group.Wait()
		wantEqual(t, codes, map[string]int{"": 1, store.CodeContinuationTaken: 1})
	})
	t.Run("C2-113", func(t *testing.T) {
		s := open(t)
		write(t, st, claim(s.ID, "T", 1))
		write(t, st, claim(s.ID, "T", 2))
		refused(t, st, store.CodeContinuationTaken, release(s.ID, "U"), s.ID)
		got := stored(t, s.ID)
		if got.Status != session.SuspensionClaimed || got.ClaimToken != "T" || !got.ClaimedAt.Equal(after(1)) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("C2-114", func(t *testing.T) {
		s := open(t)
		write(t, st, claim(s.ID, "T", 1))
		write(t, st, release(s.ID, "T"))
		wantEqual(t, stored(t, s.ID), s)
		write(t, st, release(s.ID, "T")) // a repeat of the release changes nothing
		write(t, st, claim(s.ID, "U", 2))
		if got := stored(t, s.ID); string(got.Payload) != string(s.Payload) || got.ClaimToken != "U" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("C2-115", func(t *testing.T) {
		s := open(t)
		write(t, st, cancel(s.ID))
		refused(t, st, store.CodeContinuationClosed, claim(s.ID, "T", 9), s.ID, "cancelled")
		if got := stored(t, s.ID); got.ClosedReason != "operator" || got.Status != session.SuspensionCancelled {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("C2-116", func(t *testing.T) {
		s, other := open(t), newSession(t, st)
		foreign := s
		foreign.SessionID, foreign.Reason = other, "stolen"
		refused(t, st, store.CodeForeignID, func(ctx context.Context, tx store.Tx) error { return tx.SaveSuspension(ctx, foreign) }, s.ID)
		wantEqual(t, stored(t, s.ID), s)
	})
	t.Run("a closed or claimed one is not saved over", func(t *testing.T) {
		s := open(t)
		write(t, st, claim(s.ID, "T", 1))
		save := func(ctx context.Context, tx store.Tx) error { return tx.SaveSuspension(ctx, s) }
		refused(t, st, store.CodeContinuationClosed, save, "claimed")
		write(t, st, resolve(s.ID, "T", 2))
		refused(t, st, store.CodeContinuationClosed, save, "resolved")
	})
	t.Run("resolve", func(t *testing.T) {
		s := open(t)
		refused(t, st, store.CodeInvalidValue, resolve(s.ID, "T", 1), "open")
		write(t, st, claim(s.ID, "T", 1))
		refused(t, st, store.CodeContinuationTaken, resolve(s.ID, "U", 2))
		write(t, st, resolve(s.ID, "T", 3))
		write(t, st, resolve(s.ID, "T", 4))
		if got := stored(t, s.ID); got.Status != session.SuspensionResolved || !got.ResolvedAt.Equal(after(3)) {
			t.Errorf("got %+v", got)
		}
		refused(t, st, store.CodeContinuationClosed, claim(s.ID, "T", 5), "resolved")
		refused(t, st, store.CodeContinuationClosed, release(s.ID, "T"), "resolved")
		refused(t, st, store.CodeContinuationClosed, resolve(s.ID, "U", 5), "resolved")
		refused(t, st, store.CodeContinuationClosed, cancel(s.ID), "resolved")
	})
	t.Run("a claimed one is not cancelled", func(t *testing.T) {
		s := open(t)
		write(t, st, claim(s.ID, "T", 1))
		refused(t, st, store.CodeContinuationTaken, cancel(s.ID), s.ID)
	})
	t.Run("unknown", func(t *testing.T) {
		_, err := st.Suspension(t.Context(), "none")
		wantCode(t, err, store.CodeNotFound, "none")
		for _, fn := range []func(context.Context, store.Tx) error{claim("none", "T", 1), release("none", "T"), resolve("none", "T", 1), cancel("none")} {
			refused(t, st, store.CodeNotFound, fn, "none")
		}
	})
	t.Run("deadlines", func(t *testing.T) {
		deadline := after(100)
		withDeadline := func(s *session.Suspension) { s.Deadline = &deadline }
		for _, ms := range []int{100, 101} {
			late := open(t, withDeadline)
			// The transaction commits, so that the cancellation stays.
			write(t, st, func(ctx context.Context, tx store.Tx) error {
				wantCode(t, tx.ClaimSuspension(ctx, late.ID, "T", after(ms)), store.CodeContinuationClosed, "cancelled")
				return nil
			})
			if got := stored(t, late.ID); got.Status != session.SuspensionCancelled || got.ClosedReason != "deadline" {
				t.Errorf("claimed at %d: %+v", ms, got)
			}
		}
		inTime := open(t, withDeadline)
		write(t, st, claim(inTime.ID, "T", 99))
		write(t, st, claim(inTime.ID, "T", 200)) // a claim made in time is not disturbed
		write(t, st, resolve(inTime.ID, "T", 300))
	})
}
