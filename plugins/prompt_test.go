package plugins_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

// request assembles the first request of a runtime in a new session of
// lanternfall with prompt-probe active.
func request(t *testing.T, runtimeID, tag, probe string) *assembler.Assembled {
	t.Helper()
	gen, _ := load(t, nil)
	lib, _, err := world.Load(world.Config{Bundled: worlds.FS()})
	if err != nil {
		t.Fatal(err)
	}
	w, _ := lib.World("lanternfall")
	res, err := gen.Resolve(w.Request([]string{"prompt-probe"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	active := gen.Active(res.Active)
	seed, err := w.Instantiate(world.Options{Active: active, Locale: tag, SessionID: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	texts, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	lang := locale.Instruction(tag, "")
	segments := active.StaticSegments(tag, string(lang))
	for _, x := range active.Extensions(plugin.PointSegment) {
		data := rowsByNamespace{}
		for _, d := range seed.Data {
			if d.PluginID == x.PluginID {
				data[d.Namespace] = append(data[d.Namespace], d)
			}
		}
		v := plugin.View{
			Scope: turn.Scope{SessionID: "s1", TurnID: "t1"}, PluginID: x.PluginID, Locale: tag, Session: seed.Session, Characters: seed.Characters,
			CharacterSchema: seed.Snapshot.CharacterSchema, Data: data, UserSettings: json.RawMessage(probe),
		}
		given, err := x.Segment(t.Context(), v)
		if err != nil {
			t.Fatalf("%s: %v", x.PluginID, err)
		}
		kept, _ := assembler.CheckSegments(x.PluginID, given)
		segments = append(segments, kept...)
	}
	r, ok := active.Runtime(runtimeID)
	if !ok {
		t.Fatalf("no runtime %s", runtimeID)
	}
	history := []session.Message{
		{TurnID: "t0", SourceType: session.SourcePlayer, Role: session.RoleUser, Content: "I wait."},
		{TurnID: "t0", SourceType: session.SourceNarrative, SourceRuntimeID: "narrator", Role: session.RoleAssistant, Content: "The lamp turns."},
	}
	out, err := assembler.Build(assembler.Input{
		Body: r.BodyFor(string(lang)), Texts: texts, History: history, Segments: segments, UserSettings: json.RawMessage(`{"narrativePerson":"second"}`),
		Runtime: assembler.RuntimeOf(r, nil),
		Turn:    assembler.Turn{SessionID: "s1", TurnID: "t1", Number: 1, PlayerMessage: "I row to the eels.", Locale: tag},
		Snapshot: assembler.Snapshot{
			Characters: seed.Characters, Seats: seed.Session.Seats, Lorebook: seed.Lorebook,
			World: assembler.World{ID: "lanternfall", Name: seed.Snapshot.Name, Summary: seed.Snapshot.Summary, Lore: seed.Snapshot.Lore},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func contents(messages []model.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Content
	}
	return out
}

func TestNarratorRequest(t *testing.T) {
	t.Parallel()
	out := request(t, "narrator", "en", `{}`)
	sys := out.SystemPrompt
	at := func(id string) int { return strings.Index(sys, "PROBE "+id) }
	t.Run("AF-079", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"p-stable", "p-session", "p-contract"} {
			if at(id) < 0 {
				t.Errorf("%s is not in the system prompt", id)
			}
		}
		all := sys + strings.Join(contents(out.Messages), "\n")
		if !strings.Contains(out.TurnContext, "PROBE p-turn a & <b>") || at("p-turn") >= 0 || strings.Contains(all, "PROBE p-self") {
			t.Errorf("turn context: %s", out.TurnContext)
		}
	})
	t.Run("AF-080", func(t *testing.T) {
		t.Parallel()
		if !(at("p-stable") < at("p-contract") && at("p-contract") < at("p-session")) {
			t.Error(at("p-stable"), at("p-contract"), at("p-session"))
		}
	})
	t.Run("AF-081", func(t *testing.T) {
		t.Parallel()
		parts := assembler.SplitSentinels(sys)
		if !strings.Contains(parts[len(parts)-1], "PROBE p-pre-turn") {
			t.Error("p-pre-turn must stand after the last boundary")
		}
		texts := contents(out.Messages)
		history := slices.Index(texts, "I wait.")
		user, assistant := slices.Index(texts, "PROBE p-pre-user"), slices.Index(texts, "PROBE p-pre-assistant")
		if user < 0 || assistant < 0 || user > history || assistant > history {
			t.Error(user, assistant, history)
		}
		if post := slices.Index(texts, "PROBE p-post"); post < slices.Index(texts, "I row to the eels.") {
			t.Error(post)
		}
	})
	t.Run("AF-082", func(t *testing.T) {
		t.Parallel()
		bad := request(t, "narrator", "en", `{"badSegment":true}`)
		if bad.SystemPrompt != sys {
			t.Error("a bad segment changes the others")
		}
	})
	t.Run("AF-083", func(t *testing.T) {
		t.Parallel()
		if !strings.Contains(sys, "PROBE p-session {{ session.id }}") {
			t.Error("a segment was interpolated")
		}
	})
	t.Run("AF-127", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"founding-law", "tide-table"} {
			if !strings.Contains(sys, "\n"+id+" (") || strings.Contains(out.TurnContext, "\n"+id+" (") {
				t.Errorf("%s is not in the session segment", id)
			}
		}
		for _, id := range []string{"reputation", "lamp-oil", "harbour-ledger"} {
			if !strings.Contains(out.TurnContext, "\n"+id+" (") {
				t.Errorf("%s is not in the turn segment", id)
			}
		}
	})
	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"You are the narrator of Lanternfall.", "Speak of the player's character in the second person.", "<character-notes>", "<world-lore>", "[World Rule: eel]"} {
			if !strings.Contains(sys, text) {
				t.Errorf("the system prompt lacks %q", text)
			}
		}
		if !strings.Contains(out.TurnContext, `"nerve": "2/5"`) || !strings.Contains(out.TurnContext, "<character-profiles>") {
			t.Errorf("%s", out.TurnContext)
		}
		last := out.Messages[len(out.Messages)-1]
		if !strings.Contains(strings.Join(contents(out.Messages), "\n"), "Continue from the very end") {
			t.Errorf("%+v", last)
		}
		if strings.Contains(sys, "{{ ") && !strings.Contains(sys, "{{ session.id }}") {
			t.Error("a placeholder is left")
		}
	})
	t.Run("Chinese", func(t *testing.T) {
		t.Parallel()
		zh := request(t, "narrator", "zh-CN", `{}`).SystemPrompt
		for _, text := range []string{"你是《坠灯港》的叙述者", "### 守灯长", "灯下所誓"} {
			if !strings.Contains(zh, text) {
				t.Errorf("the system prompt lacks %q", text)
			}
		}
	})
	t.Run("trackers", func(t *testing.T) {
		t.Parallel()
		for id, tags := range map[string][2]string{
			"world-init/dimension-tracker":   {"<dimension-rules>", "<dimension-values>"},
			"char-creator/character-tracker": {"<existing-characters>", "<character-fields>"},
		} {
			out := request(t, id, "en", `{}`)
			if !strings.Contains(out.SystemPrompt, tags[0]+"\n") || !strings.Contains(out.TurnContext, tags[1]+"\n") || strings.Contains(out.TurnContext, tags[0]+"\n") {
				t.Errorf("%s: %v stand in the wrong place", id, tags)
			}
		}
	})
}

func vars(t *testing.T, raw string) ordered.Value {
	t.Helper()
	v, err := ordered.Parse(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTemplateAndBlockCases(t *testing.T) {
	t.Parallel()
	texts, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range map[string]struct{ body, vars, want string }{
		"AF-096": {"Hi {{ player.name.first }}.", `{"player":{}}`, "Hi ."},
		"AF-097": {"<world-summary>{{ world.description }}</world-summary>", `{"world":{"description":"a </world-summary> & b"}}`, "<world-summary>a &lt;/world-summary&gt; &amp; b</world-summary>"},
		"AF-098": {"In {{ world.name }} we trust", `{"world":{"name":"A & B"}}`, "In A & B we trust"},
	} {
		if got := assembler.Interpolate(c.body, vars(t, c.vars)); got != c.want {
			t.Errorf("%s: %q", id, got)
		}
	}
	t.Run("AF-099", func(t *testing.T) {
		t.Parallel()
		lore := strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 99)+"\n", 330), "\n")
		got := strings.Split(assembler.WorldLore(lore), "\n")
		if len(got) != 320+3 || got[321] != "…" {
			t.Errorf("%d lines, last %q", len(got), got[len(got)-2])
		}
	})
	for id, c := range map[string][2]string{
		"AF-088": {`{"id":"3f2b8c1e-9d4a-4b6f-8a21-0c5d7e9f1a2b","name":"x","createdAt":"2024-05-01T10:00:00Z","date":"2024-05-01","sessionId":"s9"}`, `{"name":"x","date":"2024-05-01"}`},
		"AF-089": {`{"id":"npc-lamp-warden","updatedAt":"yesterday"}`, `{"id":"npc-lamp-warden","updatedAt":"yesterday"}`},
	} {
		if got, err := assembler.ModelFacingJSON(json.RawMessage(c[0])); err != nil || string(got) != c[1] {
			t.Errorf("%s: %s %v", id, got, err)
		}
	}
	t.Run("AF-100", func(t *testing.T) {
		t.Parallel()
		for tag, want := range map[string]locale.Lang{"zh-Hant": locale.English, "zh_cn": locale.Chinese, "zh-Hans-SG": locale.Chinese} {
			if got := locale.Instruction(tag, ""); got != want {
				t.Errorf("%s: %s", tag, got)
			}
		}
	})
	t.Run("AF-101", func(t *testing.T) {
		t.Parallel()
		if _, err := locale.ParseForced("de"); err == nil || !strings.Contains(err.Error(), "de") {
			t.Errorf("%v", err)
		}
		v, _ := lantern(t, "memory", "en")
		v.Locale, v.Language = "fr", "zh"
		data := v.Data.(rowsByNamespace)
		data.put("facts", "fact-1", `{"text":"干的。","keys":["row"],"turn":1}`)
		segments, err := plugins.Handlers().Entries["memory"].Segments["memory"](t.Context(), v)
		if err != nil || !strings.Contains(segments[0].Content, "先前回合") {
			t.Errorf("%v %v", segments, err)
		}
	})
	t.Run("AF-129", func(t *testing.T) {
		t.Parallel()
		schema := json.RawMessage(`{"attributes":[{"id":"nerve","type":"number","min":0,"max":5},{"id":"rank","type":"number","min":1,"max":10}]}`)
		c := session.Character{ID: "p", Name: "P", Type: "player", Fields: json.RawMessage(`{"nerve":2,"rank":3}`)}
		s := assembler.CharacterSheets([]session.Character{c}, assembler.SheetOptions{CurrentCharacterID: "p", Lang: locale.English, Schema: schema, Texts: texts})
		if !strings.Contains(s[0].Content, `"2/5"`) || !strings.Contains(s[0].Content, `"3 (1–10)"`) {
			t.Error(s[0].Content)
		}
	})
	t.Run("AF-130", func(t *testing.T) {
		t.Parallel()
		for n, want := range map[int]int{5: 1638, 4: 2000} {
			var blocks []assembler.MemoryBlock
			for i := range n {
				blocks = append(blocks, assembler.MemoryBlock{Key: fmt.Sprint(i), Label: "L", Content: strings.Repeat("x", 3000)})
			}
			if got := assembler.MemoryBlocks(blocks)[0].Content; !strings.Contains(got, strings.Repeat("x", want)+"…") || strings.Contains(got, strings.Repeat("x", want+1)) {
				t.Errorf("%d blocks", n)
			}
		}
	})
	t.Run("AF-132", func(t *testing.T) {
		t.Parallel()
		line := assembler.CharacterLine(session.Character{Name: "A", Type: "npc", Description: strings.Repeat("d", 450)}, nil)
		if line != "- A [npc] | "+strings.Repeat("d", 400)+"..." {
			t.Error(line)
		}
	})
	t.Run("AF-131", func(t *testing.T) {
		t.Parallel()
		dims := []assembler.Dimension{{ID: "long", Value: json.RawMessage(`"` + strings.Repeat("x", 8998) + `"`), Version: 1, Rule: "r"}}
		for i := range 4 {
			dims = append(dims, assembler.Dimension{ID: fmt.Sprint("d", i), Value: json.RawMessage(`"` + strings.Repeat("y", 998) + `"`), Version: 1, Rule: "r"})
		}
		words := func(id string, _ map[string]string) string { return id }
		s := assembler.WorldDimensions(dims, "en", words)
		if len(s) != 1 || strings.Contains(s[0].Content, "P02") || strings.Count(s[0].Content, strings.Repeat("y", 998)) != 4 || !strings.Contains(s[0].Content, `"`+strings.Repeat("x", 239)+"…") {
			t.Error(s[0].Content)
		}
	})
}
