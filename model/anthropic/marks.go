package anthropic

import (
	"strings"

	"github.com/covel-engine/covel/model"
)

// systemText is the top-level system as it will be written.
type systemText struct {
	plain  string  // without a sentinel
	blocks []block // with sentinels, under anthropic-explicit
}

// leadingText joins the leading system messages and cuts them at the sentinels.
func leadingText(req *model.Request) systemText {
	leading := model.Leading(req.Messages)
	texts := make([]string, 0, leading)
	for i := range leading {
		texts = append(texts, req.Messages[i].Text())
	}
	joined := strings.Join(texts, "\n\n")
	instruction := ""
	if req.InsertSchema {
		instruction = model.SchemaInstruction(req.Schema)
	}
	if req.Target.CacheStrategy != model.CacheAnthropicExplicit || !strings.Contains(joined, model.Sentinel) {
		return systemText{plain: joinText(model.StripSentinels(joined), instruction)}
	}
	closed, tail := model.SplitSentinels(joined)
	s := systemText{}
	for i, piece := range closed {
		s.blocks = append(s.blocks, block{kind: textBlock, text: piece, marked: i == 0 || i == len(closed)-1})
	}
	if tail = joinText(tail, instruction); strings.TrimSpace(tail) != "" {
		s.blocks = append(s.blocks, block{kind: textBlock, text: tail})
	}
	return s
}

// joinText puts a second text behind a blank line.
func joinText(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "\n\n" + more
}

// markMessages marks the last block of the request that can carry a mark, and
// the last one of the history (spec 04 §13.2).
func markMessages(req *model.Request, turns []turn) {
	if req.Target.CacheStrategy != model.CacheAnthropicExplicit {
		return
	}
	end := -1
	for i := len(turns) - 1; i >= 0 && end < 0; i-- {
		if b := lastMarkable(&turns[i], false); b != nil {
			b.marked, end = true, i
		}
	}
	for i := len(turns) - 1; i >= 0; i-- {
		if !holdsHistory(&turns[i]) {
			continue
		}
		if i != end {
			if b := lastMarkable(&turns[i], true); b != nil {
				b.marked = true
			}
		}
		return
	}
}

func holdsHistory(t *turn) bool {
	for i := range t.blocks {
		if t.blocks[i].history {
			return true
		}
	}
	return false
}

// lastMarkable is the last block that can carry a mark, of the history only if
// asked; nil for none.
func lastMarkable(t *turn, history bool) *block {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		b := &t.blocks[i]
		if !b.fixed && (!history || b.history) && (b.kind != textBlock || b.text != "") {
			return b
		}
	}
	return nil
}

// noteMarks writes the marks into the record: how many, and whether one closes
// a prefix that is too short to be cached.
func noteMarks(req *model.Request, s systemText, turns []turn) {
	if req.Target.CacheStrategy != model.CacheAnthropicExplicit {
		return
	}
	tokens, least := 0, req.Model.MinCacheTokens
	if least > 0 {
		for _, t := range req.Tools {
			tokens += req.Count(t.Name) + req.Count(t.Description) + req.Count(string(t.Parameters))
		}
	}
	see := func(b *block) {
		if tokens < least {
			tokens += req.Count(b.text) + req.Count(b.call.Arguments) + req.Count(string(b.raw))
		}
		if b.marked {
			req.Record.CacheMarks++
			if tokens < least {
				req.Record.BelowMinimum = true
			}
		}
	}
	for i := range s.blocks {
		see(&s.blocks[i])
	}
	if s.plain != "" {
		see(&block{text: s.plain})
	}
	for i := range turns {
		for j := range turns[i].blocks {
			see(&turns[i].blocks[j])
		}
	}
}
