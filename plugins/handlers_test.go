package plugins_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

// rowsByNamespace is a plugin's data: namespace, then rows in creation order.
type rowsByNamespace map[string][]session.PluginDatum

func (r rowsByNamespace) Get(_ context.Context, namespace, key string) (json.RawMessage, error) {
	for _, row := range r[namespace] {
		if row.Key == key {
			return row.Value, nil
		}
	}
	return nil, nil
}

func (r rowsByNamespace) List(_ context.Context, namespace, after string, limit int) ([]session.PluginDatum, error) {
	list := slices.Clone(r[namespace])
	slices.SortFunc(list, func(a, b session.PluginDatum) int { return strings.Compare(a.Key, b.Key) })
	var out []session.PluginDatum
	for _, row := range list {
		if row.Key > after && len(out) < limit {
			out = append(out, row)
		}
	}
	return out, nil
}

func (r rowsByNamespace) put(namespace, key, value string) rowsByNamespace {
	r[namespace] = append(r[namespace], session.PluginDatum{Namespace: namespace, Key: key, Value: json.RawMessage(value)})
	return r
}

// lantern gives a new session of lanternfall as a plugin sees it.
func lantern(t *testing.T, pluginID, locale string) (plugin.View, *world.Seed) {
	t.Helper()
	gen, _ := load(t, nil)
	lib, _, err := world.Load(world.Config{Bundled: worlds.FS()})
	if err != nil {
		t.Fatal(err)
	}
	w, _ := lib.World("lanternfall")
	res, err := gen.Resolve(w.Request(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := w.Instantiate(world.Options{Active: gen.Active(res.Active), Locale: locale, SessionID: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	data := rowsByNamespace{}
	for _, d := range seed.Data {
		if d.PluginID == pluginID {
			data[d.Namespace] = append(data[d.Namespace], d)
		}
	}
	return plugin.View{
		Scope: turn.Scope{SessionID: "s1", TurnID: "t1", ExecutionID: "x1"}, PluginID: pluginID, LogicalTurn: 3, Locale: locale,
		Session: seed.Session, Characters: seed.Characters, CharacterSchema: seed.Snapshot.CharacterSchema, Data: data,
		PlayerMessage: "I row out.", StartedAt: time.Unix(1_700_000_000, 0),
	}, seed
}

func call(v plugin.View, tool, args string) plugin.ToolCall {
	return plugin.ToolCall{View: v, Name: tool, CallID: "c1", Arguments: json.RawMessage(args)}
}

func TestDiceCheck(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	type outcome struct {
		Applies        bool
		Roll, Modifier int
		Threshold      int
		Outcome        string
		Reveals        []string
	}
	run := func(t *testing.T, v plugin.View) outcome {
		t.Helper()
		res, err := h.Functions["dice-check/roller"](t.Context(), plugin.FunctionCall{View: v})
		if err != nil {
			t.Fatal(err)
		}
		var o outcome
		if err := json.Unmarshal(res.Value, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	view := func(turnID, message string, data rowsByNamespace) plugin.View {
		return plugin.View{Scope: turn.Scope{SessionID: "s1", TurnID: turnID}, PlayerMessage: message, Data: data, UserSettings: json.RawMessage(`{"difficulty":"hard"}`)}
	}
	t.Run("AF-133", func(t *testing.T) {
		t.Parallel()
		if o := run(t, view("t1", "I row", rowsByNamespace{})); o.Roll != 17 || o.Threshold != 15 || o.Outcome != "success" || o.Reveals == nil {
			t.Errorf("%+v", o)
		}
		worse := rowsByNamespace{}.put("_hidden.modifiers", "a", `{"id":"a","keys":["row"],"modifier":-3,"reveal":"A pull."}`)
		if o := run(t, view("t1", "I row", worse)); o.Outcome != "failure" || o.Modifier != -3 || len(o.Reveals) != 1 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("AF-134", func(t *testing.T) {
		t.Parallel()
		if o := run(t, view("t8", "I row", rowsByNamespace{}.put("modifiers", "a", `{"id":"a","keys":["row"],"modifier":5}`))); o.Roll != 1 || o.Outcome != "fumble" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("AF-087", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "dice-check", "en")
		v.PlayerMessage = "I dive after the light"
		if o := run(t, v); o.Modifier != -3 || len(o.Reveals) != 1 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("AF-071", func(t *testing.T) {
		t.Parallel()
		res, err := h.Guards["dice-check/roller-guard"](t.Context(), plugin.FunctionCall{View: view("t1", " \n", nil)})
		if err != nil || !res.Skip || string(res.Value) != `{"applies":false}` {
			t.Errorf("%+v %v", res, err)
		}
		gen, _ := load(t, nil)
		m, _ := gen.Plugin("dice-check")
		schema, err := gen.Schema(m.Contracts["action-check@1"])
		if err != nil || schema.Validate(res.Value) != nil {
			t.Errorf("the guard's value breaks the contract: %v", err)
		}
	})
	t.Run("modifiers are clamped", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			data, sum := rowsByNamespace{}, 0
			for i := range rapid.IntRange(0, 8).Draw(t, "rows") {
				m := rapid.IntRange(-5, 5).Draw(t, "modifier")
				sum += m
				data.put("modifiers", fmt.Sprint(i), fmt.Sprintf(`{"id":"%d","keys":["row"],"modifier":%d}`, i, m))
			}
			v := view(rapid.StringN(1, 20, 40).Draw(t, "turn"), "row", data)
			res, err := h.Functions["dice-check/roller"](context.Background(), plugin.FunctionCall{View: v})
			if err != nil {
				t.Fatal(err)
			}
			var o outcome
			if err := json.Unmarshal(res.Value, &o); err != nil {
				t.Fatal(err)
			}
			if o.Roll < 1 || o.Roll > 20 || o.Modifier != min(max(sum, -5), 5) {
				t.Fatalf("%+v, sum %d", o, sum)
			}
		})
	})
	t.Run("record-check", func(t *testing.T) {
		t.Parallel()
		v := plugin.View{LogicalTurn: 4, Data: rowsByNamespace{}.put("log", "check-1", `{}`)}
		res, err := h.Tools["dice-check/record-check"](t.Context(), call(v, "record-check", `{"action":"climb","outcome":"failure"}`))
		if err != nil || len(res.Proposals) != 1 || string(res.Proposals[0].Payload) != `{"namespace":"log","key":"check-2","value":{"action":"climb","outcome":"failure","turn":4}}` {
			t.Errorf("%+v %v", res, err)
		}
	})
}

func TestAffinity(t *testing.T) {
	t.Parallel()
	update := plugins.Handlers().Tools["affinity/update-affinity"]
	t.Run("AF-135", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "affinity", "en")
		v.Data = rowsByNamespace{}.put("scores", "npc-lamp-warden", `{"score":95}`)
		res, err := update(t.Context(), call(v, "update-affinity", `{"changes":[{"character":"the warden","delta":10,"reason":"Saved her."}]}`))
		if err != nil || len(res.Proposals) != 1 || !strings.Contains(string(res.Proposals[0].Payload), `{"key":"npc-lamp-warden","value":{"score":100,"note":"Saved her."}}`) {
			t.Errorf("%s %v", res.Proposals, err)
		}
		res, err = update(t.Context(), call(v, "update-affinity", `{"changes":[{"character":"npc-lamp-warden","delta":1,"reason":"a"},{"character":"nobody","delta":1,"reason":"b"}]}`))
		if err != nil || res.Code != "VALIDATION_ERROR" || len(res.Proposals) != 0 || !strings.Contains(res.Message, "changes[1].character") {
			t.Errorf("%+v %v", res, err)
		}
		res, err = update(t.Context(), call(v, "update-affinity", `{"changes":[]}`))
		if err != nil || res.Code != "" || len(res.Proposals) != 0 {
			t.Errorf("%+v %v", res, err)
		}
	})
	t.Run("initial scores", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "affinity", "zh-CN")
		got, err := v.Data.Get(t.Context(), "scores", "npc-salt-apothecary")
		if err != nil || !strings.Contains(string(got), `"score":-5`) {
			t.Errorf("%s %v", got, err)
		}
	})
}

func TestWorldInit(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	update := h.Tools["world-init/update-dimensions"]
	t.Run("AF-136", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "en")
		res, err := update(t.Context(), call(v, "update-dimensions", `{"updates":[]}`))
		if err != nil || res.Code != "" || len(res.Proposals) != 1 || string(res.Proposals[0].Payload) != `{"updates":[],"receipt":"no-change"}` || res.Summary != "no-change" {
			t.Errorf("%+v %s %v", res, res.Proposals[0].Payload, err)
		}
	})
	t.Run("AF-146", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "en")
		res, err := update(t.Context(), call(v, "update-dimensions", `{"updates":[{"id":"reputation","value":2,"reason":"kept a promise"}]}`))
		if err != nil || string(res.Proposals[0].Payload) != `{"updates":[{"id":"reputation","value":2,"version":1,"reason":"kept a promise"}],"receipt":"settled"}` {
			t.Errorf("%+v %v", res, err)
		}
		ctx, err := h.Functions["world-init/dimension-context"](t.Context(), plugin.FunctionCall{View: v})
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range []string{"initialValue", "updateRule", "lastTrackedSource"} {
			if strings.Contains(string(ctx.Value), hidden) {
				t.Errorf("the snapshot holds %s: %s", hidden, ctx.Value)
			}
		}
		if !strings.HasPrefix(string(ctx.Value), `{"founding-law":{"name":"Founding law"`) || !strings.Contains(string(ctx.Value), `"value":0,"version":1`) {
			t.Errorf("%s", ctx.Value)
		}
	})
	t.Run("refused updates", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "en")
		for args, want := range map[string]string{
			`{"updates":[{"id":"ghost","value":2,"reason":""}]}`:                                                     "ghost",
			`{"updates":[{"id":"reputation","value":11,"reason":""}]}`:                                               "reputation",
			`{"updates":[{"id":"tide-table","value":{},"reason":""}]}`:                                               "no update rule",
			`{"updates":[{"id":"lamp-oil","value":1,"reason":""},{"id":"lamp-oil","value":2,"reason":""}]}`:          "twice",
			`{"updates":[{"id":"harbour-ledger","value":["` + strings.Repeat("x", 101) + `"],"reason":"too long"}]}`: "harbour-ledger",
		} {
			res, err := update(t.Context(), call(v, "update-dimensions", args))
			if err != nil || res.Code != "VALIDATION_ERROR" || len(res.Proposals) != 0 || !strings.Contains(res.Message, want) {
				t.Errorf("%s: %+v %v", args, res, err)
			}
		}
	})
	t.Run("AF-127", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "zh-CN")
		segments, err := h.Entries["world-init"].Segments["dimensions"](t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		byID := map[string]plugin.Segment{}
		for _, s := range segments {
			byID[s.ID] = s
		}
		for id, c := range map[string]struct {
			volatility string
			has, not   []string
		}{
			"static-dimensions": {"session", []string{"founding-law", "tide-table", "灯下所誓"}, []string{"reputation", "sworn in the light"}},
			"dimensions":        {"turn", []string{"reputation", "lamp-oil", "harbour-ledger"}, []string{"founding-law"}},
			"dimension-rules":   {"session", []string{"reputation", "lamp-oil", "harbour-ledger"}, []string{"tide-table"}},
			"dimension-values":  {"turn", []string{"lamp-oil: 40"}, []string{"tide-table"}},
		} {
			s := byID[id]
			if s.Volatility != c.volatility {
				t.Errorf("%s: %+v", id, s)
			}
			for _, text := range c.has {
				if !strings.Contains(s.Content, text) {
					t.Errorf("%s lacks %s:\n%s", id, text, s.Content)
				}
			}
			for _, text := range c.not {
				if strings.Contains(s.Content, text) {
					t.Errorf("%s holds %s", id, text)
				}
			}
		}
	})
	t.Run("read tools leave when nothing is truncated", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "en")
		hook := h.Entries["world-init"].Hooks["PreLLMCall"]
		payload := json.RawMessage(`{"messages":[],"tools":[{"name":"update-dimensions"},{"name":"dimension-rule-get"},{"name":"world-dimension-get"},{"name":"world-dimension-list"}]}`)
		v.RuntimeID = "world-init/dimension-tracker"
		a, err := hook(t.Context(), plugin.HookCall{View: v, Event: "PreLLMCall", Payload: payload})
		if err != nil || string(a.Replace) != `{"tools":[{"name":"update-dimensions"}]}` {
			t.Errorf("%s %v", a.Replace, err)
		}
		v.RuntimeID = "narrator"
		if a, err := hook(t.Context(), plugin.HookCall{View: v, Event: "PreLLMCall", Payload: payload}); err != nil || a.Replace != nil {
			t.Errorf("%s %v", a.Replace, err)
		}
		v.RuntimeID = "world-init/dimension-tracker"
		v.Data.(rowsByNamespace).put("_dimensions", "huge", `{"order":9,"name":"Huge","schema":{"type":"string"},"value":"`+strings.Repeat("x", 30000)+`","version":1,"updateRule":"Grow."}`)
		if a, err := hook(t.Context(), plugin.HookCall{View: v, Event: "PreLLMCall", Payload: payload}); err != nil || a.Replace != nil {
			t.Errorf("%s %v", a.Replace, err)
		}
	})
	t.Run("guards", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "en")
		for name, skip := range map[string]bool{"world-init/schema-gen-guard": true, "world-init/dimension-tracker-guard": false} {
			if g, err := h.Guards[name](t.Context(), plugin.FunctionCall{View: v}); err != nil || g.Skip != skip {
				t.Errorf("%s: %+v %v", name, g, err)
			}
		}
		bare := plugin.View{Data: rowsByNamespace{}}
		for name, skip := range map[string]bool{"world-init/schema-gen-guard": false, "world-init/dimension-tracker-guard": true} {
			if g, err := h.Guards[name](t.Context(), plugin.FunctionCall{View: bare}); err != nil || g.Skip != skip {
				t.Errorf("%s: %+v %v", name, g, err)
			}
		}
	})
	t.Run("edit and initialize", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "world-init", "en")
		res, err := h.Functions["world-init/edit-dimensions"](t.Context(), plugin.FunctionCall{View: v, Payload: json.RawMessage(`{"updates":[{"id":"tide-table","value":{"low":"a","high":"b","slack":"c"}}]}`)})
		if err != nil || !strings.Contains(string(res.Proposals[0].Payload), `"receipt":"manual"`) {
			t.Errorf("%+v %v", res, err)
		}
		if _, err := h.Functions["world-init/edit-dimensions"](t.Context(), plugin.FunctionCall{View: v, Payload: json.RawMessage(`{"updates":[{"id":"lamp-oil","value":-1}]}`)}); err == nil {
			t.Error("a value outside of the schema was accepted")
		}
		tool, err := h.Tools["world-init/initialize-world"](t.Context(), call(plugin.View{}, "initialize-world",
			`{"attributes":[{"id":"might","name":"Might","type":"number","category":"stats","min":1,"max":5}],"dimensions":[{"id":"heat","name":"Heat","schema":{"type":"integer"},"initialValue":3,"updateRule":"Rise."}]}`))
		if err != nil || len(tool.Proposals) != 2 || tool.Proposals[0].Type != turn.ProposalCharacterSchemaSet || tool.Proposals[1].Type != turn.ProposalDimensionInitialize {
			t.Errorf("%+v %v", tool, err)
		}
		tool, err = h.Tools["world-init/initialize-world"](t.Context(), call(plugin.View{}, "initialize-world",
			`{"attributes":[{"id":"trade","name":"Trade","type":"enum","category":"bio"}]}`))
		if err != nil || tool.Code != "VALIDATION_ERROR" || !strings.Contains(tool.Message, "options") {
			t.Errorf("%+v %v", tool, err)
		}
	})
}

