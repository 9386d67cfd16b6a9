package trace

import (
	"encoding/json"
	"strings"

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

// takeLeadingSystem moves system messages that lead the conversation to System.
func (p *Plain) takeLeadingSystem() {
	var lead []string
	if p.System != "" {
		lead = append(lead, p.System)
	}
	for len(p.Messages) > 0 && p.System == "" {
		m := p.Messages[0]
		if m.Role != model.RoleSystem && m.Role != model.RoleDeveloper {
			break
		}
		lead, p.Messages = append(lead, m.Content), p.Messages[1:]
	}
	p.System = model.StripSentinels(strings.Join(lead, "\n\n"))
}

func (p *Plain) addAll(items []json.RawMessage) {
	for _, raw := range items {
		p.add(raw)
	}
}
