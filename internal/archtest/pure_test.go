package archtest_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// purePackages are what workflow code depends on: no clock, randomness,
// goroutine or I/O.
var purePackages = []string{"agentloop", "assembler", "continuation", "schedule", "session", "turn"}

// pureImports are the standard packages a pure package may use. "time" is
// there for its types; its clock is forbidden below.
var pureImports = []string{
	"bytes", "cmp", "crypto/sha256", "encoding", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json",
	"errors", "fmt",
	"hash", "iter", "maps", "math", "regexp", "slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf16",
	"unicode/utf8",
}

// pureOwnImports are the packages of this module that a pure package may use
// beside the pure ones: values and rules without effects.
var pureOwnImports = []string{"compaction", "locale", "model", "plugin", "tokens", "world"}

// pureForeignImports are libraries that compute and do nothing else.
var pureForeignImports = []string{"golang.org/x/text/unicode/norm"}

// clock is what reads or waits for the time.
var clock = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

func TestPurePackagesImportOnlyWhatIsPure(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if file.test || !within(file.pkg, purePackages...) {
			continue
		}
		for _, imported := range file.imports {
			pkg, own := ownPackage(imported)
			allowed := slices.Contains(pureImports, imported) || slices.Contains(pureForeignImports, imported)
			if own {
				allowed = within(pkg, purePackages...) || within(pkg, pureOwnImports...)
			}
			if !allowed {
				t.Errorf("%s imports %s; a pure package may not", file.name, imported)
			}
		}
	}
}

func TestPurePackagesHaveNoClockAndNoGoroutines(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if file.test || !within(file.pkg, purePackages...) {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
				t.Errorf("%s:%d: goroutines and channels have no place in a pure package", file.name, file.line(node))
			case *ast.SelectorExpr:
				if name, ok := node.X.(*ast.Ident); ok && name.Name == "time" && slices.Contains(clock, node.Sel.Name) {
					t.Errorf("%s:%d: time.%s; a pure package gets the time as a value", file.name, file.line(node), node.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestNothingRunsAtInit holds the house's rule against hidden registration.
func TestNothingRunsAtInit(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		for _, declaration := range file.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && function.Recv == nil && function.Name.Name == "init" {
				t.Errorf("%s:%d: func init; pass what it registers as a value", file.name, file.line(function))
			}
		}
	}
}

// TestNoTestIsSkippedOrSleeps lets tests with a bubble of testing/synctest
// sleep: its clock does not wait.
func TestNoTestIsSkippedOrSleeps(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if !file.test {
			continue
		}
		bubble := slices.Contains(file.imports, "testing/synctest")
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name, ok := selector.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch call := name.Name + "." + selector.Sel.Name; {
			case call == "time.Sleep" && !bubble:
				t.Errorf("%s:%d: time.Sleep; wait for a condition", file.name, file.line(node))
			case (name.Name == "t" || name.Name == "b" || name.Name == "tb") && strings.HasPrefix(selector.Sel.Name, "Skip"):
				t.Errorf("%s:%d: %s; a test that cannot run is a failing test", file.name, file.line(node), call)
			}
			return true
		})
	}
}
