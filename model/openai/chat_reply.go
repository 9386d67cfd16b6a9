package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
)

// chatPayload is a whole reply or one chunk, as far as it is read.
type chatPayload struct {
	Choices []struct {
		Index        int         `json:"index"`
		Message      chatMessage `json:"message"`
		Delta        chatMessage `json:"delta"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
}

type chatMessage struct {
	Content          looseText  `json:"content"`
	Refusal          looseText  `json:"refusal"`
	ReasoningContent looseText  `json:"reasoning_content"`
	Reasoning        looseText  `json:"reasoning"`
	ToolCalls        []chatCall `json:"tool_calls"`
}

type chatCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments looseJSON `json:"arguments"`
	} `json:"function"`
}

// looseText reads a text, or the text parts of a list; anything else is "".
type looseText string

func (t *looseText) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = looseText(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			*t += looseText(p.Text)
		}
	}
	return nil
}

// looseJSON reads arguments that came as JSON text, or as an object.
type looseJSON string

func (t *looseJSON) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = looseJSON(s)
		return nil
	}
	*t = looseJSON(raw)
	return nil
}

// reasoningOf gives a message's reasoning and the field it came in.
func (m *chatMessage) reasoningOf() (text, field string) {
	if m.ReasoningContent != "" {
		return string(m.ReasoningContent), fieldReasoningContent
	}
	if m.Reasoning != "" {
		return string(m.Reasoning), fieldReasoning
	}
	return "", ""
}

// chatUsage reads the usage of spec 04 §15.1.
func chatUsage(raw json.RawMessage) model.Usage {
	var u struct {
		Prompt     json.RawMessage `json:"prompt_tokens"`
		Completion json.RawMessage `json:"completion_tokens"`
		Hit        json.RawMessage `json:"prompt_cache_hit_tokens"`
		Details    struct {
			Cached json.RawMessage `json:"cached_tokens"`
			Write  json.RawMessage `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	}
	_ = json.Unmarshal(raw, &u) // a broken usage counts nothing
	usage := model.Usage{
		InputTokens: model.CountOrZero(u.Prompt), OutputTokens: model.CountOrZero(u.Completion),
		CachedInputTokens: model.Count(u.Details.Cached), CacheWriteInputTokens: model.Count(u.Details.Write),
	}
	if u.Details.Cached == nil {
		usage.CachedInputTokens = model.Count(u.Hit)
	}
	return usage
}

// chatReply collects a reply, whole or streamed.
type chatReply struct {
	req       *model.Request
	body      []byte
	text      strings.Builder
	reasoning strings.Builder
	field     string // where reasoning came from
	refusal   strings.Builder
	calls     map[int]*model.ToolCall
	raw       string // finish reason
	usage     model.Usage
}

// toolCalls gives the calls by index; nameless ones are skipped, missing ids
// made up, empty arguments {}.
func (r *chatReply) toolCalls() []model.ToolCall {
	var calls []model.ToolCall
	for _, i := range slices.Sorted(maps.Keys(r.calls)) {
		c := *r.calls[i]
		if c.Name == "" {
			continue
		}
		if c.ID == "" {
			c.ID = model.CallID(r.body, i)
		}
		if strings.TrimSpace(c.Arguments) == "" {
			c.Arguments = "{}"
		}
		calls = append(calls, c)
	}
	return calls
}

// settle makes the result, or the refusal that it comes to.
func (r *chatReply) settle() (*model.Result, error) {
	if r.refusal.Len() > 0 {
		usage := r.usage
		return nil, r.req.Refusal("refusal", r.refusal.String(), &usage)
	}
	result := &model.Result{
		Text: r.text.String(), ReasoningContent: r.reasoning.String(), FinishReason: model.FinishReason(r.raw), RawFinishReason: r.raw,
		Usage: r.usage,
	}
	result.ToolCalls = r.toolCalls()
	if r.field == fieldReasoning || r.field == fieldThink {
		item, _ := json.Marshal(map[string]string{"type": "reasoning", "field": r.field}) // two texts
		result.ProviderContinuation = r.req.NewContinuation([]json.RawMessage{item})
	}
	return r.req.Settle(result)
}

