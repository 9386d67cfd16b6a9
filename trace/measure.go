package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/covel-engine/covel/tokens"
)

// Part is one piece of a request as the prefix report names it.
type Part struct {
	Label string
	Text  string
}

// Labels of pairs without a differing part, and the text of a part that the
// earlier request does not have.
const (
	Identical    = "(identical)"
	EndsEarlier  = "(request ends earlier)"
	NoSuchPart   = "(no such part)"
	OneTurnOnly  = "(one turn only)"
	windowBefore = 40
	windowAfter  = 80
)

// Report says how much of each turn's first request repeats the one of the
// turn before (spec 01 §17).
type Report struct {
	Runtimes []RuntimePrefix `json:"runtimes"`
}

// RuntimePrefix is one runtime of one session. Lengths are in runes.
type RuntimePrefix struct {
	SessionID string `json:"sessionId"`
	RuntimeID string `json:"runtimeId"`
	Turns     int    `json:"turns"`
	Calls     int    `json:"calls"`
	// TotalChars sums all calls, FirstRequestChars has each turn's first call.
	TotalChars        int    `json:"totalChars"`
	FirstRequestChars []int  `json:"firstRequestChars"`
	Pairs             []Pair `json:"pairs"`
	// Provider and Model are those of the last call, for the page.
	Provider string `json:"-"`
	Model    string `json:"-"`
}

// Pair compares a turn's first request with the one of the turn before.
type Pair struct {
	Size            int    `json:"size"`
	Tokens          int    `json:"tokens"`
	Shared          int    `json:"shared"`
	SharedTokens    int    `json:"sharedTokens"`
	FirstDifference string `json:"firstDifference"`
	Offset          int    `json:"offset"`
	Was             string `json:"was"`
	Now             string `json:"now"`
	// Turn is the logical turn, for the page. Repeated is the tokens of the
	// parts behind the first difference that the earlier request has too: a
	// cache would have served them, had nothing moved before them.
	Turn     int `json:"-"`
	Repeated int `json:"-"`
}

// Measure compares the first requests of each runtime's turns. Calls come in
// the order in which they were sent; runtimes keep the order of their first
// call. Tokens are counted with the built-in estimator.
func Measure(calls []Recorded, estimator tokens.Estimator) Report {
	m := NewMeasurement(estimator)
	for i := range calls {
		m.Add(&calls[i])
	}
	return m.Report()
}

// Measurement takes calls one by one. It keeps one request a runtime.
type Measurement struct {
	estimator tokens.Estimator
	report    Report
	last      map[runtimeKey]*firstRequest
}

type runtimeKey struct{ sessionID, runtimeID string }

// firstRequest is the first request of the last turn of a runtime.
type firstRequest struct {
	row    int // of the report
	turnID string
	parts  []Part
}

// NewMeasurement starts an empty measurement.
func NewMeasurement(estimator tokens.Estimator) *Measurement {
	return &Measurement{estimator: estimator, report: Report{Runtimes: []RuntimePrefix{}}, last: make(map[runtimeKey]*firstRequest)}
}

// Add takes the next call. It opens a turn only when its turn is another one
// than the runtime's last. Concealed calls have no body and are left out.
func (m *Measurement) Add(call *Recorded) {
	if call.Concealed {
		return
	}
	key := runtimeKey{call.SessionID, call.RuntimeID}
	last, known := m.last[key]
	if !known {
		last = &firstRequest{row: len(m.report.Runtimes)}
		m.last[key] = last
		m.report.Runtimes = append(m.report.Runtimes, RuntimePrefix{
			SessionID: call.SessionID, RuntimeID: call.RuntimeID, FirstRequestChars: []int{}, Pairs: []Pair{},
		})
	}
	row := &m.report.Runtimes[last.row]
	parts := Parts(call.Body())
	size := runes(parts)
	row.Calls++
	if len(call.Records) > 0 {
		row.Provider, row.Model = call.Records[0].Provider, call.Records[0].Model
	}
	row.TotalChars += size
	if known && call.TurnID == last.turnID {
		return
	}
	row.Turns++
	row.FirstRequestChars = append(row.FirstRequestChars, size)
	if known {
		pair := compare(last.parts, parts, m.estimator)
		pair.Turn = call.LogicalTurn
		row.Pairs = append(row.Pairs, pair)
	}
	last.turnID, last.parts = call.TurnID, parts
}

// Report gives what has been measured so far.
func (m *Measurement) Report() Report { return m.report }

