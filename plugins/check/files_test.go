package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileForms reads the same package in the forms that editors write.
func TestFileForms(t *testing.T) {
	t.Parallel()
	agent := "---\ntype: agent\nschedule: {stage: midturn}\n---\n\nGo.\n"
	for name, form := range map[string]func(string) string{
		"plain":    func(s string) string { return s },
		"BOM":      func(s string) string { return "\ufeff" + s },
		"CRLF":     func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"BOM+CRLF": func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := pack{"PLUGIN.md": form(root("")), "runtimes/x/RUNTIME.md": form(agent), "runtimes/x/RUNTIME.zh.md": form(variant)}
			expect(t, checkPlugins(t), []string{"E invalid-value runtimes/x/RUNTIME.md:3 midturn"}, files.write(t, "p"))
		})
	}
	t.Run("no newline at the end", func(t *testing.T) {
		t.Parallel()
		expect(t, checkPlugins(t), nil, pack{"PLUGIN.md": "---\nid: p\nkind: plugin\ndescription: >-\n  A text\n  of two lines.\n---"}.write(t, "p"))
	})
	t.Run("a directory as it is given", func(t *testing.T) {
		t.Parallel()
		a := pack{"PLUGIN.md": root("priority: 1\n")}.write(t, "p")
		b := pack{"PLUGIN.md": root("priority: 1\n")}.write(t, "p")
		expect(t, checkPlugins(t), []string{"E unknown-key " + slash(a) + "/PLUGIN.md:5", "E unknown-key " + slash(b) + "/PLUGIN.md:5"}, a+"/", b)
		expect(t, checkPlugins(t), []string{"E unknown-key " + slash(a) + "/PLUGIN.md:5"}, a, a)
	})
	t.Run("nothing is written", func(t *testing.T) {
		t.Parallel()
		dir := pack{"PLUGIN.md": root("")}.write(t, "p")
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		expect(t, checkPlugins(t), nil, dir)
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%v %v", entries, err)
		}
	})
	t.Run("a package without PLUGIN.md", func(t *testing.T) {
		t.Parallel()
		expect(t, checkPlugins(t), []string{"E file-missing PLUGIN.md"}, pack{"README.md": "x"}.write(t, "p"))
		expect(t, checkWorlds(t), []string{"E file-missing world.yaml"}, pack{"README.md": "x"}.write(t, "p"))
	})
	t.Run("an embedded package is replaced", func(t *testing.T) {
		t.Parallel()
		// Nobody publishes action-check@1 when the stand-in for dice-check does not.
		dice := pack{"PLUGIN.md": "---\nid: dice-check\nkind: plugin\ndescription: d\n---\n"}.write(t, "dice-check")
		user := pack{
			"PLUGIN.md":             root("optional: [action-check@1]\n"),
			"runtimes/x/RUNTIME.md": runtime(agentPost + "io: {inputs: {n: {from: {contract: action-check@1}, accepts: \"contract:action-check@1\"}}}\n"),
		}.write(t, "p")
		expect(t, checkPlugins(t), nil, user)
		expect(t, checkPlugins(t), []string{"E contract-unpublished " + slash(user) + "/runtimes/x/RUNTIME.md action-check@1"}, dice, user)
	})
	t.Run("output is the same every time", func(t *testing.T) {
		t.Parallel()
		dir := pack{"PLUGIN.md": root("priority: 1\ntags: [\"role:x\", \"role:y\"]\nprovides: [a@1, b@1]\n"), "runtimes/a/RUNTIME.md": "x", "runtimes/b/RUNTIME.md": "y"}.write(t, "p")
		var first bytes.Buffer
		for i := range 5 {
			var out bytes.Buffer
			if _, _, err := shared.Plugin(&out, dir); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = out
			} else if out.String() != first.String() {
				t.Fatalf("%s\n%s", first.String(), out.String())
			}
		}
		if !strings.HasSuffix(first.String(), "7 errors, 0 warnings\n") {
			t.Errorf("%s (%s)", first.String(), filepath.Base(dir))
		}
	})
}
