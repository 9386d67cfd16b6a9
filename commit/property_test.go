package commit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"pgregory.net/rapid"
)

// Random turns: whatever is rejected, either everything of a result stands or
// nothing; nothing that stands needs something dropped; a failed turn leaves
// no trace in the session; a repeated call changes nothing.
func TestCommitProperty(t *testing.T) {
	t.Parallel()
	st := sqliteStore(t)
	sessions := 0
	rapid.Check(t, func(rt *rapid.T) {
		sessions++
		id := fmt.Sprint("session-", sessions)
		plan := drawPlan(rt, id)
		err := st.WithTx(context.Background(), func(ctx context.Context, tx store.Tx) error {
			err := tx.InsertSession(ctx, session.Session{
				ID: id, WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US", CreatedAt: now,
			})
			if err != nil {
				return err
			}
			return tx.SetFence(ctx, id, plan.ExecutionID)
		})
		mustRapid(rt, err)
		out, err := commit.Apply(context.Background(), st, plan)
		mustRapid(rt, err)
		dropped := isolated(out)
		for i := range plan.Results {
			r := &plan.Results[i]
			_, err := st.PluginDatum(context.Background(), id, commit.PluginState, "stats", r.RuntimeID)
			written := err == nil
			gone := slices.Contains(dropped, r.RuntimeID)
			want := out.Status == commit.Committed && r.Status != turn.RuntimeFailed && !gone && len(r.Proposals) > 0
			if written != want {
				rt.Fatalf("%s (%s, dropped %v) wrote: %v; outcome %+v", r.RuntimeID, r.Status, gone, written, out)
			}
			if gone && r.Story {
				rt.Fatalf("the story was dropped: %+v", out)
			}
			for _, need := range plan.Runtimes[r.RuntimeID].Schedule.Needs {
				if written && slices.Contains(dropped, need.Runtime) {
					rt.Fatalf("%s stands without %s", r.RuntimeID, need.Runtime)
				}
			}
		}
		rows, err := st.Messages(context.Background(), id)
		mustRapid(rt, err)
		if out.Status == commit.Failed && (len(rows) > 0 || len(out.Events) > 0) {
			rt.Fatalf("a failed turn left %d rows and %d events", len(rows), len(out.Events))
		}
		again, err := commit.Apply(context.Background(), st, plan)
		mustRapid(rt, err)
		first, err := json.Marshal(out)
		mustRapid(rt, err)
		second, err := json.Marshal(again)
		mustRapid(rt, err)
		rowsAfter, err := st.Messages(context.Background(), id)
		mustRapid(rt, err)
		if !bytes.Equal(first, second) || len(rowsAfter) != len(rows) {
			rt.Fatalf("the repeated call gives %s, first was %s", second, first)
		}
	})
}

func mustRapid(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatal(err)
	}
}

func drawPlan(rt *rapid.T, sessionID string) commit.Plan {
	plan := commit.Plan{
		Scope:  turn.Scope{SessionID: sessionID, TurnID: "t", ExecutionID: "x"},
		Origin: turn.OriginPlayer, CountPolicy: turn.CountCompleteTurn, LogicalTurn: 1, Now: now,
		PlayerMessage: "run", JournalPlayer: true, Runtimes: map[string]*plugin.Runtime{},
	}
	n := rapid.IntRange(1, 7).Draw(rt, "runtimes")
	storyAt := rapid.IntRange(-1, n-1).Draw(rt, "story")
	for i := range n {
		id := fmt.Sprint("r", i)
		rt2 := &plugin.Runtime{ID: id, PluginID: "p", Type: "function", Schedule: plugin.Schedule{Stage: "post-turn"}}
		for range rapid.IntRange(0, 2).Draw(rt, "needs") {
			rt2.Schedule.Needs = append(rt2.Schedule.Needs, plugin.Dependency{Runtime: fmt.Sprint("r", rapid.IntRange(0, n-1).Draw(rt, "need"))})
		}
		r := turn.RuntimeResult{
			ID: "result-" + id, PluginID: "p", RuntimeID: id, Status: turn.RuntimeSuccess, Story: i == storyAt,
			Output: json.RawMessage(`{"narrativeOutput":"text"}`),
		}
		if !r.Story {
			r.Status = rapid.SampledFrom([]turn.RuntimeStatus{turn.RuntimeSuccess, turn.RuntimeSuccess, turn.RuntimeFailed, turn.RuntimeSkipped}).Draw(rt, "status")
		}
		if rapid.Bool().Draw(rt, "writes") {
			r.Proposals = append(r.Proposals, patch(id, i))
		}
		if !r.Story && rapid.IntRange(0, 3).Draw(rt, "bad") == 0 {
			r.Proposals = append(r.Proposals, badPatch())
		}
		plan.Runtimes[id] = rt2
		plan.Results = append(plan.Results, r)
	}
	return plan
}

// BenchmarkApply commits a story and four optional runtimes beside it, the
// fence's own transaction included.
func BenchmarkApply(b *testing.B) {
	for _, proposals := range []int{1, 20} {
		b.Run(fmt.Sprint("proposals=", proposals), func(b *testing.B) {
			bd := setupOn(b, sqliteStore(b))
			bd.story("narrator", "A story.")
			for i := range 4 {
				r, _ := bd.runtime(fmt.Sprint("r", i))
				for j := range proposals {
					r.Proposals = append(r.Proposals, patch(fmt.Sprint(i, "-", j), j))
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				bd.next(b, fmt.Sprint("t", i), fmt.Sprint("x", i))
				if out := bd.apply(b); out.Status != commit.Committed {
					b.Fatal(out)
				}
			}
		})
	}
}
