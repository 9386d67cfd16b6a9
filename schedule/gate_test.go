package schedule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

func ok(id string, opts ...func(*Result)) Result {
	r := Result{ID: id, Status: turn.RuntimeSuccess}
	for _, o := range opts {
		o(&r)
	}
	return r
}

func failed(id string) Result { return Result{ID: id, Status: turn.RuntimeFailed} }

func emits(topic string, data string) func(*Result) {
	return func(r *Result) { r.Events = append(r.Events, turn.Event{Topic: topic, Data: json.RawMessage(data)}) }
}

func at(depth int, topic string) func(*Result) {
	return func(r *Result) { r.Depth, r.Topic = depth, topic }
}

func TestGate(t *testing.T) {
	t.Parallel()
	setup := rt("p/setup", in(StageSetup))
	dims := func(s turn.RuntimeStatus) Facts {
		return Facts{Results: []Result{{ID: "world-init/dimension-context", Contract: ContractDimensions, Status: s}}}
	}
	cases := []struct {
		id    string
		rt    Runtime
		facts Facts
		want  Decision
	}{
		{"TE-027", rt("y", needs("a/x")), Facts{Results: []Result{failed("a/x")}},
			Decision{Reason: "upstream not success: a/x", SkippedBy: "framework:needs", MissingUpstreams: []string{"a/x"}}},
		{"TE-028", rt("p/post"), Facts{Runtimes: []Runtime{setup}},
			Decision{Reason: "setup-incomplete", SkippedBy: "framework:setupGate"}},
		{"a finished setup opens the gate", rt("p/post"),
			Facts{Runtimes: []Runtime{setup}, Setup: SetupMap{"p/setup": {State: session.SetupDone, PluginVersion: "1.0.0"}}}, Decision{Run: true}},
		{"TE-029 plain skip", rt("z", needs("g")), Facts{Results: []Result{{ID: "g", Status: turn.RuntimeSkipped}}},
			Decision{Reason: "upstream not success: g", SkippedBy: "framework:needs", MissingUpstreams: []string{"g"}}},
		{"TE-029 initialized", rt("z", needs("g")), Facts{Results: []Result{{ID: "g", Status: turn.RuntimeSkipped, Initialized: true}}}, Decision{Run: true}},
		{"TE-034", rt("c", after("p")), Facts{Results: []Result{failed("p")}}, Decision{Run: true}},
		{"TE-035", rt("c", needs("p")), Facts{Runtimes: []Runtime{rt("p", follows("other"))}},
			Decision{Reason: "upstream not success: p", SkippedBy: "framework:needs", MissingUpstreams: []string{"p"}}},
		{"a seed satisfies", rt("c", needs("p")), Facts{Results: []Result{ok("p", func(r *Result) { r.Seed = true })}}, Decision{Run: true}},
		{"a contract without provider", rt("c", needsOne("k@1")), Facts{},
			Decision{Reason: "upstream not success: k@1", SkippedBy: "framework:needs", MissingUpstreams: []string{"k@1"}}},
		{"one of two providers", rt("c", needsOne("k@1")), Facts{Results: []Result{
			{ID: "p1", Contract: "k@1", Status: turn.RuntimeFailed}, {ID: "p2", Contract: "k@1", Status: turn.RuntimeSuccess}}}, Decision{Run: true}},
		{"all providers, one failed", rt("c", needsAll("k@1")), Facts{Results: []Result{
			{ID: "p1", Contract: "k@1", Status: turn.RuntimeFailed}, {ID: "p2", Contract: "k@1", Status: turn.RuntimeSuccess}}},
			Decision{Reason: "upstream not success: p1", SkippedBy: "framework:needs", MissingUpstreams: []string{"p1"}}},
		{"a done setup runtime satisfies", rt("c", needs("p/setup")),
			Facts{Runtimes: []Runtime{setup}, Setup: SetupMap{"p/setup": {State: session.SetupDone, PluginVersion: "1.0.0"}}}, Decision{Run: true}},
		{"failed dimensions hold a story back", rt("n", story), dims(turn.RuntimeFailed),
			Decision{Reason: "world dimensions not available", SkippedBy: "framework:worldDimensions"}},
		{"dimensions that did not run do not", rt("n", story), dims(turn.RuntimeSkipped), Decision{Run: true}},
		{"dimensions of an earlier turn do not", rt("n", story), Facts{Results: []Result{{ID: "d", Contract: ContractDimensions, Status: turn.RuntimeFailed, Seed: true}}}, Decision{Run: true}},
		{"only stories wait for dimensions", rt("o"), dims(turn.RuntimeFailed), Decision{Run: true}},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Gate(c.rt, c.facts)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("TE-031", func(t *testing.T) {
		t.Parallel()
		none := func(string) bool { return false }
		want := Decision{Reason: "missing input: weather", SkippedBy: "framework:inputs"}
		if diff := cmp.Diff(want, GateInputs(rt("x", reads("weather", "w", true)), none)); diff != "" {
			t.Error(diff)
		}
		if d := GateInputs(rt("x", reads("weather", "w", false)), none); !d.Run {
			t.Errorf("an optional input gave %+v", d)
		}
	})
}

func TestChain(t *testing.T) {
	t.Parallel()
	provider := rt("provider", follows("t"), provides("k@1"))
	consumer := rt("consumer", follows("t"), needs("provider"))
	t.Run("TE-032", func(t *testing.T) {
		t.Parallel()
		d := NextDepth(ChainInput{Runtimes: []Runtime{consumer, provider}, Depth: 1, Results: []Result{ok("emitter", emits("t", `{"seed":1}`))}})
		if got := shape([]Stage{d.Stage}); got != "follow-ups-1: provider | consumer" {
			t.Errorf("levels %s", got)
		}
		if string(d.Events["consumer"].Data) != `{"seed":1}` {
			t.Errorf("events %v", d.Events)
		}
	})
	t.Run("TE-033", func(t *testing.T) {
		t.Parallel()
		if d := Gate(consumer, Facts{Results: []Result{failed("provider")}}); d.Run {
			t.Errorf("decision %+v", d)
		}
	})
	t.Run("TE-035", func(t *testing.T) {
		t.Parallel()
		other := rt("provider", follows("nobody"))
		d := NextDepth(ChainInput{Runtimes: []Runtime{consumer, other}, Depth: 1, Results: []Result{ok("emitter", emits("t", "1"))}})
		if got := shape([]Stage{d.Stage}); got != "follow-ups-1: consumer" {
			t.Errorf("levels %s", got)
		}
	})
	t.Run("TE-036", func(t *testing.T) {
		t.Parallel()
		var runtimes []Runtime
		for k := 1; k <= 10; k++ {
			runtimes = append(runtimes, rt("r"+string(rune('a'+k)), follows("t"+string(rune('a'+k)))))
		}
		results := []Result{ok("stage", emits("tb", "1"))}
		ran := 0
		for depth := 1; depth <= 12; depth++ {
			d := NextDepth(ChainInput{Runtimes: runtimes, Depth: depth, Results: results})
			for _, id := range slices.Concat(d.Stage.Levels...) {
				ran++
				results = append(results, ok(id, at(depth, ""), emits("t"+string(rune(id[1]+1)), "1")))
			}
		}
		if ran != 8 {
			t.Errorf("%d followers ran, want 8", ran)
		}
	})
	t.Run("TE-037", func(t *testing.T) {
		t.Parallel()
		d := NextDepth(ChainInput{Runtimes: []Runtime{rt("f", follows("t"))}, Depth: 1, Results: []Result{ok("a", emits("t", "1")), ok("b", emits("t", "2"))}})
		if string(d.Events["f"].Data) != "1" || len(d.Hazards) != 1 {
			t.Fatalf("events %v, hazards %v", d.Events, d.Hazards)
		}
		if h := d.Hazards[0]; h.Code != "event-payload-dropped" || h.Resource != "t" || !slices.Equal(h.Runtimes, []string{"a", "b"}) || string(h.Lost.Data) != "2" {
			t.Errorf("hazard %+v", h)
		}
	})
	t.Run("TE-038", func(t *testing.T) {
		t.Parallel()
		d := NextDepth(ChainInput{Runtimes: []Runtime{rt("f2", follows("t")), rt("f1", follows("t"))}, Depth: 1, Results: []Result{ok("a", emits("t", "1"))}})
		if got := shape([]Stage{d.Stage}); got != "follow-ups-1: f1 f2" {
			t.Errorf("levels %s", got)
		}
	})
	t.Run("TE-122", func(t *testing.T) {
		t.Parallel()
		d := NextDepth(ChainInput{Runtimes: []Runtime{rt("f", follows("t"))}, Depth: 1, Results: []Result{ok("a", emits("t", "1"), func(r *Result) { r.Seed = true })}})
		if len(d.Stage.Levels) != 0 {
			t.Errorf("a seed's event was replayed: %+v", d)
		}
	})
	t.Run("only the depth before emits, and no runtime runs twice", func(t *testing.T) {
		t.Parallel()
		d := NextDepth(ChainInput{Runtimes: []Runtime{rt("f", follows("t")), rt("g", follows("u")), rt("late", follows("early"))}, Depth: 2,
			Results: []Result{ok("a", emits("t", "1"), emits("early", "1")), ok("f", at(1, "t"), emits("u", "2"), emits("t", "3"))}})
		if got := shape([]Stage{d.Stage}); got != "follow-ups-2: g" {
			t.Errorf("levels %s", got)
		}
	})
	t.Run("a background follower is deferred once", func(t *testing.T) {
		t.Parallel()
		i := ChainInput{Runtimes: []Runtime{rt("f", follows("t"), func(r *Runtime) { r.Background = true })}, Depth: 1, Results: []Result{ok("a", emits("t", "1"))}}
		d := NextDepth(i)
		if len(d.Deferred) != 1 || d.Deferred[0].RuntimeID != "f" || d.Deferred[0].Event.Topic != "t" || len(d.Stage.Levels) != 0 {
			t.Errorf("depth %+v", d)
		}
		i.Deferred = []string{"f"}
		if d := NextDepth(i); len(d.Deferred) != 0 {
			t.Errorf("deferred again: %+v", d)
		}
	})
	t.Run("an earlier depth releases OR needs only", func(t *testing.T) {
		t.Parallel()
		// p2 follows u as c does and waits for c: c may go on because p1 of the
		// depth before succeeded, and may not if it failed.
		c := rt("c", follows("u"), needsOne("k@1"))
		p2 := rt("p2", follows("u"), provides("k@1"), needs("c"))
		for status, want := range map[turn.RuntimeStatus]string{turn.RuntimeSuccess: "follow-ups-2: c | p2", turn.RuntimeFailed: "follow-ups-2: "} {
			d := NextDepth(ChainInput{Runtimes: []Runtime{c, p2}, Depth: 2, Results: []Result{
				ok("e", at(1, "t"), emits("u", "1")), {ID: "p1", Contract: "k@1", Status: status, Depth: 1}}})
			if got := shape([]Stage{d.Stage}); got != want {
				t.Errorf("p1 %s: levels %q, want %q", status, got, want)
			}
		}
	})
	t.Run("conditions hold for followers too", func(t *testing.T) {
		t.Parallel()
		f := rt("f", follows("t"), func(r *Runtime) { r.Trigger.CooldownTurns = 3 })
		d := NextDepth(ChainInput{Runtimes: []Runtime{f}, Depth: 1, LogicalTurn: 4, Ledger: map[string]Run{"f": {Count: 1, LastTurn: 2}}, Results: []Result{ok("a", emits("t", "1"))}})
		if len(d.Stage.Levels) != 0 {
			t.Errorf("depth %+v", d)
		}
	})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	tale := func(r *Result) { r.Story = true }
	skipped := func(by string) Result {
		return Result{ID: "n", Story: true, Status: turn.RuntimeSkipped, SkippedBy: by}
	}
	cases := []struct {
		id      string
		results []Result
		want    Verdict
	}{
		{"TE-046", []Result{ok("n", tale, func(r *Result) { r.EmptyStory = true }), ok("s")},
			Verdict{Rollback: true, RuntimeID: "n", Code: "empty_narrative", Reason: "story runtime n gave no text"}},
		{"TE-055", []Result{ok("n", tale), failed("s")}, Verdict{Story: true}},
		{"TE-056", []Result{{ID: "n", Story: true, Status: turn.RuntimeFailed}}, Verdict{Rollback: true, RuntimeID: "n", Reason: "story runtime n failed"}},
		{"a gated story", []Result{skipped("framework:needs")}, Verdict{Rollback: true, RuntimeID: "n", Reason: "story runtime n was skipped by framework:needs"}},
		{"a gated story beside another", []Result{skipped("framework:needs"), ok("n2", tale)}, Verdict{Story: true}},
		{"a guarded story", []Result{skipped("guard")}, Verdict{}},
		{"a story that a hook skipped", []Result{skipped("hook:PreRuntime")}, Verdict{}},
		{"a seeded story", []Result{{ID: "n", Story: true, Status: turn.RuntimeFailed, Seed: true}}, Verdict{}},
		{"a suspended story", []Result{{ID: "n", Story: true, Status: turn.RuntimeSuspended}}, Verdict{Suspended: true}},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Judge(c.results)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDropDependents(t *testing.T) {
	t.Parallel()
	drops := func(c Cascade) string {
		var out []string
		for _, d := range c.Dropped {
			out = append(out, d.RuntimeID+" ("+d.Reason+")")
		}
		return strings.Join(out, ", ")
	}
	t.Run("TE-047", func(t *testing.T) {
		t.Parallel()
		c := DropDependents([]Runtime{rt("up"), rt("down", needs("up")), rt("late", after("up"))},
			[]Result{ok("up"), ok("down"), ok("late")}, nil, []string{"up"})
		if got := drops(c); got != "down (upstream up did not commit)" {
			t.Errorf("dropped %s", got)
		}
	})
	t.Run("TE-048", func(t *testing.T) {
		t.Parallel()
		c := DropDependents(
			[]Runtime{rt("emitter"), rt("reader", reads("x", "emitter", true)), rt("opt", reads("x", "emitter", false)), rt("follower", follows("t"))},
			[]Result{ok("emitter", emits("t", "1")), ok("opt"), ok("reader"), ok("follower", at(1, "t"))}, nil, []string{"emitter"})
		if got := drops(c); got != "reader (upstream emitter did not commit), follower (upstream emitter did not commit)" {
			t.Errorf("dropped %s", got)
		}
	})
	t.Run("TE-049", func(t *testing.T) {
		t.Parallel()
		k := func(r *Result) { r.Contract = "k@1" }
		c := DropDependents([]Runtime{rt("p1", provides("k@1")), rt("p2", provides("k@1")), rt("c1", needsOne("k@1")), rt("c2", needsAll("k@1"))},
			[]Result{ok("p1", k), ok("p2", k), ok("c1"), ok("c2")}, nil, []string{"p1"})
		if got := drops(c); got != "c2 (upstream p1 did not commit)" {
			t.Errorf("dropped %s", got)
		}
	})
	t.Run("TE-050", func(t *testing.T) {
		t.Parallel()
		c := DropDependents([]Runtime{rt("ctx"), rt("n", story, needs("ctx"))}, []Result{ok("ctx"), ok("n")}, nil, []string{"ctx"})
		if c.Rollback != "n" {
			t.Errorf("cascade %+v", c)
		}
	})
	t.Run("a follower survives while another emitter committed", func(t *testing.T) {
		t.Parallel()
		c := DropDependents([]Runtime{rt("a"), rt("b"), rt("f", follows("t"))},
			[]Result{ok("a", emits("t", "1")), ok("b", emits("t", "2")), ok("f", at(1, "t"))}, nil, []string{"a"})
		if len(c.Dropped) != 0 {
			t.Errorf("dropped %s", drops(c))
		}
	})
	t.Run("a skipped dependent goes only with its writes", func(t *testing.T) {
		t.Parallel()
		c := DropDependents([]Runtime{rt("up"), rt("a", needs("up")), rt("b", needs("up"))},
			[]Result{ok("up"), {ID: "a", Status: turn.RuntimeSkipped}, {ID: "b", Status: turn.RuntimeSkipped, Writes: true}}, nil, []string{"up"})
		if got := drops(c); got != "b (upstream up did not commit)" {
			t.Errorf("dropped %s", got)
		}
	})
}

func TestCounted(t *testing.T) {
	t.Parallel()
	t.Run("TE-025", func(t *testing.T) {
		t.Parallel()
		// The commit hands over what is left: a dropped runtime is failed by then.
		results := []Result{ok("rt-a"), failed("rt-b"), ok("target"), ok("seed", func(r *Result) { r.Seed = true }),
			{ID: "s", Status: turn.RuntimeSkipped}, {ID: "p", Status: turn.RuntimeSuspended}}
		if got := Counted(results, []string{"target"}); !slices.Equal(got, []string{"rt-a"}) {
			t.Errorf("counted %v", got)
		}
	})
}

func TestStoredOrder(t *testing.T) {
	t.Parallel()
	r := func(stage string, level int, id string) *turn.RuntimeResult {
		return &turn.RuntimeResult{Stage: stage, Level: level, RuntimeID: id}
	}
	want := []*turn.RuntimeResult{
		r(StageLateSetup, 0, "z"), r(StagePreTurn, 0, "b"), r(StagePreTurn, 1, "a"), r(StageNarrative, 0, "n"), r(StageAudit, 0, "x"),
		r(FollowUpStage(2), 0, "c"), r(FollowUpStage(10), 0, "B"), r(FollowUpStage(10), 0, "a"),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	SortStored(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultOf(t *testing.T) {
	t.Parallel()
	got := ResultOf(rt("g", provides("k@1")), &turn.RuntimeResult{RuntimeID: "g", PluginID: "g", Status: turn.RuntimeSkipped, SkippedBy: "guard", CanonicalValue: []byte(`{"initialized":true}`)})
	want := Result{ID: "g", PluginID: "g", Contract: "k@1", Status: turn.RuntimeSkipped, SkippedBy: "guard", Initialized: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = ResultOf(rt("n", story), &turn.RuntimeResult{RuntimeID: "n", Status: turn.RuntimeSuccess, Output: []byte(`{"narrativeOutput":"  "}`), Stage: FollowUpStage(3),
		Effects: &turn.Effects{Events: []turn.Event{{Topic: "t"}}}, Proposals: make([]turn.Proposal, 1)})
	if !got.EmptyStory || got.Depth != 3 || len(got.Events) != 1 || !got.Writes {
		t.Errorf("result %+v", got)
	}
}
