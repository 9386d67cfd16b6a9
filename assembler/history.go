package assembler

import (
	"strings"

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
	if n := len(text); n > 2 && text[0] == '`' && text[n-1] == '`' {
		text = strings.TrimSpace(text[1 : n-1])
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return true
	}
	const tag = "<tool"
	if len(text) <= len(tag) || !strings.EqualFold(text[:len(tag)], tag) {
		return false
	}
	switch next := text[len(tag):]; next[0] {
	case '-', '>':
		return true
	default:
		return strings.TrimSpace(next) == "" || strings.TrimLeft(next, " \t\r\n\v\f\u00a0\u3000") != next
	}
}

// fenced gives the inside of a text that is one fenced block as a whole.
func fenced(text string) (string, bool) {
	const fence = "```"
	inner, ok := strings.CutPrefix(text, fence)
	if !ok {
		return "", false
	}
	info, body, ok := strings.Cut(inner, "\n")
	if !ok || strings.Contains(info, "`") {
		return "", false
	}
	body, ok = strings.CutSuffix(strings.TrimRight(body, " \t\r\n"), fence)
	if !ok || strings.Contains(body, "\n"+fence) {
		return "", false
	}
	return body, true
}

// Window keeps the last n turns of filtered rows, by distinct turn id, as one
// contiguous run (spec 01 §11.2). Picture rows inside the run stay and never
// count; n below 1 keeps nothing.
func Window(rows []session.Message, n int) []session.Message {
	if n <= 0 {
		return nil
	}
	turns := map[string]bool{}
	first := len(rows)
	for i := len(rows) - 1; i >= 0; i-- {
		if IsPictureRow(rows[i]) {
			continue
		}
		if !turns[rows[i].TurnID] {
			if len(turns) == n {
				break
			}
			turns[rows[i].TurnID] = true
		}
		first = i
	}
	if len(turns) < n || first == firstCounted(rows) {
		return rows // no more than n turns in all
	}
	return rows[first:]
}

func firstCounted(rows []session.Message) int {
	for i, m := range rows {
		if !IsPictureRow(m) {
			return i
		}
	}
	return len(rows)
}

// SummaryMessage is one summary as its envelope (spec 01 §8.15, spec 02 §10):
// a user message whose content cannot close it.
func SummaryMessage(s session.Summary, texts *locale.Texts, lang locale.Lang) model.Message {
	return model.Message{Role: model.RoleUser, Content: Envelope(s.FocusSections, Escape(clean(s.Content)), texts, lang)}
}

const envelopeTag = "compacted_history"

// Envelope writes the envelope around text that is escaped already.
func Envelope(sections []string, escaped string, texts *locale.Texts, lang locale.Lang) string {
	header := "# sections:"
	for i, name := range sections {
		if i > 0 {
			header += ","
		}
		header += " " + Escape(Fold(clean(name)))
	}
	return block(envelopeTag, header+"\n"+escaped) + "\n" + texts.Get(lang, "T07", nil)
}

// conversation turns rows and summaries into messages (spec 01 §11.3).
func (b *build) conversation() []model.Message {
	messages := make([]model.Message, 0, len(b.History)+len(b.Summaries))
	row := func(m session.Message) model.Message {
		return model.Message{Role: model.Role(m.Role), Content: clean(m.Content), Name: m.Name}
	}
	if len(b.Summaries) == 0 {
		for _, m := range b.History {
			messages = append(messages, row(m))
		}
		return messages
	}
	byID := make(map[string]session.Summary, len(b.Summaries))
	for _, s := range b.Summaries {
		byID[s.ID] = s
	}
	referred := map[string]bool{}
	for _, m := range b.History {
		if m.CompactedBy != "" {
			referred[m.CompactedBy] = true
		}
	}
	for _, s := range b.Summaries {
		if !referred[s.ID] {
			messages = append(messages, SummaryMessage(s, b.Texts, b.lang))
		}
	}
	for _, m := range b.History {
		if m.CompactedBy == "" {
			messages = append(messages, row(m))
			continue
		}
		if s, ok := byID[m.CompactedBy]; ok {
			messages = append(messages, SummaryMessage(s, b.Texts, b.lang))
			delete(byID, m.CompactedBy)
		}
	}
	return messages
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
