// Package schedule decides what runs in one execution and in which order
// (spec 03 §3 to §8): triggers and their ledger, setup, levels with hard and
// OR edges, cycles, hazards, targets, the event chain, gates, and what a
// failed or dropped runtime takes with it. All of it is pure: equal input
// gives equal output, whatever the order of the runtimes given.
//
//	sel := schedule.Select(in)             // what is triggered, for PreSchedule hooks
//	in.Kept, in.Keep = true, hooks(sel)
//	plan := schedule.Plan(in)              // stages, levels, skips, hazards
//	for _, stage := range plan.Stages {
//		for _, level := range stage.Levels { // ids of a level run in parallel
//			d := schedule.Gate(rt, facts)    // run, or skip with reason
//			…
//		}
//	}
//	for depth := 1; plan.Chain; depth++ {
//		next := schedule.NextDepth(schedule.ChainInput{Depth: depth, …})
//		if len(next.Stage.Levels) == 0 {
//			break
//		}
//		…
//	}
//	verdict := schedule.Judge(results)     // roll back, or commit with savepoints
//
// A runtime waits for all its blockers. Only when nothing can be placed, those
// that wait for nothing but further providers of a contract that has one
// already are released together. What is left then waits for itself.
package schedule
