package commit_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/turn"
)

// A story and a bad write beside it: the story stands, the writer is left out.
func ExampleApply() {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, sqlite.Config{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	if err := exampleSession(ctx, st); err != nil {
		fmt.Println(err)
		return
	}
	out, err := commit.Apply(ctx, st, commit.Plan{
		Scope:  turn.Scope{SessionID: "demo", TurnID: "t1", ExecutionID: "x1"},
		Origin: turn.OriginPlayer, CountPolicy: turn.CountCompleteTurn, LogicalTurn: 1,
		PlayerMessage: "I light the lamp", JournalPlayer: true, Now: now,
		Runtimes: map[string]*plugin.Runtime{"narrator": {ID: "narrator"}, "weather": {ID: "weather"}},
		Results: []turn.RuntimeResult{
			{ID: "1", RuntimeID: "narrator", Status: turn.RuntimeSuccess, Story: true, Output: json.RawMessage(`{"narrativeOutput":"It burns."}`)},
			{ID: "2", RuntimeID: "weather", Status: turn.RuntimeSuccess, Proposals: []turn.Proposal{
				{Type: turn.ProposalStatePatch, Payload: json.RawMessage(`{"table":"","key":"sky"}`)},
			}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Status, out.CompletedPlayerTurns, out.Isolated)
	rows, err := st.Messages(ctx, "demo")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		fmt.Println(row.Role, row.Content)
	}
	// Output:
	// committed 1 [{weather table must be a non-empty string}]
	// user I light the lamp
	// assistant It burns.
}

func exampleSession(ctx context.Context, st store.Store) error {
	if err := st.Migrate(ctx); err != nil {
		return err
	}
	return st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		err := tx.InsertSession(ctx, session.Session{
			ID: "demo", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US",
		})
		if err != nil {
			return err
		}
		return tx.SetFence(ctx, "demo", "x1")
	})
}
