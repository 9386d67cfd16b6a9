package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// rt makes a post-turn runtime of the plugin before the slash; opts change it.
func rt(id string, opts ...func(*Runtime)) Runtime {
	pluginID, _, _ := strings.Cut(id, "/")
	r := Runtime{ID: id, PluginID: pluginID, PluginVersion: "1.0.0", Stage: StagePostTurn, Trigger: Trigger{Type: TriggerAuto}}
	for _, o := range opts {
		o(&r)
	}
	return r
}

func in(stage string) func(*Runtime) { return func(r *Runtime) { r.Stage = stage } }
func needs(id string) func(*Runtime) {
	return func(r *Runtime) { r.Needs = append(r.Needs, Dependency{Runtime: id}) }
}
func needsOne(contract string) func(*Runtime) {
	return func(r *Runtime) { r.Needs = append(r.Needs, Dependency{Contract: contract}) }
}
func needsAll(contract string) func(*Runtime) {
	return func(r *Runtime) { r.Needs = append(r.Needs, Dependency{Contract: contract, All: true}) }
}
func needsSession(id string) func(*Runtime) {
	return func(r *Runtime) { r.Needs = append(r.Needs, Dependency{Runtime: id, Session: true}) }
}
func after(id string) func(*Runtime) {
	return func(r *Runtime) { r.After = append(r.After, Dependency{Runtime: id}) }
}
func provides(contract string) func(*Runtime) { return func(r *Runtime) { r.Contract = contract } }
func reads(name, id string, required bool) func(*Runtime) {
	return func(r *Runtime) { r.Inputs = append(r.Inputs, Binding{Name: name, Runtime: id, Required: required}) }
}
func follows(topic string) func(*Runtime) {
	return func(r *Runtime) { r.Stage, r.Trigger = "", Trigger{Type: TriggerEvent, Topic: topic} }
}
func writes(resources ...string) func(*Runtime) {
	return func(r *Runtime) { r.Effects.Writes = resources }
}
func story(r *Runtime)    { r.Story, r.Agent, r.Stage = true, true, StageNarrative }
func detached(r *Runtime) { r.Detached = true }

func playing(runtimes ...Runtime) Input {
	return Input{Runtimes: runtimes, Phase: session.PhasePlaying, LogicalTurn: 4}
}

// shape writes stages as "post-turn: a b | c".
func shape(stages []Stage) string {
	var out []string
	for _, s := range stages {
		levels := make([]string, 0, len(s.Levels))
		for _, l := range s.Levels {
			levels = append(levels, strings.Join(l, " "))
		}
		out = append(out, s.Name+": "+strings.Join(levels, " | "))
	}
	return strings.Join(out, "; ")
}

