package plugins_test

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
)

// manifests gives the frontmatter of every bundled PLUGIN.md or RUNTIME.md.
func manifests(t *testing.T, name string) []*source.Node {
	t.Helper()
	var out []*source.Node
	err := fs.WalkDir(plugins.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Base(p) != name {
			return err
		}
		dir, err := source.EmbeddedDir(plugins.FS(), path.Dir(p))
		if err != nil {
			return err
		}
		report := &source.Report{}
		file, ok := dir.Frontmatter(name, report)
		if !ok {
			t.Fatal(report.Err())
		}
		out = append(out, file.Root)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEditorSchemas(t *testing.T) {
	t.Parallel()
	schemas, err := plugin.EditorSchemas()
	if err != nil {
		t.Fatal(err)
	}
	more, err := world.EditorSchemas()
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(schemas, more)
	compiled := map[string]*plugin.Schema{}
	for name, raw := range schemas {
		if compiled[name], err = plugin.CompileSchema(raw); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, schema := range map[string]string{"PLUGIN.md": "plugin.schema.json", "RUNTIME.md": "runtime.schema.json"} {
		for _, n := range manifests(t, name) {
			if err := compiled[schema].Validate(n.JSON()); err != nil {
				t.Errorf("%s: %v", n.Get("id").Str(), err)
			}
		}
	}
	dir, err := source.EmbeddedDir(worlds.FS(), "lanternfall")
	if err != nil {
		t.Fatal(err)
	}
	for file, schema := range map[string]string{
		"world.yaml": "world", "data/sources.yaml": "sources", "data/dimensions.yaml": "dimensions", "data/lorebook.yaml": "lorebook",
		"characters/characters.json": "characters", "characters/main-cast.json": "main-cast",
	} {
		report := &source.Report{}
		doc, ok := dir.Document(file, "", source.Ref{}, report)
		if !ok {
			t.Fatal(report.Err())
		}
		if err := compiled[schema+".schema.json"].Validate(doc.Root.JSON()); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestEditorSchemasAgreeWithCheck changes bundled manifests at random: the
// schema refuses exactly what the shape reports.
func TestEditorSchemasAgreeWithCheck(t *testing.T) {
	t.Parallel()
	schemas, err := plugin.EditorSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file  string
		shape shape.Shape
	}{"plugin.schema.json": {"PLUGIN.md", plugin.RootShape()}, "runtime.schema.json": {"RUNTIME.md", plugin.RuntimeShape()}} {
		schema, err := plugin.CompileSchema(schemas[name])
		if err != nil {
			t.Fatal(err)
		}
		all := manifests(t, c.file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				root := rapid.SampledFrom(all).Draw(t, "manifest").Clone()
				for range rapid.IntRange(1, 3).Draw(t, "changes") {
					change(t, root)
				}
				report := &source.Report{}
				shape.Check(c.shape, "", root, c.file, report)
				err := schema.Validate(root.JSON())
				if report.Failed() != (err != nil) {
					t.Fatalf("%s\nshape: %v\nschema: %v", root.JSON(), report.Err(), err)
				}
			})
		})
	}
}

// change deletes, renames or replaces one value somewhere in a tree.
func change(t *rapid.T, n *source.Node) {
	for {
		children := len(n.Fields) + len(n.Items)
		if children == 0 {
			return
		}
		i := rapid.IntRange(0, children-1).Draw(t, "child")
		var child *source.Node
		if i < len(n.Fields) {
			child = n.Fields[i].Value
		} else {
			child = n.Items[i-len(n.Fields)]
		}
		if len(child.Fields)+len(child.Items) > 0 && rapid.Bool().Draw(t, "deeper") {
			n = child
			continue
		}
		values := []*source.Node{
			{Kind: source.Null}, {Kind: source.Bool, Text: "true"}, {Kind: source.Bool, Text: "false"}, {Kind: source.Number, Text: "0"}, {Kind: source.Number, Text: "-1"},
			{Kind: source.Number, Text: "2.5"}, {Kind: source.Number, Text: "7"}, {Kind: source.String, Text: "x"}, {Kind: source.String, Text: "X y"}, {Kind: source.String, Text: "a.b"},
			{Kind: source.String, Text: "go:a/b"}, {Kind: source.String, Text: "a@1"}, {Kind: source.String, Text: "required"}, {Kind: source.List}, {Kind: source.Map},
			{Kind: source.List, Items: []*source.Node{{Kind: source.String, Text: "a"}, {Kind: source.String, Text: "a"}}},
			{Kind: source.Map, Fields: []source.Field{{Key: "depth", Value: &source.Node{Kind: source.Number, Text: "1"}}}},
		}
		switch op := rapid.IntRange(0, 2).Draw(t, "operation"); {
		case op == 0 && i < len(n.Fields):
			n.Fields = slices.Delete(n.Fields, i, i+1)
		case op == 1 && i < len(n.Fields):
			key := rapid.SampledFrom([]string{"id", "kind", "priority", "runtime", "schema", "Bad Key", strings.Repeat("k", 70)}).Draw(t, "key")
			if n.Get(key) == nil {
				n.Fields[i].Key = key
			}
		default:
			value := rapid.SampledFrom(values).Draw(t, "value").Clone()
			if i < len(n.Fields) {
				n.Fields[i].Value = value
			} else {
				n.Items[i-len(n.Fields)] = value
			}
		}
		return
	}
}
