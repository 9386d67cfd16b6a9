// Package gemini speaks google-generative-ai-v1 (spec 04 §12.4).
//
//	adapters := map[string]model.Adapter{model.ProtocolGemini: &gemini.Adapter{}}
//
// The genai library opens the exchange and reads the stream's frames; bodies
// are rendered here and replies read from their raw JSON, since the library
// drops empty texts and unknown fields and makes floats of big integers. Layer
// 1 of the transport puts the body in place, as for the other protocols: the
// library's own hook would encode 600 KB a second time, and in another order.
package gemini
