// Package continuation freezes a paused runtime and thaws it, on any worker
// and by any later version of the program that knows the schema (spec 03 §12).
//
//	raw, err := continuation.Freeze(continuation.Payload{…})  // saved by the commit
//	…
//	p, err := continuation.Thaw(raw)                          // refuses an unknown version, naming it
//	err = continuation.ValidateData(suspension.ResumeSchema, data)
//	messages, err := p.Answer(messages, data)                 // the placeholder becomes the answer
//
// A payload holds refs and small records; texts stay in the transcript. Golden
// files under testdata hold one payload of each version ever released and are
// never rewritten.
package continuation
