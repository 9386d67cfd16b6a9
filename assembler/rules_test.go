package assembler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// Rules of the chapter that no public case shows.

func TestRuntimeOfReadsTheManifest(t *testing.T) {
	t.Parallel()
	r := assembler.RuntimeOf(&plugin.Runtime{
		ID: "guide", PluginID: "guide", Schedule: plugin.Schedule{Stage: "post-turn"},
		IO: plugin.IO{
			SelfData: []plugin.SelfData{{Namespace: "scene", As: "scene", MaxEntries: 7}}, Visibility: plugin.VisibilityPlugin,
			Output: plugin.Output{Contract: "scene-prompts@1", Schema: raw(`{}`)},
		},
		Agent: &plugin.Agent{AdvertiseEvents: true, Require: "tool-use", AfterTools: []string{"generate-guide"}},
	}, []string{"generate-guide", "get-character"})
	same(t, "mode", assembler.ModeOf(r), assembler.ModeCompletingTool)
	same(t, "contract", r.OutputContract+" "+r.Stage, "scene-prompts@1 post-turn")
	reads, err := assembler.SelfDataReads(r)
	if err != nil || len(reads) != 1 || reads[0].Limit != 7 {
		t.Errorf("reads %v, %v", reads, err)
	}
}

func TestCurrentTurnsPlayerRowsLeaveTheHistory(t *testing.T) {
	t.Parallel()
	got := assembler.WithoutCurrentTurn([]session.Message{
		row("1", "t1", session.SourcePlayer, "", "x"), row("2", "t2", session.SourcePlayer, "", "x"), row("3", "t2", session.SourceNarrative, "", "x"),
	}, "t2")
	same(t, "kept", rowIDs(got), "1 3")
}

func TestPreambleOverride(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"HOUSE RULES", "", "  "} {
		out := build(t, body("x"), func(in *assembler.Input) { in.Preamble = &text })
		want, head := "x"+mark, ""
		if strings.TrimSpace(text) != "" {
			want, head = text+mark+"\n\nx"+mark, text+mark
		}
		same(t, "system prompt", out.SystemPrompt, want)
		same(t, "head", out.FrameworkHead, head)
	}
}

func TestUnreadableDataIsWarnedAbout(t *testing.T) {
	t.Parallel()
	out := build(t, body("[{{ world.schema }}]"), func(in *assembler.Input) {
		in.Snapshot.World.Schema = raw(`{`)
		in.Inputs = []assembler.Slot{{Name: "x", InputSlot: one(`{"a":`, "p", "r", "")}}
	})
	contains(t, out.SystemPrompt, "[]")
	contains(t, out.TurnContext, `"value":null`)
	same(t, "warnings", fmt.Sprint(out.Warnings[0].Item, " ", out.Warnings[1].Item), "runtime-inputs.x world.schema")
}

func TestUncheckedSegmentsAreDropped(t *testing.T) {
	t.Parallel()
	bad := segment("x", "unchecked words", "system", "daily")
	out := build(t, withSegments(bad, segment("blank", " ", "system", "turn")))
	lacks(t, out.SystemPrompt, "unchecked words")
	same(t, "warnings", len(out.Warnings), 1)
	_, _, err := assembler.ParseSegments("p", raw(`{"a":1}`))
	if err == nil {
		t.Error("an object is accepted as a list of segments")
	}
}

