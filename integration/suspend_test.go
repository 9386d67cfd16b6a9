package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"github.com/jackc/pgx/v5"
)

// councilPlugin has an agent that suspends after the story.
const councilPlugin = `---
id: council
kind: plugin
description: Asks the player for a vote.
version: 1.0.0
---
`

const councilAsker = `---
type: agent
description: Asks the player for a vote.
schedule: {stage: post-turn}
agent:
  tools: {builtin: [suspend, emit-event]}
  history: {maxTurns: 2}
---
# Purpose
Ask the player how to vote with the tool ` + "`suspend`" + `, then say how the vote went.
`

// councilScript suspends in each second turn of a game.
const councilScript = `version: 1
noMatch: storyteller
replies:
  - when: {runtime: council/asker, turn: 2, lastTool: suspend}
    text: "The vote is entered in the book."
  - when: {runtime: council/asker, turn: 2}
    text: "The clerk looks up."
    toolCalls: [{name: suspend, arguments: {reason: "How do you vote?"}}]
  - when: {runtime: council/asker}
    text: "Nothing to decide."
  - when: {runtime: narrator}
    text: "The hall is quiet."
`

// council is a rig whose workers have the council plugin.
type council struct {
	*rig
	plugins string
	args    []string
}

func newCouncil(t *testing.T) *council {
	t.Helper()
	dir := testenv.DataDir(t)
	c := &council{rig: newRig(t), plugins: filepath.Join(dir, "plugins")}
	c.writePlugin(councilAsker)
	writeFile(t, dir, "story.yaml", councilScript)
	llm := writeFile(t, dir, "llm.toml", "[covel.story]\nprovider = \"scripted\"\nmodel = \"story.yaml\"\n[covel.plugin]\nprovider = \"scripted\"\nmodel = \"story.yaml\"\n[covel.default]\nprovider = \"scripted\"\nmodel = \"story.yaml\"\n")
	c.args = []string{"--plugins", c.plugins, "--llm", llm}
	return c
}

func (c *council) writePlugin(asker string) {
	c.t.Helper()
	runtime := filepath.Join(c.plugins, "council", "runtimes", "asker")
	must(c.t, os.MkdirAll(runtime, 0o750))
	writeFile(c.t, filepath.Join(c.plugins, "council"), "PLUGIN.md", councilPlugin)
	writeFile(c.t, runtime, "RUNTIME.md", asker)
	writeFile(c.t, runtime, "RUNTIME.zh.md", "---\n---\n# 目的\n用工具 `suspend` 询问玩家如何投票，然后说明投票结果。\n")
}

func (c *council) worker() *testenv.Process {
	c.t.Helper()
	return testenv.Start(c.t, testenv.Config{Args: append([]string{"worker", "--json"}, c.args...), Env: c.env})
}

func (c *council) create(id string) {
	c.t.Helper()
	c.covel(append([]string{"session", "create", "--world", "lanternfall", "--plugin", "council", "--id", id, "--json"}, c.args...)...)
}

// suspend plays a turn that ends suspended and gives the suspension.
func (c *council) suspend(sessionID, turnID string) (turn.Outcome, string) {
	c.t.Helper()
	c.play(sessionID, turnID+"-before", "I look around")
	o, err := c.start(sessionID, turnID, "I ask for the vote").Wait(c.t.Context())
	must(c.t, err)
	if o.Status != turn.StatusSuspended || len(o.Suspensions) != 1 || o.Suspensions[0].RuntimeID != "council/asker" {
		c.t.Fatalf("turn %s ended %s with suspensions %+v, runtimes %+v", turnID, o.Status, o.Suspensions, o.Runtimes)
	}
	return o, o.Suspensions[0].ID
}

