package storetest

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func testMessages(t *testing.T, st store.Store) {
	t.Run("C2-105", func(t *testing.T) {
		id := newSession(t, st)
		stored := appendRows(t, st, id, "t1", 1, 3)
		rows := read[[]session.Message](t)(st.Messages(t.Context(), id))
		wantEqual(t, rows, stored)
		for i, m := range rows {
			if m.ID != rowID(id, i+1) || m.Seq != int64(i+1) || m.SessionID != id {
				t.Errorf("row %d is %+v", i, m)
			}
		}
	})
	t.Run("C2-106", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 30)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.MarkMessages(ctx, id, rowIDs(id, 1, 10), "y") })
		wantEqual(t, idsOf(read[[]session.Message](t)(st.RawMessages(t.Context(), id, 5))), rowIDs(id, 11, 15))
		wantEqual(t, idsOf(read[[]session.Message](t)(st.MessageTail(t.Context(), id, 20))), rowIDs(id, 11, 30))
		wantEqual(t, idsOf(read[[]session.Message](t)(st.AllRawMessages(t.Context(), id))), rowIDs(id, 11, 30))
		after, span, err := st.RawMessagesAfter(t.Context(), id, 25)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, idsOf(after), rowIDs(id, 26, 30))
		wantEqual(t, span, store.MessageSpan{Count: 20, First: 11, Last: 30})
		_, err = st.MessageTail(t.Context(), id, 25)
		wantCode(t, err, store.CodeInvalidValue, "25")
	})
	t.Run("the tail holds marked rows", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 3)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.MarkMessages(ctx, id, rowIDs(id, 1, 2), "y") })
		tail := read[[]session.Message](t)(st.MessageTail(t.Context(), id, 2))
		wantEqual(t, idsOf(tail), rowIDs(id, 2, 3))
		if tail[0].CompactedBy != "y" || tail[1].CompactedBy != "" {
			t.Errorf("marks are %q and %q", tail[0].CompactedBy, tail[1].CompactedBy)
		}
	})
	t.Run("limits", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 2)
		for name, fn := range map[string]func(n int) ([]session.Message, error){
			"raw":        func(n int) ([]session.Message, error) { return st.RawMessages(t.Context(), id, n) },
			"tail":       func(n int) ([]session.Message, error) { return st.MessageTail(t.Context(), id, n) },
			"last turns": func(n int) ([]session.Message, error) { return st.LastTurnsMessages(t.Context(), id, n) },
		} {
			if rows := read[[]session.Message](t)(fn(0)); len(rows) != 0 {
				t.Errorf("%s: limit 0 gave %d rows", name, len(rows))
			}
			_, err := fn(-1)
			wantCode(t, err, store.CodeInvalidValue, "-1")
		}
	})
	t.Run("rows of turns", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 2)
		appendRows(t, st, id, "t2", 3, 2)
		appendRows(t, st, id, "t3", 5, 1)
		appendRows(t, st, id, "t1", 6, 1)
		wantEqual(t, idsOf(read[[]session.Message](t)(st.TurnMessages(t.Context(), id, "t2"))), rowIDs(id, 3, 4))
		wantEqual(t, idsOf(read[[]session.Message](t)(st.LastTurnsMessages(t.Context(), id, 2))),
			[]string{rowID(id, 1), rowID(id, 2), rowID(id, 5), rowID(id, 6)})
		wantEqual(t, idsOf(read[[]session.Message](t)(st.LastTurnsMessages(t.Context(), id, 9))), rowIDs(id, 1, 6))
	})
	t.Run("counts go over the whole log", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 3)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{
				{ID: newID("m"), SourceType: session.SourcePlayer, Role: session.RoleUser},
				{ID: newID("m"), SourceType: session.SourceSystem, Role: session.RoleUser},
				{ID: newID("m"), SourceType: session.SourceRuntime, SourceRuntimeID: "guide"},
			})
			if err != nil {
				return err
			}
			return tx.MarkMessages(ctx, id, rowIDs(id, 1, 2), "y")
		})
		wantEqual(t, read[session.MessageCounts](t)(st.MessageCounts(t.Context(), id)), session.MessageCounts{
			PlayerMessages: 1, ByRuntime: map[string]int{"narrator": 3, "guide": 1}, Total: 6,
		})
		empty := newSession(t, st)
		wantEqual(t, read[session.MessageCounts](t)(st.MessageCounts(t.Context(), empty)), session.MessageCounts{})
	})
	t.Run("a used id is refused, also in another session", func(t *testing.T) {
		a, b := newSession(t, st), newSession(t, st)
		appendRows(t, st, a, "t1", 1, 1)
		for _, id := range []string{a, b} {
			refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error {
				_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m")}, {ID: rowID(a, 1)}})
				return err
			}, rowID(a, 1))
		}
		if rows := read[[]session.Message](t)(st.Messages(t.Context(), b)); len(rows) != 0 {
			t.Errorf("%d rows of the refused list were kept", len(rows))
		}
	})
	t.Run("a row of another session is refused", func(t *testing.T) {
		id := newSession(t, st)
		refused(t, st, store.CodeForeignID, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m"), SessionID: "other"}})
			return err
		}, "other")
	})
	t.Run("sequence numbers grow after a rollback", func(t *testing.T) {
		id := newSession(t, st)
		_ = st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.AppendMessages(ctx, id, []session.Message{{ID: newID("m")}}); err != nil {
				return err
			}
			return errPlanned
		})
		appendRows(t, st, id, "t1", 1, 1)
		last := int64(0)
		appendRows(t, st, id, "t1", 2, 2)
		for _, m := range read[[]session.Message](t)(st.Messages(t.Context(), id)) {
			if m.Seq <= last {
				t.Errorf("seq %d after %d", m.Seq, last)
			}
			last = m.Seq
		}
	})
}

