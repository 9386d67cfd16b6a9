// Package gemini speaks google-generative-ai-v1 (spec 04 §12.4).
//
//	adapters := map[string]model.Adapter{model.ProtocolGemini: gemini.Adapter{}}
//
// The genai library opens the exchange and reads the stream's frames; bodies
// are rendered here and replies read from their raw JSON, since the library
// drops empty texts and unknown fields and makes floats of big integers.
package gemini
