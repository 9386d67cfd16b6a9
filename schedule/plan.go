package schedule

import (
	"slices"

	"github.com/covel-engine/covel/session"
)

// Input is what one execution is scheduled from.
type Input struct {
	// Runtimes are the active ones, in any order.
	Runtimes    []Runtime
	Phase       session.Phase
	LogicalTurn int
	Ledger      map[string]Run
	Setup       SetupMap
	// Targets are the runtimes of a manual run, in the order given.
	Targets []string
	// Kept says that PreSchedule hooks answered; Keep is their list of ids.
	Kept bool
	Keep []string
	// Policy is HazardWarn (also "") or HazardStrict.
	Policy string
	// Recovery marks a manual run with a source turn (spec 03 §13.2).
	Recovery bool
	// Job marks the execution of a detached or background job.
	Job bool
}

// Schedule is what runs, in which order (spec 03 §3).
type Schedule struct {
	// Phase is the effective phase; Flip says that the commit stores it,
	// because nothing is left to set up (spec 03 §3.2).
	Phase  session.Phase
	Flip   bool
	Stages []Stage
	// Detached runtimes of the levels become jobs instead of runs.
	Detached []string
	// Queued targets become background jobs and are in no level.
	Queued []string
	// Skipped are cycle members and what waits for them.
	Skipped      []Skip
	Hazards      []Hazard
	NotTriggered []Missed
	SetupBlocked []SetupBlock
	// UnknownTarget is the first target that is not active.
	UnknownTarget string
	// Chain says that the event chain runs after the stages.
	Chain bool
	// Readers are the scheduled story agents: the steering queue closes when
	// the last of them has settled, before any runtime if there is none. With
	// ReadersInChain it stays open to the end of the event chain.
	Readers        []string
	ReadersInChain bool
}

// Stage is one stage's levels of runtime ids.
type Stage struct {
	Name   string
	Levels [][]string
}

// Missed is a runtime whose conditions did not hold: it has no result at all.
type Missed struct {
	RuntimeID string
	Why       string
}

// Selection is the answer to "what is triggered", before PreSchedule hooks.
type Selection struct {
	Phase         session.Phase
	Flip          bool
	Triggered     []Runtime
	LateSetup     []Runtime
	NotTriggered  []Missed
	SetupBlocked  []SetupBlock
	UnknownTarget string
}

// Select answers which runtimes are triggered (spec 03 §2 steps 8 and 11).
// Triggered is in id order, targets are in the order given.
func Select(in Input) Selection {
	runtimes := slices.Clone(in.Runtimes)
	slices.SortFunc(runtimes, func(a, b Runtime) int { return compareID(a.ID, b.ID) })
	unfinished := unfinishedSetup(runtimes, in.Setup)
	sel := Selection{Phase: in.Phase}
	if in.Phase == session.PhaseSetup && len(unfinished) == 0 {
		sel.Phase, sel.Flip = session.PhasePlaying, true
	}
	if len(in.Targets) > 0 {
		sel.selectTargets(in.Targets, runtimes)
		return sel
	}
	pending := slices.DeleteFunc(unfinished, func(rt Runtime) bool { return !in.Setup.runnable(rt) })
	sel.SetupBlocked = setupCycles(pending)
	pending = slices.DeleteFunc(pending, func(rt Runtime) bool {
		return slices.ContainsFunc(sel.SetupBlocked, func(b SetupBlock) bool { return b.RuntimeID == rt.ID })
	})
	if sel.Phase == session.PhaseSetup {
		sel.Triggered = pending
		return sel
	}
	if !in.Recovery {
		sel.LateSetup = pending
	}
	for _, rt := range runtimes {
		if rt.Stage == "" || rt.Setup() {
			continue
		}
		if why := missedByType(rt.Trigger, in.Ledger[rt.ID], in.LogicalTurn); why != "" {
			sel.NotTriggered = append(sel.NotTriggered, Missed{rt.ID, why})
			continue
		}
		sel.Triggered = append(sel.Triggered, rt)
	}
	return sel
}

func (s *Selection) selectTargets(targets []string, runtimes []Runtime) {
	seen := map[string]bool{}
	for _, id := range targets {
		i := slices.IndexFunc(runtimes, func(rt Runtime) bool { return rt.ID == id })
		switch {
		case i < 0:
			s.Triggered, s.UnknownTarget = nil, id
			return
		case !seen[id]:
			s.Triggered = append(s.Triggered, runtimes[i])
		}
		seen[id] = true
	}
}

// Plan builds the schedule of one execution. Equal input gives equal output.
func Plan(in Input) Schedule {
	sel := Select(in)
	s := Schedule{
		Phase: sel.Phase, Flip: sel.Flip, NotTriggered: sel.NotTriggered,
		SetupBlocked: sel.SetupBlocked, UnknownTarget: sel.UnknownTarget,
	}
	if s.UnknownTarget != "" {
		return s
	}
	triggered := in.kept(sel)
	s.Chain = sel.Phase == session.PhasePlaying && !in.Recovery && !in.Job
	switch {
	case len(in.Targets) > 0:
		s.planTargets(in, triggered)
	default:
		s.plan(in, StageLateSetup, sel.LateSetup)
		for _, name := range []string{StageSetup, StagePreTurn, StageNarrative, StagePostTurn, StageAudit} {
			s.plan(in, name, ofStage(triggered, name))
		}
	}
	s.findReaders(in)
	return s
}

