package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
)

// promptView prints a request for a reader: coloured on a terminal, plain when
// piped.
type promptView struct {
	w      io.Writer
	colour bool
	err    error
}

// Colours of a terminal.
const (
	paintReset  = "\x1b[0m"
	paintBold   = "\x1b[1m"
	paintDim    = "\x1b[2m"
	paintGreen  = "\x1b[32m"
	paintYellow = "\x1b[33m"
	paintBlue   = "\x1b[34m"
	paintCyan   = "\x1b[36m"
)

// colourful says whether a stream is a terminal that wants colours.
func colourful(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && terminal(w) }

func (v *promptView) printf(format string, args ...any) {
	if v.err == nil {
		_, v.err = fmt.Fprintf(v.w, format, args...)
	}
}

func (v *promptView) paint(style, text string) string {
	if !v.colour {
		return text
	}
	return style + text + paintReset
}

func (v *promptView) show(p *promptRequest) error {
	v.head(p)
	v.tools(p)
	system := []rune(p.System)
	for _, s := range p.Sections {
		v.section(s)
		if s.Zone == assembler.ZoneSystem {
			v.printf("%s\n", string(system[s.From:s.To]))
			continue
		}
		for i := s.From; i < s.To; i++ {
			v.message(i, p.Messages[i])
		}
	}
	return v.err
}

func (v *promptView) head(p *promptRequest) {
	v.printf("%s\n", v.paint(paintBold, fmt.Sprintf("%s, turn %d, call %d of %d", p.Runtime, p.LogicalTurn, p.Call, p.calls)))
	v.printf("session   %s\nturn id   %s\nslot      %s\n", p.SessionID, p.TurnID, p.Slot)
	if p.Model != "" {
		v.printf("model     %s/%s (%s)\n", p.provider, p.Model, p.Protocol)
	}
	v.printf("estimate  %d of %d tokens\n", p.Estimate, p.Limit)
	if u := p.Usage; u != nil {
		v.printf("counted   %d in, %d of them from the cache, %d out\n", u.Input, u.Cached, u.Output)
	}
	cached, fresh := p.costs()
	v.printf("layout    %d tokens a cache can hold, %d new in this turn\n", cached, fresh)
}

func (v *promptView) tools(p *promptRequest) {
	if len(p.Tools) == 0 {
		return
	}
	total := 0
	for _, t := range p.Tools {
		total += toolTokens(p.estimator, t)
	}
	v.rule(fmt.Sprintf("tools (%d)", len(p.Tools)), total, cachePrefix, 0)
	for _, t := range p.Tools {
		v.printf("%s  %s\n", v.paint(paintBold, t.Name), v.paint(paintDim, fmt.Sprintf("%d tokens", toolTokens(p.estimator, t))))
		if t.Description != "" {
			v.printf("%s\n", t.Description)
		}
		if len(t.Parameters) > 0 {
			v.printf("%s\n", v.paint(paintDim, string(t.Parameters)))
		}
	}
}

func (v *promptView) section(s promptSection) { v.rule(s.Name, s.Tokens, s.Cached, s.LeftOut) }

// rule is the line above a section.
func (v *promptView) rule(name string, tokens int, cached string, leftOut int) {
	style := map[string]string{cacheBoundary: paintGreen, cachePrefix: paintCyan, cacheNone: paintYellow}[cached]
	facts := fmt.Sprintf("%d tokens, cache: %s", tokens, cached)
	if leftOut > 0 {
		facts += fmt.Sprintf(", %d messages left out", leftOut)
	}
	line := strings.Repeat("─", max(3, 72-len(name)-len(facts)))
	v.printf("\n%s %s\n", v.paint(paintBold+style, "── "+name+" "+line), v.paint(style, facts))
}

func (v *promptView) message(i int, m model.Message) {
	label := fmt.Sprintf("[%d] %s", i, m.Role)
	if m.Name != "" {
		label += " " + m.Name
	}
	if m.ToolCallID != "" {
		label += " answers " + m.ToolCallID
	}
	v.printf("%s\n", v.paint(paintBlue, label))
	if m.ReasoningContent != "" {
		v.printf("%s\n", v.paint(paintDim, m.ReasoningContent))
	}
	if text := model.StripSentinels(m.Text()); text != "" {
		v.printf("%s\n", text)
	}
	for _, c := range m.ToolCalls {
		v.printf("%s %s %s\n", v.paint(paintBlue, "calls"), c.Name, c.Arguments)
	}
}
