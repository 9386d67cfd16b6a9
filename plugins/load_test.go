package plugins_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/turn"
)

// userDir writes packages into a new user directory: files by "<id>/<path>".
func userDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bundled is the set without user packages; TestMain loads it.
var bundled *plugin.Generation

func TestMain(m *testing.M) {
	var err error
	if bundled, _, err = plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()}); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// load adds user packages to the bundled ones.
func load(t *testing.T, files map[string]string) (*plugin.Generation, []plugin.Finding) {
	t.Helper()
	if files == nil {
		return bundled, nil
	}
	cfg := plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers(), UserDir: userDir(t, files)}
	gen, findings, err := plugin.Load(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return gen, findings
}

const (
	storyRuntime = "runtime:\n  type: agent\n  schedule: {stage: narrative}\n  io:\n    output: {contract: narrative-engine@2}\n    visibility: story\n"
	storySchema  = `{"type":"object","required":["narrativeOutput"],"properties":{"narrativeOutput":{"type":"string","description":"The story text of the turn."}}}`
	zh           = "---\n---\n正文。\n"
)

func narratorLike(id, more string) map[string]string {
	return map[string]string{
		id + "/PLUGIN.md": "---\nid: " + id + "\nkind: plugin\ndescription: A narrator.\nprovides: [narrative-engine@2]\ncontracts: {narrative-engine@2: {schema: s.json}}\n" +
			more + storyRuntime + "---\nTell.\n",
		id + "/PLUGIN.zh.md": zh,
		id + "/s.json":       storySchema,
	}
}

func provider(id, contract, more string) map[string]string {
	return map[string]string{
		id + "/PLUGIN.md": "---\nid: " + id + "\nkind: plugin\ndescription: A provider.\nprovides: [" + contract + "]\ncontracts: {" + contract + ": {schema: s.json}}\n" + more +
			"runtime:\n  type: function\n  schedule: {stage: audit}\n  io: {output: {contract: " + contract + "}}\n  function: {handler: \"temporal:q/A\"}\n---\n",
		id + "/s.json": `{}`,
	}
}

func requirer(id, contract string) map[string]string {
	return map[string]string{id + "/PLUGIN.md": "---\nid: " + id + "\nkind: plugin\ndescription: A requirer.\nrequires: [" + contract + "]\n---\n"}
}

