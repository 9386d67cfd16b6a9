// Package assembler builds the request of a model call from loaded rows: which
// text goes where, in which order and shape, and what is cut first (spec 01).
//
// It is pure. It has no store, clock, randomness or goroutine; the caller loads
// bounded rows and hands them in, and equal input gives equal bytes. What
// changes every turn stands behind what stays, so that providers' prefix caches
// hit; data is escaped and never interpolated, so that it cannot become an
// instruction.
//
//	out, err := assembler.Build(assembler.Input{
//		Body:    "Be the ferryman.",
//		Texts:   texts, // locale.Load()
//		Turn:    assembler.Turn{SessionID: "demo", PlayerMessage: "I row", Locale: "en-US"},
//		Runtime: assembler.Runtime{ID: "narrator", PluginID: "narrator", Story: true},
//		History: rows, // assembler.FilterHistory, then assembler.Window
//	})
//	if err != nil {
//		return err // *turn.Error: hidden-namespace, store-required, bad-tag, bad-limit
//	}
//	// out.SystemPrompt, out.Messages
//
// The stages of a request, in order: SelfDataReads says which own rows to load,
// FilterHistory and Window cut the log, Build assembles, Finish puts the
// framework head back after hooks, and Budget.Fit fits every exact request into
// the window of the slot it goes to, remembering in a Ledger what it has
// shortened before.
//
// Block functions that bundled plugins share (CharacterSheets, WorldDimensions,
// TrackerSegments, CharacterNotes and others) give prompt segments.
package assembler
