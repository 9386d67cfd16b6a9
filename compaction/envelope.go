package compaction

import (
	"strings"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// The fixed frame of a summary that is shown to a model (spec 02 §10.1). The
// sentence after it is text T07, the cut marker T10.
const (
	envelopeOpen   = "<compacted_history>\n"
	envelopeClose  = "\n</compacted_history>\n"
	sectionsHeader = "# sections:"
)

// Escape keeps text from closing a tag: & < > become entities.
func Escape(text string) string { return escaper.Replace(text) }

var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")
)

// Envelope is a summary as the content of one user message.
func Envelope(texts *locale.Texts, lang locale.Lang, s session.Summary) string {
	header := sectionsHeader
	if len(s.FocusSections) > 0 {
		names := make([]string, len(s.FocusSections))
		for i, name := range s.FocusSections {
			names[i] = Escape(strings.Join(strings.Fields(name), " "))
		}
		header += " " + strings.Join(names, ", ")
	}
	return frame(header, s.Content, sentence(texts, lang))
}

func frame(header, text, sentence string) string {
	return envelopeOpen + header + "\n" + Escape(text) + envelopeClose + sentence
}

func sentence(texts *locale.Texts, lang locale.Lang) string { return texts.Get(lang, "T07", nil) }

// envelope is a summary's message taken apart; text is not escaped.
type envelope struct{ header, text, closing string }

// parseEnvelope takes an envelope of either language apart.
func parseEnvelope(texts *locale.Texts, content string) (parts envelope, ok bool) {
	inside, ok := strings.CutPrefix(content, envelopeOpen)
	if !ok || !strings.HasPrefix(inside, sectionsHeader) {
		return envelope{}, false
	}
	for _, lang := range locale.Languages() {
		closing := sentence(texts, lang)
		body, ok := strings.CutSuffix(inside, envelopeClose+closing)
		if !ok {
			continue
		}
		header, escaped, ok := strings.Cut(body, "\n")
		if ok && !strings.ContainsAny(escaped, "<>") {
			return envelope{header, unescaper.Replace(escaped), closing}, true
		}
	}
	return envelope{}, false
}

// IsEnvelope says whether a user message's content has the full shape of a
// summary (spec 02 §11).
func IsEnvelope(texts *locale.Texts, content string) bool {
	_, ok := parseEnvelope(texts, content)
	return ok
}

// CutEnvelope shortens a summary's text so that a request loses needed tokens,
// as far as the envelope can give them: beginning and end stay, a marker stands
// between, the frame is whole. Content that is no envelope comes back as it is,
// with false. The estimator is the one of the slot that is called.
func CutEnvelope(texts *locale.Texts, lang locale.Lang, est tokens.Estimator, content string, needed int) (string, bool) {
	e, ok := parseEnvelope(texts, content)
	if !ok {
		return content, false
	}
	marker := texts.Get(lang, "T10", nil)
	least := frame(e.header, strings.TrimSpace(marker), e.closing)
	target := max(est.Count(least), est.Count(content)-needed-1)
	runes := []rune(e.text)
	cut := func(k int) string {
		if k == 0 {
			return least
		}
		head, tail := (k+1)/2, k/2
		return frame(e.header, string(runes[:head])+marker+string(runes[len(runes)-tail:]), e.closing)
	}
	// Invariant: low fits, high does not.
	low, high := 0, len(runes)
	for low+1 < high {
		if k := (low + high) / 2; est.Count(cut(k)) <= target {
			low = k
		} else {
			high = k
		}
	}
	return cut(low), true
}

// Placed is one entry of the history that a model is shown: a summary or a row.
type Placed struct {
	Summary *session.Summary
	Row     *session.Message
}

// Place puts summaries in the place of the rows they cover (spec 02 §10.3).
// Summaries that no row refers to come first, oldest first.
func Place(rows []session.Message, summaries []session.Summary) []Placed {
	placed := make([]Placed, 0, len(rows)+len(summaries))
	if len(summaries) == 0 {
		for i := range rows {
			placed = append(placed, Placed{Row: &rows[i]})
		}
		return placed
	}
	referred := make(map[string]bool, len(summaries))
	for i := range rows {
		referred[rows[i].CompactedBy] = true
	}
	byID := make(map[string]*session.Summary, len(summaries))
	for i := range summaries {
		s := &summaries[i]
		if referred[s.ID] {
			byID[s.ID] = s
		} else {
			placed = append(placed, Placed{Summary: s})
		}
	}
	for i := range rows {
		mark := rows[i].CompactedBy
		switch s := byID[mark]; {
		case mark == "":
			placed = append(placed, Placed{Row: &rows[i]})
		case s != nil:
			placed = append(placed, Placed{Summary: s})
			delete(byID, mark)
		}
	}
	return placed
}
