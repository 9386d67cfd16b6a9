// Package agentloop is the agent's state machine (spec 03 §11): it emits
// commands, takes results, and never does I/O. Limits, completion contracts,
// corrections, loop detection, the story request, the finalizer and late
// steering are all here and nowhere else.
//
// A driver runs the commands until the machine says Finish:
//
//	m := agentloop.New(spec)
//	for cmd := m.Start(); ; {
//		switch {
//		case cmd.CallModel != nil:
//			cmd = m.ModelReplied(call(cmd.CallModel))
//		case cmd.RunTools != nil:
//			batch := cmd.RunTools
//			for i := batch.From; i < len(batch.Calls); i++ {
//				cmd = m.ToolFinished(run(batch, i))
//				if cmd != (agentloop.Command{}) {
//					break // the batch is over, or the rest is cancelled
//				}
//			}
//		case cmd.Finish != nil:
//			return cmd.Finish
//		}
//	}
//
// Texts stay in the transcript; the machine knows them by entry number. Entry
// 0 is the assembled context. A model call appends, in this order, its notes,
// the interjections that it read (story runtimes, spec 03 §11.10), and the
// reply; a corrected draft is followed by the correction. The answer of call i
// of the reply at entry r stands at r+1+i. A run that suspended goes on with
// Resume and the Seed that Machine.Seed gave.
//
// What the driver owes the machine:
//
//   - StepOutcome.HasText says that the reply holds usable text: for a story
//     text that is not blank after sanitising, for a finalizer request also
//     text that fits the output schema.
//   - A reply that was cut at the output limit is best stored without its
//     calls, whose arguments may be cut; calls that StepOutcome names are
//     answered with CANCELLED.
//   - StepOutcome.ClockMs and ToolOutcome.ClockMs are the runtime's own time
//     (spec 03 §11.1): waiting for a model slot and streaming do not count.
//
// # States
//
// Events that a state does not list end the run as failed (handler_error): the
// driver broke its contract. In Ended every event answers the same Finish.
//
//	| state      | event                                 | next       |
//	|------------|---------------------------------------|------------|
//	| Ready      | Start                                 | Calling    |
//	| Ready      | Aborted                               | Ended      |
//	| Calling    | reply with calls                      | Running    |
//	| Calling    | reply corrected by a hook             | Calling    |
//	| Calling    | reply cut, first time                 | Calling    |
//	| Calling    | reply cut, its calls are cancelled    | Cancelling |
//	| Calling    | text, contract correction             | Calling    |
//	| Calling    | text, late steering                   | Calling    |
//	| Calling    | text accepted                         | Ended      |
//	| Calling    | steps over, extra step or finalizer   | Calling    |
//	| Calling    | overflow, rescue call                 | Calling    |
//	| Calling    | steps or time over                    | Ended      |
//	| Calling    | call failed                           | Ended      |
//	| Calling    | finalizer replied                     | Ended      |
//	| Calling    | Aborted                               | Ended      |
//	| Running    | call answered, more to run            | Running    |
//	| Running    | call suspends or terminates, more left| Cancelling |
//	| Running    | batch over, next step                 | Calling    |
//	| Running    | batch over, run ends                  | Ended      |
//	| Running    | deadline passed                       | Ended      |
//	| Running    | Aborted                               | Ended      |
//	| Cancelling | call cancelled, more left             | Cancelling |
//	| Cancelling | batch over, correction or cut reply   | Calling    |
//	| Cancelling | batch over, run ends                  | Ended      |
//	| Cancelling | Aborted                               | Ended      |
package agentloop
