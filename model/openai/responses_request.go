package openai

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// renderResponses writes the body of a Responses request.
func renderResponses(req *model.Request, include bool) []byte {
	w := wire.NewWriter(req.BodySize())
	w.Open('{')
	w.Key("model").String(req.Target.Model)
	w.Key("store").Bool(stored(req))
	if list := includes(req, include); len(list) > 0 {
		w.Key("include").Open('[')
		for _, value := range list {
			w.Raw(value)
		}
		w.Close(']')
	}
	writeInput(w, req)
	if req.Stream {
		w.Key("stream").Bool(true)
	}
	if len(req.Tools) > 0 {
		w.Key("tools").Open('[')
		for _, t := range req.Tools {
			w.Open('{').Key("type").String("function").Key("name").String(t.Name)
			if t.Description != "" {
				w.Key("description").String(t.Description)
			}
			w.Key("parameters").Raw(parameters(t)).Key("strict").Bool(false).Close('}')
		}
		w.Close(']')
	}
	writeResponsesChoice(w, req.Choice)
	if len(req.Schema) > 0 {
		w.Key("text").Open('{').Key("format").Open('{').Key("type").String("json_schema")
		w.Key("name").String(schemaName(req.Schema)).Key("schema").Raw(req.Schema).Close('}').Close('}')
	}
	if req.MaxOutputTokens > 0 {
		w.Key("max_output_tokens").Int(req.MaxOutputTokens)
	}
	for _, key := range req.Fields.Keys() {
		if key != "store" && key != "include" {
			w.Key(key).Raw(req.Fields.Get(key))
		}
	}
	if req.CacheKey != "" {
		w.Key("prompt_cache_key").String(req.CacheKey)
	}
	return w.Close('}').Bytes()
}

// includes lists the caller's include values and the one for encrypted
// reasoning.
func includes(req *model.Request, encrypted bool) []json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal(req.Fields.Get("include"), &list) // absent: none
	own := json.RawMessage(`"` + encryptedContent + `"`)
	has := slices.ContainsFunc(list, func(v json.RawMessage) bool { return bytes.Equal(v, own) })
	if encrypted && !has {
		return append(list, own)
	}
	return list
}

var outsideName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// schemaName names a schema: its title, else its $id.
func schemaName(schema json.RawMessage) string {
	var s struct {
		Title string `json:"title"`
		ID    string `json:"$id"`
	}
	_ = json.Unmarshal(schema, &s) // a schema without both has no name
	name := s.Title
	if name == "" {
		name = s.ID
	}
	if name == "" {
		name = "structured_output"
	}
	name = outsideName.ReplaceAllString(name, "_")
	return name[:min(len(name), 64)]
}

func writeResponsesChoice(w *wire.Writer, c *model.Choice) {
	if c == nil {
		return
	}
	w.Key("tool_choice")
	switch {
	case c.Raw != nil:
		w.Raw(c.Raw)
	case c.Mode == model.ChoiceNamed:
		w.Open('{').Key("type").String("function").Key("name").String(c.Name).Close('}')
	case c.Mode == model.ChoiceRequired, c.Mode == model.ChoiceNone:
		w.String(c.Mode)
	default:
		w.String(model.ChoiceAuto)
	}
}

// breakpoint is the mark on a content part (spec 04 §13.3).
var breakpoint = json.RawMessage(`{"mode":"explicit"}`)

// writeInput writes the input items.
func writeInput(w *wire.Writer, req *model.Request) {
	messages := outgoing(req, req.Messages)
	marks := placeBreakpoints(req, messages)
	w.Key("input").Open('[')
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == model.RoleTool:
			w.Open('{').Key("type").String("function_call_output").Key("call_id").String(m.ToolCallID)
			w.Key("output").Text(toolText(m), model.Sentinel).Close('}')
		case m.Role == model.RoleAssistant:
			writeAssistantItems(w, req, m)
		case marks == nil:
			writeInputMessage(w, m)
		default:
			writeMarkedMessage(w, m, marks[i])
		}
	}
	w.Close(']')
	if marks != nil {
		req.Record.CacheMarks = len(marks)
	}
}

func writeInputMessage(w *wire.Writer, m *model.Message) {
	w.Open('{').Key("role").String(string(m.Role)).Key("content")
	if len(m.Parts) == 0 {
		w.Text(m.Content, model.Sentinel).Close('}')
		return
	}
	w.Open('[')
	for _, p := range m.Parts {
		writeInputPart(w, p, false)
	}
	w.Close(']').Close('}')
}

