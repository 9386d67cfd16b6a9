package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/covel-engine/covel/store"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func testTranscripts(t *testing.T, st store.Store) {
	id := newSession(t, st)
	entry := func(run string, seq int, content string) store.TranscriptEntry {
		return store.TranscriptEntry{RunID: run, Seq: seq, SessionID: id, TurnID: "t1", Role: "assistant", Content: []byte(content), CreatedAt: noon}
	}
	append1 := func(t *testing.T, e store.TranscriptEntry) (stored store.TranscriptEntry, fresh bool) {
		t.Helper()
		write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
			stored, fresh, err = tx.AppendTranscript(ctx, e)
			return err
		})
		return stored, fresh
	}
	t.Run("C2-133", func(t *testing.T) {
		run := newID("run")
		var want []store.TranscriptEntry
		for seq, text := range []string{"context", "same text", "between", "same text"} {
			stored, fresh := append1(t, entry(run, seq, text))
			if !fresh || stored.ContentHash != hashOf(text) {
				t.Errorf("entry %d: %v, %+v", seq, fresh, stored)
			}
			want = append(want, stored)
		}
		again, fresh := append1(t, entry(run, 3, "other content"))
		if fresh {
			t.Error("the repeat counts as new")
		}
		wantEqual(t, again, want[3])
		wantEqual(t, read[[]store.TranscriptEntry](t)(st.Transcript(t.Context(), run, 0, 99)), want)
		blobs := read[map[string][]byte](t)(st.Blobs(t.Context(), []string{want[1].ContentHash, hashOf("other content")}))
		wantEqual(t, blobs, map[string][]byte{hashOf("same text"): []byte("same text")})
		if want[1].ContentHash != want[3].ContentHash {
			t.Error("equal texts have two hashes")
		}
	})
	t.Run("ranges", func(t *testing.T) {
		run := newID("run")
		for seq := range 5 {
			append1(t, entry(run, seq, fmt.Sprint("entry ", seq)))
		}
		for _, c := range []struct{ from, to, first, n int }{{0, 5, 0, 5}, {2, 4, 2, 2}, {4, 9, 4, 1}, {5, 9, 0, 0}, {3, 3, 0, 0}, {0, 0, 0, 0}} {
			got := read[[]store.TranscriptEntry](t)(st.Transcript(t.Context(), run, c.from, c.to))
			if len(got) != c.n || c.n > 0 && got[0].Seq != c.first {
				t.Errorf("[%d, %d) gave %d entries", c.from, c.to, len(got))
			}
		}
	})
	t.Run("bytes come back as they are", func(t *testing.T) {
		run := newID("run")
		for seq, content := range []string{"", "\x00\xff\x01", "雾"} {
			append1(t, entry(run, seq, content))
			got := read[[]store.TranscriptEntry](t)(st.Transcript(t.Context(), run, seq, seq+1))
			if len(got) != 1 || string(got[0].Content) != content {
				t.Errorf("wrote %q, read %+v", content, got)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		wrong := entry(newID("run"), 0, "a")
		wrong.ContentHash = hashOf("b")
		negative := entry(newID("run"), -1, "a")
		for _, e := range []store.TranscriptEntry{wrong, negative} {
			refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
				_, _, err := tx.AppendTranscript(ctx, e)
				return err
			})
		}
		taken := entry(newID("run"), 0, "a")
		append1(t, taken)
		taken.SessionID = newSession(t, st)
		refused(t, st, store.CodeForeignID, func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.AppendTranscript(ctx, taken)
			return err
		}, taken.RunID)
	})
	t.Run("blobs", func(t *testing.T) {
		texts := map[string][]byte{}
		for i := range 20 {
			text := fmt.Sprint("blob ", i)
			texts[hashOf(text)] = []byte(text)
		}
		for range 2 {
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutBlobs(ctx, texts) })
		}
		hashes := []string{hashOf("unknown")}
		for h := range texts {
			hashes = append(hashes, h)
		}
		wantEqual(t, read[map[string][]byte](t)(st.Blobs(t.Context(), hashes)), texts)
		wantEqual(t, read[map[string][]byte](t)(st.Blobs(t.Context(), nil)), map[string][]byte{})
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
			return tx.PutBlobs(ctx, map[string][]byte{hashOf("a"): []byte("b")})
		}, hashOf("a"))
	})
}
