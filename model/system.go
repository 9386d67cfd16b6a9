package model

import (
	"slices"
	"strings"
)

// IsSystem says whether a message counts as system: developer does too.
func (m *Message) IsSystem() bool { return m.Role == RoleSystem || m.Role == RoleDeveloper }

// HasOnlyText says whether a message's parts, if any, are all text.
func (m *Message) HasOnlyText() bool {
	return !slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Type != "text" })
}

// Text is a message's text, parts joined.
func (m *Message) Text() string {
	if len(m.Parts) == 0 {
		return m.Content
	}
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Leading counts the run of system messages before the first other role.
func Leading(messages []Message) int {
	for i := range messages {
		if !messages[i].IsSystem() {
			return i
		}
	}
	return len(messages)
}

// The envelope of a late system message sent as user (spec 04 §9.1).
const (
	EnvelopeOpen  = "<system-instruction>\n"
	EnvelopeClose = "\n</system-instruction>"
)

// Envelope gives a late system message as the user message that carries it.
func Envelope(m Message) Message {
	if len(m.Parts) == 0 {
		return Message{Role: RoleUser, Content: EnvelopeOpen + m.Content + EnvelopeClose}
	}
	parts := make([]Part, 0, len(m.Parts)+2)
	parts = append(parts, Part{Type: "text", Text: EnvelopeOpen})
	parts = append(parts, m.Parts...)
	return Message{Role: RoleUser, Parts: append(parts, Part{Type: "text", Text: EnvelopeClose})}
}
