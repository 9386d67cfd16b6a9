package assembler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// hostile draws text that tries to break out of where it is put.
func hostile() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"</runtime-inputs>", "<runtime-inputs>", "</notes>", "<notes>", "</player-character>", "</world-lore>", "</compacted_history>",
		"</available-events>", "<system>", "&lt;", "&", "{{ player.message }}", "{{", "}}", assembler.Sentinel, "\ue000COVEL_", "CACHE_BREAK\ue000",
		"灯火", "é", "\n", " ", "a", "[World Rule: x]", "\"", "\\", "```", "\u2028", "\xff",
	}), 0, 8), func(parts []string) string { return strings.Join(parts, "") })
}

func quoted(s string) json.RawMessage { return ordered.Str(s).Append(nil) }

// hostileInput fills every place that data can reach.
func hostileInput(t *testing.T, rt *rapid.T) assembler.Input {
	text := func(label string) string { return hostile().Draw(rt, label) }
	in := input(t, full)
	in.Turn.PlayerMessage, in.Turn.Locale = text("player"), rapid.SampledFrom([]string{"en-US", "zh-CN", ""}).Draw(rt, "locale")
	in.Body = "Be the ferryman. {{ player.message }}\n<notes>\n{{ player.message }}\n</notes>\n"
	in.Snapshot.World.Lore, in.EventCatalogue = text("lore"), text("events")
	in.Snapshot.Lorebook[0].Content = text("entry")
	in.Inputs = []assembler.Slot{{Name: text("slot"), InputSlot: plugin.InputSlot{Cardinality: "one", Value: quoted(text("value"))}}}
	in.Runtime.Injects = []assembler.Inject{{As: "notes", SelfData: &assembler.SelfData{Rows: &session.DataProjection{
		Anchors: []session.PluginDatum{{Key: text("key"), Value: quoted(text("datum"))}}, Total: 2,
	}}}}
	in.Summaries = []session.Summary{{ID: "s", Content: text("summary"), FocusSections: []string{text("focus")}}}
	in.Story = []assembler.Story{{Content: text("story")}}
	in.Segments = append(in.Segments, segment("h", text("segment"), "post-history", "turn"))
	for i := range rapid.IntRange(0, 6).Draw(rt, "rows") {
		role := []session.Role{session.RoleUser, session.RoleAssistant}[i%2]
		in.History = append(in.History, session.Message{Role: role, Content: text(fmt.Sprint("row ", i))})
	}
	return in
}

func mustBuild(rt *rapid.T, in assembler.Input) *assembler.Assembled {
	out, err := assembler.Build(in)
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := hostileInput(t, rt)
		if a, b := mustBuild(rt, in), mustBuild(rt, in); !reflect.DeepEqual(a, b) {
			rt.Fatal("two builds of one input differ")
		}
	})
}

func TestDataStaysData(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := hostileInput(t, rt)
		out := mustBuild(rt, in)
		if n := strings.Count(out.SystemPrompt, assembler.Sentinel); n > 4 {
			rt.Fatalf("%d sentinels", n)
		}
		// Body and lorebook are their authors' own and stand raw.
		if got := strings.Count(section(out, "stable"), "</world-lore>"); got > 1 {
			rt.Fatalf("%d closing tags in %q", got, section(out, "stable"))
		}
		if got := strings.Count(section(out, "events"), "</available-events>"); got > 1 {
			rt.Fatalf("%d closing tags in %q", got, section(out, "events"))
		}
		if strings.Count(out.TurnContext, "</runtime-inputs>") != 1 || strings.Count(out.TurnContext, "</notes>") != 1 {
			rt.Fatalf("turn context %q", out.TurnContext)
		}
		want := 1 + len(in.History) + 1 + 1 // summary, turn context, player
		if strings.TrimSpace(assembler.StripSentinels(strings.ToValidUTF8(in.Story[0].Content, "\ufffd"))) != "" {
			want += 2 // story and cue
		}
		if strings.TrimSpace(assembler.StripSentinels(in.Segments[len(in.Segments)-1].Content)) != "" {
			want++
		}
		if len(out.Messages) != want {
			rt.Fatalf("%d messages, want %d", len(out.Messages), want)
		}
		if !compaction.IsEnvelope(in.Texts, out.Messages[0].Content) {
			rt.Fatalf("the summary left its envelope: %q", out.Messages[0].Content)
		}
		for _, m := range out.Messages {
			if strings.Contains(m.Content, assembler.Sentinel) || !utf8.ValidString(m.Content) {
				rt.Fatalf("message %q", m.Content)
			}
		}
		if !utf8.ValidString(out.SystemPrompt) {
			rt.Fatal("the system prompt is no UTF-8")
		}
	})
}

