// Package tokens counts how many tokens a text costs a model.
//
// There are two families of estimators. The built-in one, "covel", is a rule
// over runes: one token for each CJK rune and one for every four others. It is
// used for all content budgets and for the prefix report, so that these never
// depend on a model (spec 01 §15.2, spec 02 §2). The other family are the
// tiktoken encodings, served from tables in the binary, without a network.
//
//	est, err := tokens.New("o200k_base")
//	if err != nil {
//		return err // *tokens.UnknownError, names the value and the choices
//	}
//	counts := tokens.NewCache(est, tokens.CacheConfig{})
//	counts.Count("I light the lamp") // counted once, then remembered
//
// Estimators are pure and safe for concurrent use. A tiktoken table is read on
// the first Count, not by New.
package tokens
