package storetest

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// testStreamProperty compares a stream with the plain rules of spec 02 §20.
func testStreamProperty(t *testing.T, st store.Store) {
	id := newSession(t, st)
	rapid.Check(t, func(r *rapid.T) {
		key := store.StreamKey{SessionID: id, TurnID: newID("t"), RuntimeID: "r"}
		var model []store.StreamChunk
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			c := store.StreamChunk{
				StreamKey: key, Seq: rapid.Int64Range(0, int64(len(model))+1).Draw(r, "seq"), Attempt: rapid.IntRange(1, 2).Draw(r, "attempt"),
				Kind: rapid.SampledFrom([]string{"text", "text", "text", "reset", "end"}).Draw(r, "kind"),
				Text: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "text"), CreatedAt: noon,
			}
			var want string
			want, model = expect(model, c)
			err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.AppendChunk(ctx, c) })
			if codeOf(err) != want || err != nil && want == "" {
				r.Fatalf("appending %+v after %d chunks: %v, want %q", c, len(model), err, want)
			}
		}
		got := read[[]store.StreamChunk](t)(st.StreamChunks(t.Context(), key, -1))
		if !slices.Equal(got, model) {
			r.Fatalf("got %v, want %v", got, model)
		}
	})
}

func expect(model []store.StreamChunk, c store.StreamChunk) (string, []store.StreamChunk) {
	last := store.StreamChunk{Seq: -1}
	if len(model) > 0 {
		last = model[len(model)-1]
	}
	switch {
	case c.Seq <= last.Seq && model[c.Seq] == c:
		return "", model
	case c.Attempt < last.Attempt:
		return store.CodeStaleAttempt, model
	case c.Seq <= last.Seq:
		return store.CodeChunkConflict, model
	case last.Kind == "end":
		return store.CodeStreamClosed, model
	case c.Seq > last.Seq+1:
		return store.CodeChunkGap, model
	}
	return "", append(model, c)
}

// testMarkProperty compares marks with a plain list: whatever is marked and
// re-marked, raw rows and marked rows are those of the list, in order.
func testMarkProperty(t *testing.T, st store.Store) {
	rapid.Check(t, func(r *rapid.T) {
		id := newSession(t, st)
		n := rapid.IntRange(1, 8).Draw(r, "rows")
		appendRows(t, st, id, "t1", 0, n)
		marks := make([]string, n)
		for range rapid.IntRange(0, 6).Draw(r, "steps") {
			to := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "to")
			if rapid.Bool().Draw(r, "remark") {
				from := rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 2).Draw(r, "from")
				write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.RemarkMessages(ctx, id, from, to) })
				for i, mark := range marks {
					if mark != "" && slices.Contains(from, mark) {
						marks[i] = to
					}
				}
				continue
			}
			picked := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(r, "picked")
			ids, raw := []string{}, true
			for _, i := range picked {
				ids = append(ids, rowID(id, i))
				raw = raw && marks[i] == ""
			}
			err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.MarkMessages(ctx, id, ids, to) })
			if raw != (err == nil) || !raw && codeOf(err) != store.CodeMarkMismatch {
				r.Fatalf("marking %v of %v: %v", picked, marks, err)
			}
			if raw {
				for _, i := range picked {
					marks[i] = to
				}
			}
		}
		var got, rawGot, rawWant []string
		for _, m := range read[[]session.Message](t)(st.Messages(t.Context(), id)) {
			got = append(got, m.CompactedBy)
		}
		for i, mark := range marks {
			if mark == "" {
				rawWant = append(rawWant, rowID(id, i))
			}
		}
		rawGot = idsOf(read[[]session.Message](t)(st.AllRawMessages(t.Context(), id)))
		if !slices.Equal(got, marks) || !slices.Equal(rawGot, rawWant) {
			r.Fatalf("got %v and %v, want %v and %v", got, rawGot, marks, rawWant)
		}
	})
}
