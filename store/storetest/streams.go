package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/covel-engine/covel/store"
)

func testTrace(t *testing.T, st store.Store) {
	insert := func(t testing.TB, e store.TraceEvent) int64 {
		t.Helper()
		var seq int64
		write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
			seq, err = tx.InsertTrace(ctx, e)
			return err
		})
		return seq
	}
	event := func(id, trace string) store.TraceEvent {
		return store.TraceEvent{ID: newID("e"), SessionID: id, TraceID: trace, TurnID: "t1", Type: "stage.started", Payload: object(`{"b": 1}`), CreatedAt: noon}
	}
	t.Run("seq counts per session and trace", func(t *testing.T) {
		a, b := newSession(t, st), newSession(t, st)
		for i, e := range []store.TraceEvent{event(a, "x"), event(a, "x"), event(a, "y"), event(b, "x"), event(a, "x")} {
			if got, want := insert(t, e), []int64{0, 1, 0, 0, 2}[i]; got != want {
				t.Errorf("event %d has seq %d, want %d", i, got, want)
			}
		}
	})
	t.Run("a used id changes nothing", func(t *testing.T) {
		id := newSession(t, st)
		insert(t, event(id, "x"))
		e := event(id, "x")
		insert(t, e)
		again := e
		again.Payload, again.TraceID = object("{}"), "y"
		if seq := insert(t, again); seq != 1 {
			t.Errorf("seq %d", seq)
		}
		if seq := insert(t, event(id, "x")); seq != 2 {
			t.Errorf("the repeat took a number: next is %d", seq)
		}
		e.Seq = 1
		wantEqual(t, read[[]store.TraceEvent](t)(st.TraceEvents(t.Context(), id, "", ""))[1], e)
		foreign := e
		foreign.SessionID = newSession(t, st)
		refused(t, st, store.CodeForeignID, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.InsertTrace(ctx, foreign)
			return err
		}, e.ID)
	})
	t.Run("C2-117", func(t *testing.T) {
		id := newSession(t, st)
		const writers, each = 4, 25
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for range each {
					err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
						_, err := tx.InsertTrace(ctx, event(id, "x"))
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		events := read[[]store.TraceEvent](t)(st.TraceEvents(t.Context(), id, "", ""))
		if len(events) != writers*each {
			t.Fatalf("%d events", len(events))
		}
		for i, e := range events {
			if e.Seq != int64(i) {
				t.Errorf("event %d has seq %d", i, e.Seq)
			}
		}
	})
	t.Run("filters", func(t *testing.T) {
		id := newSession(t, st)
		turn, typ := newID("t"), newID("type")
		e := event(id, "x")
		e.TurnID, e.Type, e.CreatedAt = turn, typ, after(1)
		insert(t, e)
		insert(t, event(id, "x"))
		for _, c := range []struct {
			session, turn, typ string
			n                  int
		}{
			{id, "", "", 2}, {id, turn, "", 1}, {id, "", typ, 1}, {id, turn, "other", 0}, {"", turn, "", 1}, {"", "", typ, 1}, {"", turn, typ, 1}, {id, "t1", "", 1},
		} {
			if got := read[[]store.TraceEvent](t)(st.TraceEvents(t.Context(), c.session, c.turn, c.typ)); len(got) != c.n {
				t.Errorf("%+v gave %d events", c, len(got))
			}
		}
	})
}

