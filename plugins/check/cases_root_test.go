package check_test

import (
	"strings"
	"testing"
)

// pluginCase is one package and exactly the findings it gets.
type pluginCase struct {
	id    string // the case of docs/spec/cases/05-author-formats.md
	note  string
	name  string // of the directory, p when empty
	files pack
	want  []string
}

func runPluginCases(t *testing.T, cases []pluginCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.id+"/"+c.note, func(t *testing.T) {
			t.Parallel()
			name := c.name
			if name == "" {
				name = "p"
			}
			expect(t, checkPlugins(t), c.want, c.files.write(t, name))
		})
	}
}

const (
	function  = "type: function\nfunction:\n  handler: temporal:q/Act\n"
	postTurn  = "schedule:\n  stage: post-turn\n"
	agentPost = "type: agent\n" + postTurn
)

// indent moves a runtime object below root key runtime.
func inline(object string) string {
	return "runtime:\n  " + strings.ReplaceAll(strings.TrimSuffix(object, "\n"), "\n", "\n  ") + "\n"
}

func TestRootCases(t *testing.T) {
	t.Parallel()
	runPluginCases(t, []pluginCase{
		{id: "AF-003", files: pack{"PLUGIN.md": "# Title\n"}, want: []string{"E frontmatter-missing PLUGIN.md"}},
		{id: "AF-004", files: pack{"PLUGIN.md": "---js\nid: p\n---\n"}, want: []string{"E frontmatter-engine PLUGIN.md"}},
		{id: "AF-005", files: pack{"PLUGIN.md": root(""), "PLUGIN.zh.md": "---yaml\nid: p\n---\n"}, want: []string{"E frontmatter-engine PLUGIN.zh.md"}},
		{id: "AF-006", files: pack{"PLUGIN.md": "---\nid: p\ntags: [a\n---\n"}, want: []string{"E frontmatter-yaml PLUGIN.md:3"}},
		{id: "AF-007", files: pack{"PLUGIN.md": "---\nid: p\n"}, want: []string{"E frontmatter-missing PLUGIN.md"}},
		{id: "AF-008", name: "Dice_Check", files: pack{"PLUGIN.md": "---\nid: Dice_Check\nkind: plugin\ndescription: d\n---\n"}, want: []string{"E invalid-value PLUGIN.md:2 id Dice_Check"}},
		{id: "AF-009", name: "dice", files: pack{"PLUGIN.md": "---\nid: dice-check\nkind: plugin\ndescription: d\n---\n"}, want: []string{"E id-directory-mismatch PLUGIN.md:2 dice-check \"dice\""}},
		{id: "AF-010", note: "missing", files: pack{"PLUGIN.md": "---\nid: p\ndescription: d\n---\n"}, want: []string{"E missing-field PLUGIN.md:1 kind"}},
		{id: "AF-010", note: "value", files: pack{"PLUGIN.md": "---\nid: p\nkind: addon\ndescription: d\n---\n"}, want: []string{"E invalid-value PLUGIN.md:3 kind addon"}},
		{id: "AF-011", note: "missing", files: pack{"PLUGIN.md": "---\nid: p\nkind: plugin\n---\n"}, want: []string{"E missing-field PLUGIN.md:1 description"}},
		{id: "AF-011", note: "empty", files: pack{"PLUGIN.md": "---\nid: p\nkind: plugin\ndescription: \"\"\n---\n"}, want: []string{"E invalid-value PLUGIN.md:4 description"}},
		{id: "AF-012", files: pack{"PLUGIN.md": root("priority: 5\n")}, want: []string{"E unknown-key PLUGIN.md:5 priority 5 fix:schedule"}},
		{id: "AF-013", note: "role", files: pack{"PLUGIN.md": root("tags: [\"role:narrator\"]\n")}, want: []string{"E invalid-value PLUGIN.md tags[0] role:narrator"}},
		{id: "AF-013", note: "mode", files: pack{"PLUGIN.md": root("tags: [\"mode:story\"]\n")}},
		{id: "AF-014", note: "no version", files: pack{"PLUGIN.md": root("provides: [narrative-engine]\n")}, want: []string{"E invalid-value PLUGIN.md:5 provides[0]"}},
		{id: "AF-014", note: "version 0", files: pack{"PLUGIN.md": root("provides: [narrative-engine@0]\n")}, want: []string{"E invalid-value PLUGIN.md:5 provides[0]"}},
		{id: "AF-015", files: pack{"PLUGIN.md": root("conflicts: [prompt.segment@1]\n")}, want: []string{"E invalid-conflict PLUGIN.md conflicts[0]"}},
		{id: "AF-016", note: "malformed", files: pack{"PLUGIN.md": root("covel: latest\n")}, want: []string{"E host-version PLUGIN.md:5 latest"}},
		{id: "AF-016", note: "outside", files: pack{"PLUGIN.md": root("covel: \">=99.0.0\"\n")}, want: []string{"E host-version PLUGIN.md:5 99.0.0"}},
		{id: "AF-017", note: "http", files: pack{"PLUGIN.md": root("author:\n  url: http://example.org\n")}, want: []string{"E invalid-value PLUGIN.md:6 author.url"}},
		{id: "AF-017", note: "links", files: pack{"PLUGIN.md": root("author:\n  links:\n" + strings.Repeat("    - {label: a, url: \"https://example.org\"}\n", 7))}, want: []string{"E invalid-value PLUGIN.md author.links 7"}},
		{id: "AF-018", files: pack{"PLUGIN.md": root(inline(function + postTurn)), "runtimes/x/RUNTIME.md": runtime(function + postTurn)}, want: []string{"E mixed-layout PLUGIN.md runtimes/x"}},
		{id: "AF-019", files: pack{"PLUGIN.md": root(""), "runtimes/x/RUNTIME.md": runtime(function + postTurn + "contributes: {}\n")}, want: []string{"E unknown-key runtimes/x/RUNTIME.md contributes"}},
		{id: "AF-020", note: "map", files: pack{"PLUGIN.md": root("displayName: {en: Dice, zh: 骰子}\n")}, want: []string{"E inline-locale-map PLUGIN.md:5 displayName"}},
		{id: "AF-020", note: "text", files: pack{"PLUGIN.md": root("displayName: Dice\n")}},
		{id: "AF-021", note: "id", files: pack{"PLUGIN.md": root("contributes:\n  extensions:\n    - {point: prompt.segment@1, id: static-prompt, handler: \"temporal:q/A\"}\n")}, want: []string{"E reserved-id PLUGIN.md static-prompt"}},
		{id: "AF-021", note: "point", files: pack{"PLUGIN.md": root("contributes:\n  extensions:\n    - {point: prompt.widget@1, id: a, handler: \"temporal:q/A\"}\n")}, want: []string{"E unknown-reference PLUGIN.md prompt.widget@1"}},
		{id: "AF-022", note: "upper", files: events("Combat"), want: []string{"E invalid-value PLUGIN.md topic Combat"}},
		{id: "AF-022", note: "one part", files: events("combat"), want: []string{"E invalid-value PLUGIN.md topic combat"}},
		{id: "AF-022", note: "two parts", files: events("combat.started")},
		{id: "AF-023", note: "parent", files: eventSchema("../x.json"), want: []string{"E path-escape PLUGIN.md ../x.json"}},
		{id: "AF-023", note: "absolute", files: eventSchema("/x.json"), want: []string{"E path-escape PLUGIN.md /x.json"}},
		{id: "AF-024", note: "key", files: pack{"PLUGIN.md": root("contributes:\n  settings:\n    - {key: 9x, type: text}\n")}, want: []string{"E invalid-value PLUGIN.md key 9x"}},
		{id: "AF-024", note: "type", files: pack{"PLUGIN.md": root("contributes:\n  settings:\n    - {key: x, type: color}\n")}, want: []string{"E invalid-value PLUGIN.md type color"}},
		{id: "AF-024", note: "select", files: pack{"PLUGIN.md": root("contributes:\n  settings:\n    - {key: x, type: select}\n")}, want: []string{"E missing-field PLUGIN.md options"}},
		{id: "AF-025", note: "kernel", files: data("_notes: {schema: schemas/a.json, version: 1}"), want: []string{"E invalid-value PLUGIN.md _notes"}},
		{id: "AF-025", note: "long", files: data(strings.Repeat("n", 65) + ": {schema: schemas/a.json, version: 1}"), want: []string{"E invalid-value PLUGIN.md nnn"}},
		{id: "AF-025", note: "version", files: data("notes: {schema: schemas/a.json, version: 0}"), want: []string{"E invalid-value PLUGIN.md version 0"}},
		{id: "AF-026", files: data("notes: {schema: schemas/a.json, version: 1, authoring: {title: T}}"), want: []string{"E forbidden-field PLUGIN.md authoring"}},
		{id: "AF-027", note: "undeclared", files: projection("foo", "notes: {schema: schemas/a.json, version: 1, accepts: [x@1]}"), want: []string{"E unknown-reference PLUGIN.md foo"}},
		{id: "AF-027", note: "no accepts", files: projection("notes", "notes: {schema: schemas/a.json, version: 1}"), want: []string{"E forbidden-field PLUGIN.md notes"}},
		{id: "AF-028", note: "position", files: segment("position: top"), want: []string{"E invalid-value PLUGIN.md position top"}},
		{id: "AF-028", note: "depth", files: segment("position: {depth: -1}"), want: []string{"E invalid-value PLUGIN.md depth -1"}},
		{id: "AF-028", note: "role", files: segment("position: system, role: tool"), want: []string{"E invalid-value PLUGIN.md role tool"}},
		{id: "AF-029", files: pack{"PLUGIN.md": root("contributes:\n  hooks:\n    - {event: OnTurn, handler: \"temporal:q/A\"}\n")}, want: []string{"E invalid-value PLUGIN.md OnTurn"}},
		{id: "AF-030", files: pack{"PLUGIN.md": root("entry: go:guide\ncontributes:\n  tools: [roll]\n")}, want: []string{"E registration-mismatch PLUGIN.md tool roll"}},
		{id: "AF-031", files: pack{
			"PLUGIN.md":       root("contributes:\n  data:\n    notes: {schema: schemas/a.json, version: 1, accepts: [x@1], authoring: {title: T, example: examples/a.json}}\n"),
			"schemas/a.json":  `{"type":"object","properties":{"n":{"type":"integer"}}}`,
			"examples/a.json": `{"n":"no"}`,
		}, want: []string{"E example-invalid examples/a.json /n"}},
		{id: "AF-032", files: pack{"PLUGIN.md": root("contributes:\n  settings:\n    - {key: x, type: integer, min: 1, max: 5, default: 9}\n")}, want: []string{"E invalid-value PLUGIN.md default 9"}},
		{id: "AF-033", files: pack{"PLUGIN.md": root(inline("type: function\nfunction:\n  handler: go:nope\n" + postTurn))}, want: []string{"E code-missing PLUGIN.md:8 go:nope"}},
		{id: "AF-034", files: pack{"PLUGIN.md": root(inline("type: function\nfunction:\n  handler: temporal:tools/RollDice\n" + postTurn))}},
		{id: "AF-035", files: pack{"PLUGIN.md": root(inline("type: function\nfunction:\n  handler: server/index.js\n" + postTurn))}, want: []string{"E invalid-value PLUGIN.md server/index.js"}},
	})
}

