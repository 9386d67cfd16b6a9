package commit

import (
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// endEvents say how the execution ended (spec 03 §10.6): a turn that left
// suspensions is turn.suspended, a resume is turn.resumed, and whatever leaves
// no suspension of its logical turn is turn.completed. They are the last rows of
// the transaction, so a rollback leaves none.
func (a *application) endEvents() []trace.Event {
	event := func(typ string, payload map[string]any) trace.Event {
		payload["turnId"] = a.plan.TurnID
		return trace.Event{Scope: a.plan.Scope, TraceID: a.plan.TraceID, Type: typ, Payload: payload}
	}
	completed := func(kind string) trace.Event {
		return event(trace.TurnCompleted, map[string]any{"durationMs": a.plan.DurationMs, "kind": kind})
	}
	switch {
	case len(a.out.Suspensions) > 0:
		return []trace.Event{event(trace.TurnSuspended, map[string]any{"suspensions": a.out.Suspensions})}
	case a.plan.Origin == turn.OriginBackground:
		return nil
	case a.plan.Resolve == nil:
		return []trace.Event{completed("turn")}
	}
	events := []trace.Event{event(trace.TurnResumed, map[string]any{
		"suspensionId": a.plan.Resolve.SuspensionID, "suspendedTurnId": a.plan.ParentTurnID,
	})}
	if a.plan.ResolvesLast {
		events = append(events, completed("resume"))
	}
	return events
}
