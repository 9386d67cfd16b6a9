// Package activities holds the side effects of a turn, one file an activity:
// BeginTurn, PrepareRuntime, CallModel (with the assembly of the context),
// RunTool, RunFunction, FinishRuntime, CommitTurn and FinishTurn.
//
// Every activity may run twice: a worker can die after acting and before its
// answer is recorded. So what was done is stored under a key before the
// activity returns, and a repeat finds it (the journal of the execution, the
// transcript of the run). What crosses Temporal is small; texts stay in the
// store. Provider failures leave an activity as non-retryable errors whose
// type is the code (spec 04 §1.4).
//
//	acts, err := activities.New(activities.Config{Store: st, Plugins: gen, Library: lib, Model: gateway, …})
//	acts.Each(func(name string, fn any) { worker.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) })
package activities
