package attempt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/compaction/attempt"
	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/postgres"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// onBoth runs a test on both stores.
func onBoth(t *testing.T, run func(t *testing.T, b *bundle)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		run(t, setup(t, sqliteStore(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		st, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Database(t), MaxConns: 3})
		must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		must(t, st.Migrate(t.Context()))
		run(t, setup(t, st))
	})
}

func onSQLite(run func(t *testing.T, b *bundle)) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		run(t, setup(t, sqliteStore(t)))
	}
}

func sqliteStore(t *testing.T) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	return st
}

// bundle is one session, a recording provider and the current execution.
type bundle struct {
	store   store.Store
	config  attempt.Config
	request attempt.Request
	// provide answers the provider's call; inputs are what it got.
	provide func(compaction.Input) (*compaction.Output, error)
	inputs  []compaction.Input
	now     time.Time
	turns   int
	ids     int
}

func setup(t *testing.T, st store.Store) *bundle {
	t.Helper()
	texts, err := locale.Load()
	must(t, err)
	b := &bundle{store: st, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.config = attempt.Config{
		Store: st, Texts: texts,
		Clock: func() time.Time { b.now = b.now.Add(time.Second); return b.now },
		NewID: func() string { b.ids++; return fmt.Sprint("fresh-", b.ids) },
		Provider: func(_ context.Context, in compaction.Input, _ compaction.Services) (*compaction.Output, error) {
			b.inputs = append(b.inputs, in)
			return b.provide(in)
		},
	}
	b.provide = func(compaction.Input) (*compaction.Output, error) { return nil, nil }
	b.request = attempt.Request{
		Locale: "en-US", Lang: locale.English, TraceID: "flow",
		Services: compaction.Services{Estimator: tokens.Covel{}, InputEstimator: tokens.Covel{}},
	}
	b.window(10_000, 10_000)
	must(t, st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{
			ID: "s", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US", CreatedAt: b.now,
		})
	}))
	b.next(t)
	return b
}

// window sets slots whose windows after a reserve of 10 are W and I.
func (b *bundle) window(effective, input int) {
	b.request.Story = compaction.Slot{Name: "story", Window: effective + 10, Output: 10}
	b.request.Fast = compaction.Slot{Name: "fast", Window: input + 10, Output: 10}
}

func (b *bundle) force() { b.config.Settings = &compaction.Settings{Timeout: time.Minute} }

// next begins another turn and execution.
func (b *bundle) next(t *testing.T) {
	t.Helper()
	b.turns++
	b.request.Scope = turn.Scope{SessionID: "s", TurnID: fmt.Sprint("turn-", b.turns), ExecutionID: fmt.Sprint("x-", b.turns)}
	b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, "s", b.request.ExecutionID) })
}

func (b *bundle) tx(t *testing.T, fn func(context.Context, store.Tx) error) {
	t.Helper()
	must(t, b.store.WithTx(t.Context(), fn))
}

// add appends raw rows "name" of the given contents, each a turn of its own.
func (b *bundle) add(t *testing.T, rows map[string]string, order ...string) {
	t.Helper()
	var list []session.Message
	for _, id := range order {
		list = append(list, session.Message{
			ID: id, SessionID: "s", TurnID: "t-" + id, Role: session.RoleUser, SourceType: session.SourcePlayer, Content: rows[id],
		})
	}
	b.tx(t, func(ctx context.Context, tx store.Tx) error { _, err := tx.AppendMessages(ctx, "s", list); return err })
}

func (b *bundle) abc(t *testing.T) {
	t.Helper()
	b.add(t, map[string]string{"a": han(100), "b": han(100), "c": han(100)}, "a", "b", "c")
}

