package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
	"github.com/covel-engine/covel/model/wire"
)

// contentBlock is a block of a reply, as far as it is read.
type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// counters are the usage fields; absent ones are nil.
type counters struct {
	Input  json.RawMessage `json:"input_tokens"`
	Output json.RawMessage `json:"output_tokens"`
	Read   json.RawMessage `json:"cache_read_input_tokens"`
	Write  json.RawMessage `json:"cache_creation_input_tokens"`
}

// add lays later counters over earlier ones.
func (c *counters) add(later counters) {
	over := func(field *json.RawMessage, value json.RawMessage) {
		if len(value) > 0 && string(value) != "null" {
			*field = slices.Clone(value)
		}
	}
	over(&c.Input, later.Input)
	over(&c.Output, later.Output)
	over(&c.Read, later.Read)
	over(&c.Write, later.Write)
}

// usage counts cached and written tokens into the input.
func (c *counters) usage() model.Usage {
	u := model.Usage{OutputTokens: model.CountOrZero(c.Output), CachedInputTokens: model.Count(c.Read), CacheWriteInputTokens: model.Count(c.Write)}
	u.InputTokens = model.AddCounts(model.CountOrZero(c.Input), model.CountOrZero(c.Read), model.CountOrZero(c.Write))
	return u
}

// assembled collects the blocks of a reply, whole or streamed.
type assembled struct {
	req    *model.Request
	body   []byte
	blocks []json.RawMessage
	broken bool // a tool's input is no JSON: no continuation
	raw    string
	count  counters
}

// settle makes the result, or the refusal that it comes to.
func (a *assembled) settle() (*model.Result, error) {
	result := &model.Result{FinishReason: model.FinishReason(a.raw), RawFinishReason: a.raw, Usage: a.count.usage()}
	var thoughts []string
	reasoned := false
	for place, raw := range a.blocks {
		var b contentBlock
		if json.Unmarshal(raw, &b) != nil {
			return nil, a.req.BrokenReply("a content block is no object")
		}
		switch b.Type {
		case "text":
			result.Text += b.Text
		case "thinking":
			reasoned = true
			if b.Thinking != "" {
				thoughts = append(thoughts, b.Thinking)
			}
		case "redacted_thinking":
			reasoned = true
		case "tool_use":
			if b.Name == "" {
				continue
			}
			c := model.ToolCall{ID: b.ID, Name: b.Name, Arguments: inputText(b.Input)}
			if c.ID == "" {
				c.ID = model.CallID(a.body, place)
			}
			result.ToolCalls = append(result.ToolCalls, c)
		}
	}
	result.ReasoningContent = strings.Join(thoughts, "\n\n")
	if reasoned && !a.broken {
		result.ProviderContinuation = a.req.NewContinuation(a.blocks)
	}
	return a.req.Settle(result)
}

// inputText is a call's input as text: an object as it stands, a text that was
// no JSON as that text.
func inputText(input json.RawMessage) string {
	var text string
	switch {
	case len(input) == 0:
		return "{}"
	case json.Unmarshal(input, &text) == nil:
		return text
	}
	return string(input)
}

// readReply reads a whole reply.
func readReply(req *model.Request, reply, body []byte) (*model.Result, error) {
	if failure := req.StreamFault(reply); failure != nil {
		return nil, failure
	}
	var p struct {
		Content    []json.RawMessage `json:"content"`
		StopReason string            `json:"stop_reason"`
		Usage      counters          `json:"usage"`
	}
	if err := json.Unmarshal(reply, &p); err != nil {
		return nil, req.BrokenReply(err.Error())
	}
	a := assembled{req: req, body: body, blocks: p.Content, raw: p.StopReason, count: p.Usage}
	return a.settle()
}

// stream reads a streamed reply event by event.
type stream struct {
	assembled
	emit     func(model.Event)
	open     map[int]*openBlock
	closed   map[int]json.RawMessage
	shown    strings.Builder // the text, in the order in which it came
	thought  bool            // a thinking block was shown
	terminal bool
}

// openBlock is a block that is being written.
type openBlock struct {
	start     json.RawMessage
	typ       string
	text      strings.Builder // text, thinking or a tool's input
	signature strings.Builder
}

func newStream(req *model.Request, body []byte, emit func(model.Event)) *stream {
	return &stream{assembled: assembled{req: req, body: body}, emit: emit, open: map[int]*openBlock{}, closed: map[int]json.RawMessage{}}
}

