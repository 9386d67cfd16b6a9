package commit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/turn"
)

var now = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

type bundle struct {
	t     testing.TB
	store store.Store
	plan  commit.Plan
}

// setup gives a playing session "s" whose fence is execution "x" of turn "t".
func setup(t testing.TB) *bundle {
	t.Helper()
	return setupOn(t, sqliteStore(t))
}

func sqliteStore(t testing.TB) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	return st
}

func setupOn(t testing.TB, st store.Store) *bundle {
	t.Helper()
	b := &bundle{t: t, store: st, plan: commit.Plan{
		Scope:  turn.Scope{SessionID: "s", TurnID: "t", ExecutionID: "x"},
		Origin: turn.OriginPlayer, CountPolicy: turn.CountCompleteTurn, LogicalTurn: 1, Now: now,
		PlayerMessage: "run", JournalPlayer: true, Runtimes: map[string]*plugin.Runtime{},
	}}
	b.tx(t, func(ctx context.Context, tx store.Tx) error {
		err := tx.InsertSession(ctx, session.Session{
			ID: "s", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US", CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return tx.SetFence(ctx, "s", "x")
	})
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) tx(t testing.TB, fn func(context.Context, store.Tx) error) {
	t.Helper()
	must(t, b.store.WithTx(t.Context(), fn))
}

// next moves the bundle to another turn and execution.
func (b *bundle) next(t testing.TB, turnID, executionID string) {
	t.Helper()
	b.plan.TurnID, b.plan.ExecutionID = turnID, executionID
	b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.SetFence(ctx, "s", executionID) })
}

// runtime adds a successful result and its manifest, and gives both to change.
func (b *bundle) runtime(id string, proposals ...turn.Proposal) (*turn.RuntimeResult, *plugin.Runtime) {
	rt := &plugin.Runtime{ID: id, PluginID: "p-" + id, Type: "function", Schedule: plugin.Schedule{Stage: "post-turn"}}
	b.plan.Runtimes[id] = rt
	b.plan.Results = append(b.plan.Results, turn.RuntimeResult{
		ID: "result-" + id, PluginID: rt.PluginID, RuntimeID: id, TurnID: b.plan.TurnID, Stage: "post-turn",
		Status: turn.RuntimeSuccess, Output: json.RawMessage(`{"content":"` + id + `"}`), Proposals: proposals,
	})
	return &b.plan.Results[len(b.plan.Results)-1], rt
}

func (b *bundle) story(id, text string) (*turn.RuntimeResult, *plugin.Runtime) {
	r, rt := b.runtime(id)
	r.Story, rt.IO.Visibility = true, plugin.VisibilityStory
	r.Output = json.RawMessage(fmt.Sprintf(`{"narrativeOutput":%q}`, text))
	return r, rt
}

func (b *bundle) apply(t testing.TB) commit.Outcome {
	t.Helper()
	out, err := commit.Apply(t.Context(), b.store, b.plan)
	must(t, err)
	return out
}

func propose(typ string, payload any) turn.Proposal {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return turn.Proposal{Type: typ, Payload: raw}
}

func patch(key string, value int) turn.Proposal {
	return propose(turn.ProposalStatePatch, commit.StatePatch{Table: "stats", Key: key, Value: json.RawMessage(fmt.Sprint(value))})
}

// badPatch is refused with "table must be a non-empty string".
func badPatch() turn.Proposal { return propose(turn.ProposalStatePatch, commit.StatePatch{Key: "hp"}) }

const badPatchText = "table must be a non-empty string"

// state reads a row of the state table stats, "" when there is none.
func (b *bundle) state(t testing.TB, key string) string {
	t.Helper()
	return b.datum(t, commit.PluginState, "stats", key)
}

func (b *bundle) datum(t testing.TB, pluginID, namespace, key string) string {
	t.Helper()
	row, err := b.store.PluginDatum(t.Context(), "s", pluginID, namespace, key)
	if err != nil {
		return ""
	}
	return string(row.Value)
}

func (b *bundle) messages(t testing.TB) []session.Message {
	t.Helper()
	rows, err := b.store.Messages(t.Context(), "s")
	must(t, err)
	return rows
}

func (b *bundle) session(t testing.TB) session.Session {
	t.Helper()
	s, err := b.store.Session(t.Context(), "s")
	must(t, err)
	return s
}

func (b *bundle) record(t testing.TB) (store.TurnRecord, map[string]turn.RuntimeStatus) {
	t.Helper()
	rec, err := b.store.TurnRecord(t.Context(), "s", b.plan.TurnID)
	must(t, err)
	var results []turn.RuntimeResult
	must(t, json.Unmarshal(rec.RuntimeResults, &results))
	statuses := make(map[string]turn.RuntimeStatus)
	for _, r := range results {
		statuses[r.RuntimeID] = r.Status
	}
	return rec, statuses
}

func isolated(out commit.Outcome) []string { return out.Dropped() }