// TestSuspendAndResume: the turn commits with its continuation, the answer goes
// on with the runtime, and the turn is counted then (spec 03 §12; TE-110, TE-117).
func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	c.worker()
	c.create("votes")
	o, id := c.suspend("votes", "t2")
	if runtimeOf(t, o, "narrator").Status != turn.RuntimeSuccess || o.Narrative == "" {
		t.Errorf("the story of a suspended turn: %+v", o)
	}
	if s := c.session("votes"); s.CompletedPlayerTurns != 1 {
		t.Errorf("a suspended turn counts: %d turns", s.CompletedPlayerTurns)
	}
	list, err := c.client.Suspensions(t.Context(), "votes")
	must(t, err)
	if len(list) != 1 || list[0].ID != id || list[0].Status != session.SuspensionOpen || list[0].Reason != "How do you vote?" {
		t.Errorf("suspensions %+v", list)
	}

	// Two callers at once: one runs, the other is refused.
	first, err := c.client.Resume(t.Context(), client.Resume{Suspension: id, Turn: "r1", Data: json.RawMessage(`{"vote":"yes"}`)})
	must(t, err)
	_, err = c.client.Resume(t.Context(), client.Resume{Suspension: id, Turn: "r2", Data: json.RawMessage(`{"vote":"no"}`)})
	if code := turn.CodeOf(err); code != turn.CodeSuspensionClaimed && code != turn.CodeSuspensionClosed {
		t.Errorf("a second resume: %v; want suspension_claimed", err)
	}
	resumed, err := first.Wait(t.Context())
	must(t, err)
	if resumed.Status != turn.StatusCommitted || resumed.TurnID != "r1" || len(resumed.Runtimes) != 1 || resumed.Runtimes[0].ID != "council/asker" {
		t.Fatalf("the resume ended %+v", resumed)
	}
	if s := c.session("votes"); s.CompletedPlayerTurns != 2 {
		t.Errorf("%d turns after the resume; want 2", s.CompletedPlayerTurns)
	}
	rows := c.messages("votes")
	last := rows[len(rows)-1]
	if last.TurnID != "t2" || last.Name != "council/asker" || !strings.Contains(last.Content, "entered in the book") {
		t.Errorf("the last row is %+v", last)
	}
	code, stdout, _ := testenv.Run(t, testenv.Config{Args: []string{"suspension", "resume", id, "--data", `{}`, "--json"}, Env: c.env})
	if code != 4 || !strings.Contains(stdout, `"code":"suspension_closed"`) {
		t.Errorf("a resolved suspension: exit code %d: %s", code, stdout)
	}
	again, err := c.client.Resume(t.Context(), client.Resume{Suspension: id, Turn: "r1", Data: json.RawMessage(`{"vote":"yes"}`)})
	must(t, err)
	if o, err := again.Wait(t.Context()); err != nil || o.TurnID != "r1" || len(c.messages("votes")) != len(rows) {
		t.Errorf("a repeated resume: %+v, %v", o, err)
	}
	c.play("votes", "t3", "I go home")
}

func (r *rig) session(id string) session.Session {
	r.t.Helper()
	s, err := r.client.Session(r.t.Context(), id)
	must(r.t, err)
	return s
}

