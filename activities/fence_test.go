package activities

import (
	"context"
	"fmt"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
)

// TestFence: an execution whose session belongs to a newer one gets
// session_lost from every activity and writes nothing.
func TestFence(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(ctx context.Context, a *Activities, old turn.Scope) error{
		turn.ActivityPrepareRuntime: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.PrepareRuntime(ctx, turn.PrepareInput{Scope: old, RuntimeID: "lab/clerk", Stage: "post-turn"})
			return err
		},
		turn.ActivityCallModel: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.CallModel(ctx, first(old, "lab/teller", "narrative"))
			return err
		},
		turn.ActivityRunTool: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.RunTool(ctx, turn.RunToolInput{Scope: old, RuntimeID: "lab/clerk", Stage: "post-turn", CallID: "call-1", Reply: 1, At: 2})
			return err
		},
		"RunTool of a lost call": func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.RunTool(ctx, turn.RunToolInput{Scope: old, RuntimeID: "lab/clerk", Stage: "post-turn", CallID: "call-1", Reply: 1, At: 2, Lost: true})
			return err
		},
		turn.ActivityRunFunction: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.RunFunction(ctx, turn.FunctionInput{Scope: old, RuntimeID: "lab/probe", Stage: "pre-turn"})
			return err
		},
		turn.ActivityFinishRuntime: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.FinishRuntime(ctx, turn.FinishInput{Scope: old, RuntimeID: "lab/clerk", Stage: "post-turn", Ending: turn.EndingText})
			return err
		},
		turn.ActivityPlanFollowers: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.PlanFollowers(ctx, old, 1)
			return err
		},
		turn.ActivityCommitTurn: func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.CommitTurn(ctx, turn.CommitInput{Scope: old})
			return err
		},
		"CommitTurn of an aborted turn": func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.CommitTurn(ctx, turn.CommitInput{Scope: old, Aborted: true})
			return err
		},
		"CommitTurn of a failed turn": func(ctx context.Context, a *Activities, old turn.Scope) error {
			_, err := a.CommitTurn(ctx, turn.CommitInput{Scope: old, Code: "timeout", Message: "late"})
			return err
		},
		turn.ActivityRequestAbort: func(ctx context.Context, a *Activities, old turn.Scope) error {
			return a.RequestAbort(ctx, old)
		},
	} {
		for _, worker := range []string{"the same worker", "another worker"} {
			t.Run(name+" on "+worker, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, labHandlers{})
				l.model.answer = func(int, model.Params, func(model.Delta)) (*model.Result, error) { return noting("a"), nil }
				old := l.begin(t, "t-1")
				if _, err := l.CallModel(t.Context(), first(old, "lab/clerk", "post-turn")); err != nil {
					t.Fatal(err)
				}
				l.begin(t, "t-2")
				if worker == "another worker" {
					l.restart(t)
				}
				before := l.rows(t, old)
				if err := act(t.Context(), l.Activities, old); codeOf(err) != turn.CodeSessionLost {
					t.Errorf("error %v", err)
				}
				if diff := cmp.Diff(before, l.rows(t, old)); diff != "" {
					t.Errorf("the old execution wrote: %s", diff)
				}
			})
		}
	}
}

// rows counts what the store holds of an execution and its session.
func (l *lab) rows(t *testing.T, scope turn.Scope) map[string]string {
	t.Helper()
	ctx := t.Context()
	out := map[string]string{}
	for _, kind := range []string{journalPlan, journalResult, journalTool, journalFunction, journalGuard, journalSetup, journalChain} {
		list, err := l.st.JournalEntries(ctx, scope.SessionID, scope.ExecutionID, kind)
		must(t, err)
		out["journal "+kind] = fmt.Sprint(len(list))
	}
	for _, id := range []string{"lab/teller", "lab/clerk"} {
		list, err := l.st.Transcript(ctx, turn.RunID(scope.ExecutionID, id), 0, 100)
		must(t, err)
		out["transcript "+id] = fmt.Sprint(len(list))
	}
	messages, err := l.st.Messages(ctx, scope.SessionID)
	must(t, err)
	events, err := l.st.TraceEvents(ctx, scope.SessionID, "", "")
	must(t, err)
	record, err := l.st.TurnRecord(ctx, scope.SessionID, scope.TurnID)
	must(t, err)
	s, err := l.st.Session(ctx, scope.SessionID)
	must(t, err)
	out["messages"], out["trace"] = fmt.Sprint(len(messages)), fmt.Sprint(len(events))
	out["record"], out["session"] = fmt.Sprintf("%+v", record), fmt.Sprintf("%+v", s)
	return out
}