func wantShape(t *testing.T, s Schedule, want string) {
	t.Helper()
	if got := shape(s.Stages); got != want {
		t.Errorf("stages %q, want %q", got, want)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	t.Run("TE-009", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("a"))
		i.Targets = []string{"b/none", "a/none"}
		if s := Plan(i); s.UnknownTarget != "b/none" || len(s.Stages) != 0 {
			t.Errorf("schedule %+v", s)
		}
	})
	t.Run("TE-010", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("s", in(StageSetup)), rt("n", story))
		i.Phase, i.LogicalTurn = session.PhaseSetup, 1
		s := Plan(i)
		wantShape(t, s, "setup: s")
		if s.Phase != session.PhaseSetup || s.Chain || len(s.Readers) != 0 {
			t.Errorf("schedule %+v", s)
		}
		// What the commit then asks before it flips the phase.
		done := SetupMap{"s": SetupMap{}.Attempt(i.Runtimes[0], true)}
		if SetupFinished(i.Runtimes, nil) || !SetupFinished(i.Runtimes, done) {
			t.Error("the end of setup is seen wrongly")
		}
	})
	t.Run("TE-012", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("a", in(StageSetup), needsSession("b")), rt("b", in(StageSetup), needsSession("a")), rt("n", story))
		i.Phase = session.PhaseSetup
		s := Plan(i)
		want := []SetupBlock{{"a", "setup-session-cycle: a → b → a"}, {"b", "setup-session-cycle: a → b → a"}}
		if diff := cmp.Diff(want, s.SetupBlocked); diff != "" || len(s.Stages) != 0 || s.Phase != session.PhaseSetup {
			t.Errorf("blocked %s, stages %v, phase %s", diff, s.Stages, s.Phase)
		}
	})
	t.Run("TE-014", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("q/setup", in(StageSetup)), rt("q/post"), rt("pre", in(StagePreTurn))))
		wantShape(t, s, "late-setup: q/setup; pre-turn: pre; post-turn: q/post")
	})
	t.Run("TE-015", func(t *testing.T) {
		t.Parallel()
		x, y := rt("x", in(StageSetup)), rt("y", in(StageSetup))
		x.PluginVersion, y.PluginVersion = "1.1.0", "1.1.0"
		i := Input{Runtimes: []Runtime{x, y}, Phase: session.PhaseSetup, LogicalTurn: 1, Setup: SetupMap{
			"x": {State: session.SetupDone, PluginVersion: "1.0.0", Attempts: 3},
			"y": {State: session.SetupBlocked, PluginVersion: "1.0.0"},
		}}
		wantShape(t, Plan(i), "setup: x")
		if e := i.Setup.Attempt(x, false); e.Attempts != 1 {
			t.Errorf("attempts %d, want a fresh count", e.Attempts)
		}
	})
	t.Run("TE-016", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("a", after("b")), rt("b", after("a")), rt("blocked", needs("a")), rt("independent")))
		wantShape(t, s, "post-turn: independent")
		var want []Skip
		for _, id := range []string{"a", "b", "blocked"} {
			want = append(want, Skip{id, StagePostTurn, "dependency-cycle", "framework:dependencyCycle", []string{"a", "b", "a"}})
		}
		if diff := cmp.Diff(want, s.Skipped); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("TE-017", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("narrator", story), rt("p2", in(StagePreTurn)), rt("p1", in(StagePreTurn))))
		wantShape(t, s, "pre-turn: p1 p2; narrative: narrator")
	})
	t.Run("TE-018", func(t *testing.T) {
		t.Parallel()
		wantShape(t, Plan(playing(rt("b"), rt("a"))), "post-turn: a b")
	})
	t.Run("TE-019", func(t *testing.T) {
		t.Parallel()
		wantShape(t, Plan(playing(rt("consumer", needsOne("k@1")), rt("p1", provides("k@1")), rt("p2", provides("k@1")))), "post-turn: p1 p2 | consumer")
	})
	t.Run("TE-020", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("a", writes("state:party")), rt("b", writes("state:party")), rt("c"))
		s := Plan(i)
		wantShape(t, s, "post-turn: a b c")
		if diff := cmp.Diff([]Hazard{{Code: "effects-conflict", Runtimes: []string{"a", "b"}, Resource: "state:party"}}, s.Hazards); diff != "" {
			t.Error(diff)
		}
		i.Policy = HazardStrict
		s = Plan(i)
		wantShape(t, s, "post-turn: a c | b")
		if len(s.Hazards) != 0 {
			t.Errorf("hazards %v", s.Hazards)
		}
	})
	t.Run("TE-021", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("self", after("self")), rt("x", needs("self"))))
		for _, k := range s.Skipped {
			if !slices.Equal(k.CyclePath, []string{"self", "self"}) {
				t.Errorf("%s: cycle %v", k.RuntimeID, k.CyclePath)
			}
		}
		if len(s.Skipped) != 2 || len(s.Stages) != 0 {
			t.Errorf("schedule %+v", s)
		}
	})
	t.Run("TE-022", func(t *testing.T) {
		t.Parallel()
		ran := turnsRun(rt("x", func(r *Runtime) { r.Trigger = Trigger{Type: TriggerScheduled, Interval: 3} }), nil)
		if ran != "3 6 9" {
			t.Errorf("ran in %s", ran)
		}
	})
	t.Run("TE-023", func(t *testing.T) {
		t.Parallel()
		x := rt("x", func(r *Runtime) { r.Trigger.CooldownTurns = 2 })
		for n, want := range map[int]string{6: "", 7: "post-turn: x"} {
			i := playing(x)
			i.LogicalTurn, i.Ledger = n, map[string]Run{"x": {Count: 1, LastTurn: 5}}
			wantShape(t, Plan(i), want)
		}
	})
	t.Run("TE-024", func(t *testing.T) {
		t.Parallel()
		x := rt("x", func(r *Runtime) { r.Trigger.MaxCount = 1 })
		if ran := turnsRun(x, func(n int) turn.RuntimeStatus {
			if n == 1 {
				return turn.RuntimeFailed
			}
			return turn.RuntimeSuccess
		}); ran != "1 2" {
			t.Errorf("ran in %s", ran)
		}
	})
	t.Run("TE-039", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("narrator", story), rt("d", detached), rt("s")))
		wantShape(t, s, "narrative: narrator; post-turn: d s")
		if !slices.Equal(s.Detached, []string{"d"}) || len(s.Hazards) != 0 {
			t.Errorf("detached %v, hazards %v", s.Detached, s.Hazards)
		}
	})
	t.Run("TE-040", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("d", detached, in(StagePreTurn)), rt("late", detached, in(StageSetup))))
		wantShape(t, s, "late-setup: late; pre-turn: d")
		want := []Hazard{{Code: "detached-setup-runtime-foreground", Runtimes: []string{"late"}}, {Code: "detached-runtime-ineligible", Runtimes: []string{"d"}}}
		if diff := cmp.Diff(want, s.Hazards); diff != "" || len(s.Detached) != 0 {
			t.Errorf("%s detached %v", diff, s.Detached)
		}
	})
	t.Run("TE-108", func(t *testing.T) {
		t.Parallel()
		runtimes := []Runtime{rt("narrator", story), rt("ledger", func(r *Runtime) { r.Story = true })}
		for targets, want := range map[string]string{"": "narrator", "ledger": "", "narrator": "narrator"} {
			i := playing(runtimes...)
			if targets != "" {
				i.Targets, i.Recovery = []string{targets}, true
			}
			if s := Plan(i); strings.Join(s.Readers, " ") != want || s.ReadersInChain {
				t.Errorf("targets %q: readers %v, in chain %v", targets, s.Readers, s.ReadersInChain)
			}
		}
	})
	t.Run("TE-120", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("narrator", story), rt("observer", needs("narrator")), rt("q", in(StageSetup)), rt("f", follows("t")))
		i.Targets, i.Recovery = []string{"observer"}, true
		s := Plan(i)
		wantShape(t, s, "post-turn: observer")
		if s.Chain {
			t.Error("scoped recovery has an event chain")
		}
	})
	t.Run("TE-130", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("narrator", story), rt("observer"))
		i.Kept, i.Keep = true, []string{"ghost", "observer"}
		wantShape(t, Plan(i), "post-turn: observer")
		i.Keep = nil
		wantShape(t, Plan(i), "")
		i = Input{Runtimes: []Runtime{rt("s", in(StageSetup))}, Phase: session.PhaseSetup, Kept: true}
		wantShape(t, Plan(i), "setup: s")
	})
	t.Run("a setup phase without anything to set up is played", func(t *testing.T) {
		t.Parallel()
		i := Input{Runtimes: []Runtime{rt("n", story), rt("s", in(StageSetup))}, Phase: session.PhaseSetup, LogicalTurn: 1,
			Setup: SetupMap{"s": {State: session.SetupDone, PluginVersion: "1.0.0"}}}
		if s := Plan(i); !s.Flip || s.Phase != session.PhasePlaying || shape(s.Stages) != "narrative: n" {
			t.Errorf("schedule %+v", s)
		}
	})
	t.Run("a blocked setup runtime keeps the setup phase", func(t *testing.T) {
		t.Parallel()
		i := Input{Runtimes: []Runtime{rt("n", story), rt("s", in(StageSetup))}, Phase: session.PhaseSetup, LogicalTurn: 1,
			Setup: SetupMap{"s": {State: session.SetupBlocked, PluginVersion: "1.0.0"}}}
		if s := Plan(i); s.Flip || s.Phase != session.PhaseSetup || len(s.Stages) != 0 {
			t.Errorf("schedule %+v", s)
		}
	})
	t.Run("OR consumers go on when only further providers block", func(t *testing.T) {
		t.Parallel()
		// p2 waits for the consumer, so the consumer cannot wait for p2.
		s := Plan(playing(rt("c", needsOne("k@1")), rt("p1", provides("k@1")), rt("p2", provides("k@1"), needs("c"))))
		wantShape(t, s, "post-turn: p1 | c | p2")
	})
	t.Run("cycle of three in the direction of waiting", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(rt("c", needs("a")), rt("a", needs("b")), rt("b", needs("c")), rt("d", needs("c"))))
		for _, k := range s.Skipped {
			if !slices.Equal(k.CyclePath, []string{"a", "b", "c", "a"}) {
				t.Errorf("%s: %v", k.RuntimeID, k.CyclePath)
			}
		}
	})
	t.Run("targets keep their edges and the order of stages", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("pre", in(StagePreTurn)), rt("narrator", story), rt("o", needs("p")), rt("p"), rt("m", func(r *Runtime) { r.Stage, r.Trigger.Type = "", TriggerManual }))
		i.Targets = []string{"o", "m", "p", "narrator", "o"}
		wantShape(t, Plan(i), "narrative: narrator; post-turn: p | o; manual: m")
		i = playing(rt("pre", in(StagePreTurn), needs("o")), rt("o"))
		i.Targets = []string{"pre", "o"}
		wantShape(t, Plan(i), "manual: o | pre")
	})
	t.Run("background targets are queued, except in their own job", func(t *testing.T) {
		t.Parallel()
		i := playing(rt("b", func(r *Runtime) { r.Stage, r.Trigger.Type, r.Background = "", TriggerManual, true }))
		i.Targets = []string{"b"}
		if s := Plan(i); !slices.Equal(s.Queued, []string{"b"}) || len(s.Stages) != 0 {
			t.Errorf("schedule %+v", s)
		}
		i.Job = true
		wantShape(t, Plan(i), "manual: b")
	})
	t.Run("wildcards, owners and parallel-safe runtimes in hazards", func(t *testing.T) {
		t.Parallel()
		s := Plan(playing(
			rt("a", writes("state:*", "plugin-data:self:log", "narrative:x")),
			rt("b", func(r *Runtime) { r.Effects.Reads = []string{"state:party", "plugin-data:self:log", "narrative:x"} }),
			rt("c", writes("state:party"), func(r *Runtime) { r.Effects.ParallelSafe = true }),
			rt("d", writes("characters:*")), rt("e", writes("characters:*")),
			rt("f", func(r *Runtime) { r.Effects.Reads = []string{"lorebook:x"} }), rt("g", writes("lorebook:x"))))
		want := []Hazard{
			{Code: HazardEffectsConflict, Runtimes: []string{"a", "b"}, Resource: "state:party"},
			{Code: HazardEffectsConflict, Runtimes: []string{"d", "e"}, Resource: "characters:*"},
			{Code: HazardEffectsConflict, Runtimes: []string{"f", "g"}, Resource: "lorebook:x"},
		}
		if diff := cmp.Diff(want, s.Hazards); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("conditions are checked in order and named", func(t *testing.T) {
		t.Parallel()
		x := rt("x", func(r *Runtime) {
			r.Trigger = Trigger{Type: TriggerScheduled, Interval: 2, StartTurn: 9, MaxCount: 1, CooldownTurns: 5}
		})
		i := playing(x)
		i.LogicalTurn, i.Ledger = 5, map[string]Run{"x": {Count: 1, LastTurn: 4}}
		for _, want := range []string{"startTurn 9", "maxTriggerCount 1", "cooldownTurns 5", "interval 2"} {
			s := Plan(i)
			if len(s.NotTriggered) != 1 || !strings.HasPrefix(s.NotTriggered[0].Why, want) {
				t.Fatalf("not triggered %v, want %s", s.NotTriggered, want)
			}
			switch tr := &i.Runtimes[0].Trigger; {
			case tr.StartTurn > 0:
				tr.StartTurn = 0
			case tr.MaxCount > 0:
				tr.MaxCount = 0
			default:
				tr.CooldownTurns = 0
			}
		}
	})
}

// turnsRun plays turns 1 to 9 and lists those the runtime ran in.
func turnsRun(x Runtime, status func(n int) turn.RuntimeStatus) string {
	var ran []string
	ledger := map[string]Run{}
	for n := 1; n <= 9; n++ {
		i := playing(x)
		i.LogicalTurn, i.Ledger = n, ledger
		if len(Plan(i).Stages) == 0 {
			continue
		}
		ran = append(ran, fmt.Sprint(n))
		s := turn.RuntimeSuccess
		if status != nil {
			s = status(n)
		}
		for _, id := range Counted([]Result{{ID: x.ID, Status: s}}, nil) {
			ledger[id] = Run{Count: ledger[id].Count + 1, LastTurn: n}
		}
	}
	return strings.Join(ran, " ")
}

func TestSetupEntries(t *testing.T) {
	t.Parallel()
	t.Run("TE-011", func(t *testing.T) {
		t.Parallel()
		s := rt("s", in(StageSetup), func(r *Runtime) { r.Trigger.MaxCount = 2 })
		m := SetupMap{}
		var ran []int
		for n := 1; n <= 3; n++ {
			i := Input{Runtimes: []Runtime{s}, Phase: session.PhaseSetup, LogicalTurn: 1, Setup: m}
			if len(Plan(i).Stages) > 0 {
				ran = append(ran, n)
				m["s"] = m.Attempt(s, false)
			}
		}
		want := session.SetupEntry{State: session.SetupBlocked, PluginVersion: "1.0.0", Attempts: 2, Reason: "attempts-exhausted"}
		if !slices.Equal(ran, []int{1, 2}) || m["s"] != want {
			t.Errorf("ran in %v, entry %+v", ran, m["s"])
		}
	})
	t.Run("TE-013", func(t *testing.T) {
		t.Parallel()
		r := &turn.RuntimeResult{Status: turn.RuntimeSuccess, Output: []byte(`{"preGameDone":true}`)}
		if e := (SetupMap{}).Attempt(rt("s", in(StageSetup)), SetupCompleted(r)); e.State != session.SetupDone {
			t.Errorf("entry %+v", e)
		}
	})
	t.Run("TE-147", func(t *testing.T) {
		t.Parallel()
		byTool := &turn.RuntimeResult{Status: turn.RuntimeSuccess, Completion: "done"}
		byDone := &turn.RuntimeResult{Status: turn.RuntimeSuccess, Output: []byte(`{}`)}
		guarded := &turn.RuntimeResult{Status: turn.RuntimeSkipped, SkippedBy: "guard"}
		failed := &turn.RuntimeResult{Status: turn.RuntimeFailed, Completion: "done"}
		if !SetupCompleted(byTool) || SetupCompleted(byDone) || !SetupCompleted(guarded) || SetupCompleted(failed) {
			t.Error("completion is read wrongly")
		}
		if e := (SetupMap{}).Attempt(rt("s", in(StageSetup)), false); e.State != session.SetupPending || e.Attempts != 1 {
			t.Errorf("entry %+v", e)
		}
	})
}