func join(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

func TestLoad(t *testing.T) {
	t.Parallel()
	t.Run("AF-001", func(t *testing.T) {
		t.Parallel()
		core, logs := observer.New(zap.InfoLevel)
		dir := userDir(t, join(narratorLike("narrator", "displayName: My Narrator\n")))
		gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers(), UserDir: dir, Logger: zap.New(core)})
		if err != nil {
			t.Fatal(err)
		}
		m, ok := gen.Plugin("narrator")
		if !ok || m.DisplayName != "My Narrator" || !m.User {
			t.Errorf("%+v", m)
		}
		entry := logs.All()
		if len(entry) != 1 || entry[0].ContextMap()["embedded"] != "embedded:narrator" || entry[0].ContextMap()["user"] != filepath.Join(dir, "narrator") {
			t.Errorf("%v", entry)
		}
	})
	t.Run("AF-002", func(t *testing.T) {
		t.Parallel()
		gen, findings := load(t, map[string]string{
			"good/PLUGIN.md": "---\nid: good\nkind: plugin\ndescription: d\n---\n",
			"bad/PLUGIN.md":  "---\nid: bad\nkind: plugin\ndescription: d\npriority: 5\n---\n",
		})
		if _, ok := gen.Plugin("good"); !ok || len(gen.Plugins()) != 12 {
			t.Errorf("%d packages", len(gen.Plugins()))
		}
		if _, ok := gen.Plugin("bad"); ok || len(findings) != 1 || findings[0].Code != "unknown-key" || findings[0].Field != "priority" {
			t.Errorf("%v", findings)
		}
	})
	t.Run("a broken user package hides the embedded one", func(t *testing.T) {
		t.Parallel()
		gen, findings := load(t, map[string]string{"guide/PLUGIN.md": "# no frontmatter\n"})
		if _, ok := gen.Plugin("guide"); ok {
			t.Error("the embedded guide stands in")
		}
		if len(findings) != 1 || !strings.HasSuffix(findings[0].Package, "guide") {
			t.Errorf("%v", findings)
		}
		_, err := gen.Resolve(plugin.Request{Requested: []string{"guide"}})
		if err == nil || !strings.Contains(err.Error(), "has errors") || !strings.Contains(err.Error(), "embedded:guide") {
			t.Errorf("%v", err)
		}
	})
	t.Run("two packages of one id", func(t *testing.T) {
		t.Parallel()
		gen, findings := load(t, map[string]string{
			"a/PLUGIN.md": "---\nid: a\nkind: plugin\ndescription: d\n---\n",
			"b/PLUGIN.md": "---\nid: a\nkind: plugin\ndescription: d\n---\n",
		})
		var duplicates int
		for _, f := range findings {
			if f.Code == "duplicate-id" {
				duplicates++
			}
		}
		if _, ok := gen.Plugin("a"); ok || duplicates != 2 {
			t.Errorf("%v", findings)
		}
	})
	t.Run("AF-067", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, map[string]string{"p/PLUGIN.md": "---\nid: p\nkind: plugin\ndescription: d\nruntime:\n  type: agent\n  schedule: {stage: audit}\n---\nGo.\n", "p/PLUGIN.zh.md": zh})
		r, ok := gen.Runtime("p")
		if !ok {
			t.Fatal("not loaded")
		}
		a := r.Agent
		if a.MaxSteps != 20 || *a.MaxRetries != 1 || *a.LoopDetection != 3 || *a.MaxRecursionDepth != 10 || a.FinalizerMaxSteps != 0 || a.Model != "default" || a.IdleTimeoutMs != 120000 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("AF-068", func(t *testing.T) {
		t.Parallel()
		tools := "contributes:\n  tools:\n    - {name: a, handler: \"temporal:q/A\", description: d, input: s.json}\n    - {name: b, handler: \"temporal:q/A\", description: d, input: s.json}\n"
		make := func(id, agent string) map[string]string {
			return map[string]string{id + "/PLUGIN.md": "---\nid: " + id + "\nkind: plugin\ndescription: d\n" + tools + "runtime:\n  type: agent\n  schedule: {stage: audit}\n" + agent + "---\nGo.\n", id + "/PLUGIN.zh.md": zh, id + "/s.json": "{}"}
		}
		gen, findings := load(t, join(make("all", ""), make("none", "  agent: {tools: {plugin: []}}\n")))
		all, none := gen.Active([]string{"all", "none"}).Tools("all"), gen.Active([]string{"all", "none"}).Tools("none")
		if len(all) != 2 || all[0].Name != "a" || all[0].Schema == nil || len(none) != 0 {
			t.Errorf("%v %v %v", all, none, findings)
		}
	})
	t.Run("AF-053", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, map[string]string{"p/PLUGIN.md": "---\nid: p\nkind: plugin\ndescription: d\noptional: [a@1]\nruntime:\n  type: agent\n  schedule: {stage: audit}\n  io: {inputs: {n: {from: {contract: a@1}, required: false, accepts: \"contract:ghost@1\"}}}\n---\nGo.\n", "p/PLUGIN.zh.md": zh})
		r, ok := gen.Runtime("p")
		if !ok || !r.IO.Inputs[0].Unresolved {
			t.Error("the input must be marked, so that bound values are dropped")
		}
	})
	t.Run("equal files give an equal generation", func(t *testing.T) {
		t.Parallel()
		a, _ := load(t, narratorLike("duet", ""))
		b, _ := load(t, narratorLike("duet", ""))
		c, _ := load(t, narratorLike("duet", "version: 2.0.0\n"))
		if a.ID != b.ID || a.ID == c.ID || len(a.ID) != 16 {
			t.Errorf("%s %s %s", a.ID, b.ID, c.ID)
		}
	})
}

