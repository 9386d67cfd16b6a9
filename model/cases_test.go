package model_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// cases are the acceptance cases of docs/spec/cases/04-model-calls.md by id.
type cases map[string]func(t *testing.T)

// elsewhere are the cases that belong to the agent loop's activity: it holds
// the words of the cut-reply hint.
var elsewhere = []string{"M-140"}

func allCases(t *testing.T) cases {
	t.Helper()
	all := cases{}
	for _, group := range []cases{
		systemCases, cacheCases, usageCases, reasoningCases, wireCases, streamCases, responsesCases, retryCases, errorCases,
		slotCases, gatewayCases, scriptedCases, keyCases,
	} {
		for id, run := range group {
			if all[id] != nil {
				t.Fatalf("case %s stands twice", id)
			}
			all[id] = run
		}
	}
	return all
}

func TestCases(t *testing.T) {
	t.Parallel()
	all := allCases(t)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			all[id](t)
		})
	}
}

// Every case of the chapter has a test, and every test a case.
func TestEveryCaseIsTested(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../docs/spec/cases/04-model-calls.md")
	if err != nil {
		t.Fatal(err)
	}
	all := allCases(t)
	seen := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^- (M-\d+) `).FindAllSubmatch(file, -1) {
		id := string(found[1])
		seen[id] = true
		if all[id] == nil && !slices.Contains(elsewhere, id) {
			t.Errorf("case %s has no test", id)
		}
	}
	for id := range all {
		if !seen[id] {
			t.Errorf("test %s belongs to no case", id)
		}
	}
}