func testStreams(t *testing.T, st store.Store) {
	id := newSession(t, st)
	key := func() store.StreamKey {
		return store.StreamKey{SessionID: id, TurnID: newID("t"), RuntimeID: "narrator"}
	}
	chunk := func(k store.StreamKey, seq int64, attempt int, kind, text string) store.StreamChunk {
		return store.StreamChunk{StreamKey: k, Seq: seq, Attempt: attempt, Kind: kind, Text: text, CreatedAt: noon}
	}
	add := func(c store.StreamChunk) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.AppendChunk(ctx, c) }
	}
	fill := func(t *testing.T, k store.StreamKey, n int64) {
		t.Helper()
		for seq := range n {
			write(t, st, add(chunk(k, seq, 1, "text", fmt.Sprint("piece ", seq))))
		}
	}
	chunks := func(t *testing.T, k store.StreamKey, after int64) []store.StreamChunk {
		t.Helper()
		return read[[]store.StreamChunk](t)(st.StreamChunks(t.Context(), k, after))
	}
	t.Run("C2-124", func(t *testing.T) {
		k := key()
		fill(t, k, 3)
		before := chunks(t, k, -1)
		write(t, st, add(chunk(k, 2, 1, "text", "piece 2")))
		refused(t, st, store.CodeChunkConflict, add(chunk(k, 2, 1, "text", "other")))
		refused(t, st, store.CodeChunkConflict, add(chunk(k, 2, 1, "reasoning", "piece 2")))
		refused(t, st, store.CodeChunkConflict, add(chunk(k, 2, 2, "text", "piece 2")))
		refused(t, st, store.CodeChunkGap, add(chunk(k, 4, 1, "text", "x")), "next seq is 3")
		refused(t, st, store.CodeChunkGap, add(chunk(k, -1, 1, "text", "x")))
		wantEqual(t, chunks(t, k, -1), before)
	})
	t.Run("C2-125", func(t *testing.T) {
		k := key()
		fill(t, k, 10)
		var seqs []int64
		for _, c := range chunks(t, k, 6) {
			seqs = append(seqs, c.Seq)
		}
		wantEqual(t, seqs, []int64{7, 8, 9})
		if none := chunks(t, k, 9); len(none) != 0 {
			t.Errorf("%d chunks after the last", len(none))
		}
		if none := chunks(t, key(), -1); len(none) != 0 {
			t.Errorf("%d chunks of an unknown stream", len(none))
		}
	})
	t.Run("a stream starts at 0", func(t *testing.T) { refused(t, st, store.CodeChunkGap, add(chunk(key(), 1, 1, "text", "x"))) })
	t.Run("attempts only rise", func(t *testing.T) {
		k := key()
		fill(t, k, 2)
		write(t, st, add(chunk(k, 2, 2, "reset", "")))
		refused(t, st, store.CodeStaleAttempt, add(chunk(k, 3, 1, "text", "late")))
		refused(t, st, store.CodeStaleAttempt, add(chunk(k, 2, 1, "text", "piece 2")))
		write(t, st, add(chunk(k, 1, 1, "text", "piece 1"))) // what is stored may be repeated
		write(t, st, add(chunk(k, 3, 2, "text", "again")))
	})
	t.Run("after the end", func(t *testing.T) {
		k := key()
		fill(t, k, 1)
		end := chunk(k, 1, 1, "end", "")
		write(t, st, add(end))
		write(t, st, add(end))
		refused(t, st, store.CodeStreamClosed, add(chunk(k, 2, 1, "text", "x")))
		refused(t, st, store.CodeStreamClosed, add(chunk(k, 5, 2, "text", "x")))
	})
	t.Run("a kind outside the list", func(t *testing.T) {
		refused(t, st, store.CodeInvalidValue, add(chunk(key(), 0, 1, "image", "x")), "image")
	})
	t.Run("the streams of a turn", func(t *testing.T) {
		k := key()
		other := k
		other.RuntimeID = "guide"
		fill(t, k, 2)
		fill(t, other, 1)
		wantEqual(t, read[[]store.StreamKey](t)(st.Streams(t.Context(), id, k.TurnID)), []store.StreamKey{other, k})
	})
	t.Run("two writers of one chunk", func(t *testing.T) {
		k := key()
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			codes = map[string]int{}
		)
		for i := range 4 {
			group.Go(func() {
				err := st.WithTx(t.Context(), add(chunk(k, 0, 1, "text", fmt.Sprint(i))))
				mu.Lock()
				defer mu.Unlock()
				codes[codeOf(err)]++
			})
		}
		group.Wait()
		wantEqual(t, codes, map[string]int{"": 1, store.CodeChunkConflict: 3})
	})
}
