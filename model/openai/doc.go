// Package openai speaks the two OpenAI protocols, Chat Completions
// (openai-chat-v1) and Responses (openai-responses-v1), to OpenAI and to the
// many services that follow them (spec 04 §12.1, §12.2).
//
//	adapters := map[string]model.Adapter{
//		model.ProtocolChat:      openai.Chat{},
//		model.ProtocolResponses: openai.Responses{},
//	}
//
// The go-openai library opens the exchange and reads the stream's frames. It is
// given the neutral model id "covel", so that its own checks of model names
// cannot stop a call; layer 1 of the transport puts the body rendered here in
// place of the library's, and the reply is read from the recorded bytes, where
// fields stand that the library does not know.
package openai
