package plugins_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

func TestWorldContext(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	v, _ := lantern(t, "world-init", "en")
	out, err := h.Entries["world-init"].Extensions["session.world-context@1/world"](t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema            json.RawMessage
		Dimensions        map[string]struct{ Version int }
		DimensionRecovery struct{ EditorRuntimeID, TrackerRuntimeID string }
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Dimensions) != 5 || got.Schema == nil {
		t.Fatalf("%s %v", out, err)
	}
	for _, id := range []string{got.DimensionRecovery.EditorRuntimeID, got.DimensionRecovery.TrackerRuntimeID} {
		if _, ok := bundled.Runtime(id); !ok {
			t.Errorf("%q is no runtime", id)
		}
	}
	t.Run("a frozen snapshot wins", func(t *testing.T) {
		t.Parallel()
		w := v
		w.Dimensions = json.RawMessage(`{"reputation":{"value":7,"version":4}}`)
		res, err := h.Functions["world-init/dimension-context"](t.Context(), plugin.FunctionCall{View: w})
		if err != nil || !strings.Contains(string(res.Value), `"value":7,"version":4`) {
			t.Errorf("%s %v", res.Value, err)
		}
	})
	t.Run("dimension-rule-get", func(t *testing.T) {
		t.Parallel()
		get := h.Tools["world-init/dimension-rule-get"]
		res, err := get(t.Context(), call(v, "dimension-rule-get", `{"ids":["lamp-oil"]}`))
		if err != nil || !strings.Contains(string(res.Data), "each dusk") || !strings.Contains(string(res.Data), `"value":40`) {
			t.Errorf("%+v %v", res, err)
		}
		res, err = get(t.Context(), call(v, "dimension-rule-get", `{"ids":["lamp-oil","ghost"]}`))
		if err != nil || res.Code != "VALIDATION_ERROR" || !strings.Contains(res.Message, "ids[1]") {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// summarizer answers every call with one summary.
type summarizer struct{ calls []model.Params }

func (s *summarizer) Call(_ context.Context, slot string, p model.Params, _ func(model.Delta)) (*model.Result, error) {
	if slot != "fast" {
		return nil, fmt.Errorf("slot %s", slot)
	}
	s.calls = append(s.calls, p)
	return &model.Result{Text: "The lamp was fed.", FinishReason: model.FinishStop}, nil
}

func (*summarizer) Resolve(string) (model.Target, error) { return model.Target{}, nil }

func TestHistoryCompaction(t *testing.T) {
	t.Parallel()
	compact := plugins.Handlers().Entries["history-compaction"].Extensions["history.compact@2/default"]
	in := compaction.Input{
		ContextWindow: 20000, InputWindow: 16000, EstimatedTokens: 15000, Estimator: tokens.NameCovel, InputEstimator: tokens.NameCovel,
		Locale: "zh-CN", SummaryBudget: compaction.BudgetFor(16000),
	}
	for i := range 12 {
		role, source := session.RoleUser, session.SourcePlayer
		if i%2 == 1 {
			role, source = session.RoleAssistant, session.SourceNarrative
		}
		in.Messages = append(in.Messages, session.Message{ID: fmt.Sprint("m", i), TurnID: fmt.Sprint("t", i/2), Seq: int64(i + 1), Role: role, SourceType: source, Content: strings.Repeat("灯在转。", 200)})
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	m := &summarizer{}
	out, err := compact(t.Context(), plugin.View{PluginID: "history-compaction", Model: m}, raw)
	if err != nil || len(m.calls) != 1 || !strings.Contains(string(out), "The lamp was fed.") || !strings.Contains(string(out), `"m0"`) {
		t.Fatalf("%s %d calls, %v", out, len(m.calls), err)
	}
	if system := m.calls[0].Messages[0]; system.Role != model.RoleSystem || !strings.Contains(system.Content, "zh-CN") {
		t.Errorf("%+v", system)
	}
	if out, err := compact(t.Context(), plugin.View{}, raw); err != nil || string(out) != "null" {
		t.Errorf("without a gateway there is nothing to do: %s %v", out, err)
	}
	in.Estimator = "ghost"
	if raw, err = json.Marshal(in); err != nil {
		t.Fatal(err)
	}
	if _, err := compact(t.Context(), plugin.View{Model: m}, raw); err == nil || !strings.Contains(err.Error(), "ghost") {
		t.Errorf("%v", err)
	}
}

func TestPromptProbeHandlers(t *testing.T) {
	t.Parallel()
	h := plugins.Handlers()
	v := plugin.View{StartedAt: time.Unix(1_700_000_000, 0), UserSettings: json.RawMessage(`{"dropPreamble":true}`)}
	v.Scope.SessionID, v.Scope.TurnID = "s1", "t1"
	hook := h.Entries["prompt-probe"].Hooks["PostContextAssembly"]
	if a, err := hook(t.Context(), plugin.HookCall{View: v}); err != nil || string(a.Replace) != `{"systemPrompt":"PROBE BODY"}` {
		t.Errorf("%s %v", a.Replace, err)
	}
	if a, err := hook(t.Context(), plugin.HookCall{}); err != nil || a.Replace != nil {
		t.Errorf("%s %v", a.Replace, err)
	}
	first, err := h.Functions["prompt-probe/source"](t.Context(), plugin.FunctionCall{View: v})
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Functions["prompt-probe/source"](t.Context(), plugin.FunctionCall{View: v})
	if err != nil || string(first.Value) != string(again.Value) || !strings.Contains(string(first.Value), `"madeAt":"2023-11-14T22:13:20Z"`) {
		t.Errorf("%s %s %v", first.Value, again.Value, err)
	}
	r, _ := bundled.Runtime("prompt-probe/source")
	if s, err := bundled.Schema(r.IO.Output.Schema); err != nil || s.Validate(first.Value) != nil {
		t.Errorf("%s breaks its schema: %v", first.Value, err)
	}
	wrap, err := h.Functions["prompt-probe/wrap"](t.Context(), plugin.FunctionCall{Inputs: map[string]plugin.InputSlot{"narrative": {Value: json.RawMessage(`"a < b"`)}}})
	if err != nil || string(wrap.Value) != `{"summary":"a < b"}` {
		t.Errorf("%s %v", wrap.Value, err)
	}
	for tool, c := range map[string]struct{ args, has string }{
		"probe-write": {`{"key":"k","value":{"a":1}}`, `{"namespace":"notes","key":"k","value":{"a":1}}`},
		"probe-long":  {`{"chars":50}`, "probe long text probe long text probe long text pr"},
		"probe-fail":  {`{}`, "EXECUTION_ERROR"},
		"probe-text":  {`{}`, "PROBE plain text"},
	} {
		res, err := h.Tools["prompt-probe/"+tool](t.Context(), call(v, tool, c.args))
		got := res.Text + res.Code + string(res.Data)
		for _, p := range res.Proposals {
			got += string(p.Payload)
		}
		if err != nil || !strings.Contains(got, c.has) {
			t.Errorf("%s: %s %v", tool, got, err)
		}
	}
}

func TestNotesNameDimensionEntries(t *testing.T) {
	t.Parallel()
	v, _ := lantern(t, "character-blueprint", "en")
	v.Dimensions = json.RawMessage(`{"guilds":{"value":[{"id":"salt-guild","name":"Guild of Salt"}],"version":1},"oil":{"value":4,"version":1}}`)
	v.Data.(rowsByNamespace).put("blueprints", "aa", `{"schemaVersion":1,"id":"aa","name":"Aa","persona":{"voice":"v"},"scenarioDefaults":{"relationships":{"salt-guild":"owes them"}}}`)
	v.Characters = append(v.Characters, session.Character{ID: "npc-aa", Name: "Aa", Type: "npc"})
	segments, err := plugins.Handlers().Entries["character-blueprint"].Segments["character-notes"](t.Context(), v)
	if err != nil || !strings.Contains(segments[0].Content, "Guild of Salt") {
		t.Errorf("%v %v", segments, err)
	}
}

func TestContractSchemasAcrossPackages(t *testing.T) {
	t.Parallel()
	gen, findings := load(t, map[string]string{
		"p/PLUGIN.md":    "---\nid: p\nkind: plugin\ndescription: d\noptional: [action-check@1]\nruntime:\n  type: agent\n  schedule: {stage: audit}\n  io:\n    inputs: {n: {from: {contract: action-check@1, cardinality: all}, accepts: \"contract:action-check@1\"}}\n    output: {schema: \"contract:scene-prompts@1\"}\n---\nGo.\n",
		"p/PLUGIN.zh.md": zh,
	})
	r, ok := gen.Runtime("p")
	if !ok {
		t.Fatal(findings)
	}
	s, err := gen.Schema(r.IO.Inputs[0].Accepts)
	if err != nil || s.Validate([]byte(`[{"applies":false}]`)) != nil || s.Validate([]byte(`{"applies":false}`)) == nil {
		t.Errorf("%s %v", r.IO.Inputs[0].Accepts, err)
	}
	guide, _ := gen.Runtime("guide")
	if string(r.IO.Output.Schema) != string(guide.IO.Output.Schema) {
		t.Errorf("%s", r.IO.Output.Schema)
	}
	_, findings = load(t, map[string]string{
		"p/PLUGIN.md":    "---\nid: p\nkind: plugin\ndescription: d\nruntime:\n  type: agent\n  schedule: {stage: audit}\n  io: {output: {schema: \"contract:ghost@1\"}}\n---\nGo.\n",
		"p/PLUGIN.zh.md": zh,
	})
	if len(findings) != 1 || findings[0].Code != "contract-unpublished" || findings[0].Field != "runtime.io.output.schema" {
		t.Errorf("%v", findings)
	}
	if got := gen.Missing([]string{"p", "ghost"}); len(got) != 1 || got[0] != "ghost" {
		t.Errorf("%v", got)
	}
	if r.BodyIn("zh_CN", "zh") != "正文。" || r.BodyIn("fr", "en") != "Go." {
		t.Error("bodies")
	}
}
