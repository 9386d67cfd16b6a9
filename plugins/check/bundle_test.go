package check_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/plugins/check"
)

// pack is a package's files by path.
type pack map[string]string

const variant = "---\n---\n正文。\n"

// root makes PLUGIN.md of a plugin p with more frontmatter.
func root(more string) string {
	return "---\nid: p\nkind: plugin\ndescription: A package.\n" + more + "---\n\nBody.\n"
}

// runtime makes a file with frontmatter and a body.
func runtime(matter string) string { return "---\n" + matter + "---\n\nBody.\n" }

// write puts a package below a new directory and gives its path. Agents get a
// Chinese variant unless the case writes one or removes it with "-".
func (p pack) write(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	files := map[string]string{}
	for path, text := range p {
		files[path] = text
		zh := strings.TrimSuffix(path, ".md") + ".zh.md"
		if _, own := p[zh]; !own && strings.Contains(text, "type: agent") && strings.HasSuffix(path, ".md") {
			files[zh] = variant
		}
	}
	for path, text := range files {
		if text == "-" {
			continue
		}
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// found is one finding as covel check prints it, with its two lines.
type found struct {
	at, severity, code, problem, fix string
}

func parse(t *testing.T, out string) (list []found, summary string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	summary = lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	if len(lines)%2 != 0 {
		t.Fatalf("odd number of lines:\n%s", out)
	}
	for i := 0; i < len(lines); i += 2 {
		at, rest, ok := strings.Cut(lines[i], ": ")
		head, problem, ok2 := strings.Cut(rest, ": ")
		severity, code, ok3 := strings.Cut(head, " ")
		fix, ok4 := strings.CutPrefix(lines[i+1], "Fix: ")
		if !ok || !ok2 || !ok3 || !ok4 || problem == "" || fix == "" {
			t.Fatalf("malformed finding:\n%s\n%s", lines[i], lines[i+1])
		}
		list = append(list, found{at, severity, code, problem, fix})
	}
	return list, summary
}

// expectation is "E code path[:line] word word …": the words must stand in the
// problem or, after "fix:", in the fix.
func (f found) meets(want string) bool {
	parts := strings.Fields(want)
	severity := map[string]string{"E": "error", "W": "warning"}[parts[0]]
	path, line, hasLine := strings.Cut(parts[2], ":")
	at, gotLine, _ := strings.Cut(f.at, ":")
	if f.severity != severity || f.code != parts[1] || at != path || hasLine && gotLine != line {
		return false
	}
	for _, word := range parts[3:] {
		if w, ok := strings.CutPrefix(word, "fix:"); ok {
			if !strings.Contains(f.fix, w) {
				return false
			}
		} else if !strings.Contains(f.problem, word) {
			return false
		}
	}
	return true
}

// expect checks packages and wants exactly the findings of want.
func expect(t *testing.T, run func(dirs ...string) string, want []string, dirs ...string) {
	t.Helper()
	out := run(dirs...)
	list, summary := parse(t, out)
	left := slices.Clone(list)
	for _, w := range want {
		i := slices.IndexFunc(left, func(f found) bool { return f.meets(w) })
		if i < 0 {
			t.Errorf("missing: %s\ngot:\n%s", w, out)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, f := range left {
		t.Errorf("not expected: %+v", f)
	}
	errs, warnings := 0, 0
	for _, f := range list {
		if f.severity == "error" {
			errs++
		} else {
			warnings++
		}
	}
	plural := func(n int, s string) string {
		if n == 1 {
			return "1 " + s
		}
		return fmt.Sprintf("%d %ss", n, s)
	}
	if wantSummary := plural(errs, "error") + ", " + plural(warnings, "warning"); summary != wantSummary {
		t.Errorf("summary %q, want %q", summary, wantSummary)
	}
}

// shared is the checker of all cases; TestMain makes it.
var shared *check.Checker

func TestMain(m *testing.M) {
	var err error
	if shared, err = check.New(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func checkPlugins(t *testing.T) func(dirs ...string) string {
	return func(dirs ...string) string {
		t.Helper()
		var out bytes.Buffer
		if _, _, err := shared.Plugin(&out, dirs...); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
}

func checkWorlds(t *testing.T) func(dirs ...string) string {
	return func(dirs ...string) string {
		t.Helper()
		var out bytes.Buffer
		if _, _, err := shared.World(&out, dirs...); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
}
