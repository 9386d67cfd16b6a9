package model

import (
	"slices"
	"strings"
)

// Sentinel marks the end of a cacheable piece of system text (spec 01 §16).
// None reaches a provider.
const Sentinel = "\uE000COVEL_CACHE_BREAK\uE000"

// StripSentinels removes every sentinel.
func StripSentinels(text string) string {
	if !strings.Contains(text, Sentinel) {
		return text
	}
	return strings.ReplaceAll(text, Sentinel, "")
}

// SplitSentinels cuts a text at its sentinels: the end of each piece is
// trimmed, empty pieces are dropped. closed pieces stand in front of a
// sentinel; tail is the text behind the last one and keeps its leading blank
// line. Without a sentinel the whole text is the tail.
func SplitSentinels(text string) (closed []string, tail string) {
	parts := strings.Split(text, Sentinel)
	for _, p := range parts[:len(parts)-1] {
		if p = strings.TrimRight(p, " \t\r\n"); p != "" {
			closed = append(closed, p)
		}
	}
	return closed, strings.TrimRight(parts[len(parts)-1], " \t\r\n")
}

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

// holdBack moves system and user messages that stand between a call and its
// results behind the results (spec 04 §9.3). order[i] is the place that the
// i-th message had before.
func holdBack(messages []Message) (held []Message, order []int) {
	if !needsHoldBack(messages) {
		order = make([]int, len(messages))
		for i := range order {
			order[i] = i
		}
		return messages, order
	}
	held = make([]Message, 0, len(messages))
	open := map[string]bool{}
	var waiting []int
	put := func(i int) {
		held = append(held, messages[i])
		order = append(order, i)
	}
	release := func() {
		for _, i := range waiting {
			put(i)
		}
		waiting = nil
	}
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == RoleTool:
			put(i)
			delete(open, m.ToolCallID)
			if len(open) == 0 {
				release()
			}
		case m.Role == RoleAssistant:
			clear(open)
			release()
			put(i)
			for _, c := range m.ToolCalls {
				open[c.ID] = true
			}
		case len(open) > 0:
			waiting = append(waiting, i)
		default:
			put(i)
		}
	}
	release()
	return held, order
}

// needsHoldBack is the cheap question that most requests answer with no.
func needsHoldBack(messages []Message) bool {
	calling := false
	for i := range messages {
		switch m := &messages[i]; {
		case m.Role == RoleAssistant:
			calling = len(m.ToolCalls) > 0
		case m.Role == RoleTool:
		case calling:
			return true
		}
	}
	return false
}

// historyMarks marks, per held message, whether it stood before the first late
// system message and is itself no system message; nil without a late one.
func historyMarks(messages []Message, order []int) []bool {
	late := -1
	for i := Leading(messages); i < len(messages); i++ {
		if messages[i].IsSystem() {
			late = i
			break
		}
	}
	if late < 0 {
		return nil
	}
	marks := make([]bool, len(order))
	for at, was := range order {
		marks[at] = was < late && !messages[was].IsSystem()
	}
	return marks
}
