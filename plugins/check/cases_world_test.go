package check_test

import (
	"strings"
	"testing"
)

func worldYAML(more string) string {
	return "schemaVersion: \"1.0\"\nid: w\nname: W\nsummary: S\ndefaultLocale: en\n" + more
}

func TestWorldCases(t *testing.T) {
	t.Parallel()
	base := func(more string) pack { return pack{"world.yaml": worldYAML(more), "WORLD.md": "# W\n"} }
	schema := "characterSchema:\n  attributes:\n    - {id: nerve, name: N, type: number, category: stats, min: 0, max: 5}\n"
	attribute := func(a string) pack { return base("characterSchema:\n  attributes:\n    - " + a + "\n") }
	source := func(fields string) pack {
		return base("worldData: data/d.yaml\n").and("data/d.yaml", "schemaVersion: 1\nsources:\n  "+fields+"\n").and("data/a.yaml", "[]\n")
	}
	dimension := func(d string) pack { return base("dimensions:\n  oil: " + d + "\n") }
	cases := []pluginCase{
		{id: "AF-111", note: "schemaVersion", files: base("").and("world.yaml", strings.Replace(worldYAML(""), "1.0", "2.0", 1)), want: []string{"E invalid-value world.yaml:1 schemaVersion 2.0"}},
		{id: "AF-111", note: "id", name: "Lantern", files: base("").and("world.yaml", strings.Replace(worldYAML(""), "id: w", "id: Lantern", 1)), want: []string{"E invalid-value world.yaml:2 Lantern"}},
		{id: "AF-111", note: "locale", files: base("").and("world.yaml", strings.Replace(worldYAML(""), "defaultLocale: en", "defaultLocale: x-elvish", 1)), want: []string{"E invalid-value world.yaml:5 x-elvish"}},
		{id: "AF-112", note: "enum", files: attribute("{id: a, name: A, type: enum, category: bio}"), want: []string{"E missing-field world.yaml options"}},
		{id: "AF-112", note: "object", files: attribute("{id: a, name: A, type: object, category: bio}"), want: []string{"E missing-field world.yaml subSchema"}},
		{id: "AF-112", note: "player", files: base("characterSchema: {types: [player], attributes: []}\n"), want: []string{"E invalid-value world.yaml types[0] player"}},
		{id: "AF-113", note: "bounds", files: base(schema).and("characters/characters.json", `[{"id":"a","name":"A","type":"npc","fields":{"nerve":7}}]`), want: []string{"E field-invalid characters/characters.json nerve \"a\""}},
		{id: "AF-113", note: "unknown", files: base(schema).and("characters/characters.json", `[{"id":"a","name":"A","type":"npc","fields":{"luck":1}}]`), want: []string{"E field-invalid characters/characters.json luck \"a\""}},
		{id: "AF-114", files: base("").and("characters/characters.json", "[{\"id\":\"a\",\"name\":\"A\",\"type\":\"player\"},\n{\"id\":\"b\",\"name\":\"B\",\"type\":\"player\"}]"), want: []string{"E player-duplicate characters/characters.json:2 \"a\" \"b\""}},
		{id: "AF-115", note: "id", files: source("9x: {kind: yaml, path: data/a.yaml, to: lorebook}"), want: []string{"E invalid-value data/d.yaml:3 9x"}},
		{id: "AF-115", note: "to", files: source("a: {kind: yaml, path: data/a.yaml, to: \"plugin:x/y\"}"), want: []string{"E invalid-value data/d.yaml plugin:x/y"}},
		{id: "AF-115", note: "hidden", files: source("a: {kind: yaml, path: data/a.yaml, to: lorebook, visibility: hidden}"), want: []string{"E forbidden-field data/d.yaml visibility"}},
		{id: "AF-116", note: "ghost", files: source("a: {kind: yaml, path: data/a.yaml, to: lorebook, after: [ghost]}"), want: []string{"E unknown-reference data/d.yaml ghost"}},
		{id: "AF-116", note: "cycle", files: source("a: {kind: yaml, path: data/a.yaml, to: lorebook, after: [b]}\n  b: {kind: yaml, path: data/a.yaml, to: lorebook, after: [a]}"), want: []string{"E source-cycle data/d.yaml a b"}},
		{id: "AF-118", files: base("").and("WORLD.md", "# W\n\na\n\n<!-- narrator-only -->\nb\n"), want: []string{"W marker-unclosed WORLD.md:5"}},
		{id: "AF-119", files: base("").and("WORLD.md", "# W\n\n<!-- /narrator-only -->\nb\n"), want: []string{"W marker-unopened WORLD.md:3"}},
		{id: "AF-121", note: "version", files: cards(`{"schemaVersion":2,"id":"a","name":"A"}`), want: []string{"E invalid-value characters/main-cast.json schemaVersion", "W card-unmatched characters/main-cast.json"}},
		{id: "AF-121", note: "id", files: cards(`{"schemaVersion":1,"id":"lamp warden","name":"A"}`), want: []string{"E invalid-value characters/main-cast.json id", "W card-unmatched characters/main-cast.json"}},
		{id: "AF-122", files: cards(`{"schemaVersion":1,"id":"lamp-warden","name":"A"}`).and("characters/characters.json", `[{"id":"char-lamp-warden","name":"A","type":"npc"}]`), want: []string{"W card-unmatched characters/main-cast.json lamp-warden"}},
		{id: "AF-125", files: base("").and("data/lorebook.yaml", "- {id: a, content: c, position: top}\n"), want: []string{"W position-unknown data/lorebook.yaml top"}},
		{id: "AF-126", note: "initial", files: dimension("{name: O, schema: {type: integer, maximum: 10}, initialValue: 11}"), want: []string{"E initial-value world.yaml oil.initialValue 11"}},
		{id: "AF-126", note: "keyword", files: dimension("{name: O, schema: {type: string, pattern: a}, initialValue: a}"), want: []string{"E schema-keyword world.yaml pattern"}},
		{id: "AF-126", note: "required", files: dimension("{name: O, schema: {type: object, required: [x]}, initialValue: {x: 1}}"), want: []string{"E invalid-value world.yaml required[0]"}},
		{id: "lore", note: "never fires", files: base("").and("data/lorebook.yaml", "- {id: a, content: c, strategy: keyword}\n"), want: []string{"W lore-never-fires data/lorebook.yaml \"a\""}},
		{id: "lore", note: "long", files: base("").and("WORLD.md", strings.Repeat("word and word\n", 4000)), want: []string{"W lore-long WORLD.md"}},
		{id: "dimensions", note: "twice", files: dimension("{name: O, schema: {}, initialValue: 1}").and("data/dimensions.yaml", "oil: {name: O, schema: {}, initialValue: 1}\n"), want: []string{"E duplicate-id data/dimensions.yaml oil world.yaml"}},
		{id: "dimensions", note: "i18n", files: dimension("{name: O, schema: {type: string, x-i18n: true, maxLength: 3}, initialValue: {en: abc, zh: 甲}}")},
		{id: "dimensions", note: "i18n too long", files: dimension("{name: O, schema: {type: string, x-i18n: true, maxLength: 3}, initialValue: {en: abcd}}"), want: []string{"E initial-value world.yaml oil"}},
		{id: "markers", note: "nested and unrecognized", files: base("").and("WORLD.md", "<!-- narrator_only -->\n<!-- Narrator Only -->\na\n<!-- /narrator-only -->\n<!-- / narratoronly -->\n<!-- narrator only: see below -->\n"), want: []string{"W marker-nested WORLD.md:2", "W marker-unrecognized WORLD.md:6", "W marker-unclosed WORLD.md:6"}},
		{id: "world", note: "no lore", files: pack{"world.yaml": worldYAML("")}, want: []string{"E file-missing WORLD.md"}},
		{id: "world", note: "receiver's schema", files: source("a: {kind: yaml, path: data/a.yaml, to: \"contract:check.modifiers@1\", key: id}").and("data/a.yaml", "- {id: a, keys: [], modifier: 1}\n"), want: []string{"E invalid-value data/a.yaml:1 \"a\""}},
		{id: "world", note: "setting", files: base("pluginSettings: {narrator: {narrativePerson: fourth}}\n"), want: []string{"E invalid-value world.yaml narrator narrativePerson fourth"}},
		{id: "world", note: "large media", files: source("a: {kind: media, path: m.png, to: media}").and("m.png", strings.Repeat("x", 21<<20)), want: []string{"E file-too-large m.png"}},
		{id: "world", note: "no media", files: source("a: {kind: media, path: m.png, to: media}"), want: []string{"E file-missing data/d.yaml m.png"}},
		{id: "world", note: "path", files: base("worldData: ../d.yaml\n"), want: []string{"E path-escape world.yaml ../d.yaml"}},
	}
	for _, c := range cases {
		t.Run(c.id+"/"+c.note, func(t *testing.T) {
			t.Parallel()
			name := c.name
			if name == "" {
				name = "w"
			}
			expect(t, checkWorlds(t), c.want, c.files.write(t, name))
		})
	}
}

func cards(card string) pack {
	return pack{"world.yaml": worldYAML(""), "WORLD.md": "# W\n", "characters/main-cast.json": "[" + card + "]"}
}
