package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func testDeletion(t *testing.T, st store.Store) {
	remove := func(id string) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.DeleteSession(ctx, id) }
	}
	// The tables themselves are counted by each store's own test of this case.
	t.Run("C2-130", func(t *testing.T) {
		gone, kept := Fill(t, st), Fill(t, st)
		before := viewOf(t, st, kept)
		shared := hashOf("shared picture")
		write(t, st, remove(gone))
		wantEqual(t, viewOf(t, st, kept), before)
		if _, _, err := st.Media(t.Context(), kept, shared); err != nil {
			t.Errorf("the shared picture: %v", err)
		}
		_, _, err := st.Media(t.Context(), gone, shared)
		wantCode(t, err, store.CodeNotFound)
		if rows := read[[]session.Message](t)(st.Messages(t.Context(), gone)); len(rows) != 0 {
			t.Errorf("%d messages left", len(rows))
		}
		if rows := read[[]store.TranscriptEntry](t)(st.Transcript(t.Context(), gone+"-run", 0, 9)); len(rows) != 0 {
			t.Errorf("%d transcript entries left", len(rows))
		}
		parts := []string{hashOf("part of " + gone), hashOf("part of " + kept)}
		blobs := read[map[string][]byte](t)(st.Blobs(t.Context(), parts))
		if len(blobs) != 1 || blobs[parts[1]] == nil {
			t.Errorf("blobs mentioned by a transcript: %d left", len(blobs))
		}
	})
	t.Run("C2-131", func(t *testing.T) {
		id := newSession(t, st)
		write(t, st, remove(id))
		refused(t, st, store.CodeNotFound, remove(id), id)
		refused(t, st, store.CodeNotFound, func(ctx context.Context, tx store.Tx) error {
			if err := tx.LockSession(ctx, id); err != nil {
				return err
			}
			_, _, err := tx.InsertTurnCommit(ctx, store.TurnCommit{SessionID: id, TurnID: "t", ExecutionID: "x"})
			return err
		}, id)
		refused(t, st, store.CodeNotFound, func(ctx context.Context, tx store.Tx) error { return tx.RequestAbort(ctx, id, "x") }, id)
		_, err := st.Session(t.Context(), id)
		wantCode(t, err, store.CodeNotFound)
	})
	t.Run("within the deleting transaction", func(t *testing.T) {
		id := newSession(t, st)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if err := tx.DeleteSession(ctx, id); err != nil {
				return err
			}
			wantCode(t, tx.RequestAbort(ctx, id, "x"), store.CodeNotFound)
			return nil
		})
	})
	t.Run("an error rolls everything back", func(t *testing.T) {
		id := Fill(t, st)
		before := viewOf(t, st, id)
		_ = st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			if err := tx.DeleteSession(ctx, id); err != nil {
				return err
			}
			return errPlanned
		})
		wantEqual(t, viewOf(t, st, id), before)
	})
	t.Run("a blob that another session's trace mentions stays", func(t *testing.T) {
		gone, kept := newSession(t, st), newSession(t, st)
		text := newID("text")
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			if _, _, err := tx.AppendTranscript(ctx, store.TranscriptEntry{RunID: newID("run"), SessionID: gone, Content: []byte(text)}); err != nil {
				return err
			}
			_, err := tx.InsertTrace(ctx, store.TraceEvent{
				ID: newID("e"), SessionID: kept, TraceID: "x", Type: "llm.calling", Payload: object(`{"new":["%s"]}`, hashOf(text)),
			})
			return err
		})
		write(t, st, remove(gone))
		if blobs := read[map[string][]byte](t)(st.Blobs(t.Context(), []string{hashOf(text)})); len(blobs) != 1 {
			t.Error("the blob is gone")
		}
		write(t, st, remove(kept))
		if blobs := read[map[string][]byte](t)(st.Blobs(t.Context(), []string{hashOf(text)})); len(blobs) != 0 {
			t.Error("the blob outlived everything that mentions it")
		}
	})
	t.Run("a writer and the deletion at once leave nothing behind", func(t *testing.T) {
		for range 8 {
			id := newSession(t, st)
			done := make(chan error, 1)
			go func() { done <- st.WithTx(t.Context(), remove(id)) }()
			err := st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
				_, _, err := tx.PutJournal(ctx, store.JournalEntry{SessionID: id, ExecutionID: "x", Kind: "plan", Key: "k"})
				return err
			})
			if err != nil {
				wantCode(t, err, store.CodeNotFound)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if _, ok, err := st.JournalEntry(t.Context(), id, "x", "plan", "k"); ok || err != nil {
				t.Fatalf("a row outlived its session: %v, %v", ok, err)
			}
		}
	})
}

