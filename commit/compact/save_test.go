package compact_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/commit/compact"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
)

func TestThreshold(t *testing.T) {
	t.Parallel()
	t.Run("C2-005", onSQLite(func(b *bundle) {
		t := b.t
		b.request.Story = compaction.Slot{Window: 1_000, Output: 200}
		b.request.Fast = compaction.Slot{Window: 10_000, Output: 200}
		b.add(t, map[string]string{"a": strings.Repeat("a", 2_000)}, "a")
		b.run(t)
		if len(b.inputs) != 1 || b.inputs[0].ContextWindow != 800 || b.inputs[0].InputWindow != 9_800 || b.inputs[0].SummaryBudget.MaxTokens != 128 || b.inputs[0].EstimatedTokens != 500 {
			t.Errorf("the provider got %+v", b.inputs)
		}
	}))
	t.Run("C2-006", onSQLite(func(b *bundle) {
		t := b.t
		b.request.Story = compaction.Slot{Window: 10_000, Output: 200}
		b.request.Fast = compaction.Slot{Window: 1_000, Output: 200}
		b.add(t, map[string]string{"a": strings.Repeat("a", 2_000)}, "a")
		b.run(t)
		if len(b.inputs) != 1 || b.inputs[0].ContextWindow != 800 || b.inputs[0].InputWindow != 800 {
			t.Errorf("the provider got %+v", b.inputs)
		}
	}))
	t.Run("C2-012", onSQLite(func(b *bundle) {
		t := b.t
		b.window(1_000, 1_000)
		b.add(t, map[string]string{"a": han(100)}, "a")
		wantOutcome(t, b.run(t), compact.BelowThreshold, "")
		if len(b.inputs) != 0 {
			t.Error("the provider was called")
		}
	}))
	t.Run("C2-013", onSQLite(func(b *bundle) {
		t := b.t
		b.window(100, 100)
		b.add(t, map[string]string{"a": han(100), "b": han(100)}, "a", "b")
		b.run(t)
		if len(b.inputs) != 1 || b.inputs[0].EstimatedTokens != 200 {
			t.Errorf("the provider got %+v", b.inputs)
		}
	}))
	t.Run("C2-028", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		wantOutcome(t, b.run(t), compact.NothingToDo, "")
		if b.failures(t) != 0 || len(b.events(t, trace.CompactionFailed)) != 0 {
			t.Error("nothing to do counts as a failure")
		}
	}))
	t.Run("invalid_window", onSQLite(func(b *bundle) {
		t := b.t
		b.request.Fast = compaction.Slot{Name: "fast", Window: 10, Output: 10}
		r := b.run(t)
		wantOutcome(t, r, compact.Failed, compaction.InvalidWindow)
		if b.failures(t) != 1 {
			t.Error("it is not counted")
		}
	}))
}

func TestOncePerExecution(t *testing.T) {
	onBoth(t, func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.picks(fresh("one", "a"))
		first := b.run(t)
		again := b.run(t)
		if len(b.inputs) != 1 || !again.Repeated || again.Outcome != first.Outcome || again.SummaryID != first.SummaryID {
			t.Errorf("the repeated attempt gives %+v after %d calls, first was %+v", again, len(b.inputs), first)
		}
	})
}

