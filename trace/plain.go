package trace

import (
	"encoding/json"

	"github.com/covel-engine/covel/model"
)

// Plain is a recorded request in the engine's own terms, whatever protocol
// carried it. System is the leading system text as it was sent, without cache
// sentinels; later system messages stay among Messages.
type Plain struct {
	System   string
	Tools    []model.Tool
	Messages []model.Message
}

// ReadPlain reads a request body of any wire protocol, or the unbound request.
// Members that no protocol knows are left out; the body itself stays the truth.
func ReadPlain(body json.RawMessage) Plain {
	var b struct {
		Tools             []plainTool       `json:"tools"`
		System            json.RawMessage   `json:"system"`
		SystemInstruction json.RawMessage   `json:"systemInstruction"`
		Instructions      json.RawMessage   `json:"instructions"`
		Messages          []json.RawMessage `json:"messages"`
		Input             json.RawMessage   `json:"input"`
		Contents          []json.RawMessage `json:"contents"`
	}
	if json.Unmarshal(body, &b) != nil {
		return Plain{}
	}
	var p Plain
	for _, t := range b.Tools {
		p.Tools = append(p.Tools, t.tools()...)
	}
	for _, system := range []json.RawMessage{b.System, b.SystemInstruction, b.Instructions} {
		p.System += joinedText(system)
	}
	p.addAll(b.Messages)
	p.addAll(b.Contents)
	var items []json.RawMessage
	if text, ok := asText(b.Input); ok {
		p.Messages = append(p.Messages, model.Message{Role: model.RoleUser, Content: text})
	} else if json.Unmarshal(b.Input, &items) == nil {
		p.addAll(items)
	}
	p.takeLeadingSystem()
	return p
}

// takeLeadingSystem moves a system message that leads the conversation to
// System. Only one: a second one is the turn context of a request without
// history.
func (p *Plain) takeLeadingSystem() {
	if p.System == "" && len(p.Messages) > 0 {
		if m := p.Messages[0]; m.Role == model.RoleSystem || m.Role == model.RoleDeveloper {
			p.System, p.Messages = m.Content, p.Messages[1:]
		}
	}
	p.System = model.StripSentinels(p.System)
}

func (p *Plain) addAll(items []json.RawMessage) {
	for _, raw := range items {
		p.add(raw)
	}
}