func TestBeside(t *testing.T) {
	t.Parallel()
	files := join(narratorLike("narrator", ""), map[string]string{"bad/PLUGIN.md": "x", "guide/PLUGIN.md": "---\nid: guide\n---\n"})
	whole, wholeFindings := load(t, files)
	beside, findings, err := plugin.Load(plugin.Config{Beside: bundled, Handlers: plugins.Handlers(), UserDir: userDir(t, files)})
	if err != nil {
		t.Fatal(err)
	}
	if beside.ID != whole.ID || len(findings) != len(wholeFindings) || len(beside.Plugins()) != 10 {
		t.Errorf("ids %s and %s, findings %v and %v", beside.ID, whole.ID, findings, wholeFindings)
	}
	if m, _ := beside.Plugin("narrator"); !m.User {
		t.Error("the embedded narrator was taken over")
	}
	if _, ok := beside.Plugin("guide"); ok {
		t.Error("the embedded guide stands in for a broken one")
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	lantern := plugin.Request{WorldRequires: []string{"narrative-engine@2", "action-check@1"}}
	core := []string{"char-creator", "history-compaction", "memory", "narrator", "world-init"}
	t.Run("AF-074", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, nil)
		res, err := gen.Resolve(plugin.Request{Excluded: []string{"memory"}})
		if err != nil || slices.Contains(res.Active, "memory") || !slices.Contains(res.Active, "narrator") {
			t.Errorf("%v %v", res, err)
		}
	})
	t.Run("AF-075", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, nil)
		res, err := gen.Resolve(lantern)
		want := slices.Sorted(slices.Values(append([]string{"dice-check"}, core...)))
		if err != nil || !slices.Equal(res.Active, want) || !slices.Equal(res.AutoAdded, []string{"dice-check"}) {
			t.Errorf("%v %v", res, err)
		}
	})
	t.Run("AF-076", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, join(provider("one", "x@1", ""), provider("two", "x@1", ""), requirer("needy", "x@1")))
		_, err := gen.Resolve(plugin.Request{Requested: []string{"needy"}, Approved: []string{"one", "two"}})
		if turn.CodeOf(err) != "ambiguous-provider" || !strings.Contains(err.Error(), "one and two") {
			t.Errorf("%v", err)
		}
		if res, err := gen.Resolve(plugin.Request{Requested: []string{"needy", "two"}}); err != nil || !slices.Contains(res.Active, "two") {
			t.Errorf("requesting one of them settles it: %v", err)
		}
	})
	t.Run("AF-077", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, join(provider("one", "x@1", ""), requirer("needy", "x@1")))
		res, err := gen.Resolve(plugin.Request{Requested: []string{"needy"}})
		want := []plugin.Unmet{{Code: "approval-required", Contract: "x@1", By: "needy", Candidates: []string{"one"}}}
		if err != nil || !cmp.Equal(res.Unmet, want) || !slices.Contains(res.Active, "needy") {
			t.Errorf("%v %v", res, err)
		}
		if res, err := gen.Resolve(plugin.Request{Requested: []string{"needy"}, Approved: []string{"one"}}); err != nil || !slices.Contains(res.AutoAdded, "one") {
			t.Errorf("%v %v", res, err)
		}
	})
	t.Run("AF-078", func(t *testing.T) {
		t.Parallel()
		gen, findings := load(t, narratorLike("duet", ""))
		res, err := gen.Resolve(plugin.Request{Requested: []string{"duet"}})
		if err != nil || slices.Contains(res.Active, "narrator") || !slices.Contains(res.Active, "duet") {
			t.Errorf("%v %v %v", res, err, findings)
		}
	})
	t.Run("conflicts", func(t *testing.T) {
		t.Parallel()
		conflict := "conflicts: [x@1]\n"
		gen, _ := load(t, join(provider("one", "x@1", conflict), provider("two", "x@1", conflict)))
		res, err := gen.Resolve(plugin.Request{Requested: []string{"two"}, WorldRequested: []string{"one"}})
		if err != nil || !slices.Contains(res.Active, "two") || slices.Contains(res.Active, "one") || res.Rejected[0].By != "two" {
			t.Errorf("%v %v", res, err)
		}
	})
	t.Run("no narrator", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, nil)
		_, err := gen.Resolve(plugin.Request{Excluded: []string{"narrator"}})
		if turn.CodeOf(err) != "excluded" {
			t.Errorf("%v", err)
		}
		var e *turn.Error
		if !errors.As(err, &e) || e.Kind != turn.KindInvalid {
			t.Errorf("kind %v", e)
		}
		_, err = gen.Resolve(plugin.Request{WorldRequires: []string{"nobody@1"}})
		if turn.CodeOf(err) != "missing-provider" {
			t.Errorf("%v", err)
		}
		_, err = gen.Resolve(plugin.Request{Requested: []string{"ghost"}})
		if turn.CodeOf(err) != "unknown-reference" {
			t.Errorf("%v", err)
		}
	})
	t.Run("test packages only on request", func(t *testing.T) {
		t.Parallel()
		gen, _ := load(t, nil)
		res, err := gen.Resolve(plugin.Request{Requested: []string{"prompt-probe"}})
		if err != nil || !slices.Contains(res.Active, "prompt-probe") || slices.Contains(res.Active, "illustrator") {
			t.Errorf("%v %v", res, err)
		}
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	gen, _ := load(t, nil)
	raw := func(key, value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{key: json.RawMessage(value)}
	}
	t.Run("AF-094", func(t *testing.T) {
		t.Parallel()
		s, err := gen.Settings("dice-check", raw("difficulty", `"hard"`), nil)
		if err != nil || string(s.Values) != `{"difficulty":"hard"}` {
			t.Errorf("%s %v", s.Values, err)
		}
		s, err = gen.Settings("dice-check", raw("difficulty", `"hard"`), raw("difficulty", `"easy"`))
		if err != nil || string(s.Values) != `{"difficulty":"easy"}` {
			t.Errorf("%s %v", s.Values, err)
		}
	})
	t.Run("AF-095", func(t *testing.T) {
		t.Parallel()
		s, err := gen.Settings("narrator", raw("colour", `"red"`), nil)
		if err != nil || !slices.Equal(s.Ignored, []string{"colour"}) || string(s.Values) != `{"narrativePerson":"second"}` {
			t.Errorf("%+v %v", s, err)
		}
		_, err = gen.Settings("narrator", raw("narrativePerson", `"fourth"`), nil)
		for _, word := range []string{"narrator", "narrativePerson", "fourth"} {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v does not name %s", err, word)
			}
		}
	})
}

