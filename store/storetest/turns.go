package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func turnRecord(id, turn string) store.TurnRecord {
	return store.TurnRecord{
		ID: newID("r"), SessionID: id, TurnID: turn, ExecutionID: "x-" + turn, InputHash: "h", Origin: "player",
		ExecutionContext: object(`{"b": 1,"a":2}`), PlayerMessage: "look", Error: object("{}"), RuntimeResults: object("[ ]"),
		Conflicts: object("[1]"), DurationMs: 12, ParentTurnID: "t0", CommitStatus: "pending", LogicalTurn: 4, CreatedAt: noon,
	}
}

func testTurnRecords(t *testing.T, st store.Store) {
	id := newSession(t, st)
	t.Run("a record comes back whole and is replaced", func(t *testing.T) {
		r := turnRecord(id, "t1")
		put := func(r store.TurnRecord) {
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutTurnRecord(ctx, r) })
			wantEqual(t, read[store.TurnRecord](t)(st.TurnRecord(t.Context(), id, r.TurnID)), r)
		}
		put(r)
		r.CommitStatus, r.RuntimeResults, r.Error = "committed", object(`[{"id":"a"}]`), nil
		put(r)
		r.ID, r.ExecutionID = newID("r"), "x2"
		put(r)
	})
	t.Run("unknown", func(t *testing.T) {
		_, err := st.TurnRecord(t.Context(), id, "nothing")
		wantCode(t, err, store.CodeNotFound, "nothing")
	})
	t.Run("an id belongs to one turn", func(t *testing.T) {
		other := newSession(t, st)
		r := turnRecord(id, "t2")
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutTurnRecord(ctx, r) })
		moved := r
		moved.TurnID = "t3"
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.PutTurnRecord(ctx, moved) }, r.ID)
		moved.SessionID = other
		refused(t, st, store.CodeForeignID, func(ctx context.Context, tx store.Tx) error { return tx.PutTurnRecord(ctx, moved) }, r.ID)
	})
	t.Run("a status outside the list is refused", func(t *testing.T) {
		r := turnRecord(id, "t4")
		r.CommitStatus = "done"
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error { return tx.PutTurnRecord(ctx, r) }, "commit_status", "done")
	})
	t.Run("newest first", func(t *testing.T) {
		other := newSession(t, st)
		for i := range 4 {
			r := turnRecord(other, fmt.Sprint("t", i))
			r.CreatedAt = after(i / 2) // pairs of one instant keep their order
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutTurnRecord(ctx, r) })
		}
		var got []string
		for _, r := range read[[]store.TurnRecord](t)(st.TurnRecords(t.Context(), other, 3)) {
			got = append(got, r.TurnID)
		}
		wantEqual(t, got, []string{"t3", "t2", "t1"})
		_, err := st.TurnRecords(t.Context(), other, -1)
		wantCode(t, err, store.CodeInvalidValue)
	})
}

func testCommits(t *testing.T, st store.Store) {
	commit := func(id, turn, execution string) store.TurnCommit {
		return store.TurnCommit{
			SessionID: id, TurnID: turn, ExecutionID: execution, CountPolicy: "player", Result: object(`{"n": "%s"}`, execution), CommittedAt: noon,
		}
	}
	t.Run("C2-109", func(t *testing.T) {
		id := newSession(t, st)
		first := commit(id, "t1", "E")
		// One commit as the engine does it: claim, rows, clock.
		run := func(c store.TurnCommit) (stored store.TurnCommit, repeated bool) {
			write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
				if err := tx.LockSession(ctx, id); err != nil {
					return err
				}
				if stored, repeated, err = tx.InsertTurnCommit(ctx, c); err != nil || repeated {
					return err
				}
				if _, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), TurnID: c.TurnID}}); err != nil {
					return err
				}
				s, err := tx.Session(ctx, id)
				if err != nil {
					return err
				}
				s.TurnCount++
				s.CompletedPlayerTurns++
				return tx.UpdateSession(ctx, s)
			})
			return stored, repeated
		}
		if _, repeated := run(first); repeated {
			t.Error("the first commit counts as repeated")
		}
		again := first
		again.Result, again.CommittedAt = object(`{"n":"other"}`), after(9)
		stored, repeated := run(again)
		if !repeated {
			t.Error("the repeat is not seen")
		}
		wantEqual(t, stored, first)
		s := read[session.Session](t)(st.Session(t.Context(), id))
		if s.TurnCount != 1 || s.CompletedPlayerTurns != 1 {
			t.Errorf("counters moved to %d and %d", s.TurnCount, s.CompletedPlayerTurns)
		}
		if n := len(read[[]session.Message](t)(st.Messages(t.Context(), id))); n != 1 {
			t.Errorf("%d rows", n)
		}
		got, ok, err := st.TurnCommit(t.Context(), id, "t1")
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		wantEqual(t, got, first)
	})
	t.Run("C2-110", func(t *testing.T) {
		id := newSession(t, st)
		insert := func(execution string) func(context.Context, store.Tx) error {
			return func(ctx context.Context, tx store.Tx) error {
				_, _, err := tx.InsertTurnCommit(ctx, commit(id, "t1", execution))
				return err
			}
		}
		write(t, st, insert("E"))
		refused(t, st, store.CodeTurnAlreadyCommitted, insert("F"), `"E"`, `"F"`)
		if _, ok, err := st.TurnCommit(t.Context(), id, "t2"); ok || err != nil {
			t.Errorf("an uncommitted turn: %v, %v", ok, err)
		}
	})
	t.Run("two executions at once", func(t *testing.T) {
		id := newSession(t, st)
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			won   int
		)
		for i := range 6 {
			group.Go(func() {
				err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
					_, _, err := tx.InsertTurnCommit(ctx, commit(id, "t1", fmt.Sprint("E", i)))
					return err
				})
				if err == nil {
					mu.Lock()
					won++
					mu.Unlock()
					return
				}
				wantCodeAsync(t, err, store.CodeTurnAlreadyCommitted)
			})
		}
		group.Wait()
		if won != 1 {
			t.Errorf("%d executions committed one turn", won)
		}
	})
}

