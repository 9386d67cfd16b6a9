// Package client is what a game server imports: it creates sessions, starts
// turns, streams their story, waits for their outcome and aborts them.
//
//	c, err := client.New(client.Config{Library: lib, Plugins: gen, Store: st, Temporal: tc})
//	if err != nil {
//		return err
//	}
//	s, err := c.CreateSession(ctx, client.CreateSession{World: "lanternfall"})
//	if err != nil {
//		return err
//	}
//	h, err := c.StartTurn(ctx, client.StartTurn{Session: s.ID, Message: "I light the lamp"})
//	if err != nil {
//		return err // errors.Is(err, turn.ErrTurnInProgress) while another turn runs
//	}
//	outcome, err := h.Wait(ctx)
//
// A Client is safe for concurrent use. Every error is a *turn.Error with a
// code of spec 03 §19.
package client
