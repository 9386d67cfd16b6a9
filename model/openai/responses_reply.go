package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
)

// responsePayload is a response object, as far as it is read.
type responsePayload struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []json.RawMessage `json:"output"`
	Usage  json.RawMessage   `json:"usage"`
}

// outputItem is one item of an output.
type outputItem struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Arguments looseJSON `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

func responsesUsage(raw json.RawMessage) model.Usage {
	var u struct {
		Input   json.RawMessage `json:"input_tokens"`
		Output  json.RawMessage `json:"output_tokens"`
		Details struct {
			Cached json.RawMessage `json:"cached_tokens"`
			Write  json.RawMessage `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	}
	_ = json.Unmarshal(raw, &u) // a broken usage counts nothing
	return model.Usage{
		InputTokens: model.CountOrZero(u.Input), OutputTokens: model.CountOrZero(u.Output),
		CachedInputTokens: model.Count(u.Details.Cached), CacheWriteInputTokens: model.Count(u.Details.Write),
	}
}

// readResponse reads a whole reply.
func readResponse(req *model.Request, body, reply []byte) (*model.Result, error) {
	if failure := req.StreamFault(reply); failure != nil {
		return nil, failure
	}
	var p responsePayload
	if err := json.Unmarshal(reply, &p); err != nil {
		return nil, req.BrokenReply(err.Error())
	}
	return settleResponse(req, body, &p)
}

// settleResponse makes the result of a response, or the refusal or failure
// that it comes to.
func settleResponse(req *model.Request, body []byte, p *responsePayload) (*model.Result, error) {
	usage := responsesUsage(p.Usage)
	result := &model.Result{Usage: usage, RawFinishReason: p.Status}
	var text, reasoning, refusal []string
	hasReasoning := false
	for place, raw := range p.Output {
		var item outputItem
		if json.Unmarshal(raw, &item) != nil {
			continue // an item of a kind that is not read
		}
		switch item.Type {
		case "message":
			for _, c := range item.Content {
				switch c.Type {
				case "output_text", "text":
					text = append(text, c.Text)
				case "refusal":
					refusal = append(refusal, c.Refusal)
				}
			}
		case "reasoning":
			hasReasoning = true
			for _, s := range item.Summary {
				reasoning = append(reasoning, s.Text)
			}
			for _, c := range item.Content {
				reasoning = append(reasoning, c.Text)
			}
		case "function_call":
			if item.Name != "" {
				result.ToolCalls = append(result.ToolCalls, callOf(body, place, &item))
			}
		}
	}
	result.Text = strings.Join(text, "")
	result.ReasoningContent = strings.Join(reasoning, "\n\n")
	switch {
	case len(refusal) > 0:
		return nil, req.Refusal("refusal", strings.Join(refusal, ""), &usage)
	case p.Status == "completed":
		result.FinishReason = model.FinishStop
		if hasReasoning {
			result.ProviderContinuation = req.NewContinuation(p.Output)
		}
	case p.Status == "incomplete":
		if p.Incomplete.Reason != "" {
			result.RawFinishReason = p.Incomplete.Reason
		}
		result.FinishReason = model.FinishLength
		if model.FinishReason(p.Incomplete.Reason) == model.FinishContentFilter {
			result.FinishReason = model.FinishContentFilter
		}
	default:
		result.FinishReason = model.FinishError
	}
	return req.Settle(result)
}

func callOf(body []byte, place int, item *outputItem) model.ToolCall {
	c := model.ToolCall{ID: item.CallID, Name: item.Name, Arguments: string(item.Arguments)}
	if c.ID == "" {
		c.ID = item.ID
	}
	if c.ID == "" {
		c.ID = model.CallID(body, place)
	}
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
	}
	return c
}

// responsesStream reads a streamed reply event by event.
type responsesStream struct {
	req       *model.Request
	body      []byte
	emit      func(model.Event)
	text      strings.Builder
	reasoning strings.Builder
	items     map[int]json.RawMessage // done items by output index
	final     *responsePayload
}

// responsesEvent is one event, as far as it is read.
type responsesEvent struct {
	Type        string          `json:"type"`
	Delta       string          `json:"delta"`
	OutputIndex int             `json:"output_index"`
	Item        json.RawMessage `json:"item"`
	Response    json.RawMessage `json:"response"`
}

// event reads one event; it is the transport call's Event.
func (s *responsesStream) event(e transport.Event) ([]byte, error) {
	if s.final != nil {
		return emptyEvent, nil
	}
	if failure := s.req.StreamFault(e.Data); failure != nil {
		return nil, failure
	}
	var ev responsesEvent
	if err := json.Unmarshal(e.Data, &ev); err != nil {
		return nil, s.req.BrokenReply(err.Error())
	}
	switch ev.Type {
	case "response.output_text.delta":
		s.text.WriteString(ev.Delta)
		s.emit(model.Event{Kind: model.EventText, Text: ev.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.think(ev.Delta)
	case "response.reasoning_summary_part.added":
		if s.reasoning.Len() > 0 {
			s.think("\n\n")
		}
	case "response.function_call_arguments.delta":
		s.emit(model.Event{Kind: model.EventToolArgument})
	case "response.output_item.done":
		s.items[ev.OutputIndex] = slices.Clone(ev.Item)
	case "response.completed", "response.incomplete", "response.failed":
		return emptyEvent, s.end(ev)
	}
	return emptyEvent, nil
}

func (s *responsesStream) think(text string) {
	s.reasoning.WriteString(text)
	s.emit(model.Event{Kind: model.EventReasoning, Text: text})
}

// end takes the terminal event.
func (s *responsesStream) end(ev responsesEvent) error {
	var p responsePayload
	if err := json.Unmarshal(ev.Response, &p); err != nil {
		return s.req.BrokenReply(err.Error())
	}
	if ev.Type == "response.failed" || p.Status == "failed" || p.Status == "cancelled" {
		f := model.ParseFault(s.req.Target.Protocol, 0, ev.Response)
		if f.Message == "" {
			f.Message = "the response " + strings.TrimPrefix(ev.Type, "response.") + ", status " + p.Status
		}
		return f.Error()
	}
	if p.Status == "" {
		p.Status = strings.TrimPrefix(ev.Type, "response.")
	}
	if len(p.Output) == 0 {
		for _, i := range slices.Sorted(maps.Keys(s.items)) {
			p.Output = append(p.Output, s.items[i])
		}
	}
	s.final = &p
	return nil
}

// result makes the result; text that no delta brought is given now.
func (s *responsesStream) result() (*model.Result, error) {
	result, err := settleResponse(s.req, s.body, s.final)
	if err != nil {
		return nil, err
	}
	if s.text.Len() == 0 && result.Text != "" {
		s.emit(model.Event{Kind: model.EventText, Text: result.Text})
	} else {
		result.Text = s.text.String()
	}
	if s.reasoning.Len() > 0 {
		result.ReasoningContent = s.reasoning.String()
	}
	for _, c := range result.ToolCalls {
		s.emit(model.Event{Kind: model.EventToolCall, Call: c})
	}
	return result, nil
}
