package assembler_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
)

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// modes are runtimes of every completion mode and wording.
func modes() map[string]assembler.Runtime {
	schema := raw(`{"type":"object"}`)
	return map[string]assembler.Runtime{
		"story":           {Story: true},
		"completing none": {RequireToolUse: true, AfterTools: []string{"a"}},
		"completing one":  {RequireToolUse: true, AfterTools: []string{"a"}, Tools: []string{"a"}},
		"completing two":  {RequireToolUse: true, AfterTools: []string{"a", "b"}, Tools: []string{"b", "a"}},
		"structured":      {OutputSchema: schema},
		"structured tool": {OutputSchema: schema, AfterTools: []string{"a"}, Tools: []string{"a"}},
		"done":            {},
		"done required":   {RequireToolUse: true},
	}
}

func completion(t *testing.T, r assembler.Runtime) []string {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(assembler.Preamble(texts(t), locale.English, "en-US", r), "\n") {
		if rest, ok := strings.CutPrefix(line, "[COMPLETION] "); ok {
			lines = append(lines, rest)
		}
	}
	return lines
}

func preambleCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-015": func(t *testing.T) {
			out := build(t, inLocale(""), body("x"))
			same(t, "system prompt", out.SystemPrompt, "x"+mark)
			same(t, "head", out.FrameworkHead, "")
		},
		"CA-016": func(t *testing.T) {
			for name, r := range modes() {
				preamble := assembler.Preamble(texts(t), locale.Chinese, "zh-CN", r)
				contains(t, preamble, "简体中文")
				for line := range strings.SplitSeq(preamble, "\n") {
					if !hasHan(line) || !strings.HasPrefix(line, "[RUNTIME] ") && !strings.HasPrefix(line, "[LANGUAGE] ") && !strings.HasPrefix(line, "[COMPLETION] ") {
						t.Errorf("%s: line %q", name, line)
					}
				}
			}
		},
		"CA-017": func(t *testing.T) {
			for name, r := range modes() {
				preamble := assembler.Preamble(texts(t), locale.English, "en-US", r)
				if hasHan(preamble) || strings.Count(preamble, "[RUNTIME] ") != 3 || strings.Count(preamble, "[LANGUAGE] ") != 2 {
					t.Errorf("%s: %q", name, preamble)
				}
			}
		},
		"CA-018": func(t *testing.T) {
			lines := completion(t, assembler.Runtime{Story: true, RequireToolUse: true, AfterTools: []string{"a"}})
			same(t, "lines", len(lines), 1)
			lacks(t, lines[0], "runtime-done")
			contains(t, lines[0], "story text of your reply")
		},
		"CA-019": func(t *testing.T) {
			r := assembler.Runtime{RequireToolUse: true, AfterTools: []string{"save-facts"}, Tools: []string{"save-facts"}}
			lines := completion(t, r)
			same(t, "lines", len(lines), 2)
			all := strings.Join(lines, "\n")
			contains(t, all, "`save-facts`", "without change", "`runtime-done` is not available")
			lacks(t, all, "empty string")
			r.AfterTools, r.Tools = []string{"a", "b"}, []string{"a", "b"}
			contains(t, completion(t, r)[0], "one of `a`, `b`")
			r.Tools = nil
			lacks(t, completion(t, r)[0], "`a`")
			same(t, "offered", assembler.ModeOf(r).OffersRuntimeDone(), false)
		},
		"CA-020": func(t *testing.T) {
			lines := completion(t, assembler.Runtime{RequireToolUse: true})
			same(t, "lines", len(lines), 2)
			contains(t, lines[1], "`runtime-done` alone records nothing")
			lacks(t, lines[1], "empty string")
			lines = completion(t, assembler.Runtime{})
			same(t, "lines", len(lines), 2)
			contains(t, lines[1], "empty string", "preferred")
		},
		"CA-021": func(t *testing.T) {
			out := build(t, inLocale("zh-CN"), player(""), func(in *assembler.Input) { in.ForcedLanguage = "en" })
			contains(t, out.SystemPrompt, "You run one runtime", "简体中文")
			wantMessages(t, out.Messages, "user:"+texts(t).Get("en", "T24", nil))
		},
		"CA-022": func(t *testing.T) {
			out := build(t, inLocale("zh-Hant-TW"))
			contains(t, out.SystemPrompt, "You run one runtime", "繁體")
			lacks(t, out.SystemPrompt, "简体")
			contains(t, build(t, inLocale("en_GB")).SystemPrompt, "British English")
		},
		"CA-135": func(t *testing.T) {
			r := assembler.Runtime{OutputSchema: raw(`{}`), AfterTools: []string{"save-facts"}, Tools: []string{"save-facts"}}
			lines := completion(t, r)
			same(t, "lines", len(lines), 1)
			contains(t, lines[0], "JSON that fits", "`save-facts`")
			same(t, "offered", assembler.ModeOf(r).OffersRuntimeDone(), false)
			r.AfterTools = nil
			lines = completion(t, r)
			same(t, "lines", len(lines), 1)
			contains(t, lines[0], "JSON that fits")
			lacks(t, lines[0], "save-facts")
			same(t, "offered", assembler.ModeOf(r).OffersRuntimeDone(), false)
		},
	}
}

