// Package locale decides which language a session's prompts speak, and holds
// every fixed sentence that code writes into them (spec 01 §1.4, §18, §19).
//
// Two languages are instruction languages: English and Simplified Chinese. The
// story itself is written in whatever language the session's locale names.
//
//	texts, err := locale.Load() // once, at start; checks both languages
//	if err != nil {
//		return err
//	}
//	lang := locale.Instruction("zh-CN", "") // "zh"
//	cue := texts.Get(lang, "T24", nil)      // the begin-turn cue
//	name := locale.OutputName("en_GB")      // "British English"
//
// A plugin keeps texts of its own in the same form and loads them with
// LoadCatalogue. Prompt templates are files; Loader finds the file of a locale.
// Nothing here reads the environment: a forced language and another prompt root
// are handed in.
package locale