func TestCheckDatum(t *testing.T) {
	t.Parallel()
	gen, _ := load(t, nil)
	big := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	if err := gen.CheckDatum("prompt-probe", "notes", "k", big(65536)); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct{ namespace, key, value, want string }{
		"AF-084": {"notes", "k", string(big(65537)), "65537"},
		"AF-085": {"scores", "k", `{"score":101}`, "score"},
		"AF-086": {"_dimensions", "k", `{}`, "not declared"},
		"hidden": {"_hidden.notes", "k", `{}`, "not declared"},
		"key":    {"notes", "a\nb", `1`, "control"},
		"long":   {"notes", strings.Repeat("k", 129), `1`, "128"},
		"empty":  {"notes", "", `1`, "1 to 128"},
		"JSON":   {"notes", "k", `{`, "JSON"},
	} {
		id := "prompt-probe"
		if c.namespace == "scores" {
			id = "affinity"
		}
		err := gen.CheckDatum(id, c.namespace, c.key, []byte(c.value))
		if turn.CodeOf(err) != "VALIDATION_ERROR" || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.namespace) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestActive(t *testing.T) {
	t.Parallel()
	gen, _ := load(t, nil)
	var ids []string
	for _, m := range gen.Plugins() {
		ids = append(ids, m.ID)
	}
	a := gen.Active(ids)
	for _, m := range a.Plugins() {
		for _, r := range m.Runtimes {
			if r.Function != nil {
				if _, ok := gen.Function(r.ID); !ok {
					t.Errorf("%s has no handler", r.ID)
				}
			}
			if _, ok := gen.Guard(r.ID); ok != (r.Guard != "") {
				t.Errorf("%s: guard %q", r.ID, r.Guard)
			}
			for _, tool := range a.Tools(r.ID) {
				if tool.Run == nil || tool.Schema == nil || tool.Description == "" {
					t.Errorf("%s: tool %+v", r.ID, tool)
				}
			}
			if r.Agent != nil && (r.Body["en"] == "" || r.Body["zh"] == "") {
				t.Errorf("%s lacks a body", r.ID)
			}
		}
	}
	for _, x := range a.Extensions(plugin.PointSegment) {
		if x.Segment == nil {
			t.Errorf("%s/%s has no handler", x.PluginID, x.ID)
		}
	}
	for _, point := range []string{plugin.PointCompact, plugin.PointHistoryTransform, plugin.PointWorldContext} {
		list := a.Extensions(point)
		if len(list) != 1 || list[0].Run == nil {
			t.Errorf("%s: %v", point, list)
		}
	}
	if h := a.Hooks("PreLLMCall"); len(h) != 1 || h[0].PluginID != "world-init" || h[0].Run == nil {
		t.Errorf("%v", h)
	}
	if s := a.Services("memory.block-access@1"); len(s) != 1 || s[0].Run == nil {
		t.Errorf("%v", s)
	}
	var topics []string
	for _, e := range a.Events() {
		topics = append(topics, e.Topic)
	}
	if !slices.Equal(topics, []string{"check.resolved", "probe.ping"}) {
		t.Errorf("%v", topics)
	}
	err := a.CheckEvent("check.unknown", nil)
	if err == nil || !strings.Contains(err.Error(), "check.resolved") {
		t.Errorf("%v", err)
	}
	if err := a.CheckEvent("check.resolved", json.RawMessage(`{"action":"row","outcome":"success"}`)); err != nil {
		t.Error(err)
	}
	if err := a.CheckEvent("check.resolved", json.RawMessage(`{"action":"row"}`)); err == nil {
		t.Error("data without outcome is valid")
	}
	if p := a.Producers("narrative-engine@2"); len(p) != 1 || p[0].ID != "narrator" {
		t.Errorf("%v", p)
	}
	if p, ok := a.Provider("world.dimensions@1"); !ok || p.ID != "world-init" {
		t.Errorf("%v", p)
	}
	if s := a.StaticSegments("zh-CN", "zh"); len(s) != 3 || s[0].Provider != "narrator" || !strings.Contains(s[0].Content, "停下") {
		t.Errorf("%v", s)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	gen, findings := load(t, map[string]string{
		"p/PLUGIN.md":       "---\nid: p\nkind: plugin\ndescription: Sounds.\ncontributes:\n  settings:\n    - {key: x, type: text, label: Loudness}\n---\n",
		"p/locales/de.yaml": "displayName: Klänge\ncontributes.settings:\n  x: {label: Lautstärke}\nruntime: {type: nonsense}\n",
		"p/locales/zh.yaml": "messages: {Hello: 你好}\n",
	})
	m, ok := gen.Plugin("p")
	if !ok {
		t.Fatal(findings)
	}
	for _, c := range [][4]string{
		{"de", "displayName", "P", "Klänge"}, {"de-AT", "contributes.settings.x.label", "Loudness", "Lautstärke"}, {"fr", "displayName", "P", "P"},
		{"zh-CN", "messages.Hello", "Hello", "你好"}, {"zh-Hant", "messages.Hello", "Hello", "Hello"}, {"", "displayName", "P", "P"}, {"de", "runtime.type", "agent", "agent"},
	} {
		if got := m.Label(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %s", c, got)
		}
	}
}
