package trace

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/model"
)

// plainItem is one message or item of any protocol. Members of equal names
// mean the same in all of them.
type plainItem struct {
	Type    string          `json:"type"`
	Role    model.Role      `json:"role"`
	Content json.RawMessage `json:"content"`
	// Parts are Gemini's blocks, or the engine's own content parts.
	Parts      json.RawMessage  `json:"parts"`
	Name       string           `json:"name"`
	ChatCalls  []plainChatCall  `json:"tool_calls"`
	OwnCalls   []model.ToolCall `json:"toolCalls"`
	ChatAnswer string           `json:"tool_call_id"`
	OwnAnswer  string           `json:"toolCallId"`
	Reasoning  string           `json:"reasoning_content"`
	OwnReason  string           `json:"reasoningContent"`
}

// plainChatCall is a call of the Chat protocol.
type plainChatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// plainBlock is a content block, or an item of the Responses protocol that
// stands in the place of a message.
type plainBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	ToolUseID string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Arguments string          `json:"arguments"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
	Image     string          `json:"image"`
	MediaRef  string          `json:"mediaRef"`
	Call      *geminiCall     `json:"functionCall"`
	Response  *geminiCall     `json:"functionResponse"`
}

type geminiCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	Response json.RawMessage `json:"response"`
}

// add appends one message or item. A tool result inside a message of blocks
// becomes a message of its own.
func (p *Plain) add(raw json.RawMessage) {
	var item plainItem
	if json.Unmarshal(raw, &item) != nil {
		return
	}
	if item.Role == "" && item.Type != "message" {
		p.addBlocks(model.RoleAssistant, []json.RawMessage{raw})
		return
	}
	m := model.Message{
		Role: item.Role, Name: item.Name, ToolCalls: item.OwnCalls, ToolCallID: firstOf(item.ChatAnswer, item.OwnAnswer),
		ReasoningContent: firstOf(item.Reasoning, item.OwnReason),
	}
	if m.Role == "model" {
		m.Role = model.RoleAssistant
	}
	for _, c := range item.ChatCalls {
		m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if text, ok := asText(item.Content); ok && !present(item.Parts) {
		m.Content = text
		p.Messages = append(p.Messages, m)
		return
	}
	var blocks []json.RawMessage
	for _, list := range []json.RawMessage{item.Parts, item.Content} {
		if len(blocks) == 0 && present(list) && json.Unmarshal(list, &blocks) != nil {
			m.Content = compact(list)
		}
	}
	if m.ToolCallID != "" {
		m.Content = joinedText(firstPresent(item.Parts, item.Content))
		p.Messages = append(p.Messages, m)
		return
	}
	before := len(p.Messages)
	p.addBlocks(m.Role, blocks)
	if len(p.Messages) == before { // no block: an empty message, or calls only
		p.Messages = append(p.Messages, m)
		return
	}
	last := &p.Messages[len(p.Messages)-1]
	last.Name, last.ToolCalls = firstOf(last.Name, m.Name), append(last.ToolCalls, m.ToolCalls...)
	last.ReasoningContent = firstOf(last.ReasoningContent, m.ReasoningContent)
}

// addBlocks appends the blocks of one message: texts, reasoning, pictures and
// calls are one message, each tool result is its own.
func (p *Plain) addBlocks(role model.Role, blocks []json.RawMessage) {
	m := model.Message{Role: role}
	var texts []string
	used := false
	for _, raw := range blocks {
		var b plainBlock
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch {
		case b.Type == "tool_result":
			p.Messages = append(p.Messages, model.Message{Role: model.RoleTool, ToolCallID: b.ToolUseID, Content: joinedText(b.Content)})
			continue
		case b.Type == "function_call_output":
			p.Messages = append(p.Messages, model.Message{Role: model.RoleTool, ToolCallID: b.CallID, Content: joinedText(b.Output)})
			continue
		case b.Response != nil:
			p.Messages = append(p.Messages, model.Message{
				Role: model.RoleTool, ToolCallID: b.Response.ID, Name: b.Response.Name, Content: compact(b.Response.Response),
			})
			continue
		case b.Call != nil:
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: b.Call.ID, Name: b.Call.Name, Arguments: compact(b.Call.Args)})
		case b.Type == "tool_use":
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: compact(b.Input)})
		case b.Type == "function_call":
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: b.CallID, Name: b.Name, Arguments: b.Arguments})
		case b.Thinking != "":
			m.ReasoningContent += b.Thinking
		case b.Text != "":
			texts = append(texts, b.Text)
		default:
			texts = append(texts, compact(raw)) // pictures, kept reasoning: as they were recorded
		}
		used = true
	}
	if used {
		m.Content = strings.Join(texts, "\n")
		p.Messages = append(p.Messages, m)
	}
}

// plainTool is an offered tool of any protocol; Gemini nests a list.
type plainTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Parameters   json.RawMessage `json:"parameters"`
	JSONSchema   json.RawMessage `json:"parametersJsonSchema"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Function     *plainTool      `json:"function"`
	Declarations []plainTool     `json:"functionDeclarations"`
}

func (t *plainTool) tools() []model.Tool {
	if t.Function != nil {
		return t.Function.tools()
	}
	var list []model.Tool
	for i := range t.Declarations {
		list = append(list, t.Declarations[i].tools()...)
	}
	if t.Name != "" {
		list = append(list, model.Tool{
			Name: t.Name, Description: t.Description, Parameters: firstPresent(t.Parameters, t.JSONSchema, t.InputSchema),
		})
	}
	return list
}

func firstPresent(values ...json.RawMessage) json.RawMessage {
	for _, v := range values {
		if present(v) {
			return v
		}
	}
	return nil
}

// joinedText is a text, the texts of blocks one after another, or JSON.
func joinedText(raw json.RawMessage) string {
	if !present(raw) {
		return ""
	}
	if text, ok := asText(raw); ok {
		return text
	}
	var wrapped struct {
		Parts []plainBlock `json:"parts"`
	}
	var blocks []plainBlock
	if json.Unmarshal(raw, &blocks) != nil {
		if json.Unmarshal(raw, &wrapped) != nil || wrapped.Parts == nil {
			return compact(raw)
		}
		blocks = wrapped.Parts
	}
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}