func testSweep(t *testing.T, st store.Store) {
	id := newSession(t, st)
	sweep := func(t *testing.T, now time.Time, retention time.Duration) (n int) {
		t.Helper()
		write(t, st, func(ctx context.Context, tx store.Tx) (err error) {
			n, err = tx.Sweep(ctx, now, retention)
			return err
		})
		return n
	}
	const day = 24 * time.Hour
	t.Run("chunks go 24 hours after the last", func(t *testing.T) {
		k := store.StreamKey{SessionID: id, TurnID: "t1", RuntimeID: "r"}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for seq, kind := range []string{"text", "text", "end"} {
				c := store.StreamChunk{StreamKey: k, Seq: int64(seq), Kind: kind, CreatedAt: noon.Add(time.Duration(seq) * time.Hour)}
				if err := tx.AppendChunk(ctx, c); err != nil {
					return err
				}
			}
			return nil
		})
		if n := sweep(t, noon.Add(day+2*time.Hour-time.Millisecond), 0); n != 0 {
			t.Errorf("%d rows went too early", n)
		}
		if n := sweep(t, noon.Add(day+2*time.Hour), 0); n != 3 {
			t.Errorf("%d rows went", n)
		}
		if left := read[[]store.StreamChunk](t)(st.StreamChunks(t.Context(), k, -1)); len(left) != 0 {
			t.Errorf("%d chunks left", len(left))
		}
	})
	t.Run("at most 1,000 rows a call", func(t *testing.T) {
		k := store.StreamKey{SessionID: id, TurnID: "t2", RuntimeID: "r"}
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for seq := range int64(1200) {
				if err := tx.AppendChunk(ctx, store.StreamChunk{StreamKey: k, Seq: seq, Kind: "text", CreatedAt: noon}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, want := range []int{1000, 200, 0} {
			if n := sweep(t, noon.Add(2*day), 0); n != want {
				t.Errorf("%d rows went, want %d", n, want)
			}
		}
	})
	t.Run("trace", func(t *testing.T) {
		event := func(name, base string, age time.Duration) string {
			eventID := newID(name)
			e := store.TraceEvent{ID: eventID, SessionID: id, TraceID: "x", Type: "stage.started", CreatedAt: noon.Add(-age)}
			if name == "call" {
				e.Type, e.Payload = "llm.calling", object(`{"base":null}`)
				if base != "" {
					e.Payload = object(`{"base":"%s","keep":3}`, base)
				}
			}
			write(t, st, func(ctx context.Context, tx store.Tx) error {
				_, err := tx.InsertTrace(ctx, e)
				return err
			})
			return eventID
		}
		event("plain", "", 10*day)
		unused := event("call", "", 9*day)
		event("call", unused, 8*day)
		root := event("call", "", 7*day)
		middle := event("call", root, 6*day)
		fresh := event("call", middle, 1*day)
		recent := event("plain", "", 0)
		if n := sweep(t, noon, 0); n != 0 {
			t.Errorf("without a retention %d rows went", n)
		}
		if n := sweep(t, noon, 2*day); n != 3 {
			t.Errorf("%d rows went", n)
		}
		var left []string
		for _, e := range read[[]store.TraceEvent](t)(st.TraceEvents(t.Context(), id, "", "")) {
			left = append(left, e.ID)
		}
		wantEqual(t, left, []string{root, middle, fresh, recent})
		if n := sweep(t, noon, 2*day); n != 0 {
			t.Errorf("the repeat took %d rows", n)
		}
		if n := sweep(t, noon.Add(30*day), 2*day); n != 4 {
			t.Errorf("%d rows went at last", n)
		}
	})
	t.Run("deadlines", func(t *testing.T) {
		early, late := after(10), after(20)
		save := func(deadline *time.Time) string {
			c := newID("c")
			write(t, st, func(ctx context.Context, tx store.Tx) error {
				return tx.SaveSuspension(ctx, session.Suspension{ID: c, SessionID: id, Deadline: deadline})
			})
			return c
		}
		due, claimed, open, never := save(&early), save(&early), save(&late), save(nil)
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.ClaimSuspension(ctx, claimed, "T", after(5)) })
		if n := sweep(t, after(10), 0); n != 1 {
			t.Errorf("%d rows", n)
		}
		for c, want := range map[string]session.SuspensionStatus{
			due: session.SuspensionCancelled, claimed: session.SuspensionClaimed, open: session.SuspensionOpen, never: session.SuspensionOpen,
		} {
			got := read[session.Suspension](t)(st.Suspension(t.Context(), c))
			if got.Status != want || c == due && got.ClosedReason != "deadline" {
				t.Errorf("got %+v, want %s", got, want)
			}
		}
	})
}