// save inserts saved summaries of the given tokens, oldest first.
func (b *bundle) save(t *testing.T, sizes ...int) {
	t.Helper()
	b.tx(t, func(ctx context.Context, tx store.Tx) error {
		for i, n := range sizes {
			id := fmt.Sprint("s", i+1)
			err := tx.InsertSummary(ctx, session.Summary{
				ID: id, SessionID: "s", TurnRangeStart: "from-" + id, TurnRangeEnd: "to-" + id, Content: strings.Repeat("a", 4*n),
				FocusSections: []string{}, CreatedAt: b.now.Add(time.Duration(i) * time.Millisecond),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func han(n int) string { return strings.Repeat("史", n) }

// run makes the attempt over the stored raw rows, or over the given view.
func (b *bundle) run(t *testing.T, view ...session.Message) attempt.Result {
	t.Helper()
	result, err := b.attempt(t, view...)
	must(t, err)
	return result
}

func (b *bundle) attempt(t *testing.T, view ...session.Message) (attempt.Result, error) {
	t.Helper()
	runner, err := attempt.NewRunner(b.config)
	must(t, err)
	b.request.History = view
	if view == nil {
		b.request.History, err = b.store.AllRawMessages(t.Context(), "s")
		must(t, err)
	}
	return runner.Attempt(t.Context(), b.request)
}

// picks makes the provider answer fixed segments.
func (b *bundle) picks(segments ...compaction.Segment) {
	b.provide = func(compaction.Input) (*compaction.Output, error) {
		return &compaction.Output{Summaries: segments}, nil
	}
}

func fresh(content string, ids ...string) compaction.Segment {
	return compaction.Segment{MessageIDs: ids, Content: content}
}

func replace(content string, ids ...string) compaction.Segment {
	return compaction.Segment{ReplacesSummaryIDs: ids, Content: content}
}

func (b *bundle) failsWith(err error) {
	b.provide = func(compaction.Input) (*compaction.Output, error) { return nil, err }
}

func (b *bundle) summaries(t *testing.T) []session.Summary {
	t.Helper()
	list, err := b.store.Summaries(t.Context(), "s")
	must(t, err)
	return list
}

// marks gives "row=mark" of every row.
func (b *bundle) marks(t *testing.T) string {
	t.Helper()
	rows, err := b.store.Messages(t.Context(), "s")
	must(t, err)
	var out []string
	for _, r := range rows {
		out = append(out, r.ID+"="+r.CompactedBy)
	}
	return strings.Join(out, " ")
}

func (b *bundle) failures(t *testing.T) int {
	t.Helper()
	state, err := b.store.CompactionState(t.Context(), "s")
	must(t, err)
	return state.ConsecutiveFailures
}

func (b *bundle) events(t *testing.T, typ string) []store.TraceEvent {
	t.Helper()
	events, err := b.store.TraceEvents(t.Context(), "s", "", typ)
	must(t, err)
	return events
}

func payload(t *testing.T, e store.TraceEvent) map[string]any {
	t.Helper()
	var p map[string]any
	must(t, json.Unmarshal(e.Payload, &p))
	return p
}

func wantOutcome(t *testing.T, r attempt.Result, outcome attempt.Outcome, reason compaction.Reason) {
	t.Helper()
	if r.Outcome != outcome || r.Reason != reason {
		t.Fatalf("outcome is %s (%s), want %s (%s)", r.Outcome, r.Reason, outcome, reason)
	}
}

func TestThreshold(t *testing.T) {
	t.Parallel()
	t.Run("C2-005", onSQLite(func(t *testing.T, b *bundle) {
		b.request.Story = compaction.Slot{Window: 1_000, Output: 200}
		b.request.Fast = compaction.Slot{Window: 10_000, Output: 200}
		b.add(t, map[string]string{"a": strings.Repeat("a", 2_000)}, "a")
		b.run(t)
		if len(b.inputs) != 1 || b.inputs[0].ContextWindow != 800 || b.inputs[0].InputWindow != 9_800 || b.inputs[0].SummaryBudget.MaxTokens != 128 || b.inputs[0].EstimatedTokens != 500 {
			t.Errorf("the provider got %+v", b.inputs)
		}
	}))
	t.Run("C2-006", onSQLite(func(t *testing.T, b *bundle) {
		b.request.Story = compaction.Slot{Window: 10_000, Output: 200}
		b.request.Fast = compaction.Slot{Window: 1_000, Output: 200}
		b.add(t, map[string]string{"a": strings.Repeat("a", 2_000)}, "a")
		b.run(t)
		if len(b.inputs) != 1 || b.inputs[0].ContextWindow != 800 || b.inputs[0].InputWindow != 800 {
			t.Errorf("the provider got %+v", b.inputs)
		}
	}))
	t.Run("C2-012", onSQLite(func(t *testing.T, b *bundle) {
		b.window(1_000, 1_000)
		b.add(t, map[string]string{"a": han(100)}, "a")
		wantOutcome(t, b.run(t), attempt.BelowThreshold, "")
		if len(b.inputs) != 0 {
			t.Error("the provider was called")
		}
	}))
	t.Run("C2-013", onSQLite(func(t *testing.T, b *bundle) {
		b.window(100, 100)
		b.add(t, map[string]string{"a": han(100), "b": han(100)}, "a", "b")
		if b.run(t); len(b.inputs) != 1 || b.inputs[0].EstimatedTokens != 200 {
			t.Errorf("the provider got %+v", b.inputs)
		}
	}))
	t.Run("C2-028", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		wantOutcome(t, b.run(t), attempt.NothingToDo, "")
		if b.failures(t) != 0 || len(b.events(t, trace.CompactionFailed)) != 0 {
			t.Error("nothing to do counts as a failure")
		}
	}))
	t.Run("invalid_window", onSQLite(func(t *testing.T, b *bundle) {
		b.request.Fast = compaction.Slot{Name: "fast", Window: 10, Output: 10}
		r := b.run(t)
		wantOutcome(t, r, attempt.Failed, compaction.InvalidWindow)
		if b.failures(t) != 1 {
			t.Error("it is not counted")
		}
	}))
}

func TestOncePerExecution(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bundle) {
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
	transform := func(b *bundle, t *testing.T, order ...string) []session.Message {
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
	differs := func(order ...string) func(*testing.T, *bundle) {
		return func(t *testing.T, b *bundle) {
			b.force()
			b.abc(t)
			b.picks(fresh("one", "b"))
			r := b.run(t, transform(b, t, order...)...)
			wantOutcome(t, r, attempt.Skipped, compaction.PrefixDiffers)
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
	broken := func(prepare func(*testing.T, *bundle), failing string) func(*testing.T, *bundle) {
		return func(t *testing.T, b *bundle) {
			b.force()
			b.abc(t)
			prepare(t, b)
			before, marks := b.summaries(t), b.marks(t)
			b.config.Store = failingStore{b.store, failing}
			r := b.run(t)
			wantOutcome(t, r, attempt.Failed, compaction.StoreError)
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
		onBoth(t, broken(func(_ *testing.T, b *bundle) { b.picks(fresh("one", "a")) }, "mark"))
	})
	t.Run("C2-079", func(t *testing.T) {
		onBoth(t, broken(func(t *testing.T, b *bundle) {
			b.save(t, 5, 5, 5, 5, 5, 5, 5, 5)
			b.picks(replace("m", "s1", "s2"), fresh("one", "a"))
		}, "remark"))
	})
	t.Run("C2-080", func(t *testing.T) {
		onBoth(t, func(t *testing.T, b *bundle) {
			b.force()
			b.abc(t)
			b.save(t, 5, 5, 5)
			b.provide = func(compaction.Input) (*compaction.Output, error) {
				b.tx(t, func(ctx context.Context, tx store.Tx) error {
					return tx.InsertSummary(ctx, session.Summary{ID: "s4", SessionID: "s", Content: "late", FocusSections: []string{}, CreatedAt: b.now.Add(time.Hour)})
				})
				return &compaction.Output{Summaries: []compaction.Segment{fresh("one", "a")}}, nil
			}
			wantOutcome(t, b.run(t), attempt.Failed, compaction.SummariesChanged)
			if len(b.summaries(t)) != 4 || b.marks(t) != "a= b= c=" {
				t.Errorf("something changed: %s", b.marks(t))
			}
		})
	})
	t.Run("C2-081", func(t *testing.T) {
		onBoth(t, func(t *testing.T, b *bundle) {
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
		onBoth(t, func(t *testing.T, b *bundle) {
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
	t.Run("session_lost", onSQLite(func(t *testing.T, b *bundle) {
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

func TestFailures(t *testing.T) {
	t.Parallel()
	down := &compaction.Failure{Reason: compaction.ModelError, Step: compaction.StepFresh, Detail: "service down"}
	t.Run("C2-082", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.failsWith(down)
		for i := 1; i <= 6; i++ {
			r := b.run(t)
			wantOutcome(t, r, attempt.Failed, compaction.ModelError)
			if (r.Notice != nil) != (i%3 == 0) {
				t.Errorf("attempt %d: notice is %+v", i, r.Notice)
			}
			if r.Notice != nil && (r.Notice.Code != attempt.NoticeFailing || r.Notice.Count != i || r.Notice.Message == "") {
				t.Errorf("notice is %+v", r.Notice)
			}
			b.next(t)
		}
		events := b.events(t, trace.CompactionFailed)
		for i, e := range events {
			if payload(t, e)["failures"] != float64(i+1) {
				t.Errorf("event %d is %s", i, e.Payload)
			}
		}
		if len(events) != 6 || len(b.events(t, trace.SessionNotice)) != 2 {
			t.Errorf("%d failures and %d notices are traced", len(events), len(b.events(t, trace.SessionNotice)))
		}
	}))
	t.Run("C2-083", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		var last attempt.Result
		for _, err := range []error{down, down, nil, down} {
			b.failsWith(err)
			last = b.run(t)
			b.next(t)
		}
		if last.Failures != 3 || last.Notice == nil {
			t.Errorf("the last attempt is %+v", last)
		}
	}))
	t.Run("C2-084", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.failsWith(down)
		b.run(t)
		b.next(t)
		b.run(t)
		b.next(t)
		b.picks(fresh("one", "a"))
		b.run(t)
		if n := b.failures(t); n != 0 {
			t.Errorf("the counter is %d", n)
		}
	}))
	t.Run("C2-085", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.failsWith(&compaction.Failure{Reason: compaction.OldestRowTooLarge, Step: compaction.StepPlan, Detail: "too large", RowID: "a", Needed: 25_000, Available: 1_000})
		for i := range 3 {
			r := b.run(t)
			wantOutcome(t, r, attempt.Blocked, compaction.OldestRowTooLarge)
			if (r.Notice != nil) != (i == 0) {
				t.Errorf("attempt %d: notice is %+v", i, r.Notice)
			}
			b.next(t)
		}
		events := b.events(t, trace.CompactionFailed)
		if len(events) != 1 || payload(t, events[0])["rowId"] != "a" || len(b.events(t, trace.SessionNotice)) != 1 || b.failures(t) != 0 {
			t.Errorf("%d failures are traced, the counter is %d", len(events), b.failures(t))
		}
	}))
	t.Run("C2-086", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.provide = func(compaction.Input) (*compaction.Output, error) { panic("boom") }
		wantOutcome(t, b.run(t), attempt.Failed, compaction.ProviderError)
		b.next(t)
		b.failsWith(&compaction.Failure{Reason: "bad_mood", Detail: "no"})
		wantOutcome(t, b.run(t), attempt.Failed, compaction.ProviderError)
		b.next(t)
		b.failsWith(errors.New("plain"))
		wantOutcome(t, b.run(t), attempt.Failed, compaction.ProviderError)
		if b.failures(t) != 3 || b.marks(t) != "a= b= c=" {
			t.Errorf("the counter is %d", b.failures(t))
		}
	}))
	t.Run("C2-069", onSQLite(func(t *testing.T, b *bundle) {
		b.window(100, 100)
		b.abc(t)
		b.picks(fresh("c", "b"))
		wantOutcome(t, b.run(t), attempt.Failed, compaction.InvalidResult)
		if len(b.summaries(t)) != 0 || b.marks(t) != "a= b= c=" || b.failures(t) != 1 {
			t.Error("something changed")
		}
	}))
	t.Run("timeout", onSQLite(func(t *testing.T, b *bundle) {
		b.config.Settings = &compaction.Settings{Timeout: time.Millisecond}
		b.abc(t)
		b.config.Provider = func(ctx context.Context, _ compaction.Input, _ compaction.Services) (*compaction.Output, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		wantOutcome(t, b.run(t), attempt.Failed, compaction.Timeout)
	}))
	t.Run("cancelled", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.config.Provider = func(context.Context, compaction.Input, compaction.Services) (*compaction.Output, error) {
			cancel()
			return nil, errors.New("cut")
		}
		runner, err := attempt.NewRunner(b.config)
		must(t, err)
		b.request.History, err = b.store.AllRawMessages(ctx, "s")
		must(t, err)
		if _, err := runner.Attempt(ctx, b.request); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled attempt gives %v", err)
		}
		if b.failures(t) != 0 || len(b.events(t, trace.CompactionFailed)) != 0 {
			t.Error("a cancelled attempt is recorded")
		}
	}))
	t.Run("C2-024", onSQLite(func(t *testing.T, b *bundle) {
		for _, reason := range []compaction.Reason{compaction.HookAborted, compaction.HookFailed} {
			runner, err := attempt.NewRunner(b.config)
			must(t, err)
			r, err := runner.SkipByHook(t.Context(), b.request, reason)
			must(t, err)
			wantOutcome(t, r, attempt.HookSkipped, reason)
			b.next(t)
		}
		events := b.events(t, trace.CompactionSkipped)
		if len(events) != 2 || payload(t, events[1])["reason"] != "hook_failed" || b.failures(t) != 0 {
			t.Errorf("%d skipped events", len(events))
		}
	}))
}

func TestTrace(t *testing.T) {
	t.Parallel()
	t.Run("C2-087", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.request.TraceID, b.request.TurnID = "flow-7", "t-9"
		b.picks(fresh("one", "a", "b", "c"))
		r := b.run(t)
		events := b.events(t, trace.ContextCompacted)
		if len(events) != 1 || events[0].TraceID != "flow-7" || events[0].TurnID != "t-9" {
			t.Fatalf("events are %+v", events)
		}
		p := payload(t, events[0])
		if p["turnRangeEnd"] != "t-c" || p["summaryId"] != r.SummaryID || p["tokenSavings"] != 300.0 || p["messagesCompacted"] != 3.0 || p["summaryTokens"] != 1.0 {
			t.Errorf("payload is %v", p)
		}
	}))
	t.Run("C2-088", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.request.TraceID = ""
		b.picks(fresh("one", "a", "b", "c"))
		r := b.run(t)
		events := b.events(t, trace.ContextCompacted)
		if len(events) != 1 || events[0].TraceID != r.SummaryID || events[0].TurnID != "t-c" {
			t.Errorf("events are %+v", events)
		}
	}))
	t.Run("C2-089", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		b.picks(fresh("one", "a"))
		b.config.Store = failingStore{b.store, "trace"}
		warned := 0
		b.config.Warn = func(string, error) { warned++ }
		wantOutcome(t, b.run(t), attempt.Compacted, "")
		if warned == 0 || len(b.summaries(t)) != 1 {
			t.Errorf("%d warnings, %d summaries", warned, len(b.summaries(t)))
		}
	}))
	t.Run("C2-049 truncated", onSQLite(func(t *testing.T, b *bundle) {
		b.force()
		b.abc(t)
		s := fresh("one", "a")
		s.Truncated, s.FocusSections = true, []string{"x"}
		b.save(t, 5)
		b.picks(s)
		b.run(t)
		p := payload(t, b.events(t, trace.ContextCompacted)[0])
		if p["summaryTruncated"] != true || p["totalSummaryTokens"] != 6.0 || fmt.Sprint(p["focusSections"]) != "[x]" {
			t.Errorf("payload is %v", p)
		}
		if e := b.events(t, trace.ServiceCompleted); len(e) != 1 || payload(t, e[0])["outcome"] != "success" {
			t.Errorf("the provider's call is traced %d times", len(e))
		}
	}))
}
