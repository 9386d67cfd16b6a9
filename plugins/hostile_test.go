package plugins_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

// TestHostilePackages loads one bad package beside a good one: a clear error
// for the first, the second is loaded.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	good := map[string]string{"good/PLUGIN.md": "---\nid: good\nkind: plugin\ndescription: d\n---\n"}
	head := "---\nid: bad\nkind: plugin\ndescription: d\n"
	for name, c := range map[string]struct {
		files map[string]string
		code  string
	}{
		"10 MB manifest":  {map[string]string{"bad/PLUGIN.md": head + "---\n" + strings.Repeat("x", 10<<20)}, "file-too-large"},
		"alias bomb":      {map[string]string{"bad/PLUGIN.md": head + "tags: &a [" + strings.Repeat("a,", 1000) + "]\nx: [" + strings.Repeat("*a,", 1000) + "]\n---\n"}, "frontmatter-yaml"},
		"binary":          {map[string]string{"bad/PLUGIN.md": "\x7fELF\x00\x01"}, "frontmatter-missing"},
		"UTF-16":          {map[string]string{"bad/PLUGIN.md": "\xff\xfe-\x00-\x00-\x00\n\x00"}, "frontmatter-missing"},
		"latin-1":         {map[string]string{"bad/PLUGIN.md": head + "displayName: W\xfcrfel\n---\n"}, "frontmatter-yaml"},
		"duplicate key":   {map[string]string{"bad/PLUGIN.md": head + "kind: core\n---\n"}, "frontmatter-yaml"},
		"two documents":   {map[string]string{"bad/PLUGIN.md": head + "...\n---x: y\n---\n"}, "frontmatter-yaml"},
		"list":            {map[string]string{"bad/PLUGIN.md": "---\n- a\n---\n"}, "frontmatter-yaml"},
		"empty file":      {map[string]string{"bad/PLUGIN.md": ""}, "frontmatter-missing"},
		"no file":         {map[string]string{"bad/readme.txt": "x"}, "file-missing"},
		"schema nesting":  {map[string]string{"bad/PLUGIN.md": head + "contracts: {a@1: {schema: s.json}}\n---\n", "bad/s.json": strings.Repeat("[", 1<<20)}, "schema-invalid"},
		"remote schema":   {map[string]string{"bad/PLUGIN.md": head + "contracts: {a@1: {schema: s.json}}\n---\n", "bad/s.json": `{"$ref":"https://example.org/x.json"}`}, "schema-invalid"},
		"file schema":     {map[string]string{"bad/PLUGIN.md": head + "contracts: {a@1: {schema: s.json}}\n---\n", "bad/s.json": `{"$ref":"file:///etc/passwd"}`}, "schema-invalid"},
		"regexp":          {map[string]string{"bad/PLUGIN.md": head + "contracts: {a@1: {schema: s.json}}\n---\n", "bad/s.json": `{"pattern":"("}`}, "schema-invalid"},
		"path traversal":  {map[string]string{"bad/PLUGIN.md": head + "contracts: {a@1: {schema: ../good/PLUGIN.json}}\n---\n"}, "path-escape"},
		"inline function": {map[string]string{"bad/PLUGIN.md": head + "runtime: 5\n---\n"}, "invalid-value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := userDir(t, join(good, c.files))
			gen, findings, err := plugin.Load(plugin.Config{UserDir: dir, Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := gen.Plugin("good"); !ok || len(gen.Plugins()) != 1 {
				t.Errorf("%d packages", len(gen.Plugins()))
			}
			if !slices.ContainsFunc(findings, func(f plugin.Finding) bool { return f.Code == c.code && f.Fix != "" }) {
				t.Errorf("no %s in %v", c.code, findings)
			}
		})
	}
	t.Run("links and pipes", func(t *testing.T) {
		t.Parallel()
		dir := userDir(t, join(good, map[string]string{"secret.json": `{}`, "bad/PLUGIN.md": head + "contracts: {a@1: {schema: out.json}, b@1: {schema: pipe.json}}\n---\n"}))
		if err := os.Symlink("../secret.json", filepath.Join(dir, "bad", "out.json")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "bad", "pipe.json"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, findings, err := plugin.Load(plugin.Config{UserDir: dir})
		var codes []string
		for _, f := range findings {
			codes = append(codes, f.Code)
		}
		if err != nil || !slices.Contains(codes, "path-escape") || !slices.Contains(codes, "file-missing") {
			t.Errorf("%v %v", findings, err)
		}
	})
}

// TestChangedPackagesNeverPanic loads the bundled packages with random changes
// in their manifests: no change makes the loader panic, and packages that were
// not touched stay loaded.
func TestChangedPackagesNeverPanic(t *testing.T) {
	t.Parallel()
	handlers := plugins.Handlers()
	paths, err := fs.Glob(plugins.FS(), "*/PLUGIN.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := fs.Glob(plugins.FS(), "*/runtimes/*/RUNTIME*.md")
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, more...)
	files := fstest.MapFS{}
	if err := fs.WalkDir(plugins.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(plugins.FS(), p)
		files[p] = &fstest.MapFile{Data: text}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		touched := rapid.SampledFrom(paths).Draw(t, "path")
		_, rest, _ := strings.Cut(string(files[touched].Data), "---\n")
		matter, body, _ := strings.Cut(rest, "---\n")
		root, err := source.ParseYAML([]byte(matter))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			change(t, root)
		}
		id, _, _ := strings.Cut(touched, "/")
		tree := fstest.MapFS{}
		for p, f := range files {
			if strings.HasPrefix(p, id+"/") {
				tree[p] = f
			}
		}
		tree[touched] = &fstest.MapFile{Data: []byte("---\n" + string(root.JSON()) + "\n---\n" + body)}
		gen, _, err := plugin.Load(plugin.Config{Beside: bundled, Bundled: tree, Handlers: handlers, Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := gen.Plugin("illustrator"); !ok && id != "illustrator" {
			t.Fatal("a package that was not touched is gone")
		}
		if _, err := gen.Resolve(plugin.Request{Requested: nil}); err != nil && id != "narrator" && !strings.Contains(err.Error(), id) && !strings.Contains(err.Error(), "requires") {
			t.Fatal(err)
		}
	})
}

// TestChangedWorldsNeverPanic does the same with the bundled world, and creates
// a session of what still loads.
func TestChangedWorldsNeverPanic(t *testing.T) {
	t.Parallel()
	gen, _ := load(t, nil)
	res, err := gen.Resolve(plugin.Request{Requested: []string{"character-blueprint", "guide", "affinity", "dice-check"}})
	if err != nil {
		t.Fatal(err)
	}
	active := gen.Active(res.Active)
	files := fstest.MapFS{}
	var paths []string
	if err := fs.WalkDir(worlds.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(worlds.FS(), p)
		files[p] = &fstest.MapFile{Data: text}
		if ext := filepath.Ext(p); ext == ".yaml" || ext == ".json" {
			paths = append(paths, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		touched := rapid.SampledFrom(paths).Draw(t, "path")
		parse := source.ParseYAML
		if strings.HasSuffix(touched, ".json") {
			parse = source.ParseJSON
		}
		root, err := parse(files[touched].Data)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			change(t, root)
		}
		tree := fstest.MapFS{}
		for p, f := range files {
			tree[p] = f
		}
		tree[touched] = &fstest.MapFile{Data: root.JSON()}
		lib, _, err := world.Load(world.Config{Bundled: tree, Plugins: gen})
		if err != nil {
			t.Fatal(err)
		}
		w, ok := lib.World("lanternfall")
		if !ok {
			return
		}
		for _, locale := range []string{"en", "zh-CN"} {
			if _, err := w.Instantiate(world.Options{Active: active, Locale: locale, SessionID: "s"}); err != nil && locale == "en" && !strings.Contains(err.Error(), "source") {
				t.Fatal(err)
			}
		}
	})
}
