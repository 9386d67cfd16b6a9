// Package turn is the vocabulary between a client, the workflows and the
// activities: what a turn is asked for, what it answers, the small facts that
// cross Temporal, the names used there, and the one error type.
//
// Nothing here is large: texts travel as refs into the store (an execution's
// journal, a transcript run and its length), so a payload never grows with the
// story. See spec 03 §1 for the records and §19 for the error codes.
//
//	in := turn.Input{SessionID: "demo", TurnID: "t-1", Origin: turn.OriginPlayer, PlayerMessage: "I light the lamp"}
//	if err := in.Validate(); err != nil {
//		return err // *turn.Error, code invalid_turn_input, names field and value
//	}
//	id := turn.WorkflowID(in.SessionID) // "session/demo"
package turn