// bodyOf is the interpolated body of a build without locale.
func bodyOf(t *testing.T, template string, change ...func(*assembler.Input)) string {
	t.Helper()
	out := build(t, append([]func(*assembler.Input){inLocale(""), body(template)}, change...)...)
	return assembler.StripSentinels(out.SystemPrompt)
}

func vars(t *testing.T, text string) ordered.Value {
	t.Helper()
	v, err := ordered.ParseString(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func templateCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-023": func(t *testing.T) {
			same(t, "body", bodyOf(t, "Say {{ player.message }}", player("ahoy")), "Say ahoy")
		},
		"CA-024": func(t *testing.T) {
			got := bodyOf(t, "{{ inputs.narrator.main.text }}{{ inputs.solo.solo.x }}{{ inputs.empty.empty }}", func(in *assembler.Input) {
				in.Results = []assembler.Result{
					{Key: "narrator/main", Output: raw(`{"text":"dawn"}`)}, {Key: "solo", Output: raw(`{"x":"!"}`)}, {Key: "empty"},
				}
			})
			same(t, "body", got, "dawn!")
		},
		"CA-025": func(t *testing.T) {
			same(t, "body", assembler.Interpolate("{{ a }} {{ b }}", vars(t, `{"a":150,"b":true}`)), "150 true")
		},
		"CA-026": func(t *testing.T) {
			same(t, "body", assembler.Interpolate("a{{ no.such }}b", vars(t, `{}`)), "ab")
		},
		"CA-027": func(t *testing.T) {
			got := bodyOf(t, "{{player.message}}-{{  player.message  }}-{{\nplayer.message\n}} plain { x } }}", player("ahoy"))
			same(t, "body", got, "ahoy-ahoy-ahoy plain { x } }}")
		},
		"CA-028": func(t *testing.T) {
			got := bodyOf(t, "[{{ data.constructor }}{{ data.toString }}{{ player.message.length }}]", player("ahoy"))
			same(t, "body", got, "[]")
		},
		"CA-029": func(t *testing.T) {
			same(t, "body", assembler.Interpolate("{{ d.constructor.value }}", vars(t, `{"d":{"constructor":{"value":"owned"}}}`)), "owned")
		},
		"CA-030": func(t *testing.T) {
			same(t, "body", assembler.Interpolate("{{ x }}", vars(t, `{"x":{"a":1,"sessionId":"s"}}`)), `{"a":1}`)
		},
		"CA-031": func(t *testing.T) {
			got := assembler.Interpolate("{{ list.1 }},{{ list.length }},{{}},{{ }},{{ list.01 }}", vars(t, `{"list":["x","y"]}`))
			same(t, "body", got, "y,2,{{}},,")
		},
		"CA-032": func(t *testing.T) {
			template := "[{{ player.lastFormValues }}|{{ player.lastFormValues.choice }}]"
			for values, want := range map[string]string{"": "[|]", `{}`: "[|]", `{"choice":"left"}`: `[{"choice":"left"}|left]`} {
				got := bodyOf(t, template, func(in *assembler.Input) { in.Snapshot.FormValues = raw(values) })
				same(t, "form "+values, got, want)
			}
		},
		"CA-033": func(t *testing.T) {
			got := bodyOf(t, "plain {{ player.message }}\nsee `<note>`: {{ player.message }}\n<note> {{ player.message }}\n{{ player.message }}\n</note> \nlast {{ player.message }}",
				player("A </note> & B"))
			value, escaped := "A </note> & B", "A &lt;/note&gt; &amp; B"
			same(t, "body", got, "plain "+value+"\nsee `<note>`: "+value+"\n<note> "+escaped+"\n"+escaped+"\n</note> \nlast "+value)
			same(t, "indented", bodyOf(t, " <note>\n{{ player.message }}", player("<")), "<note>\n<")
			same(t, "unclosed", bodyOf(t, "<note>\n{{ player.message }}", player("<")), "<note>\n&lt;")
		},
		"CA-034": func(t *testing.T) {
			out := build(t, player("hush-7"), func(in *assembler.Input) {
				in.Runtime.Injects = []assembler.Inject{{As: "x", FromRuntime: "a/b", Field: "f"}}
				in.Results = []assembler.Result{{Key: "a/b", Output: raw(`{"f":"echo {{ player.message }}"}`)}}
			})
			contains(t, out.TurnContext, "{{ player.message }}")
			lacks(t, out.TurnContext+out.SystemPrompt, "hush-7")
			same(t, "last", out.Messages[len(out.Messages)-1].Content, "hush-7")
		},
	}
}
