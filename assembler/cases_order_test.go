package assembler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
)

const mark = assembler.Sentinel

func orderCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-001": func(t *testing.T) {
			out := build(t, body("Be the ferryman."), inLocale(""), player("I row"))
			same(t, "system prompt", out.SystemPrompt, "Be the ferryman."+mark)
			wantMessages(t, out.Messages, "user:I row")
			same(t, "turn context", out.TurnContext, "")
			same(t, "head", out.FrameworkHead, "")
			same(t, "user messages", out.CurrentTurnUserMessages, 1)
		},
		"CA-002": func(t *testing.T) {
			out := build(t, body("Be the ferryman."), player("I row"))
			if !strings.HasPrefix(out.SystemPrompt, "[RUNTIME]") {
				t.Error("no preamble at the start")
			}
			inOrder(t, out.SystemPrompt, "[LANGUAGE]", "Be the ferryman.")
			contains(t, out.SystemPrompt, "English")
			pieces := assembler.SplitSentinels(out.SystemPrompt)
			if len(pieces) != 2 || pieces[0]+mark != out.FrameworkHead || pieces[1] != "\n\nBe the ferryman." {
				t.Errorf("pieces %q", pieces)
			}
		},
		"CA-003": func(t *testing.T) {
			out := build(t, body("Be the ferryman.\n"))
			lacks(t, assembler.StripSentinels(out.SystemPrompt), "\n\n\n")
		},
		"CA-004": func(t *testing.T) {
			out := build(t, func(in *assembler.Input) {
				in.Runtime.Injects = []assembler.Inject{{As: "heard", FromRuntime: "bell/ringer", Field: "note"}}
				in.Results = []assembler.Result{{Key: "bell/ringer", Output: raw(`{"note":"the bell rang"}`)}}
			})
			lacks(t, out.SystemPrompt, "<heard>")
			wantMessages(t, out.Messages, "system:<heard>the bell rang</heard>", "user:hello")
			same(t, "turn context", out.TurnContext, "<heard>the bell rang</heard>")
		},
		"CA-005": func(t *testing.T) {
			out := build(t, history("u u", "a a"), withSegments(
				segment("g", "goal: find the oar", "system", "turn"),
				segment("n", "note", `{"depth":0}`, "session"),
				segment("w", "workflow", "post-history", "stable"),
			), func(in *assembler.Input) {
				in.Story = []assembler.Story{{Name: "narrator", Content: "the tide fell"}}
				in.Inputs = []assembler.Slot{{Name: "scene", InputSlot: one(`"the tide fell"`, "n", "n", "")}}
			})
			wantMessages(t, out.Messages, "user:u", "assistant:a", "system:"+out.TurnContext, "user:hello",
				"assistant:the tide fell", "user:"+texts(t).Get("en", "T26", nil), "system:note", "system:workflow")
			same(t, "user messages", out.CurrentTurnUserMessages, 2)
			contains(t, out.TurnContext, "<runtime-inputs>", "goal: find the oar")
		},
		"CA-006": func(t *testing.T) {
			out := build(t, body("Be the ferryman."), func(in *assembler.Input) {
				in.Snapshot.Lorebook = []session.LoreEntry{
					{ID: "a", Content: "Fish.", Strategy: "constant", Position: "before_plugin", Enabled: true, Extra: raw(`{"title":"Fog Market"}`)},
					{ID: "b", Content: "Lead.", Strategy: "constant", Position: "after_plugin", Enabled: true, Extra: raw(`{"title":"Lead Door"}`)},
				}
			})
			inOrder(t, out.SystemPrompt, "Be the ferryman.", "[World Rule: Fog Market]\nFish.", "[World Rule: Lead Door]\nLead."+mark)
		},
		"CA-007": func(t *testing.T) {
			out := build(t, withSegments(
				segment("e", "E-text", "system", "session"), segment("s", "S-text", "system", "stable"), segment("t", "T-text", "system", "turn"),
			))
			inOrder(t, out.SystemPrompt, "S-text", "E-text", mark)
			lacks(t, out.SystemPrompt, "T-text")
		},
		"CA-008": func(t *testing.T) {
			out := build(t, full)
			inOrder(t, out.SystemPrompt, "[RUNTIME]", mark, "Be the ferryman."+mark, "<world-lore>\nSalt.\n</world-lore>\n\nstable-text\n\nsession-text"+mark,
				"[World Rule: before]", "<available-events>", "</available-events>\n<runtime-activation>", "[World Rule: after]\nAfter."+mark, "fresh-text")
			same(t, "sentinels", strings.Count(out.SystemPrompt, mark), 4)
		},
		"CA-009": func(t *testing.T) {
			turn := func(value, memory string, rows ...string) *assembler.Assembled {
				return build(t, body("Be the ferryman."), history(rows...), withSegments(segment("m", memory, "system", "turn")), func(in *assembler.Input) {
					in.Activation = &assembler.Activation{Source: "stage"}
					in.Inputs = []assembler.Slot{{Name: "x", InputSlot: one(value, "p", "r", "")}}
				})
			}
			first := turn("1", "memory one", "u u1", "a a1")
			second := turn("2", "memory two", "u u1", "a a1", "u u2", "a a2")
			same(t, "system prompt", second.SystemPrompt, first.SystemPrompt)
			if !slices.Equal(flat(second.Messages)[:2], flat(first.Messages)[:2]) {
				t.Error("the first history is no prefix")
			}
			if first.TurnContext == second.TurnContext {
				t.Error("turn contexts are equal")
			}
		},
		"CA-010": func(t *testing.T) {
			out := build(t, func(in *assembler.Input) {
				in.Activation = &assembler.Activation{Source: "stage", Payload: raw("null")}
			})
			contains(t, out.SystemPrompt, "<runtime-activation>\n", `{"source":"stage","detached":false,"payload":null}`)
			same(t, "turn context", out.TurnContext, "")
			wantMessages(t, out.Messages, "user:hello")
		},
		"CA-011": func(t *testing.T) {
			out := build(t, func(in *assembler.Input) {
				in.Activation = &assembler.Activation{Source: "event", Payload: raw(`{"topic":"check.done","data":{}}`)}
			})
			lacks(t, out.SystemPrompt, "runtime-activation")
			contains(t, out.TurnContext, `"payload":{"topic":"check.done","data":{}}`)
		},
		"CA-012": func(t *testing.T) {
			out := build(t, body("Be the ferryman."))
			finished := assembler.Finish(out, "short prompt", out.Messages)
			same(t, "finished", finished.SystemPrompt, out.FrameworkHead+"\n\nshort prompt")
			same(t, "unchanged", assembler.Finish(out, out.SystemPrompt, out.Messages).SystemPrompt, out.SystemPrompt)
			preamble := strings.TrimSuffix(out.FrameworkHead, mark)
			same(t, "lost sentinel", assembler.RestoreHead(out.FrameworkHead, preamble+" x"), out.FrameworkHead+" x")
			same(t, "empty", assembler.RestoreHead(out.FrameworkHead, ""), out.FrameworkHead)
			same(t, "leading newlines", assembler.RestoreHead(out.FrameworkHead, "\n\n\nx"), out.FrameworkHead+"\n\nx")
		},
		"CA-013": func(t *testing.T) {
			wantMessages(t, build(t, inLocale("zh-CN"), player("")).Messages, "user:"+texts(t).Get("zh", "T24", nil))
			wantMessages(t, build(t, inLocale("zh-Hant-TW"), player("")).Messages, "user:"+texts(t).Get("en", "T24", nil))
			manual := build(t, player(""), func(in *assembler.Input) { in.Turn.ManualRuntime = "guide" })
			wantMessages(t, manual.Messages, "user:"+texts(t).Get("en", "T25", map[string]string{"runtimeId": "guide"}))
		},
		"CA-014": func(t *testing.T) {
			wantMessages(t, build(t, player("  ")).Messages, "user:"+texts(t).Get("en", "T24", nil))
		},
		"CA-127": func(t *testing.T) {
			out := build(t, full)
			same(t, "sentinels", strings.Count(out.SystemPrompt, mark), 4)
			same(t, "pieces", len(assembler.SplitSentinels(out.SystemPrompt)), 5)
			for name, empty := range map[string]func(*assembler.Input){
				"preamble":   inLocale(""),
				"body":       body(""),
				"stable":     func(in *assembler.Input) { in.Snapshot.World.Lore = ""; in.Segments = in.Segments[2:] },
				"lore-after": func(in *assembler.Input) { in.Snapshot.Lorebook = in.Snapshot.Lorebook[:1] },
			} {
				if got := strings.Count(build(t, full, empty).SystemPrompt, mark); got != 3 {
					t.Errorf("without %s: %d sentinels, want 3", name, got)
				}
			}
			without := build(t, full, func(in *assembler.Input) { in.Segments = in.Segments[:2] })
			same(t, "pieces without tail", len(assembler.SplitSentinels(without.SystemPrompt)), 4)
		},
		"CA-128": func(t *testing.T) {
			out := build(t, full, history("u a"+mark+"b"), player("x"+mark), func(in *assembler.Input) {
				in.Story = []assembler.Story{{Content: mark + "tale"}}
				in.Summaries = []session.Summary{{ID: "1", Content: "s" + mark, FocusSections: []string{mark + "f"}}}
			})
			for _, m := range out.Messages {
				lacks(t, m.Content, mark)
			}
		},
		"CA-129": func(t *testing.T) {
			if got := assembler.SplitSentinels("body" + mark + "\n\ntail"); !slices.Equal(got, []string{"body", "\n\ntail"}) {
				t.Errorf("pieces %q", got)
			}
			if got := assembler.SplitSentinels(""); len(got) != 0 {
				t.Errorf("empty text gives %q", got)
			}
			same(t, "strip", assembler.StripSentinels("body"+mark+"\n\ntail"), "body\n\ntail")
			same(t, "strip nested", assembler.StripSentinels("a\ue000COVEL_"+mark+"CACHE_BREAK\ue000b"), "ab")
		},
	}
}

// full fills every section of the system prompt; the first two segments are the
// stable ones.
func full(in *assembler.Input) {
	in.Runtime.Story, in.Runtime.AdvertiseEvents = true, true
	in.Body = "Be the ferryman."
	in.EventCatalogue = "- tide.turned"
	in.Activation = &assembler.Activation{Source: "stage"}
	in.Snapshot.World.Lore = "Salt."
	in.Snapshot.Lorebook = []session.LoreEntry{
		{ID: "before", Content: "Before.", Strategy: "constant", Position: "before_plugin", Enabled: true},
		{ID: "after", Content: "After.", Strategy: "constant", Position: "after_plugin", Enabled: true},
	}
	in.Segments = []plugin.Segment{
		segment("st", "stable-text", "system", "stable"), segment("se", "session-text", "system", "session"),
		segment("fr", "fresh-text", "pre-history", "turn"),
	}
}

// one is a slot of cardinality one.
func one(value, pluginID, runtimeID, resultID string) plugin.InputSlot {
	return plugin.InputSlot{
		Cardinality: "one", Value: raw(value),
		Source: &plugin.InputSource{PluginID: pluginID, RuntimeID: runtimeID, ResultID: resultID},
	}
}
