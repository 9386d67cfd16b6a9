package golden_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Cache marks as the bodies write them (spec 04 §13.2, §13.3).
const (
	anthropicMark  = `,"cache_control":{"type":"ephemeral"}`
	breakpointMark = `,"prompt_cache_breakpoint":{"mode":"explicit"}`
)

// lookback is how many blocks before a mark Anthropic looks for an entry that
// an earlier request wrote.
const lookback = 20

func withoutMarks(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte(anthropicMark), nil)
	return bytes.ReplaceAll(body, []byte(breakpointMark), nil)
}

// blockOf is one thing that can carry a mark, or that stands between two that do.
type blockOf struct {
	raw    string // without its mark
	kind   string
	marked bool
	row    bool // of the history
}

// blocks lists a request in the order in which the cache reads it: tools,
// system, messages. Each message's role stands with its blocks.
func (c *call) blocks(t *testing.T) []blockOf {
	t.Helper()
	var body struct {
		Tools    []json.RawMessage
		System   []json.RawMessage
		Messages []wireMessage
		Input    []wireMessage
	}
	must(t, json.Unmarshal(c.Body(), &body))
	var list []blockOf
	for _, tool := range body.Tools {
		list = append(list, newBlock(t, "", tool))
	}
	for _, piece := range body.System {
		list = append(list, newBlock(t, "system", piece))
	}
	rows := 0
	for _, m := range append(body.Messages, body.Input...) {
		parts := []json.RawMessage{m.raw}
		if len(m.Content) > 0 && m.Content[0] == '[' {
			must(t, json.Unmarshal(m.Content, &parts))
		}
		if m.Role != "system" || rows > 0 {
			rows++
		}
		for _, part := range parts {
			b := newBlock(t, m.Role, part)
			b.row = rows > 0 && rows <= c.history()
			list = append(list, b)
		}
	}
	return list
}

// wireMessage is a message or another item of a request.
type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	raw     json.RawMessage
}

func (m *wireMessage) UnmarshalJSON(raw []byte) error {
	type plain wireMessage
	m.raw = bytes.Clone(raw)
	return json.Unmarshal(raw, (*plain)(m))
}

func newBlock(t *testing.T, role string, raw json.RawMessage) blockOf {
	t.Helper()
	var b struct {
		Type string `json:"type"`
	}
	must(t, json.Unmarshal(raw, &b))
	plain := withoutMarks(raw)
	return blockOf{raw: role + ":" + string(plain), kind: b.Type, marked: len(plain) < len(raw)}
}

// marks are the indexes of the marked blocks.
func marks(list []blockOf) (at []int) {
	for i, b := range list {
		if b.marked {
			at = append(at, i)
		}
	}
	return at
}

// written is the last mark of the history: what the next turn's request reads.
func written(list []blockOf) int {
	last := -1
	for _, i := range marks(list) {
		if list[i].row {
			last = i
		}
	}
	return last
}

// TestAnthropicMarks: a request has at most four marks, none on thinking; a
// turn reads what the turn before wrote at the end of its history, and a step
// of a tool loop what the step before wrote at its end.
func TestAnthropicMarks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"en-US.anthropic", "zh-CN.anthropic"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := playOnce(t, name)
			thinking := 0
			for i := range calls {
				list := calls[i].blocks(t)
				if n := len(marks(list)); n == 0 || n > 4 {
					t.Errorf("%s has %d marks", keyOf(&calls[i].Recorded), n)
				}
				for _, b := range list {
					if strings.HasSuffix(b.kind, "thinking") {
						thinking++
						if b.marked {
							t.Errorf("%s marks a %s block", keyOf(&calls[i].Recorded), b.kind)
						}
					}
				}
				if i > 0 && calls[i].RuntimeID == calls[i-1].RuntimeID && calls[i].LogicalTurn == calls[i-1].LogicalTurn && calls[i].Step == calls[i-1].Step+1 {
					before := marks(calls[i-1].blocks(t))
					readsMark(t, &calls[i-1], &calls[i], before[len(before)-1], lookback)
				}
			}
			if thinking == 0 {
				t.Error("no request holds a thinking block")
			}
			list := firsts(calls, "narrator")
			for i := 2; i < len(list); i++ {
				if list[i-1].lore() == list[i].lore() {
					readsMark(t, &list[i-1], &list[i], written(list[i-1].blocks(t)), lookback)
				}
			}
		})
	}
}

// TestBreakpoints: where a prefix matches only at a breakpoint, a turn sets one
// exactly where the turn before had its last one of the history.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	calls := playOnce(t, "en-US.responses")
	for i := range calls {
		if n := len(marks(calls[i].blocks(t))); n == 0 || n > 4 {
			t.Errorf("%s has %d breakpoints", keyOf(&calls[i].Recorded), n)
		}
	}
	list := firsts(calls, "narrator")
	for i := 2; i < len(list); i++ {
		if list[i-1].lore() == list[i].lore() {
			readsMark(t, &list[i-1], &list[i], written(list[i-1].blocks(t)), 0)
		}
	}
}

// readsMark wants the later request to begin with the earlier one up to the
// block at, and to have a mark there or at most so many blocks behind it.
func readsMark(t *testing.T, was, now *call, at, within int) {
	t.Helper()
	before, after := was.blocks(t), now.blocks(t)
	if at < 0 {
		t.Fatalf("%s marks nothing of its history", keyOf(&was.Recorded))
	}
	for i := range at + 1 {
		if i >= len(after) || before[i].raw != after[i].raw {
			t.Fatalf("%s differs from %s in block %d, before the mark on block %d", keyOf(&now.Recorded), keyOf(&was.Recorded), i, at)
		}
	}
	for _, mark := range marks(after) {
		if mark >= at && mark <= at+within {
			return
		}
	}
	t.Fatalf("%s has its marks at %v; none reads what %s wrote at block %d", keyOf(&now.Recorded), marks(after), keyOf(&was.Recorded), at)
}
