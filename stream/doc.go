// Package stream carries story text to listeners while a model still writes
// it. Chunks are rows of the store, so a client that reconnects, to this
// process or another, goes on where it stopped (spec 02 §20).
//
// A model call writes:
//
//	hub, err := stream.NewHub(stream.Config{Store: st})
//	defer hub.Close()
//	s, err := hub.Open(ctx, key, attempt) // attempt counts from 1
//	result, err := caller.Call(ctx, slot, params, func(d model.Delta) { _ = s.Write(ctx, d) })
//	err = s.Close(ctx)                    // the call is over, its text stands; Abandon after a failure
//
// and when the runtime has ended, hub.End(ctx, key) closes its stream for good.
//
// A listener reads every stream of a turn:
//
//	for chunk, err := range hub.Follow(ctx, sessionID, turnID, after) {
//		if err != nil {
//			return err
//		}
//		send(chunk.Cursor.String(), chunk) // the event id of an SSE message
//	}
//
// The rules: the first delta is written at once, later ones are joined to at
// most 20 writes a second a stream; the streams of a process share their
// transactions; a call made again after the loss of a worker writes reset
// first, and the listener drops what it showed of that runtime. Text of
// earlier, finished calls of the same run follows the reset once more.
package stream