func TestGuideAndForms(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	gen, _ := load(t, nil)
	t.Run("AF-138", func(t *testing.T) {
		t.Parallel()
		tool, _ := gen.Active([]string{"guide"}).Tool("guide", "generate-guide")
		one := `{"recap":"r","suggestions":[{"label":"l","prompt":"p"}]}`
		if err := tool.Schema.Validate(json.RawMessage(one)); err == nil {
			t.Error("one suggestion is valid")
		}
		s := `{"label":"l","prompt":"p"}`
		three := `{"recap":"r","suggestions":[` + s + `,` + s + `,` + s + `]}`
		if err := tool.Schema.Validate(json.RawMessage(three)); err != nil {
			t.Fatal(err)
		}
		res, err := tool.Run(t.Context(), call(plugin.View{}, "generate-guide", three))
		if err != nil || string(res.Data) != three || string(res.Proposals[0].Payload) != `{"namespace":"scene","key":"latest","value":`+three+`}` {
			t.Errorf("%+v %v", res, err)
		}
	})
	t.Run("create-character-form", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "char-creator", "en")
		res, err := h.Tools["char-creator/create-character-form"](t.Context(), call(v, "create-character-form", `{"title":"You","fieldIds":["name","nerve","trade","oath-bound","bio"]}`))
		if err != nil || res.Suspend == nil {
			t.Fatalf("%+v %v", res, err)
		}
		schema, err := plugin.CompileSchema(res.Suspend.ResumeSchema)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(json.RawMessage(`{"name":"A","nerve":3,"trade":"pilot","oath-bound":true,"bio":""}`)); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{`{"nerve":3}`, `{"name":"A","nerve":9}`, `{"name":"A","trade":"king"}`} {
			if schema.Validate(json.RawMessage(bad)) == nil {
				t.Errorf("%s is accepted", bad)
			}
		}
		res, err = h.Tools["char-creator/create-character-form"](t.Context(), call(v, "create-character-form", `{"title":"You","fieldIds":["luck"]}`))
		if err != nil || res.Code != "VALIDATION_ERROR" || !strings.Contains(res.Message, "nerve") {
			t.Errorf("%+v %v", res, err)
		}
	})
	t.Run("AF-128", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "char-creator", "en")
		g, err := h.Guards["char-creator/player-init-guard"](t.Context(), plugin.FunctionCall{View: v})
		if err != nil || !g.Skip {
			t.Errorf("%+v %v", g, err)
		}
		v.Session.Seats = []session.Seat{{ID: "seat-1", Primary: true}}
		if g, err := h.Guards["char-creator/player-init-guard"](t.Context(), plugin.FunctionCall{View: v}); err != nil || g.Skip {
			t.Errorf("%+v %v", g, err)
		}
	})
}

