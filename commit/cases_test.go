package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

func TestCommitCases(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*bundle){
		"TE-013": func(b *bundle) {
			t := b.t
			b.enterSetup(t)
			_, rt := b.runtime("init")
			rt.Schedule.Stage = "setup"
			b.plan.CountPolicy = turn.CountNone
			b.plan.Setup = map[string]session.SetupEntry{"init": {State: session.SetupDone, PluginVersion: "1.0.0", Attempts: 1}}
			b.plan.EnterPlaying = true
			out := b.apply(t)
			s := b.session(t)
			if out.Status != commit.Committed || !out.EnteredPlaying || s.Phase != session.PhasePlaying || s.SetupRuntimes["init"].State != session.SetupDone {
				t.Fatalf("outcome %+v, session %+v", out, s)
			}
			if s.CompletedPlayerTurns != 0 || !s.PreGameCompleted {
				t.Fatalf("setup counted a turn: %+v", s)
			}
		},
		"TE-025": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.runtime("rt-a", patch("hp", 1))
			b.runtime("rt-b", badPatch())
			b.apply(t)
			rows, err := b.store.PluginData(t.Context(), "s", commit.PluginTriggers, commit.NamespaceTriggers, "", 100)
			must(t, err)
			var keys []string
			for _, r := range rows {
				keys = append(keys, r.Key)
			}
			slices.Sort(keys)
			if !slices.Equal(keys, []string{"narrator", "rt-a"}) {
				t.Fatalf("the ledger has %v, want narrator and rt-a", keys)
			}
		},
		"TE-041": func(b *bundle) {
			t := b.t
			b.plan.Origin, b.plan.CountPolicy = turn.OriginBackground, turn.CountNone
			b.runtime("job", patch("hp", 1))
			s := b.session(t)
			s.Status = session.StatusPaused
			b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.UpdateSession(ctx, s) })
			out := b.apply(t)
			if out.Status != commit.Failed || out.Code != turn.CodeSessionNotActive || b.state(t, "hp") != "" {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-044": func(b *bundle) {
			t := b.t
			b.runtime("a", patch("hp", 42),
				propose(turn.ProposalEventEmit, commit.EventEmit{Topic: "T"}),
				propose(turn.ProposalPluginData, commit.DataWrite{Namespace: "n", Key: "k", Value: json.RawMessage(`1`)}))
			b.runtime("b", badPatch())
			out := b.apply(t)
			if out.Status != commit.Failed || len(out.FailedProposals) != 1 || out.FailedProposals[0].Error != badPatchText {
				t.Fatalf("outcome %+v", out)
			}
			if b.state(t, "hp") != "" || b.datum(t, "p-a", "n", "k") != "" || len(out.Events) > 0 || len(b.messages(t)) > 0 {
				t.Fatal("something of the failed turn is stored or published")
			}
			if rec, _ := b.record(t); rec.CommitStatus != "failed" {
				t.Fatalf("the record is %q", rec.CommitStatus)
			}
		},
		"TE-045": func(b *bundle) {
			t := b.t
			b.story("rt-a", "A story.")
			b.runtime("rt-b", badPatch())
			b.plan.JournalPlayer = false
			out := b.apply(t)
			rec, statuses := b.record(t)
			if out.Status != commit.Committed || !slices.Equal(isolated(out), []string{"rt-b"}) || len(out.FailedProposals) != 1 {
				t.Fatalf("outcome %+v", out)
			}
			if rows := b.messages(t); len(rows) != 1 || rows[0].Name != "rt-a" || rows[0].Content != "A story." {
				t.Fatalf("rows are %+v, want one of rt-a", rows)
			}
			if rec.CommitStatus != "committed" || statuses["rt-b"] != turn.RuntimeFailed {
				t.Fatalf("record %q with %v", rec.CommitStatus, statuses)
			}
		},
		"TE-046": func(b *bundle) {
			t := b.t
			b.tx(t, func(ctx context.Context, tx store.Tx) error {
				return tx.PutPluginData(ctx, session.PluginDatum{SessionID: "s", PluginID: "p-b", Namespace: "n", Key: "k", Value: json.RawMessage(`"old"`)})
			})
			b.story("a", "   ")
			b.runtime("b", patch("hp", 99), propose(turn.ProposalPluginDataDelete, commit.DataDelete{Namespace: "n", Key: "k"}))
			out := b.apply(t)
			if out.Status != commit.Failed || out.Code != turn.CodeEmptyNarrative || b.state(t, "hp") != "" || b.datum(t, "p-b", "n", "k") != `"old"` {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-047": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.runtime("up", badPatch())
			_, down := b.runtime("down", patch("down", 1))
			down.Schedule.Needs = []plugin.Dependency{{Runtime: "up"}}
			_, late := b.runtime("late", patch("late", 3))
			late.Schedule.After = []plugin.Dependency{{Runtime: "up"}}
			out := b.apply(t)
			if !slices.Equal(isolated(out), []string{"up", "down"}) || out.Isolated[1].Error != "upstream up did not commit" {
				t.Fatalf("outcome %+v", out)
			}
			_, statuses := b.record(t)
			if b.state(t, "down") != "" || b.state(t, "late") != "3" || statuses["up"] != turn.RuntimeFailed ||
				statuses["down"] != turn.RuntimeFailed || statuses["late"] != turn.RuntimeSuccess {
				t.Fatalf("statuses %v, down %q, late %q", statuses, b.state(t, "down"), b.state(t, "late"))
			}
		},
		"TE-048": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			emitter, _ := b.runtime("emitter", badPatch())
			emitter.Effects = &turn.Effects{Events: []turn.Event{{Topic: "T"}}}
			_, opt := b.runtime("opt", patch("opt", 1))
			opt.IO.Inputs = []plugin.Input{{Name: "i", Runtime: "emitter"}}
			_, reader := b.runtime("reader", patch("reader", 1))
			reader.IO.Inputs = []plugin.Input{{Name: "i", Runtime: "emitter", Required: true}}
			followed, follower := b.runtime("follower", patch("follower", 1))
			followed.Stage = schedule.FollowUpStage(1)
			follower.Schedule = plugin.Schedule{Trigger: plugin.Trigger{Type: plugin.TriggerEvent, Topic: "T"}}
			out := b.apply(t)
			if !slices.Equal(isolated(out), []string{"emitter", "reader", "follower"}) {
				t.Fatalf("isolated %v", isolated(out))
			}
			if b.state(t, "opt") != "1" || b.state(t, "reader") != "" || b.state(t, "follower") != "" {
				t.Fatal("the wrong writes are kept")
			}
		},
		"TE-049": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			_, p1 := b.runtime("p1", badPatch())
			_, p2 := b.runtime("p2")
			p1.IO.Output.Contract, p2.IO.Output.Contract = "k@1", "k@1"
			_, c1 := b.runtime("c1", patch("c1", 1))
			c1.Schedule.Needs = []plugin.Dependency{{Contract: "k@1", Cardinality: "one"}}
			_, c2 := b.runtime("c2", patch("c2", 1))
			c2.Schedule.Needs = []plugin.Dependency{{Contract: "k@1", Cardinality: "all"}}
			out := b.apply(t)
			if !slices.Equal(isolated(out), []string{"p1", "c2"}) || b.state(t, "c1") != "1" || b.state(t, "c2") != "" {
				t.Fatalf("isolated %v", isolated(out))
			}
		},
		"TE-050": func(b *bundle) {
			t := b.t
			b.runtime("ctx", badPatch())
			_, story := b.story("narrator", "A story.")
			story.Schedule.Needs = []plugin.Dependency{{Runtime: "ctx"}}
			out := b.apply(t)
			if out.Status != commit.Failed || len(b.messages(t)) != 0 || !strings.Contains(out.Message, badPatchText) {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-051 before": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.runtime("a", patch("hp", 1))
			b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.RequestAbort(ctx, "s", "x") })
			b.wantAborted(t)
		},
		"TE-051 inside": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.runtime("a", patch("hp", 1))
			b.plan.HostWrites = []commit.HostWrite{func(ctx context.Context, tx store.Tx, _ []string) error {
				return tx.RequestAbort(ctx, "s", "x")
			}}
			b.wantAborted(t)
		},
		"TE-052": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.plan.HostWrites = []commit.HostWrite{func(context.Context, store.Tx, []string) error { return errors.New("mirror down") }}
			out := b.apply(t)
			if out.Status != commit.Failed || !strings.Contains(out.Message, "mirror down") || len(b.messages(t)) != 0 {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-053": func(b *bundle) {
			t := b.t
			b.tx(t, func(ctx context.Context, tx store.Tx) error {
				return tx.PutPluginData(ctx, session.PluginDatum{SessionID: "s", PluginID: "p-a", Namespace: "n", Key: "k", Value: json.RawMessage(`1`)})
			})
			b.runtime("a", propose(turn.ProposalPluginDataDelete, commit.DataDelete{Namespace: "n", Key: "k"}))
			b.runtime("b", badPatch())
			b.apply(t)
			if b.datum(t, "p-a", "n", "k") != "1" {
				t.Fatal("the row is gone")
			}
		},
		"TE-054": func(b *bundle) { b.wantOneCommit(b.t) },
		"C2-109": func(b *bundle) { b.wantOneCommit(b.t) },
		"TE-055": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			r, _ := b.runtime("a", patch("hp", 1))
			r.Status = turn.RuntimeFailed
			out := b.apply(t)
			if out.Status != commit.Committed || b.state(t, "hp") != "" || len(b.messages(t)) != 2 {
				t.Fatalf("outcome %+v with %d rows", out, len(b.messages(t)))
			}
		},
		"TE-056": func(b *bundle) {
			t := b.t
			r, _ := b.story("narrator", "")
			r.Status, r.Error = turn.RuntimeFailed, &turn.OutcomeError{Code: turn.CodeMaxSteps, Message: "no steps left"}
			b.plan.Jobs = []commit.Job{{RuntimeID: "d", Payload: json.RawMessage(`{}`)}}
			out := b.apply(t)
			rec, _ := b.record(t)
			outbox, err := b.store.Outbox(t.Context(), "s", "x")
			must(t, err)
			if out.Status != commit.Failed || out.Code != turn.CodeMaxSteps || len(b.messages(t)) != 0 || len(outbox) != 0 || b.session(t).CompletedPlayerTurns != 0 {
				t.Fatalf("outcome %+v", out)
			}
			if rec.PlayerMessage != "run" || rec.CommitStatus != "failed" {
				t.Fatalf("the record is %+v", rec)
			}
			b.next(t, "t2", "x2")
			b.plan.Results = nil
			b.story("narrator", "A story.")
			if out := b.apply(t); out.Status != commit.Committed || b.session(t).CompletedPlayerTurns != 1 {
				t.Fatalf("the second turn ended %+v", out)
			}
		},
		"TE-057": func(b *bundle) {
			t := b.t
			b.plan.Origin, b.plan.JournalPlayer = turn.OriginManual, false
			b.runtime("form", propose(turn.ProposalInteractionRequest, map[string]string{"interactionId": "i1", "type": "form"}))
			b.plan.Targets = []string{"form"}
			out := b.apply(t)
			rows := b.messages(t)
			if len(rows) != 1 || rows[0].Content != "" || string(rows[0].PendingInput) != `[{"interactionId":"i1","type":"form"}]` {
				t.Fatalf("rows are %+v", rows)
			}
			if len(out.Events) != 1 || out.Events[0].Type != commit.EventInteractionRequested {
				t.Fatalf("events are %+v", out.Events)
			}
			if b.datum(t, commit.PluginTriggers, commit.NamespaceTriggers, "form") != "" {
				t.Fatal("a manual target entered the ledger")
			}
		},
		"TE-058": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			r, _ := b.runtime("a")
			r.Effects = &turn.Effects{StatePatches: json.RawMessage(`[null]`)}
			out := b.apply(t)
			if out.Status != commit.Committed || len(out.Isolated) != 1 || out.Isolated[0].Error != "effects.statePatches[0] is not an object" {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-059": func(b *bundle) {
			t := b.t
			b.runtime("a", propose("weather.set", map[string]int{}))
			if out := b.apply(t); out.Status != commit.Failed || out.Message != "unknown proposal type: weather.set" {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-060": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.runtime("rt-b", patch("hp", 1))
			reviewed := 0
			b.plan.Checks.Review = func(ctx context.Context, p turn.Proposal) (json.RawMessage, error) {
				reviewed++
				if err := b.store.WithTx(ctx, func(context.Context, store.Tx) error { return nil }); err != nil {
					t.Errorf("the hook ran inside the transaction: %v", err)
				}
				return nil, &commit.RejectedError{Message: "pre-state-commit hook aborted: cheating"}
			}
			out := b.apply(t)
			if reviewed != 1 || len(out.Isolated) != 1 || out.Isolated[0].Error != "pre-state-commit hook aborted: cheating" || b.state(t, "hp") != "" {
				t.Fatalf("outcome %+v after %d reviews", out, reviewed)
			}
		},
		"TE-061": func(b *bundle) {
			t := b.t
			r, _ := b.runtime("a")
			r.Output = json.RawMessage(`{"events":[{"topic":"T"}]}`)
			if out := b.apply(t); out.Status != commit.Committed || len(out.Events) != 0 {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-062": func(b *bundle) {
			t := b.t
			b.runtime("a", patch("hp", 10), patch("mp", 20))
			out := b.apply(t)
			if len(out.Events) != 2 || !strings.Contains(string(out.Events[0].Payload), `"hp"`) || !strings.Contains(string(out.Events[1].Payload), `"mp"`) {
				t.Fatalf("events are %+v", out.Events)
			}
			for _, e := range out.Events {
				if e.Type != commit.EventStateChanged {
					t.Errorf("event %s", e.Type)
				}
			}
		},
		"TE-110": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			r, _ := b.runtime("asker", patch("hp", 1))
			r.Status = turn.RuntimeSuspended
			b.plan.Suspensions = []session.Suspension{suspension("asker")}
			b.plan.Jobs = []commit.Job{{RuntimeID: "d", Payload: json.RawMessage(`{}`)}}
			out := b.apply(t)
			open, err := b.store.Suspensions(t.Context(), "s")
			must(t, err)
			if out.Status != commit.Committed || len(open) != 1 || !slices.Equal(out.Suspensions, []string{"sus"}) || out.Jobs != 0 {
				t.Fatalf("outcome %+v with %d suspensions", out, len(open))
			}
			if b.session(t).CompletedPlayerTurns != 0 || b.state(t, "hp") != "" {
				t.Fatal("the suspended turn counted or wrote")
			}
		},
		"story behind a suspension": func(b *bundle) {
			t := b.t
			r, _ := b.runtime("asker")
			r.Status = turn.RuntimeSuspended
			b.plan.Suspensions = []session.Suspension{suspension("asker")}
			story, _ := b.story("narrator", "")
			story.Status, story.SkippedBy, story.MissingUpstreams = turn.RuntimeSkipped, "framework:needs", []string{"asker"}
			if out := b.apply(t); out.Status != commit.Committed || len(out.Suspensions) != 1 {
				t.Fatalf("outcome %+v", out)
			}
		},
		"story skipped by the framework": func(b *bundle) {
			t := b.t
			r, _ := b.runtime("ctx", patch("hp", 1))
			r.Status = turn.RuntimeFailed
			story, _ := b.story("narrator", "")
			story.Status, story.SkippedBy, story.MissingUpstreams = turn.RuntimeSkipped, "framework:needs", []string{"ctx"}
			if out := b.apply(t); out.Status != commit.Failed || !strings.Contains(out.Message, "narrator") {
				t.Fatalf("outcome %+v", out)
			}
		},
		"story skipped by its guard": func(b *bundle) {
			t := b.t
			b.runtime("a", patch("hp", 1))
			story, _ := b.story("narrator", "")
			story.Status, story.SkippedBy = turn.RuntimeSkipped, "guard"
			if out := b.apply(t); out.Status != commit.Committed || !out.Counted || b.state(t, "hp") != "1" {
				t.Fatalf("outcome %+v", out)
			}
		},
		"TE-111": func(b *bundle) {
			t := b.t
			r, _ := b.runtime("asker")
			r.Status = turn.RuntimeSuspended
			b.plan.Suspensions = []session.Suspension{suspension("asker")}
			b.runtime("b", badPatch())
			out := b.apply(t)
			open, err := b.store.Suspensions(t.Context(), "s")
			must(t, err)
			if out.Status != commit.Failed || len(open) != 0 || len(out.Suspensions) != 0 {
				t.Fatalf("outcome %+v with %d suspensions", out, len(open))
			}
		},
		"TE-119": func(b *bundle) {
			t := b.t
			b.suspend(t)
			r, _ := b.runtime("asker")
			r.Status, r.Error = turn.RuntimeFailed, &turn.OutcomeError{Code: "resume_placeholder_missing", Message: "no placeholder"}
			out := b.apply(t)
			s, err := b.store.Suspension(t.Context(), "sus")
			must(t, err)
			if out.Status != commit.Failed || out.Code != "resume_placeholder_missing" || s.Status != session.SuspensionOpen {
				t.Fatalf("outcome %+v, suspension %s", out, s.Status)
			}
		},
		"C2-110": func(b *bundle) {
			t := b.t
			b.story("narrator", "A story.")
			b.apply(t)
			b.next(t, "t", "other")
			_, err := commit.Apply(t.Context(), b.store, b.plan)
			if !errors.Is(err, &store.Error{Code: store.CodeTurnAlreadyCommitted}) || !strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), `"other"`) {
				t.Fatalf("the second execution gets %v", err)
			}
		},
		"C2-111": func(b *bundle) {
			t := b.t
			b.plan.CountPolicy = turn.CountNone
			b.story("narrator", "A story.")
			b.apply(t)
			if s := b.session(t); s.TurnCount != 0 || s.CompletedPlayerTurns != 0 {
				t.Fatalf("session %+v", s)
			}
		},
	}
	for id, run := range cases {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			run(setup(t))
		})
	}
}

