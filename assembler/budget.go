package assembler

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/turn"
)

// Budget fits requests into the window of the slot they go to (spec 01 §15).
type Budget struct {
	// CurrentTurnUserMessages is Assembled's, plus one for each message that the
	// player inserted, less one when the pictures were dropped. Defaults to 1.
	CurrentTurnUserMessages int
	// Emergency makes the newest groups eligible too; only for the rescue
	// attempt after an overflow. Defaults to false.
	Emergency bool
	// Estimator is the called slot's; required.
	Estimator tokens.Estimator
	// Lang is the instruction language of markers. Defaults to English.
	Lang locale.Lang
	// Model, Provider, Runtime and Slot are named in errors. Default to none.
	Model    string
	Provider string
	// ProtectLastUserTurns is how many user messages pruning never drops; at
	// least the current turn is protected. Defaults to 1.
	ProtectLastUserTurns int
	// Reserve is kept for the response, in tokens. Defaults to 0.
	Reserve int
	// RetryHint is the longest hint that a retry of this call may add. Defaults
	// to none.
	RetryHint string
	Runtime   string
	Slot      string
	// Texts is the framework's catalogue; required by Apply.
	Texts *locale.Texts
	// Window is the model's window, limited by the configured ceiling; required.
	Window int
}

// Validate refuses bad limits with a *turn.Error of code bad-limit that names
// field and value.
func (b Budget) Validate() error {
	bad := func(field string, value int, bounds string) error {
		e := turn.Errorf("check context budget", "bad-limit", "%s%s is %d; use %s", b.target(), field, value, bounds)
		e.Field, e.Runtime = field, b.Runtime
		return e
	}
	switch {
	case b.Window <= 0:
		return bad("maxInputTokens", b.Window, "a whole number above 0")
	case b.Reserve < 0:
		return bad("reservedForResponse", b.Reserve, "a whole number of at least 0")
	case b.Reserve >= b.Window:
		return bad("reservedForResponse", b.Reserve, "less than maxInputTokens")
	case b.ProtectLastUserTurns < 0:
		return bad("protectLastUserTurns", b.ProtectLastUserTurns, "a whole number of at least 0")
	}
	return nil
}

// Limit is the input limit: the window without the reserve.
func (b Budget) Limit() int { return b.Window - b.Reserve }

func (b Budget) protect() int {
	return max(1, b.ProtectLastUserTurns) + max(1, b.CurrentTurnUserMessages) - 1
}

