package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// Bench measures the hot paths of a turn. Each operation is a transaction of
// its own unless it says otherwise.
func Bench(b *testing.B, open func(b *testing.B) store.Store) {
	b.Helper()
	st := open(b)
	text := strings.Repeat("the lantern swings in the fog. ", 60) // about 1.8 KB
	b.Run("AppendTranscript", func(b *testing.B) {
		id, run, seq := newSession(b, st), newID("run"), 0
		b.ReportAllocs()
		for b.Loop() {
			content := fmt.Sprint(seq, text)
			write(b, st, func(ctx context.Context, tx store.Tx) error {
				_, _, err := tx.AppendTranscript(ctx, store.TranscriptEntry{
					RunID: run, Seq: seq, SessionID: id, TurnID: "t", Role: "assistant", Content: []byte(content), CreatedAt: noon,
				})
				return err
			})
			seq++
		}
	})
	b.Run("PutJournal", func(b *testing.B) {
		id, n := newSession(b, st), 0
		b.ReportAllocs()
		for b.Loop() {
			write(b, st, func(ctx context.Context, tx store.Tx) error {
				_, _, err := tx.PutJournal(ctx, store.JournalEntry{
					SessionID: id, ExecutionID: "x", Kind: "tool", Key: fmt.Sprint(n), Payload: object(`{"ok":true}`), CreatedAt: noon,
				})
				return err
			})
			n++
		}
	})
	b.Run("Commit40Writes", func(b *testing.B) {
		id, turn := newSession(b, st), 0
		b.ReportAllocs()
		for b.Loop() {
			write(b, st, func(ctx context.Context, tx store.Tx) error {
				return commit40(ctx, tx, id, fmt.Sprint("t", turn), text)
			})
			turn++
		}
	})
	b.Run("RawMessages2000", func(b *testing.B) {
		id := newSession(b, st)
		write(b, st, func(ctx context.Context, tx store.Tx) error {
			rows := make([]session.Message, 2000)
			for i := range rows {
				rows[i] = session.Message{ID: rowID(id, i), TurnID: fmt.Sprint("t", i/2), Role: session.RoleUser, Content: text, Metadata: object(`{"a":1}`)}
			}
			_, err := tx.AppendMessages(ctx, id, rows)
			return err
		})
		b.ReportAllocs()
		for b.Loop() {
			if rows := read[[]session.Message](b)(st.AllRawMessages(b.Context(), id)); len(rows) != 2000 {
				b.Fatalf("%d rows", len(rows))
			}
		}
	})
}

// commit40 writes what the commit of an ordinary turn writes.
func commit40(ctx context.Context, tx store.Tx, id, turn, text string) error {
	if err := tx.LockSession(ctx, id); err != nil {
		return err
	}
	if _, _, err := tx.InsertTurnCommit(ctx, store.TurnCommit{SessionID: id, TurnID: turn, ExecutionID: "x" + turn, Result: object("{}"), CommittedAt: noon}); err != nil {
		return err
	}
	rows := make([]session.Message, 4)
	for i := range rows {
		rows[i] = session.Message{ID: fmt.Sprint(id, turn, i), TurnID: turn, Role: session.RoleUser, Content: text, CreatedAt: noon}
	}
	if _, err := tx.AppendMessages(ctx, id, rows); err != nil {
		return err
	}
	for i := range 15 {
		if err := tx.PutPluginData(ctx, datum(id, "n", fmt.Sprint("k", i), `{"version":1,"note":"fog"}`, 0)); err != nil {
			return err
		}
		event := store.TraceEvent{ID: fmt.Sprint(id, turn, "e", i), SessionID: id, TraceID: turn, TurnID: turn, Type: "stage.completed", Payload: object("{}"), CreatedAt: noon}
		if _, err := tx.InsertTrace(ctx, event); err != nil {
			return err
		}
	}
	for i := range 4 {
		if err := tx.InsertOutbox(ctx, store.OutboxEntry{SessionID: id, ExecutionID: "x" + turn, Seq: i, Kind: "job", Payload: object("{}"), CreatedAt: noon}); err != nil {
			return err
		}
	}
	return tx.PutTurnRecord(ctx, store.TurnRecord{ID: id + turn, SessionID: id, TurnID: turn, CommitStatus: "committed", RuntimeResults: object("[]"), CreatedAt: noon})
}
