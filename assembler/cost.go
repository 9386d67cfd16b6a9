package assembler

import (
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// imageTokens is what one image costs in an estimate (spec 01 §15.3).
const imageTokens = 1500

// MessageCost estimates one message: its text, 1,500 for each image, and the
// model JSON of name, call id, calls and reasoning (spec 01 §15.3).
func MessageCost(est tokens.Estimator, m model.Message) int {
	n := est.Count(StripSentinels(m.Content))
	if m.Parts != nil {
		text, images := partsText(m.Parts)
		n = est.Count(text) + images*imageTokens
	}
	if m.Name == "" && m.ToolCallID == "" && len(m.ToolCalls) == 0 && m.ReasoningContent == "" {
		return n
	}
	return n + est.Count(metaJSON(m))
}

func partsText(parts []model.Part) (text string, images int) {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
		if p.Type == partImage {
			texts[i] = "[image]"
			images++
		}
	}
	return StripSentinels(strings.Join(texts, "\n")), images
}

func metaJSON(m model.Message) string {
	b := make([]byte, 0, 64+len(m.ReasoningContent))
	b = append(b, '{')
	member := func(key string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), key...), '"', ':')
	}
	if m.Name != "" {
		member("name")
		b = ordered.AppendString(b, m.Name)
	}
	if m.ToolCallID != "" {
		member("toolCallId")
		b = ordered.AppendString(b, m.ToolCallID)
	}
	if len(m.ToolCalls) > 0 {
		member("toolCalls")
		for i, c := range m.ToolCalls {
			b = append(b, `[,`[min(i, 1)])
			b = ordered.AppendString(append(b, `{"id":`...), c.ID)
			b = ordered.AppendString(append(b, `,"name":`...), c.Name)
			b = ordered.AppendString(append(b, `,"arguments":`...), c.Arguments)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	if m.ReasoningContent != "" {
		member("reasoningContent")
		b = ordered.AppendString(b, m.ReasoningContent)
	}
	return string(append(b, '}'))
}

func systemCost(est tokens.Estimator, system string) int { return est.Count(StripSentinels(system)) }