// target names the slot in front of an error text.
func (b Budget) target() string {
	var parts []string
	for _, p := range [][2]string{{"provider", b.Provider}, {"model", b.Model}, {"slot", b.Slot}} {
		if p[1] != "" {
			parts = append(parts, p[0]+": "+p[1])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "] "
}

// Request is one exact request before it is bound to a protocol. System has no
// response-format text yet; the budget counts it.
type Request struct {
	System         string
	Messages       []model.Message
	Tools          []model.Tool
	ResponseSchema json.RawMessage
}

// Report says what a request costs and what was shortened.
type Report struct {
	Estimate int `json:"estimate"`
	Limit    int `json:"limit"`
	// Fixed is everything that is no message; System, Tools and ResponseFormat
	// are its parts, each estimated alone.
	Fixed          int `json:"fixed"`
	System         int `json:"system"`
	Tools          int `json:"tools"`
	ResponseFormat int `json:"responseFormat"`
	Messages       int `json:"messages"`

	Elided             int  `json:"elided,omitempty"`
	Collapsed          int  `json:"collapsed,omitempty"`
	Pruned             int  `json:"prunedMessageCount,omitempty"`
	TruncatedResults   int  `json:"truncatedToolResultCount,omitempty"`
	TruncatedSummaries int  `json:"truncatedSummaryCount,omitempty"`
	ToolResultSaved    int  `json:"toolResultSaved,omitempty"`
	SummarySaved       int  `json:"summarySaved,omitempty"`
	Groups             int  `json:"groups,omitempty"`
	Changed            bool `json:"changed,omitempty"`
}

// Traced says whether context.pruned is to be traced (spec 01 §15.11).
func (r Report) Traced() bool {
	return r.Pruned > 0 || r.TruncatedResults > 0 || r.TruncatedSummaries > 0
}

// Apply fits a request into the limit, in the order of spec 01 §15.5. The
// request's slices are not changed; the ledger gains what this call shortened,
// so that later requests of the run repeat it byte for byte. A request that
// still does not fit is a *turn.Error of code context-overflow, whose text is an
// *Overflow.
func (b Budget) Apply(req Request, ledger *Ledger) (Request, Report, error) {
	if err := b.Validate(); err != nil {
		return req, Report{}, err
	}
	f := newFitting(b, req)
	f.replay(ledger)
	if f.over() {
		f.elide(ledger)
		if !f.relaxed() {
			f.collapse(ledger)
		}
	}
	messages := f.messages()
	if f.over() {
		costs := f.keptCosts()
		p := b.pruner(f.fixed, b.Texts, b.Lang).prune(messages, costs)
		messages, f.estimate, f.report.Pruned = p.Messages, p.Total, p.Pruned
	}
	if f.over() {
		messages = f.truncate(messages)
	}
	f.report.Estimate = f.estimate
	f.report.Messages = f.estimate - f.fixed
	f.report.Changed = f.changed || f.report.Traced()
	if f.over() {
		return req, f.report, b.overflow(f.report)
	}
	req.System, req.Messages = CapSentinels(req.System), messages
	return req, f.report, nil
}

// fixedInput estimates everything of a request that is no message.
func (b Budget) fixedInput(req Request) (total int, report Report) {
	est := b.Estimator
	system := StripSentinels(req.System)
	parts := []string{system}
	if len(req.Tools) > 0 {
		tools := "<tool_definitions>" + toolsJSON(req.Tools) + "</tool_definitions>"
		report.Tools = est.Count(tools)
		parts = append(parts, tools)
	}
	extra := 0
	if len(req.ResponseSchema) > 0 {
		schema := modelJSON(req.ResponseSchema)
		format := "<response_format>" + schema + "</response_format>"
		extra = est.Count(schema)
		report.ResponseFormat = est.Count(format) + extra
		parts = append(parts, format)
	}
	parts = append(parts, b.RetryHint)
	report.System = est.Count(system)
	return est.Count(joinNonEmpty("\n", parts...)) + extra, report
}

func modelJSON(raw json.RawMessage) string {
	v, err := ordered.Parse(raw)
	if err != nil {
		return string(raw)
	}
	return v.JSON()
}

func toolsJSON(tools []model.Tool) string {
	b := []byte{'['}
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = ordered.AppendString(append(b, `{"name":`...), t.Name)
		if t.Description != "" {
			b = ordered.AppendString(append(b, `,"description":`...), t.Description)
		}
		if len(t.Parameters) > 0 {
			b = append(append(b, `,"parameters":`...), modelJSON(t.Parameters)...)
		}
		b = append(b, '}')
	}
	return string(append(b, ']'))
}

// prune applies the budget while assembling: only history pruning (spec 01
// §15.4).
func (b *build) prune(out *Assembled) {
	budget := *b.Budget
	budget.CurrentTurnUserMessages = out.CurrentTurnUserMessages
	pruned := budget.pruner(systemCost(budget.Estimator, out.SystemPrompt), b.Texts, b.lang).Prune(out.Messages)
	out.PrunedMessageCount, out.OverBudget, out.Tokens = pruned.Pruned, pruned.OverBudget, pruned.Total
	if pruned.Pruned == 0 {
		return
	}
	shift := len(pruned.Messages) - len(out.Messages)
	out.Messages, out.PlayerIndex = pruned.Messages, out.PlayerIndex+shift
	out.Sections = shiftSections(out.Sections, shift)
}

// PruneHistory prunes after a hook replaced the messages of an assembled
// context, as Build does.
func (b Budget) PruneHistory(out *Assembled) (*Assembled, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	b.CurrentTurnUserMessages = out.CurrentTurnUserMessages
	p := b.pruner(systemCost(b.Estimator, out.SystemPrompt), b.Texts, b.Lang).Prune(out.Messages)
	pruned := *out
	pruned.Messages, pruned.OverBudget, pruned.Tokens = p.Messages, p.OverBudget, p.Total
	pruned.PrunedMessageCount += p.Pruned
	pruned.PlayerIndex += len(p.Messages) - len(out.Messages)
	pruned.Sections = shiftSections(out.Sections, len(p.Messages)-len(out.Messages))
	return &pruned, nil
}

func (b Budget) pruner(fixed int, texts *locale.Texts, lang locale.Lang) Pruner {
	return Pruner{
		Cap: b.Limit(), Estimator: b.Estimator, Fixed: fixed,
		Marker: texts.Get(lang, "T08", nil), Protect: b.protect(), Texts: texts,
	}
}

// shiftSections moves the message sections after pruning. Everything before the
// protected range shrinks into what is left in front of it.
func shiftSections(sections []Section, shift int) []Section {
	if shift == 0 {
		return sections
	}
	out := make([]Section, 0, len(sections))
	for _, s := range sections {
		if s.Zone == ZoneMessages {
			s.From, s.To = max(0, s.From+shift), max(0, s.To+shift)
			if s.To == s.From {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}
