package archtest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestEveryDependencyIsExplained compares go.mod's direct dependencies with
// the lines of docs/dependencies.md, "- `path`: why".
func TestEveryDependencyIsExplained(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct{ mod, document, section string }{
		{"go.mod", "docs/dependencies.md", "The engine"},
		{"tools/go.mod", "docs/dependencies.md", "Development tools"},
	} {
		t.Run(pair.mod, func(t *testing.T) {
			t.Parallel()
			direct := directDependencies(t, filepath.Join(root, pair.mod))
			explained := explainedDependencies(t, filepath.Join(root, pair.document), pair.section)
			for path := range direct {
				if !explained[path] {
					t.Errorf("%s: section %q has no line for %s", pair.document, pair.section, path)
				}
			}
			for path := range explained {
				if !direct[path] {
					t.Errorf("%s: section %q has a line for %s, which is no direct dependency of %s", pair.document, pair.section, path, pair.mod)
				}
			}
		})
	}
}

// directDependencies are the requirements without "// indirect"; of a module
// of tools, the modules of its tools.
func directDependencies(t *testing.T, mod string) map[string]bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", mod).Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Indirect bool   `json:"Indirect"`
			Path     string `json:"Path"`
		} `json:"Require"`
		Tool []struct {
			Path string `json:"Path"`
		} `json:"Tool"`
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	paths := make(map[string]bool)
	for _, require := range file.Require {
		for _, tool := range file.Tool {
			if within(tool.Path, require.Path) {
				paths[require.Path] = true
			}
		}
		if !require.Indirect {
			paths[require.Path] = true
		}
	}
	return paths
}

func explainedDependencies(t *testing.T, document, section string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile(`(?ms)^## ` + regexp.QuoteMeta(section) + `$(.*?)(^## |\z)`).FindSubmatch(text)
	if body == nil {
		t.Fatalf("%s has no section %q", document, section)
	}
	paths := make(map[string]bool)
	for _, line := range regexp.MustCompile("(?m)^- `([^`]+)`: .{20,}$").FindAllSubmatch(body[1], -1) {
		paths[string(line[1])] = true
	}
	return paths
}