func testMarks(t *testing.T, st store.Store) {
	t.Run("C2-107", func(t *testing.T) {
		id, other := newSession(t, st), newSession(t, st)
		appendRows(t, st, id, "t1", 1, 4)
		appendRows(t, st, other, "t1", 1, 1)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.MarkMessages(ctx, id, rowIDs(id, 1, 1), "y") })
		for name, ids := range map[string][]string{
			"marked already":  rowIDs(id, 1, 2),
			"unknown":         {rowID(id, 2), "nothing"},
			"named twice":     {rowID(id, 2), rowID(id, 2)},
			"another session": {rowID(id, 2), rowID(other, 1)},
		} {
			t.Run(name, func(t *testing.T) {
				// A caller that goes on after the refusal still finds nothing marked.
				write(t, st, func(ctx context.Context, tx store.Tx) error {
					wantCode(t, tx.MarkMessages(ctx, id, ids, "z"), store.CodeMarkMismatch)
					return nil
				})
				wantEqual(t, idsOf(read[[]session.Message](t)(st.AllRawMessages(t.Context(), id))), rowIDs(id, 2, 4))
				wantEqual(t, idsOf(read[[]session.Message](t)(st.AllRawMessages(t.Context(), other))), rowIDs(other, 1, 1))
			})
		}
	})
	t.Run("C2-108", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 2)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if err := tx.MarkMessages(ctx, id, rowIDs(id, 1, 1), "y"); err != nil {
				return err
			}
			return tx.InsertSummary(ctx, session.Summary{ID: newID("y"), SessionID: id, CreatedAt: noon})
		})
		rows := read[[]session.Message](t)(st.Messages(t.Context(), id))
		summaries := read[[]session.Summary](t)(st.Summaries(t.Context(), id))
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if err := tx.DeleteSummaries(ctx, id, nil); err != nil {
				return err
			}
			if err := tx.MarkMessages(ctx, id, nil, "z"); err != nil {
				return err
			}
			return tx.RemarkMessages(ctx, id, []string{}, "z")
		})
		wantEqual(t, read[[]session.Message](t)(st.Messages(t.Context(), id)), rows)
		wantEqual(t, read[[]session.Summary](t)(st.Summaries(t.Context(), id)), summaries)
	})
	t.Run("re-marking moves whole marks of the session", func(t *testing.T) {
		id, other := newSession(t, st), newSession(t, st)
		for _, s := range []string{id, other} {
			appendRows(t, st, s, "t1", 1, 4)
			write(t, st, func(ctx context.Context, tx store.Tx) error {
				for i, mark := range []string{"one", "two", "three"} {
					if err := tx.MarkMessages(ctx, s, rowIDs(s, i+1, i+1), mark); err != nil {
						return err
					}
				}
				return nil
			})
		}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			return tx.RemarkMessages(ctx, id, []string{"one", "two", "unknown"}, "one")
		})
		marks := func(s string) (out []string) {
			for _, m := range read[[]session.Message](t)(st.Messages(t.Context(), s)) {
				out = append(out, m.CompactedBy)
			}
			return out
		}
		wantEqual(t, marks(id), []string{"one", "one", "three", ""})
		wantEqual(t, marks(other), []string{"one", "two", "three", ""})
	})
	t.Run("marking a thousand rows", func(t *testing.T) {
		id := newSession(t, st)
		appendRows(t, st, id, "t1", 1, 1000)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			return tx.MarkMessages(ctx, id, rowIDs(id, 1, 1000), "y")
		})
		if rows := read[[]session.Message](t)(st.AllRawMessages(t.Context(), id)); len(rows) != 0 {
			t.Errorf("%d rows are raw", len(rows))
		}
	})
}

