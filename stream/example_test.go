package stream_test

import (
	"context"
	"fmt"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
)

// One side writes deltas while the model speaks, the other follows the turn.
func ExampleHub() {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, sqlite.Config{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	hub, err := stream.NewHub(stream.Config{Store: st})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hub.Close()
	if err := exampleSession(ctx, st); err != nil {
		fmt.Println(err)
		return
	}

	s, err := hub.Open(ctx, store.StreamKey{SessionID: "demo", TurnID: "t1", RuntimeID: "narrator"}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Write(ctx, model.Delta{Text: "The lamp burns."}); err != nil {
		fmt.Println(err)
		return
	}
	if err := s.End(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for chunk, err := range hub.Follow(ctx, "demo", "t1", stream.Cursor{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(chunk.Cursor, chunk.Kind, chunk.Text)
		if chunk.Kind == stream.KindEnd {
			break
		}
	}
	// Output:
	// narrator:0 text The lamp burns.
	// narrator:1 end
}

func exampleSession(ctx context.Context, st store.Store) error {
	if err := st.Migrate(ctx); err != nil {
		return err
	}
	return st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{
			ID: "demo", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US",
		})
	})
}