// TestSuspensionRefusals: each bad answer is a typed error and the suspension
// stays open; a cancel counts the turn.
func TestSuspensionRefusals(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	c.worker()
	c.create("one")
	c.create("two")
	_, id := c.suspend("one", "t1")
	for name, refused := range map[string]struct {
		req  client.Resume
		code string
	}{
		"no JSON":            {client.Resume{Suspension: id, Data: json.RawMessage(`{"vote":`)}, turn.CodeInvalidResumeData},
		"too much":           {client.Resume{Suspension: id, Data: json.RawMessage(`"` + strings.Repeat("x", turn.MaxResumeDataBytes) + `"`)}, turn.CodeInvalidResumeData},
		"nothing":            {client.Resume{Suspension: id}, turn.CodeInvalidResumeData},
		"unknown":            {client.Resume{Suspension: "sus-none", Data: json.RawMessage(`{}`)}, turn.CodeSuspensionNotFound},
		"of another session": {client.Resume{Session: "two", Suspension: id, Data: json.RawMessage(`{}`)}, turn.CodeSuspensionNotFound},
		"a turn id in use":   {client.Resume{Suspension: id, Turn: "t1", Data: json.RawMessage(`{}`)}, turn.CodeTurnIDConflict},
		"a turn id too long": {client.Resume{Suspension: id, Turn: strings.Repeat("x", 129), Data: json.RawMessage(`{}`)}, turn.CodeInvalidTurnInput},
	} {
		if _, err := c.client.Resume(t.Context(), refused.req); turn.CodeOf(err) != refused.code {
			t.Errorf("%s: %v; want %s", name, err, refused.code)
		}
	}
	if s, err := c.store.Suspension(t.Context(), id); err != nil || s.Status != session.SuspensionOpen {
		t.Fatalf("the suspension is %s, %v", s.Status, err)
	}
	code, stdout, _ := testenv.Run(t, testenv.Config{Args: []string{"suspension", "cancel", "sus-none", "--json"}, Env: c.env})
	if code != 3 || !strings.Contains(stdout, `"code":"suspension_not_found"`) {
		t.Errorf("cancelling an unknown one: exit code %d: %s", code, stdout)
	}
	if out := c.covel("suspension", "cancel", id, "--reason", "the player left", "--json"); !strings.Contains(out, `"counted":true`) {
		t.Errorf("cancel: %s", out)
	}
	s, err := c.store.Suspension(t.Context(), id)
	must(t, err)
	if s.Status != session.SuspensionCancelled || s.ClosedReason != "the player left" || c.session("one").CompletedPlayerTurns != 2 {
		t.Errorf("the cancelled suspension is %+v, %d turns", s, c.session("one").CompletedPlayerTurns)
	}
	if _, err := c.client.CancelSuspension(t.Context(), client.CancelSuspension{Suspension: id}); turn.CodeOf(err) != turn.CodeSuspensionClosed {
		t.Errorf("cancelling twice: %v", err)
	}
	_, gone := c.suspend("two", "t1")
	must(t, c.client.DeleteSession(t.Context(), "two"))
	if _, err := c.client.Resume(t.Context(), client.Resume{Suspension: gone, Data: json.RawMessage(`{}`)}); turn.CodeOf(err) != turn.CodeSuspensionNotFound {
		t.Errorf("a deleted session's suspension: %v", err)
	}
}

// TestResumeOnAnotherWorker: the request after a resume is the same byte for
// byte on a worker with other plugins, in a world that has changed since. The
// plugins that the runtime was suspended under are kept with the session; where
// they are lost the resume fails by name and the suspension is open (TE-149).
func TestResumeOnAnotherWorker(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	first := c.worker()
	for _, id := range []string{"calm", "moved", "lost"} {
		c.create(id)
	}
	answer := json.RawMessage(`{"vote":"yes","why":"Because <it> is late & dark."}`)
	_, calm := c.suspend("calm", "t2")
	_, moved := c.suspend("moved", "t2")
	_, lost := c.suspend("lost", "t2")
	c.resume(calm, "r", answer)
	first.Stop()

	c.writePlugin(strings.ReplaceAll(councilAsker, "Ask the player how to vote", "Never ask the player"))
	writeFile(t, filepath.Join(c.plugins, "council"), "NOTES.md", "changed")
	must(t, c.store.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		s, err := tx.Session(ctx, "moved")
		if err != nil {
			return err
		}
		s.Metadata = json.RawMessage(strings.ReplaceAll(string(s.Metadata), "Lanternfall", "Darkfall"))
		s.ActivePlugins = slices.DeleteFunc(s.ActivePlugins, func(id string) bool { return id == "guide" })
		if err := tx.UpdateSession(ctx, s); err != nil {
			return err
		}
		return tx.PutCharacters(ctx, session.Character{SessionID: "moved", ID: "stranger", Name: "A stranger", Type: "npc"})
	}))
	c.exec(`delete from transcripts where session_id = 'lost' and role = 'generation'`)
	c.worker()
	h, err := c.client.Resume(t.Context(), client.Resume{Suspension: lost, Turn: "r", Data: answer})
	must(t, err)
	o, err := h.Wait(t.Context())
	must(t, err)
	if o.Status != turn.StatusFailed || o.Error == nil || o.Error.Code != turn.CodeRuntimeNotFound || !strings.Contains(o.Error.Message, "Runtime not found on resume") {
		t.Errorf("without its plugins a resume ends %s: %+v", o.Status, o.Error)
	}
	if s, err := c.store.Suspension(t.Context(), lost); err != nil || s.Status != session.SuspensionOpen || len(c.requests("lost", "r")) != 0 {
		t.Errorf("the suspension is %s, %v", s.Status, err)
	}
	c.resume(moved, "r", answer)
	want, got := c.requests("calm", "r"), c.requests("moved", "r")
	if len(want) != 1 || len(got) != 1 || want[0] != got[0] {
		t.Errorf("the requests differ: %s", firstDifference(strings.Join(want, "\n"), strings.Join(got, "\n")))
	}
}