func TestCharacterBlueprint(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	v, _ := lantern(t, "character-blueprint", "zh-CN")
	segments, err := h.Entries["character-blueprint"].Segments["character-notes"](t.Context(), v)
	if err != nil || len(segments) != 1 {
		t.Fatalf("%v %v", segments, err)
	}
	for _, text := range []string{"### 守灯长", "口吻：", "玩家角色", "供写作者使用"} {
		if !strings.Contains(segments[0].Content, text) {
			t.Errorf("notes lack %s", text)
		}
	}
	res, err := h.Functions["character-blueprint/presence"](t.Context(), plugin.FunctionCall{View: v})
	if err != nil || strings.Count(string(res.Value), `"inSession":true`) != 4 {
		t.Errorf("%s %v", res.Value, err)
	}
	v.Characters = slices.DeleteFunc(v.Characters, func(c session.Character) bool { return c.ID == "npc-tide-child" })
	res, err = h.Functions["character-blueprint/import"](t.Context(), plugin.FunctionCall{View: v, Payload: json.RawMessage(`{}`)})
	if err != nil || len(res.Proposals) != 1 || !strings.Contains(string(res.Proposals[0].Payload), `"id":"npc-tide-child"`) || !strings.Contains(string(res.Proposals[0].Payload), `"type":"companion"`) {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := h.Functions["character-blueprint/import"](t.Context(), plugin.FunctionCall{View: v, Payload: json.RawMessage(`{"cardIds":["ghost"]}`)}); err == nil {
		t.Error("an unknown card was accepted")
	}
}

// scripted answers with texts in turn and keeps the requests.
type scripted struct {
	answers  []string
	requests []model.Params
}

func (s *scripted) Call(_ context.Context, slot string, p model.Params, _ func(model.Delta)) (*model.Result, error) {
	if slot != "memory" {
		return nil, errors.New("slot " + slot)
	}
	s.requests = append(s.requests, p)
	return &model.Result{Text: s.answers[len(s.requests)-1], FinishReason: model.FinishStop}, nil
}

func (s *scripted) Resolve(string) (model.Target, error) { return model.Target{}, nil }

func TestMemory(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	digest := func(story string) map[string]plugin.InputSlot {
		raw := fmt.Sprintf(`{"turnNumber":3,"playerMessage":"I pour.","storyTexts":[{"runtimeId":"narrator","text":%q}],"events":[]}`, story)
		return map[string]plugin.InputSlot{"digest": {Cardinality: "one", Value: json.RawMessage(raw)}}
	}
	good := `{"blocks":{"debts":"Owes the pilot one flask.","unknown":"x"},"facts":[{"text":"The third step is dry.","keys":["step"]}]}`
	t.Run("AF-147", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "memory", "en")
		v.Data.(rowsByNamespace).put("blocks", "debts", `{"label":"Debts","content":"None yet."}`)
		m := &scripted{answers: []string{good, good}}
		v.Model = m
		for _, story := range []string{"The lamp sinks.", "The bell rings."} {
			if _, err := h.Functions["memory/extract"](t.Context(), plugin.FunctionCall{View: v, Inputs: digest(story)}); err != nil {
				t.Fatal(err)
			}
		}
		a, b := m.requests[0].Messages, m.requests[1].Messages
		if a[0].Content != b[0].Content {
			t.Error("the instructions differ")
		}
		headA, tailA, _ := strings.Cut(a[1].Content, "<turn>")
		headB, tailB, _ := strings.Cut(b[1].Content, "<turn>")
		if headA != headB || !strings.Contains(tailA, "The lamp sinks.") || !strings.Contains(tailB, "The bell rings.") || !strings.HasSuffix(a[1].Content, "</turn>") {
			t.Errorf("%s\n---\n%s", a[1].Content, b[1].Content)
		}
		if strings.Index(headA, "memory-definitions") > strings.Index(headA, "None yet.") {
			t.Error("definitions must stand before the blocks")
		}
	})
	t.Run("writes", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "memory", "en")
		v.Model = &scripted{answers: []string{"```json\n" + good + "\n```"}}
		res, err := h.Functions["memory/extract"](t.Context(), plugin.FunctionCall{View: v, Inputs: digest("x")})
		if err != nil || len(res.Proposals) != 2 {
			t.Fatalf("%+v %v", res, err)
		}
		if got := string(res.Proposals[0].Payload); got != `{"namespace":"blocks","entries":[{"key":"debts","value":{"label":"Debts and promises","content":"Owes the pilot one flask."}}]}` {
			t.Error(got)
		}
		if got := string(res.Proposals[1].Payload); got != `{"namespace":"facts","entries":[{"key":"fact-000003-1","value":{"text":"The third step is dry.","keys":["step"],"turn":3}}]}` {
			t.Error(got)
		}
	})
	t.Run("repair", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "memory", "en")
		m := &scripted{answers: []string{"no JSON", good}}
		v.Model = m
		if _, err := h.Functions["memory/extract"](t.Context(), plugin.FunctionCall{View: v, Inputs: digest("x")}); err != nil || len(m.requests) != 2 || len(m.requests[1].Messages) != 4 {
			t.Errorf("%d requests, %v", len(m.requests), err)
		}
		v.Model = &scripted{answers: []string{"no", `{"blocks":{},"facts":[{"text":"","keys":[]}]}`}}
		if _, err := h.Functions["memory/extract"](t.Context(), plugin.FunctionCall{View: v, Inputs: digest("x")}); turn.CodeOf(err) != "output-schema-invalid" {
			t.Errorf("%v", err)
		}
	})
	t.Run("segments", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "memory", "en")
		data := v.Data.(rowsByNamespace).put("blocks", "debts", `{"label":"Debts","content":"Owes a flask."}`)
		for i := range 12 {
			data.put("facts", fmt.Sprintf("fact-%06d-1", i+1), fmt.Sprintf(`{"text":"Fact %d.","keys":["row"],"turn":%d}`, i+1, i+1))
		}
		segments, err := h.Entries["memory"].Segments["memory"](t.Context(), v)
		if err != nil || len(segments) != 2 {
			t.Fatalf("%v %v", segments, err)
		}
		facts := segments[1].Content
		if strings.Count(facts, "- Fact") != 8 || strings.Contains(facts, "Fact 4.") || strings.Index(facts, "Fact 12.") > strings.Index(facts, "Fact 5.") {
			t.Error(facts)
		}
		v.PlayerMessage = "arrow"
		if segments, err = h.Entries["memory"].Segments["memory"](t.Context(), v); err != nil || len(segments) != 1 {
			t.Errorf("%v %v", segments, err)
		}
	})
	t.Run("block access", func(t *testing.T) {
		t.Parallel()
		v, _ := lantern(t, "memory", "en")
		access := h.Entries["memory"].Services["memory.block-access@1"]
		for in, want := range map[string]string{
			`{"op":"get","key":"debts"}`:                      `{"content":"","key":"debts","label":"Debts and promises"}`,
			`{"op":"get","key":"ghost"}`:                      `null`,
			`{"op":"update","key":"debts","content":"a < b"}`: `{"namespace":"blocks","key":"debts","value":{"label":"Debts and promises","content":"a < b"}}`,
		} {
			if got, err := access(t.Context(), v, json.RawMessage(in)); err != nil || string(got) != want {
				t.Errorf("%s: %s %v", in, got, err)
			}
		}
	})
}

