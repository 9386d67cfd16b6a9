package world_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

func writeTree(t *testing.T, files map[string]string) string {
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

const manifest = "schemaVersion: \"1.0\"\nid: w\nname: W\nsummary: S\ndefaultLocale: en\n"

// receiver is a plugin with a namespace that accepts a contract.
func receiver(id, contract, schema string) map[string]string {
	return map[string]string{
		id + "/PLUGIN.md": "---\nid: " + id + "\nkind: plugin\ndescription: d\ncontributes:\n  data:\n    rows: {schema: s.json, version: 2, accepts: [" + contract + "]}\n---\n",
		id + "/s.json":    schema,
	}
}

func plugins(t *testing.T, files ...map[string]string) *plugin.Generation {
	t.Helper()
	all := map[string]string{}
	for _, f := range files {
		for k, v := range f {
			all[k] = v
		}
	}
	gen, findings, err := plugin.Load(plugin.Config{UserDir: writeTree(t, all)})
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	return gen
}

func load(t *testing.T, files map[string]string) *world.World {
	t.Helper()
	tree := map[string]string{"w/world.yaml": manifest, "w/WORLD.md": "# W\n"}
	for k, v := range files {
		tree["w/"+k] = v
	}
	lib, findings, err := world.Load(world.Config{UserDir: writeTree(t, tree)})
	if err != nil {
		t.Fatal(err)
	}
	w, ok := lib.World("w")
	if !ok {
		t.Fatal(findings)
	}
	return w
}

func TestWorldData(t *testing.T) {
	t.Parallel()
	descriptor := func(source string) map[string]string {
		return map[string]string{
			"world.yaml": manifest + "worldData: d.yaml\n",
			"d.yaml":     "schemaVersion: 1\nsources:\n  things: " + source + "\n",
			"a.yaml":     "- {id: a, n: 1}\n- {id: b, n: 2}\n", "m.yaml": "x: {n: 1}\n",
		}
	}
	gen := plugins(t, receiver("one", "ghost.data@1", `{"type":"object","properties":{"n":{"type":"integer","maximum":5}}}`), receiver("two", "ghost.data@1", `{}`))
	t.Run("AF-117", func(t *testing.T) {
		t.Parallel()
		w := load(t, descriptor(`{kind: yaml, path: a.yaml, to: "contract:ghost.data@1"}`))
		seed, err := w.Instantiate(world.Options{Active: gen.Active(nil), SessionID: "s"})
		if seed != nil || turn.CodeOf(err) != "world-data-unreceived" || !strings.Contains(err.Error(), "things") || !strings.Contains(err.Error(), "ghost.data@1") {
			t.Errorf("%v", err)
		}
		seed, err = w.Instantiate(world.Options{Active: gen.Active(nil), Excluded: []string{"one", "two"}, SessionID: "s"})
		if err != nil || len(seed.Warnings) != 1 || len(seed.Data) != 0 {
			t.Errorf("every receiver excluded is a warning: %v", err)
		}
	})
	t.Run("every receiver gets the rows", func(t *testing.T) {
		t.Parallel()
		w := load(t, descriptor(`{kind: yaml, path: a.yaml, to: "contract:ghost.data@1"}`))
		seed, err := w.Instantiate(world.Options{Active: gen.Active([]string{"one", "two"}), SessionID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range seed.Data {
			got = append(got, d.PluginID+"/"+d.Namespace+"/"+d.Key+string(d.Value))
			if d.SchemaVersion != 2 || d.SessionID != "s" {
				t.Errorf("%+v", d)
			}
		}
		want := []string{`one/rows/a{"id":"a","n":1}`, `one/rows/b{"id":"b","n":2}`, `two/rows/a{"id":"a","n":1}`, `two/rows/b{"id":"b","n":2}`}
		if !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
	t.Run("hidden and maps", func(t *testing.T) {
		t.Parallel()
		w := load(t, descriptor(`{kind: yaml, path: m.yaml, to: "contract:ghost.data@1", visibility: hidden}`))
		seed, err := w.Instantiate(world.Options{Active: gen.Active([]string{"one"})})
		if err != nil || len(seed.Data) != 1 || seed.Data[0].Namespace != "_hidden.rows" || seed.Data[0].Key != "x" {
			t.Errorf("%v %v", seed, err)
		}
	})
	t.Run("a row that breaks the schema creates nothing", func(t *testing.T) {
		t.Parallel()
		files := descriptor(`{kind: yaml, path: a.yaml, to: "contract:ghost.data@1"}`)
		files["a.yaml"] = "- {id: a, n: 9}\n"
		seed, err := load(t, files).Instantiate(world.Options{Active: gen.Active([]string{"one"})})
		if seed != nil || err == nil || !strings.Contains(err.Error(), "things") || !strings.Contains(err.Error(), "/n") {
			t.Errorf("%v", err)
		}
	})
	t.Run("metadata, merge and order", func(t *testing.T) {
		t.Parallel()
		files := descriptor(`{kind: yaml, path: m.yaml, to: world:metadata.a.b, after: [later]}`)
		files["d.yaml"] += "  later: {kind: text, path: t.txt, to: world:metadata.a.b}\n  kept: {kind: text, path: t.txt, to: world:metadata.a.c}\n  skipped: {kind: yaml, path: m.yaml, to: world:metadata.a.c, merge: skipExisting}\n  german: {kind: text, path: t.txt, to: world:metadata.de, locale: de}\n"
		files["t.txt"] = "text"
		seed, err := load(t, files).Instantiate(world.Options{Active: gen.Active(nil), Locale: "en"})
		if err != nil || string(seed.Snapshot.Metadata) != `{"a":{"b":{"x":{"n":1}},"c":"text"}}` {
			t.Errorf("%s %v", seed.Snapshot.Metadata, err)
		}
	})
	t.Run("effects", func(t *testing.T) {
		t.Parallel()
		dir := writeTree(t, map[string]string{
			"p/PLUGIN.md": "---\nid: p\nkind: plugin\ndescription: d\ncontributes:\n  data:\n    cards: {schema: s.json, version: 1, accepts: [character.blueprints@1]}\n    index: {schema: s.json, version: 1, accepts: [x.index@1]}\n  worldProjections:\n    count: {from: character.blueprints@1, handler: \"go:p/count\", outputs: {n: {namespace: index, key: size}}}\n---\n",
			"p/s.json":    `{}`,
		})
		gen, findings, err := plugin.Load(plugin.Config{UserDir: dir, Handlers: plugin.Handlers{Projections: map[string]plugin.ProjectionHandler{
			"p/count": func(in json.RawMessage) (map[string]json.RawMessage, error) {
				var cards []json.RawMessage
				err := json.Unmarshal(in, &cards)
				return map[string]json.RawMessage{"n": json.RawMessage(strconv.Itoa(len(cards)))}, err
			},
		}}})
		if err != nil || len(findings) > 0 {
			t.Fatal(findings, err)
		}
		files := map[string]string{
			"world.yaml": manifest + "worldData: d.yaml\n",
			"c.json":     `[{"schemaVersion":1,"id":"a","name":"A","role":"ghost","attributes":{"luck":1}},{"schemaVersion":1,"id":"b","name":"B","instantiate":{"characterId":"bee","type":"companion"}}]`,
			"d.yaml":     "schemaVersion: 1\nsources:\n  one: {kind: json, path: c.json, to: \"contract:character.blueprints@1\", effects: characters}\n  two: {kind: json, path: c.json, to: \"contract:character.blueprints@1\", effects: projections}\n",
		}
		files["d.yaml"] = strings.Replace(files["d.yaml"], "  two: {", "  two: {merge: skipExisting, ", 1)
		tree := writeTree(t, map[string]string{"w/world.yaml": files["world.yaml"], "w/WORLD.md": "x\n", "w/c.json": files["c.json"], "w/d.yaml": files["d.yaml"]})
		lib, _, err := world.Load(world.Config{UserDir: tree})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := lib.World("w"); ok {
			t.Fatal("cards that are read twice have equal ids; the world must not load")
		}
		files["d.yaml"] = strings.Replace(files["d.yaml"], "effects: characters}", "effects: characters, enabled: false}", 1)
		seed, err := load(t, files).Instantiate(world.Options{Active: gen.Active([]string{"p"})})
		if err != nil || len(seed.Data) != 3 || string(seed.Data[2].Value) != "2" || seed.Data[2].Key != "size" || len(seed.Characters) != 0 {
			t.Errorf("%+v %v", seed, err)
		}
		files["d.yaml"] = "schemaVersion: 1\nsources:\n  one: {kind: json, path: c.json, to: \"contract:character.blueprints@1\", effects: characters}\n"
		seed, err = load(t, files).Instantiate(world.Options{Active: gen.Active([]string{"p"})})
		if err != nil || len(seed.Characters) != 2 || seed.Characters[0].ID != "npc-a" || seed.Characters[1].ID != "bee" || seed.Characters[1].Type != "companion" {
			t.Errorf("%+v %v", seed, err)
		}
	})
	t.Run("without a descriptor a missing receiver is a warning", func(t *testing.T) {
		t.Parallel()
		w := load(t, map[string]string{"data/memory-blocks.json": `[{"key":"a","label":"A","purpose":"P"}]`, "data/dimensions.yaml": "oil: {name: Oil, schema: {type: integer}, initialValue: 1}\n"})
		seed, err := w.Instantiate(world.Options{Active: gen.Active(nil)})
		if err != nil || len(seed.Warnings) != 2 || len(seed.Dimensions) != 1 {
			t.Errorf("%+v %v", seed, err)
		}
	})
}

func TestOverlays(t *testing.T) {
	t.Parallel()
	w := load(t, map[string]string{
		"world.zh-CN.yaml":         "name: 世\nid: other\nunknown: x\ncharacterSchema: {attributes: []}\n",
		"WORLD.zh-CN.md":           "# 世\n\n<!-- narrator-only -->\n秘密\n<!-- /narrator-only -->\n\n正文\n",
		"data/lorebook.yaml":       "- {id: a, content: A, keys: [k], insertionOrder: 5, extra: {title: T, scanDepth: 2}}\n- {id: b, content: B}\n",
		"data/lorebook.zh-CN.yaml": "- {id: b, content: 乙, strategy: keyword, enabled: false}\n- {id: a, content: 甲, keys: [键, k], insertionOrder: 99, position: at_depth, extra: {title: 题, scanDepth: 9}}\n- {id: c, content: 丙}\n",
	})
	seed, err := w.Instantiate(world.Options{Locale: "zh-Hans"})
	if err != nil {
		t.Fatal(err)
	}
	if seed.Snapshot.Name != "世" || seed.Snapshot.ID != "w" || seed.Snapshot.Lore != "# 世\n\n秘密\n\n正文\n" || seed.Snapshot.PlayerLore != "# 世\n\n正文\n" {
		t.Errorf("%+v", seed.Snapshot)
	}
	if len(seed.Lorebook) != 2 {
		t.Fatalf("%+v", seed.Lorebook)
	}
	a, b := seed.Lorebook[0], seed.Lorebook[1]
	if a.Content != "甲" || !slices.Equal(a.Keys, []string{"键", "k"}) || a.InsertionOrder != 5 || a.Position != "after_plugin" || string(a.Extra) != `{"title":"题","scanDepth":2}` {
		t.Errorf("%+v %s", a, a.Extra)
	}
	if b.Content != "乙" || b.Strategy != "constant" || !b.Enabled || b.Owner.Kind != session.LoreOwnerWorld {
		t.Errorf("%+v", b)
	}
}

func TestOverlayLists(t *testing.T) {
	t.Parallel()
	w := load(t, map[string]string{
		"world.yaml":   manifest + "worldData: d.yaml\n",
		"d.yaml":       "schemaVersion: 1\nsources:\n  a: {kind: yaml, path: a.yaml, to: world:metadata.a, localeArrayKeys: {rooms: code}}\n  b: {kind: yaml, path: b.yaml, to: world:metadata.b, localeArrayKeys: [code]}\n",
		"a.yaml":       "rooms:\n  - {code: x, text: X}\n  - {code: y, text: Y}\nlist:\n  - {id: one, text: One, n: 1}\n  - {id: two, text: Two}\nplain: [{text: A}, {text: B}]\n",
		"a.zh-CN.yaml": "rooms:\n  - {code: y, text: 乙}\nlist:\n  two: {text: 二}\n  one: {text: 一, n: 9}\nplain: [{text: 甲}, {text: 乙}]\n",
		"b.yaml":       "- {code: x, text: X}\n- {code: y, text: Y}\n",
		"b.zh-CN.yaml": "- {code: y, text: 乙}\n",
	})
	seed, err := w.Instantiate(world.Options{Locale: "zh-CN"})
	want := `{"a":{"rooms":[{"code":"x","text":"X"},{"code":"y","text":"乙"}],"list":[{"id":"one","text":"一","n":1},{"id":"two","text":"二"}],"plain":[{"text":"甲"},{"text":"乙"}]},"b":[{"code":"x","text":"X"},{"code":"y","text":"乙"}]}`
	if err != nil || string(seed.Snapshot.Metadata) != want {
		t.Errorf("%s %v", seed.Snapshot.Metadata, err)
	}
	if got := world.SplitLore("a\n<!-- narrator-only -->\nb"); got.Model != "a\nb" || got.Player != "a" {
		t.Errorf("%+v", got)
	}
}

func TestAnyKeyMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, key, text string
		want          bool
	}{
		{"AF-123", "eel", "two eels", true}, {"AF-123", "eel", "the eel's eye", true}, {"AF-123", "eel", "the wheel", false}, {"AF-123", "eel", "eelgrass", false},
		{"AF-124", "钟潮", "听见大钟潮声", true},
		{"case", "EEL", "Eel", true}, {"curly", "eel", "the eel’s", true}, {"plural", "box", "two boxes", true}, {"edge", "eel", "鳗eel鱼", true}, {"underscore", "eel", "my_eel", false},
		{"digit", "eel", "eel2", false}, {"accent", "eel", "éeel", false}, {"phrase", "salt fever", "Salt fever!", true}, {"substring", "né", "Renée", true}, {"numbers only", "12", "3124", true},
		{"blank", "  ", "anything", false}, {"later hit", "eel", "wheel and eel", true}, {"empty text", "eel", "", false},
	} {
		if got := world.AnyKeyMatches([]string{c.key}, c.text); got != c.want {
			t.Errorf("%s: %q in %q is %v", c.id, c.key, c.text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "key")
		text := rapid.StringMatching(`[ .,]{0,3}`).Draw(t, "before") + key + rapid.SampledFrom([]string{"", "s", "es", "'s", " x", "!"}).Draw(t, "after")
		if !world.AnyKeyMatches([]string{key}, text) {
			t.Fatalf("%q does not fire in %q", key, text)
		}
	})
}

func TestCheckDimensionValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, value string
		ok            bool
	}{
		{`{"type":"integer","maximum":10}`, `10`, true},
		{`{"type":"integer","maximum":10}`, `11`, false},
		{`{"type":"string","x-i18n":true}`, `{"en":"a","zh":"b"}`, true},
		{`{"type":"string","x-i18n":true}`, `"a"`, false},
		{`{"type":"array","items":{"type":"object","properties":{"n":{"type":"string","x-i18n":true}}}}`, `[{"n":{"en":"a"}}]`, true},
		{`{"type":["string","null"],"enum":["a",null],"x-enumLabels":{"a":"A"}}`, `null`, true},
	} {
		if err := world.CheckDimensionValue(json.RawMessage(c.schema), json.RawMessage(c.value)); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.schema, c.value, err)
		}
	}
}

func TestUserWorldReplaces(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{"a/world.yaml": strings.Replace(manifest, "id: w", "id: a", 1), "a/WORLD.md": "x\n", "broken/world.yaml": "schemaVersion: 3\n"})
	lib, findings, err := world.Load(world.Config{UserDir: dir})
	if err != nil || len(lib.Worlds()) != 1 || lib.Worlds()[0].ID != "a" || len(findings) == 0 {
		t.Errorf("%v %v %v", lib.Worlds(), findings, err)
	}
	if _, _, err := world.Load(world.Config{UserDir: filepath.Join(dir, "none")}); err == nil {
		t.Error("an unreadable user directory must be an error")
	}
}