// resume answers a suspension and wants the resume committed.
func (r *rig) resume(id, turnID string, data json.RawMessage) turn.Outcome {
	r.t.Helper()
	h, err := r.client.Resume(r.t.Context(), client.Resume{Suspension: id, Turn: turnID, Data: data})
	must(r.t, err)
	return r.wait(h)
}

// requests are the bodies of a turn's model calls.
func (r *rig) requests(sessionID, turnID string) []string {
	r.t.Helper()
	calls, err := trace.ReadCalls(r.t.Context(), r.store, sessionID)
	must(r.t, err)
	var bodies []string
	for _, c := range calls {
		if c.TurnID == turnID {
			bodies = append(bodies, c.RuntimeID+"\n"+string(c.Body()))
		}
	}
	return bodies
}

// TestATamperedSuspension: a payload that is not what the engine wrote is
// refused by name; the suspension stays open and can still be cancelled.
func TestATamperedSuspension(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	c.worker()
	c.create("tampered")
	_, id := c.suspend("tampered", "t2")
	answer := json.RawMessage(`{"vote":"yes"}`)
	untouched, err := c.store.Suspension(t.Context(), id)
	must(t, err)
	for _, tampered := range []struct{ from, to, code string }{
		{`"schemaVersion":1`, `"schemaVersion":99`, "continuation_version_unknown"},
		{`"schemaVersion":1`, `"schemaVersion":1,"more":true`, "continuation_malformed"},
		{`"countPolicy":"complete-player-turn"`, `"countPolicy":"twice"`, "continuation_malformed"},
		{`"transcript":{"run":"`, `"transcript":{"run":"none`, "resume_placeholder_missing"},
		{`"suspendToolCallId":"`, `"suspendToolCallId":"none`, "resume_placeholder_missing"},
	} {
		s := untouched
		s.Payload = json.RawMessage(strings.Replace(string(s.Payload), tampered.from, tampered.to, 1))
		if string(s.Payload) == string(untouched.Payload) {
			t.Fatalf("%s is not in the payload %s", tampered.from, s.Payload)
		}
		must(t, c.store.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.SaveSuspension(ctx, s) }))
		h, err := c.client.Resume(t.Context(), client.Resume{Suspension: id, Data: answer})
		must(t, err)
		o, err := h.Wait(t.Context())
		code := turn.CodeOf(err)
		if err == nil && o.Error != nil {
			code = o.Error.Code
		}
		if code != tampered.code {
			t.Errorf("%s: %v, %+v; want %s", tampered.to, err, o, tampered.code)
		}
		if s, err := c.store.Suspension(t.Context(), id); err != nil || s.Status != session.SuspensionOpen {
			t.Errorf("%s: the suspension is %s, %v", tampered.to, s.Status, err)
		}
	}
	must(t, c.store.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.SaveSuspension(ctx, untouched) }))
	c.resume(id, "r", answer)
	if n := c.session("tampered").CompletedPlayerTurns; n != 2 {
		t.Errorf("%d turns", n)
	}
}

// exec changes the database behind the engine's back.
func (r *rig) exec(statement string) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.database)
	must(r.t, err)
	defer func() { _ = conn.Close(r.t.Context()) }()
	_, err = conn.Exec(r.t.Context(), statement)
	must(r.t, err)
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(s string) string { return s[max(0, min(i, len(s))-80):min(len(s), i+160)] }
	return fmt.Sprintf("at byte %d\n%q\n%q", i, around(a), around(b))
}
