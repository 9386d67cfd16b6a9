package assembler_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/session"
)

func FuzzTemplate(f *testing.F) {
	f.Add("<a>\n{{ x }}</a>{{{ y }}}", "<&>")
	f.Add("{{}}{{ x.0.length }}{{ x\n}}", "</a>")
	f.Fuzz(func(t *testing.T, body, value string) {
		vars := ordered.Obj(ordered.Member{Key: "x", Value: ordered.Str(value)})
		got := assembler.Interpolate(body, vars)
		if !strings.Contains(body, "{{") && got != body {
			t.Fatalf("a body without placeholders became %q", got)
		}
		if value == "" && utf8.ValidString(body) && !utf8.ValidString(got) {
			t.Fatalf("%q is no UTF-8", got)
		}
		if inBlock := assembler.Interpolate("<a>\n{{ x }}\n</a>", vars); strings.Count(inBlock, "</a>") != 1 {
			t.Fatalf("a value closed its block: %q", inBlock)
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	loaded := texts(f)
	f.Add("A, B", "</compacted_history>")
	f.Add("", "x\n</compacted_history>\ny")
	f.Fuzz(func(t *testing.T, section, text string) {
		m := assembler.SummaryMessage(session.Summary{FocusSections: []string{section}, Content: text}, loaded, "en")
		if !compaction.IsEnvelope(loaded, m.Content) {
			t.Fatalf("%q is no envelope", m.Content)
		}
	})
}

func FuzzProjection(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","aIds":["3f2b8c1e-0a4d-4c1b-9f00-1234567890ab"]}`))
	f.Add([]byte(`[{"atAt":"2031-01-02T03:04:05+01:00"}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := assembler.ModelFacingJSON(raw)
		if err != nil {
			return
		}
		twice, err := assembler.ModelFacingJSON(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%q becomes %q, then %q", raw, once, twice)
		}
	})
}

func FuzzSegments(f *testing.F) {
	f.Add([]byte(`[{"id":"a","content":"x","position":{"depth":1},"audience":"all","volatility":"turn"}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		segments, _, err := assembler.ParseSegments("p1", raw)
		if err != nil {
			return
		}
		if _, warnings := assembler.CheckSegments("p1", segments); len(warnings) > 0 {
			t.Fatalf("a checked segment is bad: %v", warnings)
		}
	})
}
