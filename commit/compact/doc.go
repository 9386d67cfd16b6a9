// Package compact runs one compaction attempt over a store: threshold,
// provider, validation, the atomic save, and what is told of it (spec 02 §4,
// §8, §9). The rules themselves are package compaction.
//
//	run, err := compact.NewRunner(compact.Config{Store: st, Provider: strategy.Compact, Texts: texts})
//	result, err := run.Attempt(ctx, compact.Request{Scope: scope, Preview: preview, History: projected, …})
//	if err != nil {
//		return err // cancelled, session_lost, or the outcome could not be stored
//	}
//	if result.Outcome == compact.Compacted {
//		// read raw rows and summaries again, assemble anew
//	}
//
// An execution has one attempt: its outcome is stored, and a repeated call
// returns it without calling the provider. No failure of compaction is an
// error here; the turn goes on with unchanged history.
package compact