func writeInputPart(w *wire.Writer, p model.Part, marked bool) {
	w.Open('{')
	if p.Type == "image" {
		image, _ := model.ParseImage(p) // checked by the gateway
		w.Key("type").String("input_image").Key("image_url").String(image.DataURL())
	} else {
		w.Key("type").String("input_text").Key("text").Text(p.Text, model.Sentinel)
	}
	if marked {
		w.Key("prompt_cache_breakpoint").Raw(breakpoint)
	}
	w.Close('}')
}

// Places of a breakpoint in a message.
type place int

const (
	unmarked   place = iota
	atEnd            // on the last part
	atSentinel       // at the last sentinel; what stands behind is a part of its own
)

// writeMarkedMessage writes a message as part array, as all are under
// openai-breakpoints.
func writeMarkedMessage(w *wire.Writer, m *model.Message, at place) {
	parts := m.Parts
	if len(parts) == 0 {
		parts = []model.Part{{Type: "text", Text: m.Content}}
	}
	marked := -1
	switch at {
	case atEnd:
		marked = len(parts) - 1
	case atSentinel:
		parts, marked = splitAtSentinel(parts)
	}
	w.Open('{').Key("role").String(string(m.Role)).Key("content").Open('[')
	for i, p := range parts {
		writeInputPart(w, p, i == marked)
	}
	w.Close(']').Close('}')
}

// splitAtSentinel cuts the part that holds the last sentinel there, and says
// which part ends at it.
func splitAtSentinel(parts []model.Part) ([]model.Part, int) {
	for i := len(parts) - 1; i >= 0; i-- {
		cut := strings.LastIndex(parts[i].Text, model.Sentinel)
		if cut < 0 {
			continue
		}
		head, tail := parts[i], parts[i]
		head.Text, tail.Text = parts[i].Text[:cut], parts[i].Text[cut+len(model.Sentinel):]
		split := append(slices.Clone(parts[:i]), head)
		if strings.TrimSpace(tail.Text) != "" {
			split = append(split, tail)
		}
		return append(split, parts[i+1:]...), i
	}
	return parts, len(parts) - 1
}

// placeBreakpoints chooses the marked messages, nil for another strategy.
func placeBreakpoints(req *model.Request, messages []model.Message) map[int]place {
	if req.Target.CacheStrategy != model.CacheOpenAIBreakpoints {
		return nil
	}
	marks := map[int]place{}
	leading := model.Leading(req.Messages)
	for i := leading - 1; i >= 0; i-- {
		if strings.Contains(req.Messages[i].Text(), model.Sentinel) {
			marks[i] = atSentinel
			break
		}
	}
	if len(marks) == 0 && leading > 0 {
		marks[leading-1] = atEnd
	}
	left := req.CacheHistoryMarks
	for i := len(req.History) - 1; i >= 0 && left > 0; i-- {
		if req.History[i] && req.Messages[i].Role == model.RoleUser {
			marks[i] = atEnd
			left--
		}
	}
	for i := len(messages) - 1; i >= leading; i-- {
		if messages[i].Role == model.RoleUser {
			marks[i] = atEnd
			break
		}
	}
	return marks
}

// writeAssistantItems writes an earlier reply: its native items at this very
// target, else a message and its calls.
func writeAssistantItems(w *wire.Writer, req *model.Request, m *model.Message) {
	if req.SameTarget(m.ProviderContinuation) {
		for _, item := range replayed(m.ProviderContinuation.Items, stored(req)) {
			w.Raw(item)
		}
		return
	}
	if text := m.Text(); text != "" || len(m.ToolCalls) == 0 {
		w.Open('{').Key("role").String(string(model.RoleAssistant)).Key("content").Text(text, model.Sentinel).Close('}')
	}
	for _, c := range m.ToolCalls {
		w.Open('{').Key("type").String("function_call").Key("call_id").String(c.ID)
		w.Key("name").String(c.Name).Key("arguments").String(c.Arguments).Close('}')
	}
}

// replayed gives the items to send again. What the provider did not store it
// must be able to read: reasoning without encrypted content is left out, and
// then nothing may point to stored items.
func replayed(items []json.RawMessage, stored bool) []json.RawMessage {
	readable := func(item json.RawMessage) bool {
		var i struct {
			Type      string `json:"type"`
			Encrypted string `json:"encrypted_content"`
		}
		return json.Unmarshal(item, &i) == nil && (i.Type != "reasoning" || i.Encrypted != "")
	}
	if stored || !slices.ContainsFunc(items, func(i json.RawMessage) bool { return !readable(i) }) {
		return items
	}
	var out []json.RawMessage
	for _, item := range items {
		if readable(item) {
			out = append(out, wire.WithoutMember(item, "id"))
		}
	}
	return out
}