func testJournal(t *testing.T, st store.Store) {
	id := newSession(t, st)
	entry := func(execution, kind, key, payload string) store.JournalEntry {
		return store.JournalEntry{SessionID: id, ExecutionID: execution, Kind: kind, Key: key, Payload: object("%s", payload), CreatedAt: noon}
	}
	put := func(t *testing.T, e store.JournalEntry) (stored store.JournalEntry, fresh bool) {
		write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
			stored, fresh, err = tx.PutJournal(ctx, e)
			return err
		})
		return stored, fresh
	}
	t.Run("an entry is stored once", func(t *testing.T) {
		e := entry("x1", "tool", "narrator/call-1", `{"ok": true}`)
		stored, fresh := put(t, e)
		if !fresh {
			t.Error("the first put counts as a repeat")
		}
		wantEqual(t, stored, e)
		other := e
		other.Payload, other.CreatedAt = object(`{"ok":false}`), after(5)
		stored, fresh = put(t, other)
		if fresh {
			t.Error("the repeat counts as new")
		}
		wantEqual(t, stored, e)
		got, ok, err := st.JournalEntry(t.Context(), id, "x1", "tool", "narrator/call-1")
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		wantEqual(t, got, e)
	})
	t.Run("entries keep the order they were stored in", func(t *testing.T) {
		var want []store.JournalEntry
		for _, key := range []string{"b", "a", "Z", ""} {
			e := entry("x2", "result", key, `[]`)
			put(t, e)
			want = append(want, e)
		}
		put(t, entry("x2", "plan", "", `{}`))
		put(t, entry("x3", "result", "c", `{}`))
		wantEqual(t, read[[]store.JournalEntry](t)(st.JournalEntries(t.Context(), id, "x2", "result")), want)
	})
	t.Run("unknown", func(t *testing.T) {
		if _, ok, err := st.JournalEntry(t.Context(), id, "x1", "tool", "none"); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
	t.Run("one of many at once", func(t *testing.T) {
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			fresh int
			seen  = map[string]bool{}
		)
		for i := range 6 {
			group.Go(func() {
				err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
					stored, isNew, err := tx.PutJournal(ctx, entry("x4", "hook", "k", fmt.Sprint(i)))
					if err == nil {
						mu.Lock()
						defer mu.Unlock()
						seen[string(stored.Payload)] = true
						if isNew {
							fresh++
						}
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if fresh != 1 || len(seen) != 1 {
			t.Errorf("%d writers stored it, %d answers", fresh, len(seen))
		}
	})
	t.Run("the abort flag", func(t *testing.T) {
		flag := func(execution string) bool { return read[bool](t)(st.AbortRequested(t.Context(), id, execution)) }
		if flag("x1") {
			t.Error("set before it was requested")
		}
		for range 2 {
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.RequestAbort(ctx, id, "x1") })
		}
		if !flag("x1") || flag("x2") {
			t.Error("the flag belongs to one execution")
		}
	})
}

func testExportsAndOutbox(t *testing.T, st store.Store) {
	id := newSession(t, st)
	t.Run("the newest export at or before an instant", func(t *testing.T) {
		made := make([]store.Export, 4)
		for i, ms := range []int{10, 20, 20, 30} {
			made[i] = store.Export{
				ID: newID("e"), SessionID: id, PluginID: "p", RuntimeID: "r", ExportKey: "weather", TurnID: fmt.Sprint("t", i),
				Value: object(`{"v": %d}`, i), CommittedAt: after(ms),
			}
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.InsertExport(ctx, made[i]) })
		}
		for ms, want := range map[int]int{9: -1, 10: 0, 19: 0, 20: 2, 29: 2, 30: 3, 99: 3} {
			got, ok, err := st.Export(t.Context(), id, "weather", after(ms))
			if err != nil || ok != (want >= 0) {
				t.Errorf("at %d: %v, %v", ms, ok, err)
				continue
			}
			if ok {
				wantEqual(t, got, made[want])
			}
		}
		if _, ok, err := st.Export(t.Context(), id, "other", after(99)); ok || err != nil {
			t.Errorf("an unknown key: %v, %v", ok, err)
		}
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertExport(ctx, made[0]) }, made[0].ID)
	})
	t.Run("the outbox", func(t *testing.T) {
		entries := make([]store.OutboxEntry, 3)
		for i := range entries {
			entries[i] = store.OutboxEntry{SessionID: id, ExecutionID: "x", Seq: i, Kind: "job", Payload: object(`{"job": %d}`, i), CreatedAt: noon}
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for _, i := range []int{2, 0, 1} {
				if err := tx.InsertOutbox(ctx, entries[i]); err != nil {
					return err
				}
			}
			return tx.MarkOutboxSent(ctx, id, "x", 1, after(4))
		})
		sent := after(4)
		entries[1].SentAt = &sent
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.MarkOutboxSent(ctx, id, "x", 1, after(9)) })
		wantEqual(t, read[[]store.OutboxEntry](t)(st.Outbox(t.Context(), id, "x")), entries)
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertOutbox(ctx, entries[0]) })
		refused(t, st, store.CodeNotFound, func(ctx context.Context, tx store.Tx) error { return tx.MarkOutboxSent(ctx, id, "x", 9, noon) })
	})
}

// wantCodeAsync is wantCode for goroutines, which may not end the test.
func wantCodeAsync(t testing.TB, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("got error %v, want code %s", err, code)
	}
}
