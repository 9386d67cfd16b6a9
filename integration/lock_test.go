package integration_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/worker"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
	enumspb "go.temporal.io/api/enums/v1"
)

// slowStory is a model that takes long to tell.
const slowStory = `version: 1
noMatch: storyteller
replies:
  - when: {runtime: narrator, lastUser: "slowly"}
    text: "The tide comes in slowly, one step of the stair after the other, and it does not hurry for anyone at all."
    chunkRunes: 4
    delayMs: 400
`

// inProcess runs a worker inside the test. TestMain has set the sticky
// workflow cache to 0, so every workflow task replays its history.
func (r *rig) inProcess(script string) {
	r.t.Helper()
	dir := testenv.DataDir(r.t)
	writeFile(r.t, dir, "story.yaml", script)
	llm := writeFile(r.t, dir, "llm.toml", "[covel.story]\nprovider = \"scripted\"\nmodel = \"story.yaml\"\n")
	gateway, _, err := providers.New(providers.Config{LLMPath: llm, Getenv: func(string) string { return "" }})
	must(r.t, err)
	texts, err := locale.Load()
	must(r.t, err)
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	must(r.t, err)
	lib, _, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
	must(r.t, err)
	hub, err := stream.NewHub(stream.Config{Store: r.store})
	must(r.t, err)
	r.t.Cleanup(hub.Close)
	acts, err := activities.New(activities.Config{Library: lib, Model: gateway, Plugins: gen, Store: r.store, Streams: hub, Texts: texts})
	must(r.t, err)
	w, err := worker.New(worker.Config{Activities: acts, Temporal: r.temporal})
	must(r.t, err)
	must(r.t, w.Start())
	r.t.Cleanup(w.Stop)
}

// TestSessionLock: one turn at a time, and what a refused start means.
func TestSessionLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.inProcess(slowStory)
	s := r.newSession("locked")
	r.play(s.ID, "first", "I look around")
	running := r.start(s.ID, "slow", "I wait slowly")

	_, err := r.client.StartTurn(t.Context(), client.StartTurn{Session: s.ID, Turn: "other", Message: "I do not wait"})
	if !errors.Is(err, turn.ErrTurnInProgress) || !strings.Contains(err.Error(), `"slow"`) {
		t.Errorf("a second turn: %v; want turn_in_progress naming slow", err)
	}
	_, err = r.client.StartTurn(t.Context(), client.StartTurn{Session: s.ID, Turn: "slow", Message: "something else"})
	if !errors.Is(err, turn.ErrTurnIDConflict) {
		t.Errorf("the running turn's id with other input: %v; want turn_id_conflict", err)
	}
	joined := r.start(s.ID, "slow", "I wait slowly")
	if joined.RunID != running.RunID {
		t.Errorf("the same start joined run %s; want %s", joined.RunID, running.RunID)
	}
	code, stdout, stderr := testenv.Run(t, testenv.Config{Args: []string{"turn", "start", s.ID, "--say", "I do not wait", "--json"}, Env: r.env})
	if code != 4 || !strings.Contains(stdout, `"code":"turn_in_progress"`) {
		t.Errorf("a second turn by command: exit code %d: %s%s; want 4", code, stdout, stderr)
	}
	waited, err := r.client.StartTurn(t.Context(), client.StartTurn{Session: s.ID, Turn: "waited", Message: "I go on", WaitForSession: time.Minute})
	must(t, err)
	r.wait(running)
	r.wait(waited)
	_, err = r.client.StartTurn(t.Context(), client.StartTurn{Session: s.ID, Turn: "slow", Message: "something else"})
	if !errors.Is(err, turn.ErrTurnIDConflict) {
		t.Errorf("a stored turn's id with other input: %v; want turn_id_conflict", err)
	}
	before := r.messages(s.ID)
	again := r.start(s.ID, "waited", "I go on")
	if o := r.wait(again); o.TurnID != "waited" {
		t.Errorf("a repeated start answers turn %s", o.TurnID)
	}
	if after := r.messages(s.ID); len(after) != len(before) {
		t.Errorf("a repeated start wrote again: %q", contents(after))
	}
}

// TestAbort: nothing partial commits, the session is free right after.
func TestAbort(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.inProcess(slowStory)
	s := r.newSession("aborted")
	r.play(s.ID, "first", "I look around")
	before := contents(r.messages(s.ID))
	h := r.start(s.ID, "slow", "I wait slowly")
	for chunk, err := range h.Stream(t.Context()) {
		must(t, err)
		if chunk.Text != "" {
			break // the story has begun
		}
	}
	asked := time.Now()
	must(t, h.Abort(t.Context()))
	o, err := h.Wait(t.Context())
	if err != nil || o.Status != turn.StatusAborted || o.AbortReason != "player-abort" {
		t.Errorf("the aborted turn: %s, %q, %v; want aborted, player-abort", o.Status, o.AbortReason, err)
	}
	t.Logf("the aborted turn ended %v after it was asked to", time.Since(asked))
	cut := slices.IndexFunc(o.Runtimes, func(rt turn.RuntimeOutcome) bool { return rt.ID == "narrator" })
	if cut < 0 || o.Runtimes[cut].Status != turn.RuntimeFailed || o.Runtimes[cut].Error == nil || o.Runtimes[cut].Error.Code != turn.CodeTurnAborted {
		t.Errorf("results %+v; want the narrator's, failed with %s", o.Runtimes, turn.CodeTurnAborted)
	}
	described, err := r.temporal.DescribeWorkflowExecution(t.Context(), turn.StageWorkflowID(s.ID, "slow", "narrative"), "")
	must(t, err)
	if status := described.GetWorkflowExecutionInfo().GetStatus(); status != enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		t.Errorf("the cut stage ended %s; want completed, with its facts", status)
	}
	if after := contents(r.messages(s.ID)); len(after) != len(before) {
		t.Errorf("an aborted turn wrote %q", after)
	}
	if err := h.Abort(t.Context()); turn.CodeOf(err) != turn.CodeNoActiveTurn {
		t.Errorf("abort after the end: %v; want no_active_turn", err)
	}
	r.play(s.ID, "next", "I go on")
}

// TestStream: what is streamed is what is committed, also for a second
// listener and for one that comes late.
func TestStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.inProcess(slowStory)
	s := r.newSession("streamed")
	h := r.start(s.ID, "opening", "I wait slowly")
	texts := make(chan string, 2)
	for range 2 {
		go func() { texts <- readStream(t.Context(), h) }()
	}
	o := r.wait(h)
	for range 2 {
		if text := <-texts; text != o.Narrative {
			t.Errorf("streamed %q; want %q", text, o.Narrative)
		}
	}
	if late := readStream(t.Context(), h); late != o.Narrative {
		t.Errorf("a late listener read %q; want %q", late, o.Narrative)
	}
}

func readStream(ctx context.Context, h *client.Handle) string {
	var b strings.Builder
	for chunk, err := range h.Stream(ctx) {
		if err != nil {
			return "error: " + err.Error()
		}
		if chunk.Kind == stream.KindText {
			b.WriteString(chunk.Text)
		}
	}
	return b.String()
}
