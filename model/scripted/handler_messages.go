package scripted

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/covel-engine/covel/model"
)

// messagesFace is anthropic-messages-v1.
type messagesFace struct{}

// messagesBlock is a content block of a request.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

func (messagesFace) read(_ *http.Request, body []byte) (*Prompt, bool, error) {
	var in struct {
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    model.Role      `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	p := &Prompt{Choice: model.Choice{
		Mode: map[string]string{"any": model.ChoiceRequired, "tool": model.ChoiceNamed, "none": model.ChoiceNone}[in.ToolChoice.Type], Name: in.ToolChoice.Name,
	}}
	if text := looseContent(in.System); text != "" {
		p.Messages = append(p.Messages, model.Message{Role: model.RoleSystem, Content: text})
	}
	for _, m := range in.Messages {
		var blocks []messagesBlock
		if json.Unmarshal(m.Content, &blocks) != nil {
			blocks = []messagesBlock{{Type: "text", Text: looseContent(m.Content)}}
		}
		p.Messages = append(p.Messages, messagesOf(m.Role, blocks)...)
	}
	for _, t := range in.Tools {
		p.Tools = append(p.Tools, model.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
	}
	return p, in.Stream, nil
}

// messagesOf makes inner messages of one wire message.
func messagesOf(role model.Role, blocks []messagesBlock) []model.Message {
	var results []model.Message
	said := model.Message{Role: role}
	has := false
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			results = append(results, model.Message{Role: model.RoleTool, ToolCallID: b.ToolUseID, Content: looseContent(b.Content)})
		case "tool_use":
			said.ToolCalls = append(said.ToolCalls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
			has = true
		case "text":
			said.Content += b.Text
			has = true
		}
	}
	if has {
		return append(results, said)
	}
	return results
}

// stopReason is a finish reason in this protocol's words.
func stopReason(finish string) string {
	switch model.FinishReason(finish) {
	case model.FinishStop:
		return "end_turn"
	case model.FinishToolCalls:
		return "tool_use"
	case model.FinishLength:
		return "max_tokens"
	case model.FinishContentFilter:
		return "refusal"
	}
	return finish
}

// messagesUsage counts the input without its cached parts, as the protocol has it.
func messagesUsage(u model.Usage) object {
	out := object{"output_tokens": u.OutputTokens}
	input := u.InputTokens
	if u.CachedInputTokens != nil {
		out["cache_read_input_tokens"] = *u.CachedInputTokens
		input -= *u.CachedInputTokens
	}
	if u.CacheWriteInputTokens != nil {
		out["cache_creation_input_tokens"] = *u.CacheWriteInputTokens
		input -= *u.CacheWriteInputTokens
	}
	out["input_tokens"] = input
	return out
}

func (messagesFace) whole(r *Reply) any {
	content := []object{}
	if r.Reasoning != "" {
		content = append(content, object{"type": "thinking", "thinking": r.Reasoning, "signature": "c2NyaXB0ZWQ="})
	}
	if r.Text != "" {
		content = append(content, object{"type": "text", "text": r.Text})
	}
	for _, c := range r.ToolCalls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": argumentsJSON(c.Arguments)})
	}
	return object{"type": "message", "role": "assistant", "content": content, "stop_reason": stopReason(r.Finish), "usage": messagesUsage(r.Usage)}
}

func (messagesFace) events(r *Reply) []any {
	usage := messagesUsage(r.Usage)
	out := []any{object{"type": "message_start", "message": object{"role": "assistant", "content": []object{}, "usage": usage}}}
	index := 0
	write := func(start object, deltas ...object) {
		out = append(out, object{"type": "content_block_start", "index": index, "content_block": start})
		for _, d := range deltas {
			out = append(out, object{"type": "content_block_delta", "index": index, "delta": d})
		}
		out = append(out, object{"type": "content_block_stop", "index": index})
		index++
	}
	cut := func(text, kind, member string) []object {
		var deltas []object
		for _, piece := range pieces(text, r.ChunkRunes) {
			deltas = append(deltas, object{"type": kind, member: piece})
		}
		return deltas
	}
	if r.Reasoning != "" {
		deltas := append(cut(r.Reasoning, "thinking_delta", "thinking"), object{"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})
		write(object{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if r.Text != "" {
		write(object{"type": "text", "text": ""}, cut(r.Text, "text_delta", "text")...)
	}
	for _, c := range r.ToolCalls {
		write(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, cut(string(argumentsJSON(c.Arguments)), "input_json_delta", "partial_json")...)
	}
	if r.Truncated {
		return out
	}
	return append(out, object{"type": "message_delta", "delta": object{"stop_reason": stopReason(r.Finish)}, "usage": usage}, object{"type": "message_stop"})
}

// geminiFace is google-generative-ai-v1.
type geminiFace struct{}

// geminiContent is a content of a request.
type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text         string `json:"text"`
		FunctionCall *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (geminiFace) read(r *http.Request, body []byte) (*Prompt, bool, error) {
	var in struct {
		Contents []geminiContent `json:"contents"`
		System   geminiContent   `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		ToolConfig struct {
			Calling struct {
				Mode    string   `json:"mode"`
				Allowed []string `json:"allowedFunctionNames"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		Config struct {
			Schema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	p := &Prompt{Schema: in.Config.Schema}
	for _, part := range in.System.Parts {
		p.Messages = append(p.Messages, model.Message{Role: model.RoleSystem, Content: part.Text})
	}
	for _, c := range in.Contents {
		p.Messages = append(p.Messages, geminiMessages(c)...)
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			p.Tools = append(p.Tools, model.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
		}
	}
	switch calling := in.ToolConfig.Calling; {
	case calling.Mode == "ANY" && len(calling.Allowed) > 0:
		p.Choice = model.Choice{Mode: model.ChoiceNamed, Name: calling.Allowed[0]}
	case calling.Mode == "ANY":
		p.Choice = model.Choice{Mode: model.ChoiceRequired}
	case calling.Mode == "NONE":
		p.Choice = model.Choice{Mode: model.ChoiceNone}
	}
	return p, strings.HasSuffix(r.URL.Path, ":streamGenerateContent"), nil
}

// geminiMessages makes inner messages of one content. A content without calls
// keeps its parts as messages of their own, so that the cue can be told from
// what stands before it.
func geminiMessages(c geminiContent) []model.Message {
	role := model.RoleUser
	if c.Role == "model" {
		role = model.RoleAssistant
	}
	var out []model.Message
	for _, part := range c.Parts {
		switch {
		case part.FunctionCall != nil:
			f := part.FunctionCall
			call := model.ToolCall{ID: f.ID, Name: f.Name, Arguments: string(f.Args)}
			if call.ID == "" {
				call.ID = f.Name
			}
			out = append(out, model.Message{Role: role, ToolCalls: []model.ToolCall{call}})
		case part.FunctionResponse != nil:
			f := part.FunctionResponse
			id := f.ID
			if id == "" {
				id = f.Name
			}
			out = append(out, model.Message{Role: model.RoleTool, ToolCallID: id, Content: string(f.Response)})
		default:
			out = append(out, model.Message{Role: role, Content: part.Text})
		}
	}
	return out
}

func (geminiFace) finish(finish string) string {
	switch model.FinishReason(finish) {
	case model.FinishStop, model.FinishToolCalls:
		return "STOP"
	case model.FinishLength:
		return "MAX_TOKENS"
	case model.FinishContentFilter:
		return "SAFETY"
	}
	return "OTHER"
}

func (f geminiFace) whole(r *Reply) any {
	parts := []object{}
	if r.Reasoning != "" {
		parts = append(parts, object{"text": r.Reasoning, "thought": true})
	}
	if r.Text != "" {
		parts = append(parts, object{"text": r.Text})
	}
	return f.chunk(append(parts, f.calls(r)...), r)
}

func (geminiFace) calls(r *Reply) []object {
	var parts []object
	for _, c := range r.ToolCalls {
		parts = append(parts, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": argumentsJSON(c.Arguments)}})
	}
	return parts
}

// chunk is a payload with these parts; with a reply it is the last one.
func (f geminiFace) chunk(parts []object, last *Reply) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	out := object{"candidates": []object{candidate}}
	if last != nil && !last.Truncated {
		candidate["finishReason"] = f.finish(last.Finish)
		usage := object{"promptTokenCount": last.Usage.InputTokens, "candidatesTokenCount": last.Usage.OutputTokens}
		if last.Usage.CachedInputTokens != nil {
			usage["cachedContentTokenCount"] = *last.Usage.CachedInputTokens
		}
		out["usageMetadata"] = usage
	}
	return out
}

func (f geminiFace) events(r *Reply) []any {
	var out []any
	for _, piece := range pieces(r.Reasoning, r.ChunkRunes) {
		out = append(out, f.chunk([]object{{"text": piece, "thought": true}}, nil))
	}
	for _, piece := range pieces(r.Text, r.ChunkRunes) {
		out = append(out, f.chunk([]object{{"text": piece}}, nil))
	}
	return append(out, f.chunk(append([]object{}, f.calls(r)...), r))
}
