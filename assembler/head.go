package assembler

import (
	"strings"

	"github.com/covel-engine/covel/model"
)

// RestoreHead makes a hook's system prompt start with the framework head
// exactly once (spec 01 §4.4). Sentinels beyond the fourth go.
func RestoreHead(head, system string) string {
	if head == "" {
		return CapSentinels(system)
	}
	preamble := strings.TrimSuffix(head, Sentinel)
	switch {
	case strings.HasPrefix(system, head):
	case strings.HasPrefix(system, preamble):
		system = head + system[len(preamble):]
	default:
		if system = strings.TrimLeft(system, "\n"); system == "" {
			return head
		}
		system = head + blankLine + system
	}
	return CapSentinels(system)
}

// Finish applies what a PostContextAssembly hook returned: the head is put
// back, and no message keeps a sentinel. The messages are not changed in place.
func Finish(out *Assembled, system string, messages []model.Message) *Assembled {
	finished := *out
	finished.SystemPrompt = RestoreHead(out.FrameworkHead, system)
	finished.Messages = StripMessages(messages)
	return &finished
}

// StripMessages removes sentinels from every text of the messages, on a copy.
func StripMessages(messages []model.Message) []model.Message {
	out := make([]model.Message, len(messages))
	for i, m := range messages {
		m.Content = StripSentinels(m.Content)
		if m.Parts != nil {
			parts := make([]model.Part, len(m.Parts))
			for j, p := range m.Parts {
				p.Text = StripSentinels(p.Text)
				parts[j] = p
			}
			m.Parts = parts
		}
		out[i] = m
	}
	return out
}
