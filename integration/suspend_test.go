package integration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
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
