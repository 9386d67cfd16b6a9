package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

var errPlanned = errors.New("planned")

func testTransactions(t *testing.T, st store.Store) {
	t.Run("C2-102", func(t *testing.T) {
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			wantCode(t, st.WithTx(ctx, func(context.Context, store.Tx) error { return nil }), store.CodeNestedTransaction)
			return nil
		})
	})
	t.Run("C2-103", func(t *testing.T) {
		id := newSession(t, st)
		count := func() int {
			return len(read[[]session.Message](t)(st.Messages(t.Context(), id)))
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m")}}); err != nil {
				return err
			}
			if n := count(); n != 0 {
				t.Errorf("%d uncommitted rows are seen outside", n)
			}
			if rows := read[[]session.Message](t)(tx.Messages(ctx, id)); len(rows) != 1 {
				t.Errorf("the transaction sees %d of its own rows", len(rows))
			}
			return nil
		})
		if n := count(); n != 1 {
			t.Errorf("%d rows after the commit", n)
		}
		err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m")}}); err != nil {
				return err
			}
			return errPlanned
		})
		if err != errPlanned { //nolint:errorlint // the very error must come back
			t.Errorf("got %v", err)
		}
		if n := count(); n != 1 {
			t.Errorf("%d rows after the rollback", n)
		}
	})
	t.Run("C2-104", func(t *testing.T) {
		id := newSession(t, st)
		err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			for seq := range 2 {
				if err := tx.InsertOutbox(ctx, store.OutboxEntry{SessionID: id, ExecutionID: "x", Seq: seq, Kind: "notification"}); err != nil {
					return err
				}
			}
			return errPlanned
		})
		if !errors.Is(err, errPlanned) {
			t.Errorf("got %v", err)
		}
		if queued := read[[]store.OutboxEntry](t)(st.Outbox(t.Context(), id, "x")); len(queued) != 0 {
			t.Errorf("%d events survived the rollback", len(queued))
		}
	})
	t.Run("a panic rolls back and goes on", func(t *testing.T) {
		id := newSession(t, st)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
				if err := tx.SetFence(ctx, id, "x"); err != nil {
					return err
				}
				panic("planned")
			})
		}()
		if s := read[session.Session](t)(st.Session(t.Context(), id)); s.Fence != "" {
			t.Error("the write survived")
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, id, "y") })
	})
	t.Run("a savepoint undoes just its own writes", func(t *testing.T) {
		id := newSession(t, st)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			put := func(ctx context.Context, row string) error {
				_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: id + row}})
				return err
			}
			if err := put(ctx, "a"); err != nil {
				return err
			}
			err := tx.Savepoint(ctx, func(ctx context.Context) error {
				if err := put(ctx, "b"); err != nil {
					return err
				}
				if err := tx.Savepoint(ctx, func(ctx context.Context) error { return put(ctx, "c") }); err != nil {
					return err
				}
				return errPlanned
			})
			if err != errPlanned { //nolint:errorlint // the very error must come back
				t.Errorf("got %v", err)
			}
			if err := tx.Savepoint(ctx, func(ctx context.Context) error { return put(ctx, "d") }); err != nil {
				return err
			}
			return put(ctx, "e")
		})
		rows := read[[]session.Message](t)(st.Messages(t.Context(), id))
		wantEqual(t, idsOf(rows), []string{id + "a", id + "d", id + "e"})
	})
	t.Run("a refused write inside a savepoint leaves the transaction whole", func(t *testing.T) {
		id := newSession(t, st)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			put := func(ctx context.Context) error {
				_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: id + "a"}})
				return err
			}
			if err := put(ctx); err != nil {
				return err
			}
			wantCode(t, tx.Savepoint(ctx, put), store.CodeAlreadyExists)
			wantCode(t, tx.Savepoint(ctx, func(ctx context.Context) error { return tx.LockSession(ctx, "nowhere") }), store.CodeNotFound)
			return tx.SetFence(ctx, id, "x")
		})
		if s := read[session.Session](t)(st.Session(t.Context(), id)); s.Fence != "x" {
			t.Error("the write after the refusal is gone")
		}
	})
	t.Run("a session made in an undone savepoint is gone", func(t *testing.T) {
		id := newID("s")
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			err := tx.Savepoint(ctx, func(ctx context.Context) error {
				if err := tx.InsertSession(ctx, session.Session{ID: id, WorldID: "w", Phase: session.PhasePlaying}); err != nil {
					return err
				}
				if err := tx.RequestAbort(ctx, id, "x"); err != nil {
					return err
				}
				return errPlanned
			})
			if !errors.Is(err, errPlanned) {
				t.Errorf("got %v", err)
			}
			wantCode(t, tx.RequestAbort(ctx, id, "x"), store.CodeNotFound)
			return nil
		})
	})
	t.Run("a transaction's Tx is of no use after it", func(t *testing.T) {
		id := newSession(t, st)
		var kept store.Tx
		write(t, st, func(_ context.Context, tx store.Tx) error {
			kept = tx
			return nil
		})
		if err := kept.SetFence(t.Context(), id, "late"); err == nil {
			t.Error("a write after the commit was taken")
		}
		if s := read[session.Session](t)(st.Session(t.Context(), id)); s.Fence != "" {
			t.Error("a write after the commit was stored")
		}
	})
	t.Run("writers of a session exclude each other under its lock", func(t *testing.T) {
		id := newSession(t, st)
		const writers, rounds = 8, 10
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for range rounds {
					err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
						if err := tx.LockSession(ctx, id); err != nil {
							return err
						}
						s, err := tx.Session(ctx, id)
						if err != nil {
							return err
						}
						s.TurnCount++
						return tx.UpdateSession(ctx, s)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if s := read[session.Session](t)(st.Session(t.Context(), id)); s.TurnCount != writers*rounds {
			t.Errorf("%d of %d updates survived", s.TurnCount, writers*rounds)
		}
	})
	t.Run("opposite lock orders end well", func(t *testing.T) {
		a, b := newSession(t, st), newSession(t, st)
		var group sync.WaitGroup
		for _, order := range [][]string{{a, b}, {b, a}, {a, b}, {b, a}} {
			group.Go(func() {
				err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
					for _, id := range order {
						if err := tx.LockSession(ctx, id); err != nil {
							return err
						}
						if _, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m")}}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for _, id := range []string{a, b} {
			if n := len(read[[]session.Message](t)(st.Messages(t.Context(), id))); n != 4 {
				t.Errorf("%d of 4 rows", n)
			}
		}
	})
}

func testCancellation(t *testing.T, st store.Store) {
	id := newSession(t, st)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := st.WithTx(cancelled, func(context.Context, store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled WithTx: %v", err)
	}
	if _, err := st.Messages(cancelled, id); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read: %v", err)
	}
	t.Run("inside a transaction", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
			if err := tx.SetFence(ctx, id, "x"); err != nil {
				return err
			}
			cancel()
			if err := tx.SetFence(ctx, id, "y"); !errors.Is(err, context.Canceled) {
				t.Errorf("a write after the cancel: %v", err)
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the commit after a cancel: %v", err)
		}
		if s := read[session.Session](t)(st.Session(t.Context(), id)); s.Fence != "" {
			t.Errorf("fence %q was committed", s.Fence)
		}
	})
	t.Run("while waiting for the session", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error, 1)
		write(t, st, func(held context.Context, tx store.Tx) error {
			if err := tx.LockSession(held, id); err != nil {
				return err
			}
			go func() {
				waiting <- st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error { return tx.LockSession(ctx, id) })
			}()
			cancel()
			if err := <-waiting; !errors.Is(err, context.Canceled) {
				t.Errorf("the waiting writer got %v", err)
			}
			return nil
		})
	})
}