func TestParseCard(t *testing.T) {
	t.Parallel()
	card, err := assembler.ParseCard(raw(`{"id":"lamp-warden","name":"Lamp Warden","persona":{"summary":"s","traits":["t"],"goals":["g"],"fears":["f"],"secrets":["x"],"voice":"v","style":"m"},
		"scenarioDefaults":{"relationships":{"pilot":"trusts","nobody":"fears"},"state":{"mood":"calm","oil":3}},"rules":[{"text":"low"},{"text":"high","priority":2}],
		"dialogueExamples":[{"user":"Hi","character":"Aye"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	options := notesOptions(t)
	options.Names = map[string]string{"pilot": "Harbour Pilot"}
	got := assembler.CharacterNotes([]assembler.Card{card}, []session.Character{{ID: "npc-lamp-warden", Type: "npc"}}, options)
	same(t, "notes", got[0].Content, "<character-notes>\n"+words(t, "en")("P06", nil)+`
### Lamp Warden
Voice: v
Manner: m
Summary: s
Traits: t
Goals: g
Fears: f
Secrets: x
Relationships: Harbour Pilot: trusts; nobody: fears
Start state: mood: calm; oil: 3
Rules: high; low
Examples: Hi -&gt; Aye
</character-notes>`)
	options.Lang, options.Words = "zh", words(t, "zh")
	got = assembler.CharacterNotes([]assembler.Card{card}, []session.Character{{ID: "npc-lamp-warden", Type: "npc"}}, options)
	contains(t, got[0].Content, "语气：v\n", "规则：high；low\n")
	if _, err := assembler.ParseCard(raw(`{`)); err == nil {
		t.Error("a broken card was read")
	}
}

func TestNotesThatFitNoLevelNameTheRest(t *testing.T) {
	t.Parallel()
	var cards []assembler.Card
	var characters []session.Character
	for i := range 30 {
		id := fmt.Sprintf("c%02d", i)
		cards = append(cards, assembler.Card{ID: id, Name: "N" + id, Voice: strings.Repeat("v", 1000)})
		characters = append(characters, session.Character{ID: id, Type: "npc"})
	}
	got := assembler.CharacterNotes(cards, characters, notesOptions(t))[0].Content
	shown := strings.Count(got, "### ")
	same(t, "shown", shown, 23)
	contains(t, got, "(notes left out: Nc23, Nc24, Nc25, Nc26, Nc27, Nc28, Nc29)")
	if n := (tokens.Covel{}).Count(got); n > 6050 {
		t.Errorf("%d tokens", n)
	}
}

func TestPruneHistoryAfterAHook(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	out := build(t, inLocale(""), history("u "+long, "a "+long, "u "+long, "a "+long))
	budget := assembler.Budget{Estimator: q4{}, Lang: "en", Texts: texts(t), Window: 150}
	pruned, err := budget.PruneHistory(assembler.Finish(out, "hook text", out.Messages))
	if err != nil {
		t.Fatal(err)
	}
	wantMessages(t, pruned.Messages, "system:"+texts(t).Get("en", "T08", nil), "user:hello")
	same(t, "pruned", pruned.PrunedMessageCount, 4)
	same(t, "player", pruned.Messages[pruned.PlayerIndex].Content, "hello")
	same(t, "kept", len(out.Messages), 5)
	if _, err := (assembler.Budget{}).PruneHistory(out); err == nil {
		t.Error("bad limits were accepted")
	}
}

func TestHookMessagesLoseSentinels(t *testing.T) {
	t.Parallel()
	messages := []model.Message{{Role: model.RoleUser, Content: "a" + mark, Parts: []model.Part{{Type: "text", Text: mark + "b"}}}}
	got := assembler.StripMessages(messages)
	same(t, "text", got[0].Content+got[0].Parts[0].Text, "ab")
	same(t, "original", messages[0].Parts[0].Text, mark+"b")
	out, _ := apply(t, assembler.Budget{Estimator: tokens.Covel{}, Texts: texts(t), Window: 100}, assembler.Request{Messages: messages}, nil)
	same(t, "request", out.Messages[0].Content, "a")
}

func TestDisorderedGroupsAreNeverTouched(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("row ", 500)
	two := model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "a", Name: "t"}, {ID: "b", Name: "t"}}}
	result := func(id string) model.Message {
		return model.Message{Role: model.RoleTool, ToolCallID: id, Content: long}
	}
	for name, messages := range map[string][]model.Message{
		"order":   {two, result("b"), result("a")},
		"missing": {two, result("a")},
		"extra":   {two, result("a"), result("b"), result("c")},
		"parts":   {{Role: model.RoleAssistant, ToolCalls: two.ToolCalls[:1]}, {Role: model.RoleTool, ToolCallID: "a", Parts: []model.Part{{Type: "text", Text: long}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := assembler.Request{Messages: append([]model.Message{{Role: model.RoleUser, Content: "go"}}, messages...)}
			ledger := &assembler.Ledger{}
			b := assembler.Budget{Emergency: name != "parts", Estimator: tokens.Covel{}, Lang: "en", Texts: texts(t), Window: 400}
			_, report, _ := b.Apply(req, ledger)
			same(t, "shortened", report.Elided+report.Collapsed+len(ledger.Elisions)+len(ledger.Digests), 0)
		})
	}
}

func TestLastResortCutsResultsThenSummaries(t *testing.T) {
	t.Parallel()
	summary := assembler.SummaryMessage(session.Summary{Content: strings.Repeat("salt & ", 1000), FocusSections: []string{"A"}}, texts(t), "en")
	req := assembler.Request{Messages: append([]model.Message{summary, {Role: model.RoleUser, Content: "go"}}, call("1", "read", "{}", strings.Repeat("rows ", 1000))...)}
	b := assembler.Budget{Estimator: tokens.Covel{}, Lang: "en", Texts: texts(t), Window: 300}
	out, report := apply(t, b, req, nil)
	same(t, "cut", fmt.Sprint(report.TruncatedResults, report.TruncatedSummaries, report.Traced()), "1 1 true")
	same(t, "result", out.Messages[3].Content, strings.TrimSpace(texts(t).Get("en", "T09", nil)))
	same(t, "envelope", compaction.IsEnvelope(texts(t), out.Messages[0].Content), true)
	contains(t, out.Messages[0].Content, texts(t).Get("en", "T10", nil), "salt &amp; ")
	if report.Estimate > 300 {
		t.Errorf("estimate %d", report.Estimate)
	}
}

func TestEmergencyMayShortenTheNewestGroups(t *testing.T) {
	t.Parallel()
	req := assembler.Request{Messages: append([]model.Message{{Role: model.RoleUser, Content: "go"}}, call("1", "read", "{}", strings.Repeat("rows ", 1000))...)}
	b := assembler.Budget{Emergency: true, Estimator: tokens.Covel{}, Lang: "en", Texts: texts(t), Window: 200}
	out, report := apply(t, b, req, nil)
	same(t, "elided", report.Elided, 1)
	same(t, "result", out.Messages[2].Content, texts(t).Get("en", "T11", nil))
}

func TestToolDefinitionsAreCounted(t *testing.T) {
	t.Parallel()
	b := assembler.Budget{Estimator: q4{}, Texts: texts(t), Window: 1000}
	tools := []model.Tool{{Name: "a", Description: "d", Parameters: raw(`{"type": "object"}`)}, {Name: "b"}}
	_, report := apply(t, b, assembler.Request{Tools: tools}, nil)
	same(t, "tools", report.Tools, q4{}.Count(`<tool_definitions>[{"name":"a","description":"d","parameters":{"type":"object"}},{"name":"b"}]</tool_definitions>`))
}
