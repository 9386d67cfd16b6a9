package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
	"github.com/covel-engine/covel/model/wire"
)

// refusals are the finish reasons by which an answer is refused.
var refusals = []string{
	"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
	"IMAGE_RECITATION", "ESCALATION", "PUP_LIMITED_DISABLED",
}

// endedInCalls is the finish reason of servers that speak this protocol without
// being Google's, which ends calls with STOP.
const endedInCalls = "FUNCTION_CALL"

// unspecified is a finish reason that is none.
const unspecified = "FINISH_REASON_UNSPECIFIED"

// payload is a whole reply or one chunk; what may be malformed is read later,
// so that a refusal is seen first.
type payload struct {
	Candidates []struct {
		Index         int             `json:"index"`
		Content       json.RawMessage `json:"content"`
		FinishReason  string          `json:"finishReason"`
		FinishMessage string          `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage map[string]json.RawMessage `json:"usageMetadata"`
}

// replyPart is a part of a reply, as far as it is read.
type replyPart struct {
	Text         *string `json:"text"`
	Thought      bool    `json:"thought"`
	Signature    string  `json:"thoughtSignature"`
	FunctionCall *struct {
		functionCall
		Partial      json.RawMessage `json:"partialArgs"`
		WillContinue bool            `json:"willContinue"`
	} `json:"functionCall"`
}

// reply reads a reply, whole or chunk by chunk.
type reply struct {
	req       *model.Request
	body      []byte
	emit      func(model.Event)
	parts     []json.RawMessage
	plain     strings.Builder // plain text that has not become a part yet
	keep      bool            // a part is signed or calls: all are kept
	text      strings.Builder
	reasoning strings.Builder
	calls     []model.ToolCall
	finish    string
	refused   string
	refusal   string
	defect    error // the first; a refusal still beats it
	usage     map[string]json.RawMessage
}

// terminal says whether the reply came to its end.
func (r *reply) terminal() bool { return r.finish != "" || r.refused != "" }

// emptyEvent is what the library is handed for each event.
var emptyEvent = []byte("{}")

// event reads one chunk; it is the transport call's Event.
func (r *reply) event(e transport.Event) ([]byte, error) {
	if err := r.take(e.Data); err != nil {
		if r.terminal() {
			return emptyEvent, nil // the reply is whole already
		}
		return nil, err
	}
	return emptyEvent, nil
}

// take reads a whole reply or one chunk.
func (r *reply) take(raw []byte) error {
	if failure := r.req.StreamFault(raw); failure != nil {
		return failure
	}
	var p payload
	if err := json.Unmarshal(raw, &p); err != nil {
		r.spoil(err.Error())
		return nil
	}
	for name, value := range p.Usage {
		if r.usage == nil {
			r.usage = map[string]json.RawMessage{}
		}
		r.usage[name] = slices.Clone(value)
	}
	if p.Feedback.BlockReason != "" {
		r.refused, r.refusal = p.Feedback.BlockReason, p.Feedback.BlockReasonMessage
	}
	for _, c := range p.Candidates {
		if slices.Contains(refusals, c.FinishReason) {
			r.refused, r.refusal = c.FinishReason, c.FinishMessage
		}
	}
	switch {
	case len(p.Candidates) > 1:
		r.spoil("it has more than one candidate")
	case len(p.Candidates) == 1 && p.Candidates[0].Index != 0:
		r.spoil("its candidate has index " + string(rune('0'+min(p.Candidates[0].Index, 9))))
	case len(p.Candidates) == 1:
		c := p.Candidates[0]
		if r.refused == "" {
			r.takeContent(c.Content)
		}
		if c.FinishReason != "" && c.FinishReason != unspecified && r.finish == "" {
			r.finish = c.FinishReason
		}
	}
	return nil
}

// spoil notes the first defect.
func (r *reply) spoil(what string) {
	if r.defect == nil {
		r.defect = r.req.BrokenReply(what)
	}
}

func (r *reply) takeContent(raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var c struct {
		Parts []json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		r.spoil("its content is malformed: " + err.Error())
		return
	}
	if len(c.Parts) > 0 && r.finish != "" {
		r.spoil("content came after the finish reason")
		return
	}
	for _, item := range c.Parts {
		if r.defect != nil {
			return
		}
		r.takePart(slices.Clone(item))
	}
}

func (r *reply) takePart(item json.RawMessage) {
	var p replyPart
	if err := json.Unmarshal(item, &p); err != nil {
		r.spoil("a part is malformed: " + err.Error())
		return
	}
	r.keepPart(item, &p)
	switch {
	case p.FunctionCall != nil:
		r.takeCall(&p)
	case p.Text == nil || *p.Text == "":
	case p.Thought:
		r.reasoning.WriteString(*p.Text)
		r.show(model.EventReasoning, *p.Text)
	default:
		r.text.WriteString(*p.Text)
		r.show(model.EventText, *p.Text)
	}
}

func (r *reply) show(kind model.EventKind, text string) {
	if r.req.Stream {
		r.emit(model.Event{Kind: kind, Text: text})
	}
}

// keepPart keeps a part for the continuation. Plain texts that follow each
// other become one part, as a stream cuts texts anywhere.
func (r *reply) keepPart(item json.RawMessage, p *replyPart) {
	r.keep = r.keep || p.Signature != "" || p.FunctionCall != nil
	if text, ok := plainText(item); ok {
		r.plain.WriteString(text)
		return
	}
	r.closePlain()
	r.parts = append(r.parts, item)
}

// closePlain makes a part of the plain text so far.
func (r *reply) closePlain() {
	if r.plain.Len() > 0 {
		w := wire.NewWriter(r.plain.Len() + 16)
		r.parts = append(r.parts, w.Open('{').Key("text").String(r.plain.String()).Close('}').Bytes())
		r.plain.Reset()
	}
}

// plainText reads a part that holds a text and nothing else.
func plainText(item json.RawMessage) (string, bool) {
	members, ok := wire.Members(item)
	var text string
	if !ok || len(members) != 1 || members[0].Name != "text" || json.Unmarshal(members[0].Value, &text) != nil {
		return "", false
	}
	return text, true
}

func (r *reply) takeCall(p *replyPart) {
	f := p.FunctionCall
	if len(f.Partial) > 0 || f.WillContinue {
		r.spoil("a call has partial arguments")
		return
	}
	if f.Name == "" {
		return
	}
	c := model.ToolCall{ID: f.ID, Name: f.Name, Arguments: string(orEmpty(f.Args))}
	if c.ID == "" {
		c.ID = model.CallID(r.body, len(r.calls))
	}
	r.calls = append(r.calls, c)
	if r.req.Stream && len(r.calls) == 1 {
		r.emit(model.Event{Kind: model.EventToolArgument})
	}
}

// count reads the usage of spec 04 §15.1.
func (r *reply) count() model.Usage {
	return model.Usage{
		InputTokens:       model.CountOrZero(r.usage["promptTokenCount"]),
		OutputTokens:      model.AddCounts(model.CountOrZero(r.usage["candidatesTokenCount"]), model.CountOrZero(r.usage["thoughtsTokenCount"])),
		CachedInputTokens: model.Count(r.usage["cachedContentTokenCount"]),
	}
}

// settle makes the result, or the refusal or failure that it comes to.
func (r *reply) settle() (*model.Result, error) {
	usage := r.count()
	switch {
	case r.refused != "":
		return nil, r.req.Refusal(r.refused, r.refusal, &usage)
	case r.defect != nil:
		return nil, r.defect
	case r.finish == "":
		return nil, r.req.BrokenReply("it has no finishReason")
	}
	result := &model.Result{
		Text: r.text.String(), ReasoningContent: r.reasoning.String(), ToolCalls: r.calls, RawFinishReason: r.finish, Usage: usage,
	}
	switch {
	case (r.finish == "STOP" || r.finish == endedInCalls) && len(r.calls) > 0:
		result.FinishReason = model.FinishToolCalls
	case r.finish == "STOP":
		result.FinishReason = model.FinishStop
	case r.finish == "MAX_TOKENS" && len(r.calls) == 0:
		result.FinishReason = model.FinishLength
	case r.finish == "MAX_TOKENS":
		return nil, r.req.BrokenReply("the output limit cut it within its calls").WithDetail("usage", usage.Clamped())
	default:
		return nil, r.req.BrokenReply("it finished with "+r.finish).WithDetail("usage", usage.Clamped())
	}
	if r.keep {
		r.closePlain()
		result.ProviderContinuation = r.req.NewContinuation(r.parts)
	}
	if r.req.Stream {
		for _, c := range r.calls {
			r.emit(model.Event{Kind: model.EventToolCall, Call: c})
		}
	}
	return r.req.Settle(result)
}
