package assembler

import (
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
)

const (
	argsRunes    = 120
	summaryLimit = 80
	defaultCode  = "EXECUTION_ERROR"
)

// elided is the short form of a tool result (spec 01 §15.6): of an envelope
// only data goes, of other text the whole. A result without text has none.
func (f *fitting) elided(i int) (string, bool) {
	m := f.original[i]
	if m.Parts != nil {
		return "", false
	}
	marker := f.Texts.Get(f.Lang, "T11", nil)
	result, ok := envelopeOf(m.Content)
	if !ok {
		return marker, true
	}
	if _, ok := result.Get("data"); !ok {
		return "", false
	}
	return result.With("data", ordered.Str(marker)).JSON(), true
}

// envelopeOf reads a tool result that is an object with a boolean ok.
func envelopeOf(text string) (ordered.Value, bool) {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return ordered.Value{}, false
	}
	v, err := ordered.ParseString(text)
	if err != nil || v.Kind != ordered.Object || v.Member("ok").Kind != ordered.Bool {
		return ordered.Value{}, false
	}
	return v, true
}

func (f *fitting) digestHeader() string { return f.Texts.Get(f.Lang, "T12", nil) }

func (f *fitting) digestText(groups []int) string {
	var text strings.Builder
	text.WriteString(f.digestHeader())
	for _, g := range groups {
		text.WriteString(f.digestLines(g))
	}
	return text.String()
}

// digestLines writes a group's calls, one line each, from the original records
// (spec 01 §15.7). Each line starts with a line break.
func (f *fitting) digestLines(gi int) string {
	g := f.groups[gi]
	var b strings.Builder
	for i, call := range f.original[g.from].ToolCalls {
		b.WriteString("\n- " + Fold(call.Name))
		if args := shorten(Fold(call.Arguments), argsRunes); args != "" {
			b.WriteString(" " + args)
		}
		b.WriteString(" -> " + outcome(f.original[g.from+1+i].Content))
	}
	return b.String()
}

func outcome(result string) string {
	v, ok := envelopeOf(result)
	if !ok {
		return "ok"
	}
	if v.Member("ok").Text == "false" {
		code, _ := textMember(v.Member("error"), "code")
		if code = Fold(code); code == "" {
			code = defaultCode
		}
		return "failed: " + code
	}
	summary, _ := textMember(v, "summary")
	if summary = shorten(Fold(summary), summaryLimit); summary == "" {
		return "ok"
	}
	return "ok: " + summary
}

// shorten cuts to at most n runes, the final "…" included.
func shorten(text string, n int) string {
	if _, longer := firstRunes(text, n); !longer {
		return text
	}
	head, _ := firstRunes(text, n-1)
	return head + "…"
}
