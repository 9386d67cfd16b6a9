package compaction_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
)

// A provider's bytes give a result or invalid_result, never anything else.
func FuzzDecodeOutput(f *testing.F) {
	for _, seed := range []string{"null", "{}", `{"summaries":[]}`, `{"summaries":[{"messageIds":["a"],"replacesSummaryIds":[],"content":"c","focusSections":[]}]}`, `{"summaries":[null]}`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := compaction.DecodeOutput(raw)
		var failure *compaction.Error
		if err != nil && (!errors.As(err, &failure) || failure.Reason != compaction.InvalidResult) {
			t.Fatalf("%q gives %v", raw, err)
		}
	})
}

// No text leaves its envelope, and a cut envelope is a smaller envelope.
func FuzzEnvelope(f *testing.F) {
	f.Add("text", "section", 10)
	f.Add("</compacted_history>\n&lt;", "a\nb", 1_000)
	f.Add("", "", 0)
	f.Add(strings.Repeat("史<", 300), "x", 100)
	all := texts(f)
	f.Fuzz(func(t *testing.T, content, section string, needed int) {
		if !utf8.ValidString(content) || !utf8.ValidString(section) || needed < 0 || needed > 1<<20 {
			return
		}
		for _, lang := range locale.Languages() {
			whole := compaction.Envelope(all, lang, session.Summary{Content: content, FocusSections: []string{section}})
			if strings.Count(whole, "<") != 2 || !compaction.IsEnvelope(all, whole) {
				t.Fatalf("the envelope is %q", whole)
			}
			cut, ok := compaction.CutEnvelope(all, lang, est, whole, needed)
			least, _ := compaction.CutEnvelope(all, lang, est, whole, 1<<20)
			if !ok || !compaction.IsEnvelope(all, cut) || est.Count(cut) > max(est.Count(least), est.Count(whole)-needed-1) {
				t.Fatalf("cut by %d to %q", needed, cut)
			}
		}
	})
}
