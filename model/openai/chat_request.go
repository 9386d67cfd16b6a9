package openai

import (
	"encoding/json"
	"slices"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// renderChat writes the body of a Chat request.
func renderChat(req *model.Request) []byte {
	messages := outgoing(req, withInstruction(req))
	w := wire.NewWriter(req.BodySize())
	w.Open('{')
	w.Key("model").String(req.Target.Model)
	w.Key("messages").Open('[')
	for i := range messages {
		writeChatMessage(w, req, &messages[i])
	}
	w.Close(']')
	if req.Stream {
		w.Key("stream").Bool(true)
		w.Key("stream_options").Open('{').Key("include_usage").Bool(true).Close('}')
	}
	if len(req.Tools) > 0 {
		w.Key("tools").Open('[')
		for _, t := range req.Tools {
			writeChatTool(w, t)
		}
		w.Close(']')
	}
	writeChatChoice(w, req.Choice)
	if len(req.Schema) > 0 {
		w.Key("response_format").Raw(json.RawMessage(`{"type":"json_object"}`))
	}
	if req.MaxOutputTokens > 0 {
		key := "max_tokens"
		if req.Model.Has(model.TraitMaxCompletionTokens) {
			key = "max_completion_tokens"
		}
		w.Key(key).Int(req.MaxOutputTokens)
	}
	writeFields(w, req)
	return w.Close('}').Bytes()
}

// withInstruction puts the schema instruction right after the last system
// message.
func withInstruction(req *model.Request) []model.Message {
	if !req.InsertSchema {
		return req.Messages
	}
	at := 0
	for i := range req.Messages {
		if req.Messages[i].IsSystem() {
			at = i + 1
		}
	}
	return slices.Insert(slices.Clone(req.Messages), at, model.Message{Role: model.RoleSystem, Content: model.SchemaInstruction(req.Schema)})
}

func writeChatMessage(w *wire.Writer, req *model.Request, m *model.Message) {
	w.Open('{')
	w.Key("role").String(string(m.Role))
	switch {
	case m.Role == model.RoleTool:
		w.Key("content").Text(toolText(m), model.Sentinel)
	case len(m.Parts) > 0:
		writeChatParts(w, m.Parts)
	default: // a null content beside calls goes out as ""
		w.Key("content").Text(m.Content, model.Sentinel)
	}
	if m.Name != "" {
		w.Key("name").String(m.Name)
	}
	if field := reasoningField(req, m); field != "" {
		w.Key(field).String(m.ReasoningContent)
	}
	if len(m.ToolCalls) > 0 {
		w.Key("tool_calls").Open('[')
		for _, c := range m.ToolCalls {
			w.Open('{')
			w.Key("id").String(c.ID)
			w.Key("type").String("function")
			w.Key("function").Open('{').Key("name").String(c.Name).Key("arguments").String(c.Arguments).Close('}')
			w.Close('}')
		}
		w.Close(']')
	}
	if m.ToolCallID != "" {
		w.Key("tool_call_id").String(m.ToolCallID)
	}
	w.Close('}')
}

func writeChatParts(w *wire.Writer, parts []model.Part) {
	w.Key("content").Open('[')
	for _, p := range parts {
		if p.Type == "image" {
			image, _ := model.ParseImage(p) // checked by the gateway
			w.Open('{').Key("type").String("image_url")
			w.Key("image_url").Open('{').Key("url").String(image.DataURL()).Close('}').Close('}')
			continue
		}
		w.Open('{').Key("type").String("text").Key("text").Text(p.Text, model.Sentinel).Close('}')
	}
	w.Close(']')
}

// Reasoning fields of Chat messages, as a continuation names them.
const (
	fieldReasoning        = "reasoning"
	fieldReasoningContent = "reasoning_content"
	fieldThink            = "think"
)

// reasoningField is the field in which an earlier reply's reasoning goes out,
// "" for none: the one that it came in at this very target, never think tags.
func reasoningField(req *model.Request, m *model.Message) string {
	if m.ReasoningContent == "" || m.Role != model.RoleAssistant {
		return ""
	}
	var item struct {
		Field string `json:"field"`
	}
	c := m.ProviderContinuation
	if c != nil && c.Protocol == model.ProtocolChat && len(c.Items) > 0 {
		_ = json.Unmarshal(c.Items[0], &item) // another shape names no field
	}
	switch {
	case item.Field == fieldThink:
		return ""
	case item.Field == fieldReasoning && req.SameTarget(c):
		return fieldReasoning
	}
	return fieldReasoningContent
}

func writeChatTool(w *wire.Writer, t model.Tool) {
	w.Open('{').Key("type").String("function").Key("function").Open('{')
	w.Key("name").String(t.Name)
	if t.Description != "" {
		w.Key("description").String(t.Description)
	}
	w.Key("parameters").Raw(parameters(t))
	w.Close('}').Close('}')
}

func parameters(t model.Tool) json.RawMessage {
	if len(t.Parameters) == 0 {
		return emptySchema
	}
	return t.Parameters
}

func writeChatChoice(w *wire.Writer, c *model.Choice) {
	if c == nil {
		return
	}
	w.Key("tool_choice")
	switch {
	case c.Raw != nil:
		w.Raw(c.Raw)
	case c.Mode == model.ChoiceNamed:
		w.Open('{').Key("type").String("function").Key("function").Open('{').Key("name").String(c.Name).Close('}').Close('}')
	case c.Mode == model.ChoiceRequired, c.Mode == model.ChoiceNone:
		w.String(c.Mode)
	default:
		w.String(model.ChoiceAuto)
	}
}