func TestSave(t *testing.T) {
	t.Parallel()
	transform := func(t testing.TB, b *bundle, order ...string) []session.Message {
		t.Helper()
		rows, err := b.store.AllRawMessages(t.Context(), "s")
		must(t, err)
		var view []session.Message
		for _, id := range order {
			i := slices.IndexFunc(rows, func(m session.Message) bool { return m.ID == id })
			view = append(view, rows[i])
		}
		return view
	}
	differs := func(order ...string) func(*bundle) {
		return func(b *bundle) {
			t := b.t
			b.force()
			b.abc(t)
			b.picks(fresh("one", "b"))
			r := b.run(t, transform(t, b, order...)...)
			wantOutcome(t, r, compact.Skipped, compaction.PrefixDiffers)
			if len(b.summaries(t)) != 0 || b.marks(t) != "a= b= c=" || b.failures(t) != 0 {
				t.Errorf("something changed: %s", b.marks(t))
			}
			if events := b.events(t, trace.CompactionSkipped); len(events) != 1 || payload(t, events[0])["reason"] != "prefix_differs" {
				t.Errorf("the trace has %d skipped events", len(events))
			}
		}
	}
	t.Run("C2-076", func(t *testing.T) { onBoth(t, differs("b", "c")) })
	t.Run("C2-077", func(t *testing.T) { onBoth(t, differs("b", "a", "c")) })
	broken := func(prepare func(*bundle), failing string) func(*bundle) {
		return func(b *bundle) {
			t := b.t
			b.force()
			b.abc(t)
			prepare(b)
			before, marks := b.summaries(t), b.marks(t)
			b.config.Store = failingStore{b.store, failing}
			r := b.run(t)
			wantOutcome(t, r, compact.Failed, compaction.StoreError)
			if len(b.summaries(t)) != len(before) || b.marks(t) != marks {
				t.Errorf("something changed: %s", b.marks(t))
			}
			events := b.events(t, trace.CompactionFailed)
			if len(events) != 1 || !strings.Contains(string(events[0].Payload), "disk gone") || payload(t, events[0])["step"] != "save" {
				t.Errorf("the trace has %d failures", len(events))
			}
		}
	}
	t.Run("C2-078", func(t *testing.T) {
		onBoth(t, broken(func(b *bundle) { b.picks(fresh("one", "a")) }, "mark"))
	})
	t.Run("C2-079", func(t *testing.T) {
		onBoth(t, broken(func(b *bundle) {
			t := b.t
			b.save(t, 5, 5, 5, 5, 5, 5, 5, 5)
			b.picks(replace("m", "s1", "s2"), fresh("one", "a"))
		}, "remark"))
	})
	t.Run("C2-080", func(t *testing.T) {
		onBoth(t, func(b *bundle) {
			t := b.t
			b.force()
			b.abc(t)
			b.save(t, 5, 5, 5)
			b.provide = func(compaction.Input) (*compaction.Output, error) {
				b.tx(t, func(ctx context.Context, tx store.Tx) error {
					return tx.InsertSummary(ctx, session.Summary{ID: "s4", SessionID: "s", Content: "late", FocusSections: []string{}, CreatedAt: b.now.Add(time.Hour)})
				})
				return &compaction.Output{Summaries: []compaction.Segment{fresh("one", "a")}}, nil
			}
			wantOutcome(t, b.run(t), compact.Failed, compaction.SummariesChanged)
			if len(b.summaries(t)) != 4 || b.marks(t) != "a= b= c=" {
				t.Errorf("something changed: %s", b.marks(t))
			}
		})
	})
	t.Run("C2-081", func(t *testing.T) {
		onBoth(t, func(b *bundle) {
			t := b.t
			b.window(100, 100)
			b.abc(t)
			b.picks(fresh("one", "a"))
			one := b.run(t)
			b.next(t)
			b.picks(replace("one, shorter", one.SummaryID), fresh("two", "b"))
			two := b.run(t)
			got := b.summaries(t)
			if len(got) != 2 || got[0].ID != one.SummaryID || got[0].Content != "one, shorter" || got[0].TurnRangeStart != "t-a" || got[0].TurnRangeEnd != "t-a" {
				t.Fatalf("summaries are %+v", got)
			}
			if got[1].ID != two.SummaryID || got[1].TurnRangeStart != "t-b" || got[1].TurnRangeEnd != "t-b" || !got[1].CreatedAt.After(got[0].CreatedAt) {
				t.Fatalf("summaries are %+v", got)
			}
			if want := fmt.Sprintf("a=%s b=%s c=", one.SummaryID, two.SummaryID); b.marks(t) != want {
				t.Fatalf("marks are %s, want %s", b.marks(t), want)
			}
		})
	})
	t.Run("C2-052 identity of a merge", func(t *testing.T) {
		onBoth(t, func(b *bundle) {
			t := b.t
			b.force()
			b.save(t, 60, 60, 60, 60, 60, 60, 60, 60)
			b.abc(t)
			b.tx(t, func(ctx context.Context, tx store.Tx) error {
				return errors.Join(tx.MarkMessages(ctx, "s", []string{"a"}, "s2"), tx.MarkMessages(ctx, "s", []string{"b"}, "s3"))
			})
			before := b.summaries(t)
			b.picks(replace("merged", "s1", "s2"), fresh("new", "c"))
			r := b.run(t)
			after := b.summaries(t)
			if len(after) != 8 || after[0].ID != "s1" || after[0].TurnRangeStart != "from-s1" || after[0].TurnRangeEnd != "to-s2" || !after[0].CreatedAt.Equal(before[0].CreatedAt) {
				t.Fatalf("summaries are %+v", after)
			}
			for i := 1; i < 7; i++ {
				if fmt.Sprint(after[i]) != fmt.Sprint(before[i+1]) {
					t.Errorf("summary %s changed", after[i].ID)
				}
			}
			if want := "a=s1 b=s3 c=" + r.SummaryID; b.marks(t) != want {
				t.Errorf("marks are %s, want %s", b.marks(t), want)
			}
		})
	})
	t.Run("session_lost", onSQLite(func(b *bundle) {
		t := b.t
		b.force()
		b.abc(t)
		b.picks(fresh("one", "a"))
		b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, "s", "another") })
		if _, err := b.attempt(t); !errors.Is(err, store.ErrSessionLost) {
			t.Errorf("a lost session gives %v", err)
		}
		if len(b.summaries(t)) != 0 || b.failures(t) != 0 {
			t.Error("something was written")
		}
	}))
}

// failingStore fails one operation inside a transaction.
type failingStore struct {
	store.Store
	op string
}

func (s failingStore) WithTx(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return s.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, failingTx{tx, s.op}) })
}

type failingTx struct {
	store.Tx
	op string
}

var errDiskGone = errors.New("disk gone")

func (t failingTx) MarkMessages(ctx context.Context, sessionID string, ids []string, summaryID string) error {
	if t.op == "mark" {
		return errDiskGone
	}
	return t.Tx.MarkMessages(ctx, sessionID, ids, summaryID)
}

func (t failingTx) RemarkMessages(ctx context.Context, sessionID string, from []string, summaryID string) error {
	if t.op == "remark" {
		return errDiskGone
	}
	return t.Tx.RemarkMessages(ctx, sessionID, from, summaryID)
}

func (t failingTx) InsertTrace(ctx context.Context, e store.TraceEvent) (int64, error) {
	if t.op == "trace" {
		return 0, errDiskGone
	}
	return t.Tx.InsertTrace(ctx, e)
}