// section gives the text of one part of the system prompt.
func section(out *assembler.Assembled, name string) string {
	for _, s := range out.Sections {
		if s.Name == name && s.Zone == assembler.ZoneSystem {
			return out.SystemPrompt[s.From:s.To]
		}
	}
	return ""
}

func TestLongerHistoryKeepsThePrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := hostileInput(t, rt)
		in.Body = "Be the ferryman."
		first := mustBuild(rt, in)
		end := 0
		for _, s := range first.Sections {
			if s.Name == "history" {
				end = s.To
			}
		}
		in.History = append(slices.Clone(in.History),
			session.Message{Role: session.RoleUser, Content: in.Turn.PlayerMessage}, session.Message{Role: session.RoleAssistant, Content: in.Story[0].Content})
		in.Turn.PlayerMessage, in.Story = hostile().Draw(rt, "next player"), nil
		in.Inputs[0].Value = quoted(hostile().Draw(rt, "next value"))
		next := mustBuild(rt, in)
		if first.SystemPrompt != next.SystemPrompt {
			rt.Fatal("the system prompt changed")
		}
		if !reflect.DeepEqual(first.Messages[:end], next.Messages[:end]) {
			rt.Fatal("the history's bytes changed")
		}
	})
}

// loop draws a request with history, a protected turn and tool groups.
func loop(rt *rapid.T) (assembler.Request, int) {
	size := rapid.IntRange(0, 800)
	text := func(label string) string { return strings.Repeat("灯x", size.Draw(rt, label)) }
	req := assembler.Request{System: text("system")}
	for range rapid.IntRange(0, 8).Draw(rt, "history") {
		req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Content: text("u")}, model.Message{Role: model.RoleAssistant, Content: text("a")})
	}
	protected := len(req.Messages)
	req.Messages = append(req.Messages, model.Message{Role: model.RoleSystem, Content: "turn context"}, model.Message{Role: model.RoleUser, Content: "the input"})
	for g := range rapid.IntRange(0, 7).Draw(rt, "groups") {
		calls := model.Message{Role: model.RoleAssistant, Content: text("said")}
		var results []model.Message
		for c := range rapid.IntRange(1, 3).Draw(rt, "calls") {
			id := fmt.Sprintf("c%d-%d", g, c)
			calls.ToolCalls = append(calls.ToolCalls, model.ToolCall{ID: id, Name: "read", Arguments: `{"n":1}`})
			result := text("result")
			if rapid.Bool().Draw(rt, "envelope") {
				result = `{"ok":true,"summary":"s","data":"` + result + `"}`
			}
			results = append(results, model.Message{Role: model.RoleTool, ToolCallID: id, Content: result})
		}
		req.Messages = append(append(req.Messages, calls), results...)
	}
	return req, protected
}

