package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	temporal "go.temporal.io/sdk/client"
)

// A game server plays one turn: the story is shown while it is written, the
// outcome says what came of it.
func ExampleClient_StartTurn() {
	play := func(ctx context.Context, st store.Store, hub *stream.Hub, tc temporal.Client, message string) error {
		c, err := client.New(client.Config{Store: st, Streams: hub, Temporal: tc})
		if err != nil {
			return err
		}
		h, err := c.StartTurn(ctx, client.StartTurn{Session: "demo", Message: message})
		if errors.Is(err, turn.ErrTurnInProgress) {
			fmt.Println("One moment, the story still goes on.")
			return nil
		}
		if err != nil {
			return err
		}
		for chunk, err := range h.Stream(ctx) {
			if err != nil {
				return err
			}
			fmt.Print(chunk.Text)
		}
		outcome, err := h.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println(outcome.Status)
		return nil
	}
	_ = play
	// Output:
}
