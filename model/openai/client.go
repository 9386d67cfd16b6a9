package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// neutralModel is the id that the library is given.
const neutralModel = "covel"

// newClient gives the library over the request's transport chain.
func newClient(req *model.Request) *sdk.Client {
	config := sdk.DefaultConfig(req.Key)
	config.BaseURL = req.Target.BaseURL
	config.HTTPClient = req.HTTP
	return sdk.NewClientWithConfig(config)
}

// auth is the protocol's own header; no key, no header.
func auth(req *model.Request) http.Header {
	if req.Key == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + req.Key}}
}

// emptyEvent is what the library is handed for each event.
var emptyEvent = []byte("{}")

// writeFields writes the free fields and the cache key behind the body's own.
func writeFields(w *wire.Writer, req *model.Request) {
	for _, key := range req.Fields.Keys() {
		w.Key(key).Raw(req.Fields.Get(key))
	}
	if req.CacheKey != "" {
		w.Key("prompt_cache_key").String(req.CacheKey)
	}
}

// emptySchema is what a tool without parameters gets.
var emptySchema = json.RawMessage(`{}`)

// toolText is a tool result as one string; images read [image].
func toolText(m *model.Message) string {
	if len(m.Parts) == 0 {
		return m.Content
	}
	var text strings.Builder
	for _, p := range m.Parts {
		if p.Type == "image" {
			text.WriteString(model.ImagePlaceholder)
			continue
		}
		text.WriteString(p.Text)
	}
	return text.String()
}

// outgoing gives the messages with late system messages in the mode of the
// target; the caller's messages stay as they are.
func outgoing(req *model.Request, messages []model.Message) []model.Message {
	leading := model.Leading(messages)
	out := messages
	for i := leading; i < len(messages); i++ {
		if !messages[i].IsSystem() || req.LateSystem != model.LateEnvelope {
			continue
		}
		if &out[0] == &messages[0] {
			out = append([]model.Message(nil), messages...)
		}
		out[i] = model.Envelope(messages[i])
	}
	return out
}
