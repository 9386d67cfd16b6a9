package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// Kinds of blocks.
type kind int

const (
	textBlock kind = iota
	imageBlock
	toolUse
	toolResult
	rawBlock // a native item, sent as it stands
)

// block is one content block before it is written.
type block struct {
	kind    kind
	text    string // of a text block, or the result of a tool
	image   model.Image
	call    model.ToolCall
	id      string // toolResult: the call's id
	parts   []block
	raw     json.RawMessage
	fixed   bool // carries no mark: thinking
	history bool // the message stood before the first late system message
	marked  bool
}

// turn is one wire message.
type turn struct {
	role   string // user, assistant or system
	blocks []block
}

// opening is the user message put in front where a conversation would start
// with something else.
const opening = "(Continued from earlier turns.)"

// layOut makes the wire messages of everything behind the leading system text.
func layOut(req *model.Request) []turn {
	leading := model.Leading(req.Messages)
	var late map[int]lateText
	if req.LateSystem == model.LateNative {
		late = placeNative(req.Messages, leading)
	}
	var turns []turn
	for i := leading; i < len(req.Messages); i++ {
		m := &req.Messages[i]
		history := req.History != nil && req.History[i]
		if m.IsSystem() {
			if !late[i].moved {
				e := model.Envelope(*m)
				turns = append(turns, turn{"user", contentBlocks(&e, false)})
			}
		} else {
			turns = appendTurn(turns, req, m, history)
		}
		if text, ok := late[i]; ok && text.behind {
			turns = append(turns, turn{"system", []block{{kind: textBlock, text: text.text, fixed: true}}})
		}
	}
	if len(turns) == 0 || turns[0].role != "user" {
		turns = append([]turn{{"user", []block{{kind: textBlock, text: opening}}}}, turns...)
	}
	return turns
}

// appendTurn adds a message that is no system message. Results of one group of
// calls share a user message.
func appendTurn(turns []turn, req *model.Request, m *model.Message, history bool) []turn {
	switch m.Role {
	case model.RoleTool:
		b := block{kind: toolResult, id: m.ToolCallID, text: m.Content, history: history}
		if len(m.Parts) > 0 {
			b.parts = contentBlocks(m, false)
		}
		if n := len(turns); n > 0 && turns[n-1].role == "user" && turns[n-1].blocks[0].kind == toolResult {
			turns[n-1].blocks = append(turns[n-1].blocks, b)
			return turns
		}
		return append(turns, turn{"user", []block{b}})
	case model.RoleAssistant:
		blocks := assistantBlocks(req, m, history)
		if len(blocks) == 0 {
			return turns // nothing was said: the API takes no empty text
		}
		return append(turns, turn{"assistant", blocks})
	}
	return append(turns, turn{"user", contentBlocks(m, history)})
}

// contentBlocks gives the text and image blocks of a message.
func contentBlocks(m *model.Message, history bool) []block {
	if len(m.Parts) == 0 {
		return []block{{kind: textBlock, text: m.Content, history: history}}
	}
	blocks := make([]block, 0, len(m.Parts))
	for _, p := range m.Parts {
		if p.Type == "image" {
			image, _ := model.ParseImage(p) // checked by the gateway
			blocks = append(blocks, block{kind: imageBlock, image: image, history: history})
			continue
		}
		blocks = append(blocks, block{kind: textBlock, text: p.Text, history: history})
	}
	return blocks
}

// assistantBlocks gives an earlier reply: its native blocks at this very
// target, else its text and calls.
func assistantBlocks(req *model.Request, m *model.Message, history bool) []block {
	var blocks []block
	if req.SameTarget(m.ProviderContinuation) {
		for _, item := range m.ProviderContinuation.Items {
			var typed struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal(item, &typed) // an item without a type carries no mark
			fixed := typed.Type != "text" && typed.Type != "tool_use"
			blocks = append(blocks, block{kind: rawBlock, raw: item, fixed: fixed, history: history})
		}
		return blocks
	}
	if text := m.Text(); text != "" {
		blocks = append(blocks, block{kind: textBlock, text: text, history: history})
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, block{kind: toolUse, call: c, history: history})
	}
	return blocks
}

// toolInput is a call's arguments as an object: as they stand, {} for none,
// and wrapped when they are something else.
func toolInput(arguments string) json.RawMessage {
	trimmed := strings.TrimSpace(arguments)
	if trimmed == "" {
		return json.RawMessage(`{}`)
	}
	if trimmed[0] == '{' && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	w := wire.NewWriter(len(arguments) + 16)
	return w.Open('{').Key("_raw").String(arguments).Close('}').Bytes()
}

// lateText says what becomes of a message under late system mode native.
type lateText struct {
	moved  bool   // a system message that goes out elsewhere
	behind bool   // a system message is sent behind this one
	text   string // its text
}

// placeNative moves late system messages behind the user messages that follow
// them (spec 04 §9.5). What cannot stand there stays at its place, in an
// envelope.
func placeNative(messages []model.Message, leading int) map[int]lateText {
	type run struct {
		from, to int // the system messages
		behind   int // the message it is sent behind
		text     string
		textOnly bool
	}
	var runs []run
	for i := leading; i < len(messages); {
		if !messages[i].IsSystem() {
			i++
			continue
		}
		r := run{from: i, textOnly: true}
		var texts []string
		for ; i < len(messages) && messages[i].IsSystem(); i++ {
			texts = append(texts, messages[i].Text())
			r.textOnly = r.textOnly && messages[i].HasOnlyText()
		}
		r.to, r.text = i, strings.Join(texts, "\n\n")
		for ; i < len(messages) && (messages[i].Role == model.RoleUser || messages[i].Role == model.RoleTool); i++ {
		}
		r.behind = i - 1
		if i == r.to {
			r.behind = r.from - 1
		}
		runs = append(runs, r)
	}
	places := map[int]lateText{}
	for n, r := range runs {
		if !r.textOnly || r.behind < leading || messages[r.behind].Role == model.RoleAssistant || messages[r.behind].IsSystem() {
			continue
		}
		next := r.behind + 1
		if next == r.from { // it stays where it is
			next = r.to
		}
		// Runs that meet are joined: the next one stays right behind this one.
		if n+1 < len(runs) && runs[n+1].from == next && runs[n+1].behind == runs[n+1].from-1 && runs[n+1].textOnly {
			runs[n+1].text = r.text + "\n\n" + runs[n+1].text
			markMoved(places, r.from, r.to)
			continue
		}
		if next < len(messages) && messages[next].Role != model.RoleAssistant {
			continue
		}
		at := places[r.behind]
		at.behind, at.text = true, r.text
		places[r.behind] = at
		markMoved(places, r.from, r.to)
	}
	return places
}

func markMoved(places map[int]lateText, from, to int) {
	for i := from; i < to; i++ {
		at := places[i]
		at.moved = true
		places[i] = at
	}
}
