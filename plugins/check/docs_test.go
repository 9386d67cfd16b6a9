package check_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/world"
)

var fence = regexp.MustCompile("(?ms)^```\\w+ file=(\\S+)\n(.*?)^```$")

// snippets gives the files that a page shows, by path.
func snippets(t *testing.T, page string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = m[2]
	}
	return out
}

// TestDocumentedPackagesAreClean writes the files of the author documents and
// checks them like a reader would.
func TestDocumentedPackagesAreClean(t *testing.T) {
	t.Parallel()
	byPackage := map[string]pack{}
	for _, page := range []string{"../../docs/writing-plugins.md", "../../docs/writing-worlds.md"} {
		for path, text := range snippets(t, page) {
			name, file, _ := strings.Cut(path, "/")
			if byPackage[name] == nil {
				byPackage[name] = pack{}
			}
			byPackage[name][file] = text
		}
	}
	for name, run := range map[string]func(dirs ...string) string{"chronicle": checkPlugins(t), "house-style": checkPlugins(t), "millbrook": checkWorlds(t)} {
		if len(byPackage[name]) == 0 {
			t.Fatalf("no files of %s", name)
		}
		expect(t, run, nil, byPackage[name].write(t, name))
	}
	dir := byPackage["snippets"].write(t, "snippets")
	d, err := source.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	report := &source.Report{}
	file, ok := d.Document("sources.yaml", "", source.Ref{}, report)
	if ok {
		shape.Check(world.DescriptorShape(), "", file.Root, file.Path, report)
	}
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// TestDocumentedFinding keeps the finding of the page what the program prints.
func TestDocumentedFinding(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/writing-plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	files := snippets(t, "../../docs/writing-plugins.md")
	broken := pack{}
	for path, text := range files {
		if file, ok := strings.CutPrefix(path, "chronicle/"); ok {
			broken[file] = strings.Replace(text, "displayName:", "displayname:", 1)
		}
	}
	out := checkPlugins(t)(broken.write(t, "chronicle"))
	lines := strings.SplitN(out, "\n", 3)
	shown := lines[0] + "\n" + lines[1]
	if !strings.Contains(string(page), shown) {
		t.Errorf("docs/writing-plugins.md must show\n%s", shown)
	}
}
