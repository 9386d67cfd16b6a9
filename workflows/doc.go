// Package workflows holds the orchestration of a turn on Temporal: the Turn
// workflow, which is the session's lock, and its Stage children, whose
// runtimes are coroutines (spec 03 §2, §3).
//
// A workflow carries ids, counts and small facts only; every text lives in the
// store. The code is deterministic: it depends on packages turn and agentloop
// and on the SDK, and reaches the world through activities by name.
//
//	w := workflows.New(workflows.Config{})
//	worker.RegisterWorkflowWithOptions(w.Turn, workflow.RegisterOptions{Name: turn.WorkflowTurn})
//	worker.RegisterWorkflowWithOptions(w.Stage, workflow.RegisterOptions{Name: turn.WorkflowStage})
//
// Short store work runs as local activities, which cost almost nothing; model
// calls and calls with effects outside the store are remote activities.
package workflows
