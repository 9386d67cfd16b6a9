package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/commit/compact"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/postgres"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/tokens"
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
func onBoth(t *testing.T, run func(b *bundle)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		run(setup(t, sqliteStore(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		st, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Database(t), MaxConns: 3})
		must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		must(t, st.Migrate(t.Context()))
		run(setup(t, st))
	})
}

func onSQLite(run func(b *bundle)) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		run(setup(t, sqliteStore(t)))
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
	t       testing.TB
	store   store.Store
	config  compact.Config
	request compact.Request
	// provide answers the provider's call; inputs are what it got.
	provide func(compaction.Input) (*compaction.Output, error)
	inputs  []compaction.Input
	now     time.Time
	turns   int
	ids     int
}

func setup(t testing.TB, st store.Store) *bundle {
	t.Helper()
	texts, err := locale.Load()
	must(t, err)
	b := &bundle{t: t, store: st, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.config = compact.Config{
		Store: st, Texts: texts,
		Clock: func() time.Time { b.now = b.now.Add(time.Second); return b.now },
		NewID: func() string { b.ids++; return fmt.Sprint("fresh-", b.ids) },
		Provider: func(_ context.Context, in compaction.Input, _ compaction.Services) (*compaction.Output, error) {
			b.inputs = append(b.inputs, in)
			return b.provide(in)
		},
	}
	b.provide = func(compaction.Input) (*compaction.Output, error) { return nil, nil }
	b.request = compact.Request{
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
func (b *bundle) next(t testing.TB) {
	t.Helper()
	b.turns++
	b.request.Scope = turn.Scope{SessionID: "s", TurnID: fmt.Sprint("turn-", b.turns), ExecutionID: fmt.Sprint("x-", b.turns)}
	b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, "s", b.request.ExecutionID) })
}

func (b *bundle) tx(t testing.TB, fn func(context.Context, store.Tx) error) {
	t.Helper()
	must(t, b.store.WithTx(t.Context(), fn))
}

// add appends raw rows "name" of the given contents, each a turn of its own.
func (b *bundle) add(t testing.TB, rows map[string]string, order ...string) {
	t.Helper()
	var list []session.Message
	for _, id := range order {
		list = append(list, session.Message{
			ID: id, SessionID: "s", TurnID: "t-" + id, Role: session.RoleUser, SourceType: session.SourcePlayer, Content: rows[id],
		})
	}
	b.tx(t, func(ctx context.Context, tx store.Tx) error { _, err := tx.AppendMessages(ctx, "s", list); return err })
}

func (b *bundle) abc(t testing.TB) {
	t.Helper()
	b.add(t, map[string]string{"a": han(100), "b": han(100), "c": han(100)}, "a", "b", "c")
}

// save inserts saved summaries of the given tokens, oldest first.
func (b *bundle) save(t testing.TB, sizes ...int) {
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
func (b *bundle) run(t testing.TB, view ...session.Message) compact.Result {
	t.Helper()
	result, err := b.attempt(t, view...)
	must(t, err)
	return result
}

func (b *bundle) attempt(t testing.TB, view ...session.Message) (compact.Result, error) {
	t.Helper()
	runner, err := compact.NewRunner(b.config)
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

func (b *bundle) summaries(t testing.TB) []session.Summary {
	t.Helper()
	list, err := b.store.Summaries(t.Context(), "s")
	must(t, err)
	return list
}

// marks gives "row=mark" of every row.
func (b *bundle) marks(t testing.TB) string {
	t.Helper()
	rows, err := b.store.Messages(t.Context(), "s")
	must(t, err)
	var out []string
	for _, r := range rows {
		out = append(out, r.ID+"="+r.CompactedBy)
	}
	return strings.Join(out, " ")
}

func (b *bundle) failures(t testing.TB) int {
	t.Helper()
	state, err := b.store.CompactionState(t.Context(), "s")
	must(t, err)
	return state.ConsecutiveFailures
}

func (b *bundle) events(t testing.TB, typ string) []store.TraceEvent {
	t.Helper()
	events, err := b.store.TraceEvents(t.Context(), "s", "", typ)
	must(t, err)
	return events
}

func payload(t testing.TB, e store.TraceEvent) map[string]any {
	t.Helper()
	var p map[string]any
	must(t, json.Unmarshal(e.Payload, &p))
	return p
}

func wantOutcome(t testing.TB, r compact.Result, outcome compact.Outcome, reason compaction.Reason) {
	t.Helper()
	if r.Outcome != outcome || r.Reason != reason {
		t.Fatalf("outcome is %s (%s), want %s (%s)", r.Outcome, r.Reason, outcome, reason)
	}
}
