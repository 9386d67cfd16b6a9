// Package compaction condenses old history into summaries. It holds the rules
// alone: when history is due, how large summaries may be, how they are shown to
// a model, what a provider may return, and the default strategy (spec 02 Part
// A). Running an attempt over a store is package commit/compact.
//
//	windows, err := compaction.Resolve(story, fast, settings)
//	used := compaction.Estimate(est, texts, lang, preview, rows, summaries)
//	if compaction.Due(used, windows.Effective, settings.Trigger) {
//		strategy, err := compaction.NewStrategy(compaction.StrategyConfig{Templates: loader.Load})
//		out, err := strategy.Compact(ctx, input, services) // nil: nothing to do
//		err = compaction.Validate(est, input, out)
//	}
//
// Everything here is a pure function of its arguments but for the one model
// call, which comes in as a parameter. Rows are never changed or deleted; only
// their mark is. Errors are *Error with a reason of spec 02 §9.1.
package compaction