func suspension(runtimeID string) session.Suspension {
	return session.Suspension{
		ID: "sus", SessionID: "s", TurnID: "t", RuntimeID: runtimeID, PluginID: "p-" + runtimeID, Reason: "wait",
		Payload: json.RawMessage(`{}`), Status: session.SuspensionOpen, CreatedAt: now,
	}
}

// suspend commits a turn with a suspended runtime, claims it and makes the
// plan that of its resume.
func (b *bundle) suspend(t testing.TB) {
	t.Helper()
	b.story("narrator", "A story.")
	r, _ := b.runtime("asker")
	r.Status = turn.RuntimeSuspended
	b.plan.Suspensions = []session.Suspension{suspension("asker")}
	b.apply(t)
	b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.ClaimSuspension(ctx, "sus", "token", now) })
	b.next(t, "t-resume", "x-resume")
	b.plan.Origin, b.plan.ParentTurnID, b.plan.LogicalTurnID = turn.OriginResume, "t", "t"
	b.plan.Resolve = &commit.Claim{SuspensionID: "sus", Token: "token"}
	b.plan.Suspensions, b.plan.Results, b.plan.JournalPlayer, b.plan.PlayerMessage = nil, nil, false, ""
}

func (b *bundle) enterSetup(t testing.TB) {
	t.Helper()
	s := b.session(t)
	s.Phase = session.PhaseSetup
	b.tx(t, func(ctx context.Context, tx store.Tx) error { return tx.UpdateSession(ctx, s) })
}

