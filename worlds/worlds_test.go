package worlds_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

type testBundle struct {
	gen    *plugin.Generation
	active *plugin.Active
	world  *world.World
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	if err != nil {
		t.Fatal(err)
	}
	lib, findings, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	w, ok := lib.World("lanternfall")
	if !ok || len(lib.Worlds()) != 1 {
		t.Fatal("lanternfall did not load")
	}
	res, err := gen.Resolve(w.Request(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	return &testBundle{gen: gen, active: gen.Active(res.Active), world: w}
}

func (b *testBundle) seed(t *testing.T, locale string) *world.Seed {
	t.Helper()
	seed, err := b.world.Instantiate(world.Options{Active: b.active, Locale: locale, SessionID: "s1", Now: time.Unix(1_700_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if len(seed.Warnings) > 0 {
		t.Errorf("%v", seed.Warnings)
	}
	return seed
}

func TestLanternfall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	en, zh := b.seed(t, "en"), b.seed(t, "zh-CN")
	t.Run("AF-139", func(t *testing.T) {
		t.Parallel()
		namespaces := map[string]int{}
		for _, d := range en.Data {
			namespaces[d.PluginID+"/"+d.Namespace]++
		}
		want := map[string]int{
			"character-blueprint/blueprints": 4, "memory/definitions": 3, "affinity/scores": 3,
			"dice-check/_hidden.modifiers": 2, "world-init/_dimensions": 5,
		}
		for k, n := range want {
			if namespaces[k] != n {
				t.Errorf("%s: %d rows, want %d", k, namespaces[k], n)
			}
		}
		if len(namespaces) != len(want) || len(en.Lorebook) != 8 || len(en.Dimensions) != 5 || len(en.Characters) != 5 || len(en.Media) != 1 {
			t.Errorf("%v, %d lore, %d dimensions, %d characters", namespaces, len(en.Lorebook), len(en.Dimensions), len(en.Characters))
		}
		for _, overlay := range []string{
			"world.zh-CN.yaml", "WORLD.zh-CN.md", "characters/characters.zh-CN.json", "characters/main-cast.zh-CN.json",
			"data/dimensions.zh-CN.yaml", "data/lorebook.zh-CN.yaml", "data/memory-blocks.zh-CN.json",
		} {
			if _, err := fs.Stat(worlds.FS(), "lanternfall/"+overlay); err != nil {
				t.Error(err)
			}
		}
		if n := len(en.Media[0].Bytes); n > 50_000 || en.Media[0].Mime != "image/png" {
			t.Errorf("picture of %d bytes, %s", n, en.Media[0].Mime)
		}
	})
	t.Run("AF-148", func(t *testing.T) {
		t.Parallel()
		for _, seed := range []*world.Seed{en, zh} {
			names := map[string]bool{}
			for _, c := range seed.Characters {
				names[strings.ToLower(c.Name)] = true
				for _, a := range c.Aliases {
					names[strings.ToLower(a)] = true
				}
			}
			for _, e := range seed.Lorebook {
				for _, label := range append(slices.Clone(e.Keys), title(e)) {
					if names[strings.ToLower(label)] {
						t.Errorf("entry %s is about character %s", e.ID, label)
					}
				}
			}
		}
	})
	t.Run("AF-140", func(t *testing.T) {
		t.Parallel()
		for _, e := range zh.Lorebook {
			wantHan(t, "lore "+e.ID, e.Content)
		}
		for _, c := range zh.Characters {
			wantHan(t, c.ID, c.Name)
			wantHan(t, c.ID, c.Description)
		}
		for _, d := range zh.Data {
			wantHan(t, d.PluginID+"/"+d.Namespace+"/"+d.Key, string(d.Value))
			if d.Key != "founding-law" && strings.Contains(string(d.Value), `"zh-CN":`) {
				t.Errorf("%s is stored as a locale map: %s", d.Key, d.Value)
			}
		}
		for _, name := range []string{"胆气", "位阶", "行当", "立誓", "生平", "随身物", "住处", "伤处"} {
			if !strings.Contains(string(zh.Snapshot.CharacterSchema), `"name":"`+name+`"`) {
				t.Errorf("attribute %s is not translated", name)
			}
		}
		for _, s := range []string{zh.Snapshot.Name, zh.Snapshot.Summary, zh.Snapshot.Lore} {
			wantHan(t, "snapshot", s)
		}
		if string(zh.Dimensions[0].Value) != string(en.Dimensions[0].Value) {
			t.Error("founding-law must be stored alike in every locale")
		}
	})
	t.Run("AF-120", func(t *testing.T) {
		t.Parallel()
		for i, e := range zh.Lorebook {
			o := en.Lorebook[i]
			if e.ID != o.ID || e.InsertionOrder != o.InsertionOrder || e.Strategy != o.Strategy || e.Position != o.Position || e.Enabled != o.Enabled {
				t.Errorf("%+v differs from %+v in more than text", e, o)
			}
		}
	})
	t.Run("AF-128", func(t *testing.T) {
		t.Parallel()
		want := session.Seat{ID: "seat-1", Primary: true, CharacterIDs: []string{"player-lamplighter"}, CurrentCharacterID: "player-lamplighter"}
		if len(en.Session.Seats) != 1 || en.Session.Seats[0].CurrentCharacterID != want.CurrentCharacterID || !slices.Equal(en.Session.Seats[0].CharacterIDs, want.CharacterIDs) || !en.Session.Seats[0].Primary {
			t.Errorf("%+v", en.Session.Seats)
		}
		if err := en.Session.Validate(); err != nil {
			t.Error(err)
		}
		seed, err := b.world.Instantiate(world.Options{Active: b.active, Locale: "en", SessionID: "s2", WithoutPremadePlayer: true})
		if err != nil || len(seed.Characters) != 4 || seed.Session.Seats[0].CurrentCharacterID != "" {
			t.Errorf("%v %v", seed, err)
		}
	})
	t.Run("what §16 asks for", func(t *testing.T) {
		t.Parallel()
		for name, seed := range map[string]*world.Seed{"en": en, "zh-CN": zh} {
			lore := seed.Snapshot.Lore
			if n := (tokens.Covel{}).Count(lore); n < 1500 || n > 4000 {
				t.Errorf("%s: WORLD.md has %d tokens", name, n)
			}
			for _, text := range []string{"\n> ", " & ", "</world-lore>", "<!-- "} {
				if !strings.Contains(lore, text) {
					t.Errorf("%s: lore lacks %q", name, text)
				}
			}
			for _, marker := range []string{"narrator-only"} {
				if strings.Contains(lore, marker) || strings.Contains(seed.Snapshot.PlayerLore, marker) {
					t.Errorf("%s: a marker line is shown", name)
				}
			}
			if len(seed.Snapshot.PlayerLore) >= len(lore) {
				t.Errorf("%s: players see the narrator's part", name)
			}
			ledger := seed.Dimensions[4]
			if n := len([]rune(string(ledger.Value))); ledger.ID != "harbour-ledger" || n < 400 || n > 1200 {
				t.Errorf("%s: %s has %d characters", name, ledger.ID, n)
			}
			for _, d := range seed.Dimensions {
				if err := world.CheckDimensionValue(d.Schema, d.Value); err != nil || d.Version != 1 {
					t.Errorf("%s: %s: %v", name, d.ID, err)
				}
			}
		}
		schema, err := world.ParseCharacterSchema(en.Snapshot.CharacterSchema)
		if err != nil || len(schema.Attributes) != 8 {
			t.Fatal(schema, err)
		}
		aliases := 0
		for _, seed := range []*world.Seed{en, zh} {
			for _, c := range seed.Characters {
				var fields map[string]json.RawMessage
				if err := json.Unmarshal(c.Fields, &fields); err != nil || len(fields) != 8 {
					t.Errorf("%s: %d fields, %v", c.ID, len(fields), err)
				}
				for key, value := range fields {
					if why := schema.Refuses(key, value); why != "" {
						t.Errorf("%s.%s %s %s", c.ID, key, value, why)
					}
				}
				if len(c.Aliases) > 0 {
					aliases++
				}
			}
		}
		if aliases != 4 {
			t.Errorf("%d characters with aliases in both languages, want 4", aliases)
		}
		entries := map[string]session.LoreEntry{}
		for _, e := range en.Lorebook {
			entries[e.ID] = e
		}
		if e := entries["bell-tide"]; !slices.Equal(e.Keys, []string{"钟潮", "bell tide"}) || e.Strategy != "keyword" {
			t.Errorf("%+v", e)
		}
		if e := entries["ferry-law"]; e.Enabled || e.Strategy != "constant" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("settings", func(t *testing.T) {
		t.Parallel()
		snapshot, err := world.SnapshotOf(en.Session.Metadata)
		if err != nil || snapshot.Name != "Lanternfall" || snapshot.Lore != en.Snapshot.Lore {
			t.Fatal(err)
		}
		s, err := b.gen.Settings("dice-check", snapshot.Settings["dice-check"], nil)
		if err != nil || string(s.Values) != `{"difficulty":"hard"}` {
			t.Errorf("%s %v", s.Values, err)
		}
	})
	t.Run("other locales", func(t *testing.T) {
		t.Parallel()
		for locale, name := range map[string]string{"zh": "坠灯港", "zh_cn": "坠灯港", "zh-Hans-SG": "坠灯港", "zh-Hant": "Lanternfall", "zh-TW": "Lanternfall", "fr": "Lanternfall", "": "Lanternfall"} {
			if got := b.seed(t, locale).Snapshot.Name; got != name {
				t.Errorf("%q: %s, want %s", locale, got, name)
			}
		}
	})
}

func title(e session.LoreEntry) string {
	var extra struct {
		Title string `json:"title"`
	}
	if json.Unmarshal(e.Extra, &extra) != nil {
		return ""
	}
	return extra.Title
}

func wantHan(t *testing.T, what, text string) {
	t.Helper()
	number := strings.Contains(what, "_dimensions/") || strings.Contains(what, "affinity/") || strings.Contains(what, "_hidden")
	if !number && !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		t.Errorf("%s is not translated: %s", what, text)
	}
}

func BenchmarkInstantiate(b *testing.B) {
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	if err != nil {
		b.Fatal(err)
	}
	lib, _, err := world.Load(world.Config{Bundled: worlds.FS()})
	if err != nil {
		b.Fatal(err)
	}
	w, _ := lib.World("lanternfall")
	res, err := gen.Resolve(w.Request(nil, nil))
	if err != nil {
		b.Fatal(err)
	}
	active := gen.Active(res.Active)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Instantiate(world.Options{Active: active, Locale: "zh-CN", SessionID: "s1"}); err != nil {
			b.Fatal(err)
		}
	}
}