// streamEvent is one event, as far as it is read.
type streamEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage counters `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage counters `json:"usage"`
}

// skipped is what the library is handed for each event: one that it passes over.
var skipped = []byte(`{"type":"ping"}`)

// event reads one event; it is the transport call's Event.
func (s *stream) event(e transport.Event) ([]byte, error) {
	if s.terminal {
		return skipped, nil
	}
	if failure := s.req.StreamFault(e.Data); failure != nil {
		return nil, failure
	}
	var ev streamEvent
	if err := json.Unmarshal(e.Data, &ev); err != nil {
		return nil, s.req.BrokenReply(err.Error())
	}
	switch ev.Type {
	case "message_start":
		s.count.add(ev.Message.Usage)
	case "content_block_start":
		s.start(ev)
	case "content_block_delta":
		s.delta(ev)
	case "content_block_stop":
		s.stop(ev.Index)
	case "message_delta":
		if ev.Delta.StopReason != "" {
			s.raw = ev.Delta.StopReason
		}
		s.count.add(ev.Usage)
	case "message_stop":
		s.terminal = true
	}
	return skipped, nil
}

func (s *stream) start(ev streamEvent) {
	var b contentBlock
	_ = json.Unmarshal(ev.ContentBlock, &b) // a block of another shape is kept as it is
	o := &openBlock{start: slices.Clone(ev.ContentBlock), typ: b.Type}
	s.open[ev.Index] = o
	switch b.Type {
	case "text":
		s.write(o, model.EventText, b.Text)
	case "thinking":
		if s.thought {
			s.emit(model.Event{Kind: model.EventReasoning, Text: "\n\n"})
		}
		s.thought = true
		o.signature.WriteString(b.Signature)
		s.write(o, model.EventReasoning, b.Thinking)
	case "tool_use":
		s.emit(model.Event{Kind: model.EventToolArgument})
	}
}

func (s *stream) write(o *openBlock, kind model.EventKind, text string) {
	o.text.WriteString(text)
	if kind == model.EventText {
		s.shown.WriteString(text)
	}
	if text != "" {
		s.emit(model.Event{Kind: kind, Text: text})
	}
}

func (s *stream) delta(ev streamEvent) {
	o := s.open[ev.Index]
	if o == nil {
		return
	}
	switch ev.Delta.Type {
	case "text_delta":
		s.write(o, model.EventText, ev.Delta.Text)
	case "thinking_delta":
		s.write(o, model.EventReasoning, ev.Delta.Thinking)
	case "signature_delta":
		o.signature.WriteString(ev.Delta.Signature)
	case "input_json_delta":
		o.text.WriteString(ev.Delta.PartialJSON)
		s.emit(model.Event{Kind: model.EventToolArgument})
	}
}

// stop closes a block: its start event with what the deltas brought.
func (s *stream) stop(index int) {
	o := s.open[index]
	if o == nil {
		return
	}
	delete(s.open, index)
	members, ok := wire.Members(o.start)
	if !ok {
		s.broken = true // no block that could be sent again
		return
	}
	set := func(name string, value json.RawMessage) {
		if i := slices.IndexFunc(members, func(m wire.Member) bool { return m.Name == name }); i >= 0 {
			members[i].Value = value
			return
		}
		members = append(members, wire.Member{Name: name, Value: value})
	}
	switch o.typ {
	case "text":
		set("text", quoted(o.text.String()))
	case "thinking":
		set("thinking", quoted(o.text.String()))
		set("signature", quoted(o.signature.String()))
	case "tool_use":
		set("input", s.input(o))
	}
	s.closed[index] = wire.Object(members)
}

// input is a tool's input: the fragments, or what the start event held.
func (s *stream) input(o *openBlock) json.RawMessage {
	text := strings.TrimSpace(o.text.String())
	if text == "" {
		var b contentBlock
		_ = json.Unmarshal(o.start, &b) // read before
		if len(b.Input) > 0 {
			return b.Input
		}
		return json.RawMessage(`{}`)
	}
	if !json.Valid([]byte(text)) {
		s.broken = true
		return quoted(text)
	}
	return json.RawMessage(text)
}

func quoted(s string) json.RawMessage { return wire.NewWriter(len(s) + 2).String(s).Bytes() }

// result ends a stream whose terminal event came.
func (s *stream) result() (*model.Result, error) {
	for index := range s.open {
		s.stop(index)
	}
	for _, index := range slices.Sorted(maps.Keys(s.closed)) {
		s.blocks = append(s.blocks, s.closed[index])
	}
	result, err := s.settle()
	if err != nil {
		return nil, err
	}
	result.Text = s.shown.String()
	for _, c := range result.ToolCalls {
		s.emit(model.Event{Kind: model.EventToolCall, Call: c})
	}
	return result, nil
}
