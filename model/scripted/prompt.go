package scripted

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/covel-engine/covel/model"
)

// Prompt is a request as a script or the storyteller sees it, whatever
// protocol brought it.
type Prompt struct {
	Attempt  int // the sends of this call, from 1
	Choice   model.Choice
	Identity model.Identity
	Messages []model.Message
	Model    string
	Schema   json.RawMessage
	Tools    []model.Tool
}

// Reply is what is answered.
type Reply struct {
	ChunkRunes int // size of stream pieces
	DelayMs    int // per piece
	Fault      *Fault
	Finish     string
	Reasoning  string
	Text       string
	ToolCalls  []model.ToolCall
	Truncated  bool // no terminal event
	Usage      model.Usage
}

// Fault acts like an HTTP answer, or like a link failure.
type Fault struct {
	Code         string `yaml:"code"`
	Connection   string `yaml:"connection"` // refused or reset
	Message      string `yaml:"message"`
	RetryAfterMs *int   `yaml:"retryAfterMs"`
	Status       int    `yaml:"status"`
}

// text gives the text of a message as it would be sent: parts joined, cache
// sentinels left out.
func text(m model.Message) string { return model.StripSentinels(m.Text()) }

// chatForm is the request in Chat form: what call ids and the storyteller's
// choices are derived from.
func (p *Prompt) chatForm() []byte {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type toolCall struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	type message struct {
		Role       string     `json:"role"`
		Content    string     `json:"content"`
		ToolCalls  []toolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	form := struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
	}{Model: p.Model, Messages: make([]message, 0, len(p.Messages))}
	for _, m := range p.Messages {
		out := message{Role: string(m.Role), Content: text(m), ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			out.ToolCalls = append(out.ToolCalls, toolCall{c.ID, "function", function{c.Name, c.Arguments}})
		}
		form.Messages = append(form.Messages, out)
	}
	body, _ := json.Marshal(form) // texts and lists only: always has a JSON form
	return body
}

// seed is what the storyteller's choices come from.
func (p *Prompt) seed() [sha256.Size]byte { return sha256.Sum256(p.chatForm()) }

// estimate counts tokens as spec 01 §15.2 does for the built-in estimator.
func (p *Prompt) estimate() int64 {
	n := 0
	for _, m := range p.Messages {
		n += model.EstimateTokens(text(m))
		for _, c := range m.ToolCalls {
			n += model.EstimateTokens(c.Name) + model.EstimateTokens(c.Arguments)
		}
	}
	for _, t := range p.Tools {
		n += model.EstimateTokens(t.Name) + model.EstimateTokens(t.Description) + model.EstimateTokens(string(t.Parameters))
	}
	return int64(n)
}

// complete fills what a reply leaves open: ids, finish and usage.
func (p *Prompt) complete(r *Reply) {
	var body []byte
	for i := range r.ToolCalls {
		if r.ToolCalls[i].ID == "" {
			if body == nil {
				body = p.chatForm()
			}
			r.ToolCalls[i].ID = model.CallID(body, i)
		}
	}
	if r.Finish == "" {
		r.Finish = model.FinishStop
		if len(r.ToolCalls) > 0 {
			r.Finish = model.FinishToolCalls
		}
	}
	if r.Usage == (model.Usage{}) {
		out := model.EstimateTokens(r.Text) + model.EstimateTokens(r.Reasoning)
		for _, c := range r.ToolCalls {
			out += model.EstimateTokens(c.Name) + model.EstimateTokens(c.Arguments)
		}
		r.Usage = model.Usage{InputTokens: p.estimate(), OutputTokens: int64(out)}
	}
}