// readChat reads a whole reply.
func readChat(req *model.Request, body, reply []byte) (*model.Result, error) {
	if failure := req.StreamFault(reply); failure != nil {
		return nil, failure
	}
	var p chatPayload
	if err := json.Unmarshal(reply, &p); err != nil {
		return nil, req.BrokenReply(err.Error())
	}
	if len(p.Choices) == 0 {
		return nil, req.BrokenReply("it has no choices")
	}
	choice := p.Choices[0]
	r := &chatReply{req: req, body: body, calls: map[int]*model.ToolCall{}, raw: choice.FinishReason, usage: chatUsage(p.Usage)}
	split := thinkSplitter{}
	r.takeText(split.add(string(choice.Message.Content)), nil)
	r.takeText(split.end(), nil)
	if text, field := choice.Message.reasoningOf(); text != "" {
		r.field = field
		r.reasoning.WriteString(text)
	}
	r.refusal.WriteString(string(choice.Message.Refusal))
	for i, c := range choice.Message.ToolCalls {
		r.calls[i] = &model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: string(c.Function.Arguments)}
	}
	return r.settle()
}

// takeText files pieces of content under text or reasoning.
func (r *chatReply) takeText(pieces []thinkPiece, emit func(model.Event)) {
	for _, p := range pieces {
		kind, into := model.EventText, &r.text
		if p.thinking {
			kind, into = model.EventReasoning, &r.reasoning
			if r.field == "" {
				r.field = fieldThink
			}
		}
		into.WriteString(p.text)
		if emit != nil && p.text != "" {
			emit(model.Event{Kind: kind, Text: p.text})
		}
	}
}

// chatStream reads a streamed reply event by event.
type chatStream struct {
	chatReply
	emit     func(model.Event)
	split    thinkSplitter
	terminal bool
}

func newChatStream(req *model.Request, body []byte, emit func(model.Event)) *chatStream {
	return &chatStream{chatReply: chatReply{req: req, body: body, calls: map[int]*model.ToolCall{}}, emit: emit}
}

// event reads one chunk; it is the transport call's Event.
func (s *chatStream) event(e transport.Event) ([]byte, error) {
	if failure := s.req.StreamFault(e.Data); failure != nil {
		if s.terminal {
			return emptyEvent, nil // the reply is whole already
		}
		return nil, failure
	}
	var p chatPayload
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return nil, s.req.BrokenReply(err.Error())
	}
	if len(p.Usage) > 0 && string(p.Usage) != "null" {
		s.usage = chatUsage(p.Usage)
	}
	for _, choice := range p.Choices {
		if choice.Index == 0 {
			s.delta(&choice.Delta)
			if choice.FinishReason != "" {
				s.raw, s.terminal = choice.FinishReason, true
			}
		}
	}
	return emptyEvent, nil
}

func (s *chatStream) delta(d *chatMessage) {
	if text, field := d.reasoningOf(); text != "" {
		s.field = field
		s.reasoning.WriteString(text)
		s.emit(model.Event{Kind: model.EventReasoning, Text: text})
	}
	s.takeText(s.split.add(string(d.Content)), s.emit)
	s.refusal.WriteString(string(d.Refusal))
	for place, c := range d.ToolCalls {
		index := place
		if c.Index != nil {
			index = *c.Index
		}
		call := s.calls[index]
		if call == nil {
			call = &model.ToolCall{}
			s.calls[index] = call
		}
		if c.ID != "" {
			call.ID = c.ID
		}
		if c.Function.Name != "" && call.Name == "" {
			call.Name = c.Function.Name
		}
		call.Arguments += string(c.Function.Arguments)
		s.emit(model.Event{Kind: model.EventToolArgument})
	}
}

// result ends a stream whose terminal event came.
func (s *chatStream) result() (*model.Result, error) {
	s.takeText(s.split.end(), s.emit)
	result, err := s.settle()
	if err != nil {
		return nil, err
	}
	for _, c := range result.ToolCalls {
		s.emit(model.Event{Kind: model.EventToolCall, Call: c})
	}
	return result, nil
}