// kept applies the answer of PreSchedule: it may drop runtimes, add none, and
// in the setup phase dropped ones are put back (spec 03 §2 step 12).
func (in Input) kept(sel Selection) []Runtime {
	if !in.Kept || sel.Phase == session.PhaseSetup && len(in.Targets) == 0 {
		return sel.Triggered
	}
	return slices.DeleteFunc(slices.Clone(sel.Triggered), func(rt Runtime) bool { return !slices.Contains(in.Keep, rt.ID) })
}

func ofStage(runtimes []Runtime, stage string) []Runtime {
	var list []Runtime
	for _, rt := range runtimes {
		if rt.Stage == stage {
			list = append(list, rt)
		}
	}
	return list
}

// plan adds one stage with a dependency graph of its own.
func (s *Schedule) plan(in Input, name string, runtimes []Runtime) {
	if len(runtimes) == 0 {
		return
	}
	for _, rt := range runtimes {
		s.planDetached(in, name, rt)
	}
	g := newGraph(runtimes, nil)
	levels, stuck := g.levels()
	s.Skipped = append(s.Skipped, g.skips(stuck, name)...)
	s.addStage(in, name, g, levels)
}

func (s *Schedule) addStage(in Input, name string, g *graph, levels [][]int) {
	stage := Stage{Name: name}
	for _, level := range levels {
		settled, hazards := settle(g.runtimes(level), in.Policy)
		stage.Levels = append(stage.Levels, settled...)
		s.Hazards = append(s.Hazards, hazards...)
	}
	if len(stage.Levels) > 0 {
		s.Stages = append(s.Stages, stage)
	}
}

// planDetached notes a detached runtime, or that it runs in the foreground
// (spec 03 §7.1).
func (s *Schedule) planDetached(in Input, stage string, rt Runtime) {
	switch {
	case !rt.Detached || in.Job || in.Recovery:
	case stage == StageLateSetup:
		s.Hazards = append(s.Hazards, Hazard{Code: HazardDetachedSetupInline, Runtimes: []string{rt.ID}})
	case rt.Stage == StagePostTurn || rt.Stage == StageAudit:
		s.Detached = append(s.Detached, rt.ID)
	default:
		s.Hazards = append(s.Hazards, Hazard{Code: HazardDetachedIneligible, Runtimes: []string{rt.ID}})
	}
}

// planTargets schedules exactly the targets. Edges among them hold whatever
// their stages; beyond that they run in stage order.
func (s *Schedule) planTargets(in Input, targets []Runtime) {
	var run []Runtime
	for _, rt := range targets {
		if rt.Background && rt.Stage == "" && !in.Job && !in.Recovery {
			s.Queued = append(s.Queued, rt.ID)
			continue
		}
		s.planDetached(in, rt.Stage, rt)
		run = append(run, rt)
	}
	g := newGraph(run, nil)
	if !g.inStageOrder() {
		levels, stuck := g.levels()
		s.Skipped = append(s.Skipped, g.skips(stuck, StageManual)...)
		s.addStage(in, StageManual, g, levels)
		return
	}
	_, stuck := g.levels()
	s.Skipped = append(s.Skipped, g.skips(stuck, StageManual)...)
	for _, i := range stuck {
		run = slices.DeleteFunc(run, func(rt Runtime) bool { return rt.ID == g.nodes[i].rt.ID })
	}
	for _, name := range []string{StageSetup, StagePreTurn, StageNarrative, StagePostTurn, StageAudit, ""} {
		if part := ofStage(run, name); len(part) > 0 {
			stage := newGraph(part, nil)
			levels, _ := stage.levels()
			if name == "" {
				name = StageManual
			}
			s.addStage(in, name, stage, levels)
		}
	}
}

// inStageOrder says that no runtime waits for one of a later stage.
func (g *graph) inStageOrder() bool {
	at := func(rt Runtime) int {
		if rt.Stage == "" {
			return rank(StageManual)
		}
		return rank(rt.Stage)
	}
	for _, n := range g.nodes {
		blockers := slices.Clone(n.hard)
		for _, o := range n.or {
			blockers = append(blockers, o.providers...)
		}
		if slices.ContainsFunc(blockers, func(i int) bool { return at(g.nodes[i].rt) > at(n.rt) }) {
			return false
		}
	}
	return true
}

// findReaders says who keeps the steering queue open (spec 03 §11.10).
func (s *Schedule) findReaders(in Input) {
	reader := func(id string) bool {
		return slices.ContainsFunc(in.Runtimes, func(rt Runtime) bool { return rt.ID == id && rt.Agent && rt.Story })
	}
	for _, stage := range s.Stages {
		for _, level := range stage.Levels {
			for _, id := range level {
				if reader(id) && !slices.Contains(s.Detached, id) {
					s.Readers = append(s.Readers, id)
				}
			}
		}
	}
	s.ReadersInChain = s.Chain && slices.ContainsFunc(in.Runtimes, func(rt Runtime) bool {
		return rt.Agent && rt.Story && rt.Trigger.Type == TriggerEvent
	})
}
