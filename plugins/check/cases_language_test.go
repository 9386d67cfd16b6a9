package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/plugins/check"
)

func TestLanguageCases(t *testing.T) {
	t.Parallel()
	one := func(object, body string) pack {
		return pack{"PLUGIN.md": root(""), "runtimes/x/RUNTIME.md": "---\n" + object + "---\n\n" + body + "\n"}
	}
	f := "runtimes/x/RUNTIME.md"
	runPluginCases(t, []pluginCase{
		{id: "AF-096", files: one(agentPost, "Hi {{ player.name.first }}."), want: []string{"W template-unknown " + f + ":7 player.name.first"}},
		{id: "AF-096", note: "known", files: one(agentPost, "Hi {{ player.character.name }}, {{world.dimensions.oil.value}} and {{ inputs.p.x.a }}.")},
		{id: "AF-102", files: one(agentPost, "Hi.").and("PLUGIN.ru.md", variant), want: []string{"W variant-ignored PLUGIN.ru.md"}},
		{id: "AF-103", files: one(agentPost, "Hi.").and("runtimes/x/RUNTIME.zh.md", "---\nschedule: {stage: audit}\n---\n正文。\n"), want: []string{"W variant-structure runtimes/x/RUNTIME.zh.md:2 schedule.stage"}},
		{id: "AF-103", note: "texts may differ", files: one(agentPost+"description: An agent.\n", "Hi.").and("runtimes/x/RUNTIME.zh.md", "---\ndescription: 代理\n---\n正文。\n")},
		{id: "AF-103", note: "list length", files: segment("position: system").and("PLUGIN.zh.md", "---\ncontributes:\n  prompt:\n    - content: 一\n    - content: 二\n---\n"), want: []string{"W variant-structure PLUGIN.zh.md contributes.prompt"}},
		{id: "AF-104", note: "plugin", files: one(agentPost, "Hi.").and("runtimes/x/RUNTIME.zh.md", "-"), want: []string{"W variant-missing " + f + " p/x"}},
		{id: "AF-104", note: "core", files: one(agentPost, "Hi.").and("runtimes/x/RUNTIME.zh.md", "-").and("PLUGIN.md", strings.Replace(root(""), "kind: plugin", "kind: core", 1)), want: []string{"E variant-missing " + f + " p/x"}},
		{id: "AF-105", files: one(agentPost+"agent: {tools: {builtin: [get-character]}}\n", "Call `get-character`.").and("runtimes/x/RUNTIME.zh.md", "---\n---\n调用 `list-characters`。\n"), want: []string{"E variant-mismatch runtimes/x/RUNTIME.zh.md get-character list-characters"}},
		{id: "AF-105", note: "tags and inputs", files: one(agentPost, "Read `<a-block>` and `runtime-inputs.n.value`.").and("runtimes/x/RUNTIME.zh.md", "---\n---\n阅读 `<b-block>`。\n"), want: []string{"E variant-mismatch runtimes/x/RUNTIME.zh.md <a-block> runtime-inputs.n <b-block>"}},
		{id: "AF-106", files: pack{"PLUGIN.md": root(inline(function + postTurn)), "locales/de.yaml": "displayName: Paket\nruntime: {type: Funktion}\n"}, want: []string{"E locale-entry locales/de.yaml:2 runtime.type"}},
		{id: "AF-106", note: "items by key", files: pack{
			"PLUGIN.md":       root("contributes:\n  settings:\n    - {key: x, type: text, label: X}\n"),
			"locales/de.yaml": "contributes:\n  settings:\n    x: {label: Iks}\nmessages:\n  Hello: Hallo\n",
		}},
	})
	lint := func(body string) pack { return one(agentPost, body) }
	runPluginCases(t, []pluginCase{
		{id: "lint", note: "step", files: lint("1. " + strings.Repeat("word ", 20) + "end."), want: []string{"W lint-sentence-length " + f + ":7 21"}},
		{id: "lint", note: "sentence", files: lint(strings.Repeat("word ", 25) + "end."), want: []string{"W lint-sentence-length " + f + ":7 26"}},
		{id: "lint", note: "voice is free", files: lint("## Voice\n\n" + strings.Repeat("word ", 30) + "end.")},
		{id: "lint", note: "wrapped sentence", files: lint(strings.Repeat("word ", 13) + "\n" + strings.Repeat("word ", 13) + "end."), want: []string{"W lint-sentence-length " + f + ":7"}},
		{id: "lint", note: "should", files: lint("You should wait."), want: []string{"W lint-should " + f}},
		{id: "lint", note: "vague", files: lint("Act as needed."), want: []string{"W lint-vague " + f + " needed"}},
		{id: "lint", note: "repeated", files: lint("Wait for the bell. Then go on. Wait for the bell."), want: []string{"W lint-repeated " + f}},
		{id: "lint", note: "language", files: lint("Always reply in English."), want: []string{"W lint-output-language " + f}},
	})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	bad := pack{"PLUGIN.md": "---\nid: p\nkind: plugin\ndescription: \"\"\n---\n"}
	t.Run("AF-141", func(t *testing.T) {
		t.Parallel()
		dir := bad.write(t, "p")
		var out bytes.Buffer
		errs, warnings, err := check.Plugin(&out, dir)
		if err != nil || errs != 1 || warnings != 0 {
			t.Fatal(errs, warnings, err)
		}
		lines := strings.Split(out.String(), "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[0], "PLUGIN.md:4: error invalid-value: ") || !strings.HasPrefix(lines[1], "Fix: ") || lines[2] != "1 error, 0 warnings" {
			t.Errorf("%q", lines)
		}
		clean := pack{"PLUGIN.md": strings.Replace(root(""), "id: p", "id: q", 1)}.write(t, "q")
		expect(t, checkPlugins(t), []string{"E invalid-value " + slash(dir) + "/PLUGIN.md:4"}, dir, clean)
	})
	t.Run("AF-142", func(t *testing.T) {
		t.Parallel()
		dir := pack{"PLUGIN.md": root(""), "PLUGIN.ru.md": variant}.write(t, "p")
		var out bytes.Buffer
		if errs, warnings, err := check.Plugin(&out, dir); err != nil || errs != 0 || warnings != 1 {
			t.Fatal(errs, warnings, err)
		}
		out.Reset()
		if _, _, err := check.Plugin(&out, filepath.Join(dir, "none")); err == nil || out.Len() != 0 {
			t.Errorf("err %v, out %q", err, out.String())
		}
		if _, _, err := check.Plugin(&out); err == nil {
			t.Error("a call without a directory must fail")
		}
		if _, _, err := check.World(&out, filepath.Join(dir, "PLUGIN.md")); err == nil || out.Len() != 0 {
			t.Errorf("a file: err %v, out %q", err, out.String())
		}
	})
	t.Run("AF-143", func(t *testing.T) {
		t.Parallel()
		dir := pack{
			"PLUGIN.md":             "---\nid: p\nkind: addon\ndescription: \"\"\npriority: 5\nprovides: [x]\n---\n",
			"runtimes/x/RUNTIME.md": runtime("type: agent\nschedule: {stage: midturn}\n"),
		}.write(t, "p")
		out := checkPlugins(t)(dir)
		list, _ := parse(t, out)
		var at []string
		for _, f := range list {
			if f.severity == "error" {
				at = append(at, f.at)
			}
		}
		want := "PLUGIN.md:3 PLUGIN.md:4 PLUGIN.md:5 PLUGIN.md:6 runtimes/x/RUNTIME.md:3"
		if strings.Join(at, " ") != want {
			t.Errorf("got %v, want %s\n%s", at, want, out)
		}
	})
	t.Run("AF-137", func(t *testing.T) {
		t.Parallel()
		entries, err := os.ReadDir("..")
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, e := range entries {
			dir := filepath.Join("..", e.Name())
			if _, err := os.Stat(filepath.Join(dir, "PLUGIN.md")); err != nil {
				continue
			}
			expect(t, checkPlugins(t), nil, dir)
			checked++
		}
		if checked != 11 {
			t.Errorf("%d packages, want 11", checked)
		}
		expect(t, checkWorlds(t), nil, "../../worlds/lanternfall")
	})
}