func events(topic string) pack {
	return pack{
		"PLUGIN.md":      root("contributes:\n  events:\n    - {topic: " + topic + ", schema: schemas/a.json, description: d}\n"),
		"schemas/a.json": `{"type":"object"}`,
	}
}

func eventSchema(path string) pack {
	return pack{"PLUGIN.md": root("contributes:\n  events:\n    - {topic: a.b, schema: " + path + ", description: d}\n")}
}

func data(namespace string) pack {
	return pack{"PLUGIN.md": root("contributes:\n  data:\n    " + namespace + "\n"), "schemas/a.json": `{"type":"object"}`}
}

func projection(namespace, declared string) pack {
	return pack{
		"PLUGIN.md":      root("contributes:\n  data:\n    " + declared + "\n  worldProjections:\n    a: {from: x@1, handler: \"temporal:q/A\", outputs: {o: {namespace: " + namespace + ", key: k}}}\n"),
		"schemas/a.json": `{"type":"object"}`,
	}
}

func segment(more string) pack {
	return pack{
		"PLUGIN.md":    root("contributes:\n  prompt:\n    - {id: a, content: Text, " + more + "}\n"),
		"PLUGIN.zh.md": "---\ncontributes:\n  prompt:\n    - content: 文本\n---\n",
	}
}
