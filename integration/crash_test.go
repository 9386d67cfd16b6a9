package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// script is what the crashed game and the undisturbed one both play: their
// sessions and turns have the same ids in two databases, so that every request
// can be compared byte for byte.
var script = []string{"I row to the drowned lighthouse", "I light the lamp", "I climb down"}

// TestCrash kills a real worker with SIGKILL in the second turn, starts another
// one, and compares with an undisturbed game.
func TestCrash(t *testing.T) {
	t.Parallel()
	calm := playScript(t, newRig(t), "")
	for _, point := range []string{
		"CallModel:after:kill:4", // the model replied, nobody knows yet
		"FinishRuntime:before:kill:4",
		"CommitTurn:before:kill:2",
		"CommitTurn:tx:kill:2", // inside the commit's transaction
		"CommitTurn:after:kill:2",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			crashed := playScript(t, newRig(t), point)
			if !crashed.died {
				t.Fatal("the worker was not killed: the point was never reached")
			}
			compareGames(t, calm, crashed)
		})
	}
}

// game is what a played script left behind.
type game struct {
	died     bool
	messages []session.Message
	requests []string // bodies, in order, one a recorded model call
	calls    int      // model replies
	outcomes []turn.Outcome
}

func playScript(t *testing.T, r *rig, failpoint string) game {
	t.Helper()
	r.t = t
	first := r.worker(failpoint)
	s := r.newSession("crash")
	var g game
	for i, line := range script {
		h := r.start(s.ID, fmt.Sprintf("turn-%d", i+1), line)
		if failpoint != "" && !g.died {
			g.died = diedDuring(t, r, first, h)
			if g.died {
				r.worker("")
			}
		}
		g.outcomes = append(g.outcomes, r.wait(h))
	}
	g.messages = r.messages(s.ID)
	calls, err := trace.ReadCalls(t.Context(), r.store, s.ID)
	must(t, err)
	for _, c := range calls {
		g.requests = append(g.requests, c.RuntimeID+" "+c.TurnID+"\n"+string(c.Body()))
	}
	events, err := r.store.TraceEvents(t.Context(), s.ID, "", trace.LLMResponded)
	must(t, err)
	g.calls = len(events)
	return g
}

// diedDuring waits for the end of a turn or of the worker, whichever is first.
func diedDuring(t *testing.T, r *rig, w *testenv.Process, h *client.Handle) bool {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := h.Wait(t.Context())
		ended <- err
	}()
	select {
	case <-w.Exited():
		return true
	case err := <-ended:
		must(t, err)
		return false
	}
}

func compareGames(t *testing.T, calm, crashed game) {
	t.Helper()
	for i, o := range crashed.outcomes {
		if o.LogicalTurn != i+1 || o.Narrative != calm.outcomes[i].Narrative {
			t.Errorf("turn %d: logical turn %d, narrative %q; want %q", i+1, o.LogicalTurn, o.Narrative, calm.outcomes[i].Narrative)
		}
	}
	seen := map[string]bool{}
	for _, m := range crashed.messages {
		if seen[m.ID] {
			t.Errorf("message %s stands twice", m.ID)
		}
		seen[m.ID] = true
	}
	if a, b := contents(calm.messages), contents(crashed.messages); !slices.Equal(a, b) {
		t.Errorf("messages differ:\n%q\n%q", a, b)
	}
	slices.Sort(calm.requests)
	slices.Sort(crashed.requests)
	if !slices.Equal(calm.requests, crashed.requests) {
		t.Errorf("%d requests differ from the %d of an undisturbed game", len(crashed.requests), len(calm.requests))
		for i := range min(len(calm.requests), len(crashed.requests)) {
			if calm.requests[i] != crashed.requests[i] {
				t.Errorf("first difference:\n%s\n%s", calm.requests[i], crashed.requests[i])
				break
			}
		}
	}
	if crashed.calls > calm.calls+1 {
		t.Errorf("%d model calls; an undisturbed game makes %d, one more is allowed", crashed.calls, calm.calls)
	}
}

func contents(rows []session.Message) []string {
	list := make([]string, len(rows))
	for i, m := range rows {
		list[i] = fmt.Sprintf("%s/%s/%s: %s", m.TurnID, m.SourceType, m.Role, m.Content)
	}
	return list
}

// TestLateCommitOfATerminatedRun: an operator terminates a run while its commit
// is under way. A new turn starts; the late commit gets session_lost and writes
// nothing.
func TestLateCommitOfATerminatedRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	mark := filepath.Join(testenv.DataDir(t), "commit")
	paused := r.worker("CommitTurn:before:pause:1:" + mark)
	s := r.newSession("terminated")
	// The first turn opens the game in two executions; the pause is in the first.
	h := r.start(s.ID, "lost", "I row to the drowned lighthouse")
	eventually(t, "the commit", func() bool { _, err := os.Stat(mark + ".reached"); return err == nil })
	must(t, r.temporal.TerminateWorkflow(t.Context(), turn.WorkflowID(s.ID), h.RunID, "an operator's hand"))
	if _, err := h.Wait(t.Context()); turn.CodeOf(err) != turn.CodeSessionLost {
		t.Errorf("the terminated turn answers %v; want %s", err, turn.CodeSessionLost)
	}
	r.worker("")
	r.play(s.ID, "next", "I light the lamp")
	before := r.messages(s.ID)
	must(t, os.WriteFile(mark+".go", nil, 0o600))
	paused.Stop() // waits for the late commit's activity to end
	if after := r.messages(s.ID); !slices.Equal(contents(before), contents(after)) {
		t.Errorf("the late commit wrote:\n%q\n%q", contents(before), contents(after))
	}
	record, err := r.store.TurnRecord(t.Context(), s.ID, "lost")
	must(t, err)
	var why turn.OutcomeError
	must(t, json.Unmarshal(record.Error, &why))
	if record.CommitStatus != "failed" || why.Code != turn.CodeSessionLost {
		t.Errorf("the lost turn's record is %s, %s; want failed, %s", record.CommitStatus, why.Code, turn.CodeSessionLost)
	}
	// Sent again under its id it answers what is stored; under a new id it plays.
	again, err := r.client.StartTurn(t.Context(), client.StartTurn{Session: s.ID, Turn: "lost", Message: "I row to the drowned lighthouse"})
	must(t, err)
	if o, err := again.Wait(t.Context()); err != nil || o.Status != turn.StatusFailed {
		t.Errorf("the lost turn sent again: %s, %v; want failed", o.Status, err)
	}
}
