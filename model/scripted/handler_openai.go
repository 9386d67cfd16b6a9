package scripted

import (
	"encoding/json"
	"net/http"

	"github.com/covel-engine/covel/model"
)

// chatFace is openai-chat-v1.
type chatFace struct{}

func (chatFace) read(_ *http.Request, body []byte) (*Prompt, bool, error) {
	var in struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role       model.Role      `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string         `json:"id"`
				Function model.ToolCall `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function model.Tool `json:"function"`
		} `json:"tools"`
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	p := &Prompt{Choice: chatChoice(in.ToolChoice)}
	for _, m := range in.Messages {
		out := model.Message{Role: m.Role, Content: looseContent(m.Content), ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			out.ToolCalls = append(out.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		p.Messages = append(p.Messages, out)
	}
	for _, t := range in.Tools {
		p.Tools = append(p.Tools, t.Function)
	}
	return p, in.Stream, nil
}

func chatCalls(r *Reply, indexed bool) []object {
	var calls []object
	for i, c := range r.ToolCalls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		if indexed {
			call["index"] = i
		}
		calls = append(calls, call)
	}
	return calls
}

func chatUsage(u model.Usage) object {
	details := object{}
	if u.CachedInputTokens != nil {
		details["cached_tokens"] = *u.CachedInputTokens
	}
	if u.CacheWriteInputTokens != nil {
		details["cache_write_tokens"] = *u.CacheWriteInputTokens
	}
	return object{"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "prompt_tokens_details": details}
}

func (chatFace) whole(r *Reply) any {
	message := object{"role": "assistant", "content": r.Text}
	if r.Reasoning != "" {
		message["reasoning_content"] = r.Reasoning
	}
	if len(r.ToolCalls) > 0 {
		message["tool_calls"] = chatCalls(r, false)
	}
	choice := object{"index": 0, "message": message}
	if !r.Truncated {
		choice["finish_reason"] = r.Finish
	}
	return object{"object": "chat.completion", "choices": []object{choice}, "usage": chatUsage(r.Usage)}
}

func (chatFace) events(r *Reply) []any {
	var out []any
	delta := func(d object) { out = append(out, object{"choices": []object{{"index": 0, "delta": d}}}) }
	for _, piece := range pieces(r.Reasoning, r.ChunkRunes) {
		delta(object{"reasoning_content": piece})
	}
	for _, piece := range pieces(r.Text, r.ChunkRunes) {
		delta(object{"content": piece})
	}
	if len(r.ToolCalls) > 0 {
		delta(object{"tool_calls": chatCalls(r, true)})
	}
	if r.Truncated {
		return out
	}
	return append(out, object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": r.Finish}}},
		object{"choices": []object{}, "usage": chatUsage(r.Usage)})
}

// responsesFace is openai-responses-v1.
type responsesFace struct{}

func (responsesFace) read(_ *http.Request, body []byte) (*Prompt, bool, error) {
	var in struct {
		Stream bool `json:"stream"`
		Input  []struct {
			Type      string          `json:"type"`
			Role      model.Role      `json:"role"`
			Content   json.RawMessage `json:"content"`
			CallID    string          `json:"call_id"`
			Name      string          `json:"name"`
			Arguments string          `json:"arguments"`
			Output    json.RawMessage `json:"output"`
		} `json:"input"`
		Tools      []model.Tool    `json:"tools"`
		ToolChoice json.RawMessage `json:"tool_choice"`
		Text       struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	p := &Prompt{Choice: chatChoice(in.ToolChoice), Tools: in.Tools, Schema: in.Text.Format.Schema}
	for _, item := range in.Input {
		switch item.Type {
		case "function_call":
			p.Messages = append(p.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: item.CallID, Name: item.Name, Arguments: item.Arguments}}})
		case "function_call_output":
			p.Messages = append(p.Messages, model.Message{Role: model.RoleTool, ToolCallID: item.CallID, Content: looseContent(item.Output)})
		case "", "message":
			p.Messages = append(p.Messages, model.Message{Role: item.Role, Content: looseContent(item.Content)})
		}
	}
	return p, in.Stream, nil
}

func (responsesFace) output(r *Reply) []object {
	output := []object{}
	if r.Reasoning != "" {
		output = append(output, object{"type": "reasoning", "summary": []object{{"type": "summary_text", "text": r.Reasoning}}})
	}
	if r.Text != "" {
		output = append(output, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": r.Text}}})
	}
	for _, c := range r.ToolCalls {
		output = append(output, object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
	}
	return output
}

func (f responsesFace) whole(r *Reply) any {
	details := object{}
	if r.Usage.CachedInputTokens != nil {
		details["cached_tokens"] = *r.Usage.CachedInputTokens
	}
	if r.Usage.CacheWriteInputTokens != nil {
		details["cache_write_tokens"] = *r.Usage.CacheWriteInputTokens
	}
	response := object{
		"object": "response", "status": "completed", "output": f.output(r),
		"usage": object{"input_tokens": r.Usage.InputTokens, "output_tokens": r.Usage.OutputTokens, "input_tokens_details": details},
	}
	switch model.FinishReason(r.Finish) {
	case model.FinishLength:
		response["status"], response["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case model.FinishContentFilter:
		response["status"], response["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	case model.FinishError:
		response["status"] = "failed"
	}
	if r.Truncated {
		response["status"] = "in_progress"
	}
	return response
}

func (f responsesFace) events(r *Reply) []any {
	var out []any
	for _, piece := range pieces(r.Reasoning, r.ChunkRunes) {
		out = append(out, object{"type": "response.reasoning_summary_text.delta", "delta": piece})
	}
	for _, piece := range pieces(r.Text, r.ChunkRunes) {
		out = append(out, object{"type": "response.output_text.delta", "delta": piece})
	}
	for i, item := range f.output(r) {
		out = append(out, object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	if r.Truncated {
		return out
	}
	response, _ := f.whole(r).(object)
	status, _ := response["status"].(string)
	return append(out, object{"type": "response." + status, "response": response})
}