func (b *bundle) wantAborted(t testing.TB) {
	t.Helper()
	out := b.apply(t)
	if out.Status != commit.Failed || out.Code != turn.CodeTurnAborted || out.AbortReason != commit.AbortReasonPlayer {
		t.Fatalf("outcome %+v", out)
	}
	if b.state(t, "hp") != "" || len(b.messages(t)) != 0 || len(out.Events) != 0 {
		t.Fatal("something of the aborted turn is stored or published")
	}
}

func (b *bundle) wantOneCommit(t testing.TB) {
	t.Helper()
	b.story("narrator", "A story.")
	b.runtime("a", patch("hp", 1), propose(turn.ProposalEventEmit, commit.EventEmit{Topic: "T"}))
	first := b.apply(t)
	b.plan.Results = nil // the repeated call decides nothing anew
	b.next(t, "t", "later")
	b.plan.ExecutionID = "x"
	again := b.apply(t)
	if len(again.Events) != len(first.Events) || again.Events[0].ID != first.Events[0].ID || again.Status != commit.Committed {
		t.Fatalf("the repeated commit gives %+v, first was %+v", again, first)
	}
	if rows := b.messages(t); len(rows) != 3 {
		t.Fatalf("there are %d rows, want 3", len(rows))
	}
	if s := b.session(t); s.TurnCount != 1 || s.CompletedPlayerTurns != 1 {
		t.Fatalf("session %+v", s)
	}
}