func testSummaries(t *testing.T, st store.Store) {
	id := newSession(t, st)
	made := make([]session.Summary, 3)
	for i := range made {
		made[i] = session.Summary{
			ID: newID("y"), SessionID: id, TurnRangeStart: "t1", TurnRangeEnd: "t2", Content: "what was",
			FocusSections: []string{"camp", "oaths"}, CreatedAt: after(i),
		}
	}
	made[1].FocusSections = []string{}
	t.Run("listed by creation", func(t *testing.T) {
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for _, i := range []int{2, 0, 1} {
				if err := tx.InsertSummary(ctx, made[i]); err != nil {
					return err
				}
			}
			return nil
		})
		wantEqual(t, read[[]session.Summary](t)(st.Summaries(t.Context(), id)), made)
	})
	t.Run("equal times are ordered by id in bytes", func(t *testing.T) {
		other := newSession(t, st)
		base := newID("y")
		want := []string{base + "B", base + "a", base + "é"}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for _, i := range []int{1, 2, 0} {
				if err := tx.InsertSummary(ctx, session.Summary{ID: want[i], SessionID: other, CreatedAt: noon}); err != nil {
					return err
				}
			}
			return nil
		})
		var got []string
		for _, s := range read[[]session.Summary](t)(st.Summaries(t.Context(), other)) {
			got = append(got, s.ID)
		}
		wantEqual(t, got, want)
	})
	t.Run("update, delete", func(t *testing.T) {
		other := newSession(t, st)
		changed := made[0]
		changed.Content, changed.TurnRangeEnd = "shorter", "t9"
		foreign := changed
		foreign.SessionID = other
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			wantCode(t, tx.UpdateSummary(ctx, foreign), store.CodeNotFound, changed.ID)
			wantCode(t, tx.InsertSummary(ctx, foreign), store.CodeAlreadyExists, changed.ID)
			wantCode(t, tx.DeleteSummaries(ctx, other, []string{made[1].ID}), store.CodeNotFound, made[1].ID)
			if err := tx.UpdateSummary(ctx, changed); err != nil {
				return err
			}
			return tx.DeleteSummaries(ctx, id, []string{made[1].ID})
		})
		wantEqual(t, read[[]session.Summary](t)(st.Summaries(t.Context(), id)), []session.Summary{changed, made[2]})
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.DeleteAllSummaries(ctx, id) })
		if left := read[[]session.Summary](t)(st.Summaries(t.Context(), id)); len(left) != 0 {
			t.Errorf("%d summaries left", len(left))
		}
	})
	t.Run("compaction state and runs", func(t *testing.T) {
		wantEqual(t, read[store.CompactionState](t)(st.CompactionState(t.Context(), id)), store.CompactionState{SessionID: id})
		state := store.CompactionState{SessionID: id, ConsecutiveFailures: 2, OversizedRowID: "row", UpdatedAt: after(3)}
		run := store.CompactionRun{SessionID: id, ExecutionID: "x", TurnID: "t", Outcome: "compacted", Reason: "r", SummaryIDs: []string{"a", "b"}, CreatedAt: noon}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if err := tx.PutCompactionState(ctx, store.CompactionState{SessionID: id, ConsecutiveFailures: 1}); err != nil {
				return err
			}
			if err := tx.PutCompactionState(ctx, state); err != nil {
				return err
			}
			return tx.InsertCompactionRun(ctx, run)
		})
		wantEqual(t, read[store.CompactionState](t)(st.CompactionState(t.Context(), id)), state)
		got, ok, err := st.CompactionRun(t.Context(), id, "x")
		if err != nil || !ok {
			t.Fatalf("run: %v, %v", ok, err)
		}
		wantEqual(t, got, run)
		refused(t, st, store.CodeAlreadyExists, func(ctx context.Context, tx store.Tx) error { return tx.InsertCompactionRun(ctx, run) }, "x")
		if _, ok, err := st.CompactionRun(t.Context(), id, "y"); ok || err != nil {
			t.Errorf("an unknown run: %v, %v", ok, err)
		}
	})
}
