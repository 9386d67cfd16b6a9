package assembler

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
)

// WithoutCurrentTurn takes the current turn's player rows out of the history,
// so that a turn run again does not double its input (spec 01 §3).
func WithoutCurrentTurn(rows []session.Message, turnID string) []session.Message {
	kept := make([]session.Message, 0, len(rows))
	for _, m := range rows {
		if m.SourceType != session.SourcePlayer || m.TurnID != turnID {
			kept = append(kept, m)
		}
	}
	return kept
}

// FilterHistory keeps what one runtime may read (spec 01 §11.1): player, system
// and story rows, its own rows, and other runtimes' prose. storyRuntimes are the
// ids of runtimes whose text joins the conversation.
func FilterHistory(rows []session.Message, runtimeID string, storyRuntimes []string) []session.Message {
	story := make(map[string]bool, len(storyRuntimes))
	for _, id := range storyRuntimes {
		story[id] = true
	}
	kept := make([]session.Message, 0, len(rows))
	for _, m := range rows {
		switch m.SourceType {
		case session.SourcePlayer, session.SourceSystem:
		default:
			own := m.SourceRuntimeID == runtimeID && runtimeID != ""
			told := m.SourceType == session.SourceNarrative || story[m.SourceRuntimeID]
			if blank(m.Content) || !own && !told && LooksStructured(m.Content) {
				continue
			}
		}
		kept = append(kept, m)
	}
	return kept
}

// LooksStructured says whether a text is data for programs: JSON, fenced JSON,
// quoted JSON or a tool tag (spec 01 §11.1).
func LooksStructured(text string) bool {
	text = strings.TrimSpace(text)
	if inside, ok := fenced(text); ok {
		text = strings.TrimSpace(inside)
	}
	return startsJSON(text) || quotedJSON(text) || startsToolTag(text)
}

func startsJSON(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

func quotedJSON(text string) bool {
	n := len(text)
	if n < 3 || text[0] != '`' || text[n-1] != '`' {
		return false
	}
	inside := text[1 : n-1]
	return !strings.Contains(inside, "`") && startsJSON(strings.TrimSpace(inside))
}

func startsToolTag(text string) bool {
	const tag = "<tool"
	if len(text) <= len(tag) || !strings.EqualFold(text[:len(tag)], tag) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[len(tag):])
	return next == '-' || next == '>' || unicode.IsSpace(next)
}

// fenced gives the inside of a text that is one fenced block as a whole, with
// any info word.
func fenced(text string) (string, bool) {
	const fence = "```"
	inside, ok := strings.CutPrefix(text, fence)
	if !ok {
		return "", false
	}
	inside, ok = strings.CutSuffix(inside, fence)
	if !ok || strings.Contains(inside, fence) {
		return "", false
	}
	return inside[infoLen(inside):], true
}

// infoLen is the length of the info word behind a fence.
func infoLen(text string) int {
	i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '{' || r == '[' || r == '<' || r == '`' })
	return max(i, 0)
}

// Window keeps the last n turns of filtered rows as one contiguous run (spec 01
// §11.2). Turns count by distinct id in the order in which they begin, so a late
// row of an old turn neither counts nor moves the run. Picture rows inside the
// run stay and never count; n below 1 keeps nothing.
func Window(rows []session.Message, n int) []session.Message {
	if n <= 0 {
		return nil
	}
	var begins []int
	seen := map[string]bool{}
	for i, m := range rows {
		if !seen[m.TurnID] && !IsPictureRow(m) {
			seen[m.TurnID] = true
			begins = append(begins, i)
		}
	}
	if len(begins) <= n {
		return rows
	}
	return rows[begins[len(begins)-n]:]
}

// SummaryMessage is one summary as its envelope (spec 01 §8.15): a user message
// whose content cannot close it.
func SummaryMessage(s session.Summary, texts *locale.Texts, lang locale.Lang) model.Message {
	s.Content = clean(s.Content)
	sections := make([]string, len(s.FocusSections))
	for i, name := range s.FocusSections {
		sections[i] = clean(name)
	}
	s.FocusSections = sections
	return model.Message{Role: model.RoleUser, Content: compaction.Envelope(texts, lang, s)}
}

func isEnvelope(texts *locale.Texts, m model.Message) bool {
	return m.Role == model.RoleUser && m.Parts == nil && compaction.IsEnvelope(texts, m.Content)
}

// historyMessage turns a row or a summary into a message (spec 01 §11.3).
func (b *build) historyMessage(p compaction.Placed) model.Message {
	if p.Summary != nil {
		return SummaryMessage(*p.Summary, b.Texts, b.lang)
	}
	return model.Message{Role: model.Role(p.Row.Role), Content: clean(p.Row.Content), Name: p.Row.Name}
}

// View is one runtime's view of the log: the filter of spec 01 §11.1 and the
// window of §11.2.
type View struct {
	// IncludeSummaries keeps summaries beside a window. Defaults to false.
	IncludeSummaries bool
	// MaxTurns is the window; nil is the shared, un-windowed view.
	MaxTurns      *int
	RuntimeID     string
	StoryRuntimes []string
}

// Shared says whether the view is the un-windowed one that triggers and awaits
// compaction.
func (v View) Shared() bool { return v.MaxTurns == nil }

// Of gives the rows and summaries that the runtime is shown.
func (v View) Of(rows []session.Message, summaries []session.Summary) ([]session.Message, []session.Summary) {
	rows = FilterHistory(rows, v.RuntimeID, v.StoryRuntimes)
	if v.Shared() {
		return rows, summaries
	}
	rows = Window(rows, *v.MaxTurns)
	if !v.IncludeSummaries {
		summaries = nil
	}
	return rows, summaries
}
