package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the cases of chapter 05 that need a running turn, a request on
// the wire or the public API; the tests of those packages hold them.
var elsewhere = map[string]string{
	"AF-057": "inputs of a running turn", "AF-144": "inputs of a running turn", "AF-145": "requests of the agent loop",
	"AF-058": "own data in a request (package assembler)", "AF-059": "own data in a request (package assembler)", "AF-090": "own data in a request (package assembler)",
	"AF-091": "events of a running turn", "AF-092": "events of a running turn", "AF-093": "events of a running turn",
	"AF-107": "tool calls (package tool)", "AF-108": "tool calls (package tool)", "AF-109": "tool calls (package tool)", "AF-110": "tool calls (package tool)",
	"AF-149": "extension calls of a running turn",
}

// TestEveryCaseHasATest compares the public cases with the tests that name them.
func TestEveryCaseHasATest(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`AF-\d{3}`)
	cases, err := os.ReadFile("../../docs/spec/cases/05-author-formats.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, line := range strings.Split(string(cases), "\n") {
		if strings.HasPrefix(line, "- AF-") {
			all = append(all, id.FindString(line))
		}
	}
	tested := map[string]bool{}
	for _, pattern := range []string{"*_test.go", "../*_test.go", "../../world/*_test.go", "../../worlds/*_test.go", "../../plugin/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if file == "registry_test.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range id.FindAllString(string(text), -1) {
				tested[found] = true
			}
		}
	}
	for _, c := range all {
		_, other := elsewhere[c]
		switch {
		case !tested[c] && !other:
			t.Errorf("%s has no test", c)
		case tested[c] && other:
			t.Errorf("%s has a test here; take it off the list", c)
		}
	}
	for c := range elsewhere {
		if !slices.Contains(all, c) {
			t.Errorf("%s is no case any more", c)
		}
	}
	if len(all) < 149 {
		t.Errorf("%d cases were read, want at least 149", len(all))
	}
}
