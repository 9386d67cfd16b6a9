package archtest_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/covel-engine/covel"
	root   = "../.."
)

// sourceFile is one Go file of the module, whatever its build tags.
type sourceFile struct {
	name    string // path from the module's root
	pkg     string // directory from the module's root, "" for the root itself
	test    bool
	lines   int
	imports []string
	syntax  *ast.File
	fset    *token.FileSet
}

// line is the line of a node.
func (f *sourceFile) line(node ast.Node) int { return f.fset.Position(node.Pos()).Line }

// sources parses the module's Go files, those of tools/ (a module of its own)
// and of testdata directories excepted.
var sources = sync.OnceValues(func() ([]*sourceFile, error) {
	var files []*sourceFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			hidden := strings.HasPrefix(base, ".") && name != root
			if hidden || base == "testdata" || base == "bin" || name == filepath.Join(root, "tools") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		file, err := parse(name)
		files = append(files, file)
		return err
	})
	return files, err
})

func parse(name string) (*sourceFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	relative = filepath.ToSlash(relative)
	file := &sourceFile{
		fset:  token.NewFileSet(),
		lines: bytes.Count(text, []byte("\n")),
		name:  relative,
		test:  strings.HasSuffix(relative, "_test.go"),
	}
	if file.pkg = path.Dir(relative); file.pkg == "." {
		file.pkg = ""
	}
	file.syntax, err = parser.ParseFile(file.fset, relative, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, spec := range file.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		file.imports = append(file.imports, imported)
	}
	return file, nil
}

func goFiles(t *testing.T) []*sourceFile {
	t.Helper()
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// within says whether a package is one of the named or below one of them.
func within(pkg string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return pkg == name || strings.HasPrefix(pkg, name+"/")
	})
}

// ownPackage is the directory of an import of this module, ok false for any
// other import.
func ownPackage(imported string) (pkg string, ok bool) {
	if imported == module {
		return "", true
	}
	return strings.CutPrefix(imported, module+"/")
}
