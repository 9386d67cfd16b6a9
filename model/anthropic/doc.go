// Package anthropic speaks Anthropic Messages (anthropic-messages-v1), with
// explicit cache marks, thinking blocks and late system messages (spec 04
// §12.3, §13.2, §9.5).
//
//	adapters := map[string]model.Adapter{model.ProtocolAnthropic: anthropic.Adapter{}}
//
// A request is laid out first as blocks (layout.go), then marked (marks.go),
// then written (request.go). The anthropic-sdk-go library opens the exchange
// and reads the stream's frames, with its retries off.
package anthropic
