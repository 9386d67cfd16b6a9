package assembler_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
)

// caseTest checks one acceptance case.
type caseTest = func(t *testing.T)

func allCases() map[string]caseTest {
	all := map[string]caseTest{}
	for _, group := range []map[string]caseTest{
		orderCases(), preambleCases(), templateCases(), loreCases(), segmentCases(), selfDataCases(),
		dataCases(), characterCases(), worldCases(), historyCases(), storyCases(), budgetCases(), requestCases(), fileCases(),
	} {
		for id, test := range group {
			if all[id] != nil {
				panic("two tests for " + id)
			}
			all[id] = test
		}
	}
	return all
}

func TestCases(t *testing.T) {
	t.Parallel()
	cases := allCases()
	for _, id := range slices.Sorted(maps.Keys(cases)) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			cases[id](t)
		})
	}
}

// elsewhere lists the cases whose subject is another package.
func elsewhere() map[string]string {
	return map[string]string{
		"CA-102": "commit: which media writes a description row",
		"CA-103": "trace: image bytes in recorded requests",
		"CA-130": "trace: prefix report",
		"CA-131": "trace: prefix report",
		"CA-132": "cmd/covel: prompt prefix",
	}
}

func TestEveryCaseIsTested(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../docs/spec/cases/01-context-assembly.md")
	if err != nil {
		t.Fatal(err)
	}
	cases, others := allCases(), elsewhere()
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- (CA-\d+) `).FindAllStringSubmatch(string(raw), -1) {
		id := m[1]
		listed[id] = true
		if cases[id] == nil && others[id] == "" {
			t.Errorf("%s has no test", id)
		}
		if cases[id] != nil && others[id] != "" {
			t.Errorf("%s is tested here and listed elsewhere", id)
		}
	}
	if len(listed) < 139 {
		t.Errorf("%d cases read, want at least 139", len(listed))
	}
	for id := range cases {
		if !listed[id] {
			t.Errorf("%s is no case of the chapter", id)
		}
	}
}

// input is a build's input with the conventions of the cases: locale en-US, no
// budget, no story runtime, no data.
func input(t *testing.T, change ...func(in *assembler.Input)) assembler.Input {
	t.Helper()
	in := assembler.Input{
		Texts:   texts(t),
		Turn:    assembler.Turn{SessionID: "s", TurnID: "now", Locale: "en-US", PlayerMessage: "hello"},
		Runtime: assembler.Runtime{ID: "p1/main", PluginID: "p1"},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

func build(t *testing.T, change ...func(in *assembler.Input)) *assembler.Assembled {
	t.Helper()
	out, err := assembler.Build(input(t, change...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func texts(t testing.TB) *locale.Texts {
	t.Helper()
	loaded, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// words is the catalogue of a plugin that uses the shared segments.
func words(t testing.TB, lang locale.Lang) assembler.Words {
	t.Helper()
	loaded, err := locale.LoadCatalogue(os.DirFS("testdata"), "words")
	if err != nil {
		t.Fatal(err)
	}
	return func(id string, args map[string]string) string { return loaded.Get(lang, id, args) }
}

func inLocale(tag string) func(*assembler.Input) {
	return func(in *assembler.Input) { in.Turn.Locale = tag }
}

func player(text string) func(*assembler.Input) {
	return func(in *assembler.Input) { in.Turn.PlayerMessage = text }
}

func body(text string) func(*assembler.Input) {
	return func(in *assembler.Input) { in.Body = text }
}

func storyRuntime(in *assembler.Input) { in.Runtime.Story = true }

// history makes rows from "u text", "a text" and "s text".
func history(rows ...string) func(*assembler.Input) {
	return func(in *assembler.Input) {
		for _, r := range rows {
			role := map[byte]session.Role{'u': session.RoleUser, 'a': session.RoleAssistant, 's': session.RoleSystem}[r[0]]
			in.History = append(in.History, session.Message{Role: role, Content: r[2:]})
		}
	}
}

func segment(id, content, position, volatility string) plugin.Segment {
	raw := json.RawMessage(position)
	if !strings.HasPrefix(position, "{") {
		raw = assembler.Quoted(position)
	}
	return plugin.Segment{
		ID: id, Content: content, Position: raw, Volatility: volatility,
		Audience: assembler.Quoted(assembler.AudienceAll), Provider: "p1",
	}
}

func withSegments(segments ...plugin.Segment) func(*assembler.Input) {
	return func(in *assembler.Input) { in.Segments = append(in.Segments, segments...) }
}

// flat writes messages as "role:text".
func flat(messages []model.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = string(m.Role) + ":" + m.Content
	}
	return out
}

func wantMessages(t *testing.T, got []model.Message, want ...string) {
	t.Helper()
	if !slices.Equal(flat(got), want) {
		t.Errorf("messages %q\nwant     %q", flat(got), want)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in %q", p, text)
		}
	}
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q is in %q", p, text)
		}
	}
}

// inOrder checks that the parts follow each other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	at := 0
	for _, p := range parts {
		i := strings.Index(text[at:], p)
		if i < 0 {
			t.Errorf("%q does not follow in %q", p, text)
			return
		}
		at += i + len(p)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