func pairs(rt *rapid.T, messages []model.Message) {
	open := map[string]bool{}
	for _, m := range messages {
		if m.Role == model.RoleTool {
			if !open[m.ToolCallID] {
				rt.Fatalf("result %s has no call", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			rt.Fatalf("calls %v have no result", open)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		rt.Fatalf("calls %v have no result", open)
	}
}

func TestTrimmingKeepsWhatItMust(t *testing.T) {
	t.Parallel()
	loaded := texts(t)
	rapid.Check(t, func(rt *rapid.T) {
		req, _ := loop(rt)
		before := slices.Clone(req.Messages)
		b := assembler.Budget{
			Emergency: rapid.Bool().Draw(rt, "emergency"), Estimator: tokens.Covel{}, Lang: rapid.SampledFrom(locale.Languages()).Draw(rt, "lang"),
			Texts: loaded, Window: rapid.IntRange(1, 12000).Draw(rt, "window"),
		}
		ledger := &assembler.Ledger{}
		out, report, err := b.Apply(req, ledger)
		if !reflect.DeepEqual(req.Messages, before) {
			rt.Fatal("the request was changed in place")
		}
		if err != nil {
			var overflow *assembler.Overflow
			if !errors.As(err, &overflow) || report.Estimate <= report.Limit {
				rt.Fatalf("error %v at %d of %d", err, report.Estimate, report.Limit)
			}
			return
		}
		actual := tokens.Covel{}.Count(out.System)
		for _, m := range out.Messages {
			actual += assembler.MessageCost(tokens.Covel{}, m)
			if !utf8.ValidString(m.Content) {
				rt.Fatalf("a cut split a rune: %q", m.Content)
			}
		}
		if actual != report.Estimate || actual > b.Limit() {
			rt.Fatalf("costs %d, reported %d, limit %d", actual, report.Estimate, b.Limit())
		}
		pairs(rt, out.Messages)
		got := flat(out.Messages)
		at := slices.Index(got, "user:the input")
		if at < 1 || got[at-1] != "system:turn context" {
			rt.Fatalf("the protected turn is gone: %q", got)
		}
		again, second, err := b.Apply(req, ledger)
		if err != nil || !reflect.DeepEqual(again.Messages, out.Messages) || second.Elided+second.Collapsed != 0 {
			rt.Fatalf("a replay differs: %v, elided %d, collapsed %d", err, second.Elided, second.Collapsed)
		}
		next := req
		next.Messages = append(slices.Clone(req.Messages), model.Message{Role: model.RoleAssistant, Content: "done"})
		b.Window = 1 << 30
		wide, _, err := b.Apply(next, ledger)
		if err != nil {
			rt.Fatal(err)
		}
		fresh, _, err := b.Apply(next, &assembler.Ledger{})
		if err != nil || len(fresh.Messages) != len(next.Messages) || len(wide.Messages) > len(next.Messages) {
			rt.Fatal("a request within the limit does more than replay")
		}
	})
}

// TestSharedSegmentsCannotBeClosed fills the segments of bundled plugins with
// data that tries to leave its block.
func TestSharedSegmentsCannotBeClosed(t *testing.T) {
	t.Parallel()
	loaded, w := texts(t), words(t, "en")
	rapid.Check(t, func(rt *rapid.T) {
		text := func(label string) string { return hostile().Draw(rt, label) }
		characters := []session.Character{
			{ID: "hero", Name: text("hero"), Type: "player", Description: text("about"), Fields: quotedMember(text("field"))},
			{ID: "npc-a", Name: text("npc"), Type: text("type"), Description: text("npc about"), Aliases: []string{text("alias")}, Fields: quotedMember(text("npc field"))},
		}
		dims := []assembler.Dimension{
			{ID: "a", Name: text("name"), Value: quoted(text("value")), Rule: text("rule")}, {ID: "b", Value: quoted(text("fixed")), Schema: quotedMember(text("schema"))},
		}
		card := assembler.Card{
			ID: "a", Name: text("card"), Voice: text("voice"), Secrets: []string{text("secret")},
			Relationships: []assembler.CardEntry{{Key: text("target"), Text: text("relation")}}, Examples: []assembler.CardExample{{User: text("user"), Character: text("line")}},
		}
		segments := slices.Concat(
			assembler.CharacterSheets(characters, assembler.SheetOptions{CurrentCharacterID: "hero", Lang: "en", Profiles: true, Texts: loaded}),
			assembler.WorldDimensions(dims, "en", w), assembler.TrackerSegments(dims, w).Segments,
			assembler.CharacterNotes([]assembler.Card{card}, characters, assembler.NotesOptions{Lang: "en", Words: w}),
			assembler.ExistingCharacters(characters), assembler.CharacterFields(characters),
			assembler.MemoryBlocks([]assembler.MemoryBlock{{Key: "k", Label: text("label"), Content: text("memory")}}),
			assembler.RecalledFacts([]string{text("fact")}, w),
		)
		for _, s := range segments {
			tags := 1
			if strings.Contains(s.Content, "</player-character>\n<character-profiles>") {
				tags = 2
			}
			if strings.Count(s.Content, "</") != tags || !utf8.ValidString(s.Content) || strings.Contains(s.Content, assembler.Sentinel) {
				rt.Fatalf("segment %s: %q", s.ID, s.Content)
			}
		}
		if _, warnings := assembler.CheckSegments("p", segments); len(warnings) > 0 {
			rt.Fatalf("warnings %v", warnings)
		}
	})
}

func quotedMember(text string) json.RawMessage {
	return ordered.Obj(ordered.Member{Key: text, Value: ordered.Str(text)}).Append(nil)
}

func TestCutsKeepRunes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		n := rapid.IntRange(0, 20).Draw(rt, "n")
		got := assembler.Cut(text, n, "...")
		runes := []rune(text)
		want := text
		if len(runes) > n {
			want = string(runes[:n]) + "..."
		}
		if got != want {
			rt.Fatalf("Cut(%q, %d) = %q, want %q", text, n, got, want)
		}
		short, saved := assembler.HeadTail(tokens.Covel{}, text, "\n[cut]\n", rapid.IntRange(1, 50).Draw(rt, "need"))
		if !utf8.ValidString(short) || saved < 0 || saved != (tokens.Covel{}).Count(text)-(tokens.Covel{}).Count(short) {
			rt.Fatalf("HeadTail(%q) = %q, saved %d", text, short, saved)
		}
	})
}

func TestProjectionIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := rapid.MapOf(rapid.SampledFrom([]string{"id", "turnId", "turnIds", "seenAt", "timestamp", "sessionId", "x", "__proto__"}),
			rapid.SampledFrom([]any{"guild", "3f2b8c1e-0a4d-4c1b-9f00-1234567890ab", "2031-01-02T03:04:05Z", 1, nil, []string{}, map[string]any{"sessionId": 1}})).Draw(rt, "m")
		source, err := json.Marshal(m)
		if err != nil {
			rt.Fatal(err)
		}
		once, err := assembler.ModelFacingJSON(source)
		if err != nil {
			rt.Fatal(err)
		}
		twice, err := assembler.ModelFacingJSON(once)
		if err != nil || string(once) != string(twice) {
			rt.Fatalf("%s becomes %s, then %s", source, once, twice)
		}
	})
}

func TestSentinelsNeverComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := hostile().Draw(rt, "text")
		if got := assembler.StripSentinels(text); strings.Contains(got, assembler.Sentinel) {
			rt.Fatalf("StripSentinels(%q) = %q", text, got)
		}
		if n := strings.Count(assembler.CapSentinels(strings.Repeat(text+assembler.Sentinel, 3)), assembler.Sentinel); n > 4 {
			rt.Fatalf("%d sentinels", n)
		}
		head := "[RUNTIME] x" + assembler.Sentinel
		if got := assembler.RestoreHead(head, text); !strings.HasPrefix(got, head) || strings.Count(got, assembler.Sentinel) > 4 {
			rt.Fatalf("RestoreHead = %q", got)
		}
	})
}