func TestTestPackages(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	v := plugin.View{Scope: turn.Scope{SessionID: "s1", TurnID: "t1"}, UserSettings: json.RawMessage(`{"badSegment":true,"redact":"secret","dropPreamble":true}`)}
	segments, err := h.Entries["prompt-probe"].Segments["probe"](t.Context(), v)
	if err != nil || len(segments) != 14 || segments[1].Content != "PROBE p-session {{ session.id }}" || segments[2].Content != "PROBE p-turn a & <b>" || string(segments[13].Position) != `"top"` {
		t.Errorf("%v %v", segments, err)
	}
	out, err := h.Entries["prompt-probe"].Extensions["prompt.history-transform@1/redact"](t.Context(), v, json.RawMessage(`{"messages":[{"role":"user","content":"a secret & b"}]}`))
	if err != nil || string(out) != `{"messages":[{"role":"user","content":"a [redacted] & b"}]}` {
		t.Errorf("%s %v", out, err)
	}
	for _, format := range []string{"png", "jpeg", "gif", "webp", "bmp"} {
		res, err := h.Functions["illustrator/draw"](t.Context(), plugin.FunctionCall{Payload: json.RawMessage(`{"format":"` + format + `","padBytes":10,"caption":"A lamp."}`)})
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			Mime string
			Data []byte
			Meta map[string]string
		}
		if err := json.Unmarshal(res.Proposals[0].Payload, &p); err != nil || p.Mime != "image/"+format || p.Meta["caption"] != "A lamp." {
			t.Errorf("%+v %v", p, err)
		}
		switch format {
		case "png", "jpeg", "gif":
			if _, name, err := image.DecodeConfig(bytes.NewReader(p.Data)); err != nil || name != format {
				t.Errorf("%s: %s %v", format, name, err)
			}
		case "webp":
			if !bytes.HasPrefix(p.Data, []byte("RIFF")) || string(p.Data[8:12]) != "WEBP" {
				t.Errorf("%q", p.Data)
			}
		case "bmp":
			if len(p.Data) != 58+10 {
				t.Errorf("%d bytes", len(p.Data))
			}
		}
	}
}
