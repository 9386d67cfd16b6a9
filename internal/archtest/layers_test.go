package archtest_test

import (
	"slices"
	"strings"
	"testing"
)

// layers are the rows of the house from the bottom up, and in a row the
// packages from the lowest to the highest: a package imports nothing of its
// row that stands after it, and nothing of a higher row. Sub-packages stand
// with their parent.
var layers = [][]string{
	{"internal/devserver", "tokens", "session", "access", "locale", "model"},
	{"turn", "compaction", "plugin", "world"},
	{"continuation", "agentloop", "schedule", "assembler", "worlds", "tool"},
	{"workflows", "store", "plugins"},
	{"stream", "trace", "commit"},
	{"client", "activities"},
	{"worker", "httpapi"},
	{"internal/failpoint", "internal/historysize"},
	{"bench", "cmd/covel"},
}

// testSupport is what only tests may import.
var testSupport = []string{"golden", "integration", "internal/archtest", "internal/pgtest", "internal/testenv", "model/peer", "store/storetest"}

// rank orders packages by layers; ok is false for a package without a place.
func rank(pkg string) (place int, ok bool) {
	for i, name := range slices.Concat(layers...) {
		if within(pkg, name) {
			return i, true
		}
	}
	return 0, false
}

func TestImportsRunDownward(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if file.test || within(file.pkg, testSupport...) {
			continue
		}
		from, ok := rank(file.pkg)
		if !ok {
			t.Errorf("%s: package %q has no place in the house; give it one in layers", file.name, file.pkg)
			continue
		}
		for _, imported := range file.imports {
			pkg, own := ownPackage(imported)
			if !own {
				continue
			}
			if within(pkg, testSupport...) {
				t.Errorf("%s imports %s, which is for tests only", file.name, pkg)
				continue
			}
			if to, ok := rank(pkg); ok && to > from {
				t.Errorf("%s imports %s, which stands above it", file.name, pkg)
			}
		}
	}
}

func TestEveryLayerStands(t *testing.T) {
	t.Parallel()
	stands := make(map[string]bool)
	for _, file := range goFiles(t) {
		stands[file.pkg] = true
	}
	for _, name := range slices.Concat(layers...) {
		if !stands[name] {
			t.Errorf("layers names %s, which has no Go file", name)
		}
	}
}

func TestTheServerStaysInDevserver(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		for _, imported := range file.imports {
			server := strings.HasPrefix(imported, "go.temporal.io/server/") || strings.HasPrefix(imported, "github.com/temporalio/ui-server/")
			if server && file.pkg != "internal/devserver" {
				t.Errorf("%s imports %s; only internal/devserver may", file.name, imported)
			}
			if imported != module+"/internal/devserver" {
				continue
			}
			own := file.pkg == "internal/devserver" && file.test
			command := file.pkg == "cmd/covel" && !file.test
			if !own && !command {
				t.Errorf("%s imports internal/devserver; only cmd/covel may, and a test starts the binary through internal/testenv", file.name)
			}
		}
	}
}