// Parts names the parts of a request body: tools, system, instructions, then
// the messages, in the order in which a provider reads them.
func Parts(body json.RawMessage) []Part {
	var b struct {
		Tools             []json.RawMessage `json:"tools"`
		System            json.RawMessage   `json:"system"`
		SystemInstruction json.RawMessage   `json:"systemInstruction"`
		Instructions      json.RawMessage   `json:"instructions"`
		Messages          json.RawMessage   `json:"messages"`
		Input             json.RawMessage   `json:"input"`
		Contents          json.RawMessage   `json:"contents"`
	}
	if json.Unmarshal(body, &b) != nil {
		return nil
	}
	var parts []Part
	for i, tool := range b.Tools {
		parts = append(parts, Part{fmt.Sprintf("tool %d (%s)", i+1, toolName(tool)), compact(tool)})
	}
	parts = append(parts, systemParts(b.System)...)
	parts = append(parts, systemParts(b.SystemInstruction)...)
	if text, ok := asText(b.Instructions); ok {
		parts = append(parts, Part{"instructions", text})
	}
	for _, list := range []json.RawMessage{b.Messages, b.Input, b.Contents} {
		if present(list) {
			return append(parts, messageParts(list)...)
		}
	}
	return parts
}

func systemParts(system json.RawMessage) []Part {
	if !present(system) {
		return nil
	}
	if text, ok := asText(system); ok {
		return []Part{{"system", text}}
	}
	var blocks []json.RawMessage
	if json.Unmarshal(system, &blocks) != nil {
		return []Part{{"system", compact(system)}}
	}
	parts := make([]Part, len(blocks))
	for i, block := range blocks {
		parts[i] = Part{fmt.Sprintf("system block %d", i+1), compact(block)}
	}
	return parts
}

func messageParts(list json.RawMessage) []Part {
	var messages []json.RawMessage
	if text, ok := asText(list); ok {
		return []Part{{"message 1 (?)", text}}
	}
	if json.Unmarshal(list, &messages) != nil {
		return nil
	}
	parts := make([]Part, len(messages))
	for i, raw := range messages {
		var m struct {
			Role    string          `json:"role"`
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		_ = json.Unmarshal(raw, &m) // a message of another shape is shown as JSON
		text, isText := asText(m.Content)
		if !isText {
			text = compact(raw)
		}
		parts[i] = Part{fmt.Sprintf("message %d (%s)", i+1, firstOf(m.Role, m.Type, "?")), text}
	}
	return parts
}

func toolName(tool json.RawMessage) string {
	var t struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	_ = json.Unmarshal(tool, &t) // a tool of another shape has no name
	return firstOf(t.Name, t.Function.Name, "?")
}

func firstOf(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func asText(raw json.RawMessage) (string, bool) {
	var text string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func runes(parts []Part) int {
	n := 0
	for _, p := range parts {
		n += len([]rune(p.Text))
	}
	return n
}

// compare finds the first part of now that differs from was.
func compare(was, now []Part, estimator tokens.Estimator) Pair {
	var all, shared strings.Builder
	for _, p := range now {
		all.WriteString(p.Text)
	}
	pair := Pair{Size: runes(now), Tokens: estimator.Count(all.String()), FirstDifference: Identical}
	if len(was) > len(now) {
		pair.FirstDifference = EndsEarlier
	}
	for i, p := range now {
		if i < len(was) && was[i] == p {
			shared.WriteString(p.Text)
			continue
		}
		pair.FirstDifference = p.Label
		pair.Repeated = repeated(was[min(i+1, len(was)):], now[i+1:], estimator)
		if i >= len(was) {
			pair.Was, pair.Now = NoSuchPart, window([]rune(p.Text), 0)
			break
		}
		old, text := []rune(was[i].Text), []rune(p.Text)
		if was[i].Text != p.Text { // else only the role differs, and nothing of the part is shared
			pair.Offset = commonPrefix(old, text)
		}
		shared.WriteString(string(text[:pair.Offset]))
		pair.Was, pair.Now = window(old, pair.Offset), window(text, pair.Offset)
		break
	}
	pair.Shared = len([]rune(shared.String()))
	pair.SharedTokens = estimator.Count(shared.String())
	return pair
}

// repeated counts the tokens of the parts of now that was has too.
func repeated(was, now []Part, estimator tokens.Estimator) int {
	known := make(map[string]bool, len(was))
	for _, p := range was {
		known[p.Text] = true
	}
	n := 0
	for _, p := range now {
		if known[p.Text] {
			n += estimator.Count(p.Text)
		}
	}
	return n
}

func commonPrefix(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// window gives the text around an offset: 40 runes before, 80 after.
func window(text []rune, offset int) string {
	return string(text[max(0, offset-windowBefore):min(len(text), offset+windowAfter)])
}
