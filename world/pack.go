package world

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// pack is one world on its way to being loaded.
type pack struct {
	dir    *source.Dir
	report *source.Report
	cfg    Config
	world  *World
	root   *source.File
	schema *CharacterSchema

	mediaBytes int
	characters []located
	cards      []located
	dimensions map[string]string // id -> file it stands in
}

// located is one record with the file it stands in.
type located struct {
	node *source.Node
	path string
	at   string
}

const loreTokens = 8000

func loadPack(dir *source.Dir, cfg Config) *pack {
	p := &pack{
		dir: dir, cfg: cfg, report: &source.Report{Package: dir.Origin}, dimensions: map[string]string{},
		world: &World{Origin: dir.Origin, User: !dir.Embedded, lore: map[string]string{}, media: map[string]Media{}, Settings: map[string]map[string]json.RawMessage{}},
	}
	root, ok := dir.Document("world.yaml", "", source.Ref{}, p.report)
	if !ok {
		return p
	}
	p.root = root
	shape.Check(WorldShape(), "", root.Root, root.Path, p.report)
	p.readManifest()
	p.readLore()
	p.readSources()
	p.checkCards()
	p.checkSettings()
	return p
}

func (p *pack) readManifest() {
	n, w := p.root.Root, p.world
	w.manifest = document{path: p.root.Path, root: n, overlays: p.overlays(p.root.Path)}
	w.ID = n.Get("id").Str()
	w.Version = n.Get("version").StrOr("0.0.0")
	w.Name = n.Get("name").Str()
	w.Summary = n.Get("summary").Str()
	w.Tags = n.Get("tags").Strings()
	w.DefaultLocale = n.Get("defaultLocale").Str()
	w.SupportedLocales = n.Get("supportedLocales").Strings()
	w.Author = n.Get("author").JSON()
	w.License = n.Get("license").Str()
	w.Homepage = n.Get("homepage").Str()
	policy := n.Get("pluginPolicy")
	w.Requested = policy.Get("requested").Strings()
	w.Recommended = policy.Get("recommended").Strings()
	w.Requires = policy.Get("requires").Strings()
	for _, f := range fields(n.Get("pluginSettings")) {
		w.Settings[f.Key] = map[string]json.RawMessage{}
		for _, s := range f.Value.Fields {
			w.Settings[f.Key][s.Key] = s.Value.JSON()
		}
	}
	if w.ID != "" && w.ID != p.dir.Name {
		p.report.Add("id-directory-mismatch", p.root.Path, n.Get("id").Line, "id",
			fmt.Sprintf("id is %q, the directory is %q", w.ID, p.dir.Name), "Give the directory and id the same name.")
	}
	p.checkLocale(n.Get("defaultLocale"), "defaultLocale")
	for i, l := range items(n.Get("supportedLocales")) {
		p.checkLocale(l, shape.Index("supportedLocales", i))
	}
	p.schema = p.checkCharacterSchema(n.Get("characterSchema"))
	p.checkDimensions(n.Get("dimensions"), p.root.Path, "dimensions")
	for _, f := range fields(n.Get("dimensionSources")) {
		field := "dimensionSources." + f.Key
		file, ok := p.dir.Document(f.Value.Str(), "", source.Ref{Path: p.root.Path, Line: f.Line, Field: field}, p.report)
		if !ok {
			continue
		}
		one := &source.Node{Kind: source.Map, Line: 1, Fields: []source.Field{{Key: f.Key, Line: 1, Value: file.Root}}}
		shape.Check(DimensionsShape(), "", one, file.Path, p.report)
		p.checkDimensions(one, file.Path, "")
		overlays := map[string]*source.Node{}
		for loc, o := range p.overlays(file.Path) {
			overlays[loc] = &source.Node{Kind: source.Map, Line: 1, Fields: []source.Field{{Key: f.Key, Line: 1, Value: o}}}
		}
		p.world.dimensionSources = append(p.world.dimensionSources, document{path: file.Path, root: one, overlays: overlays})
	}
}

// checkLocale wants a BCP 47 tag without private use (spec 05 §12.1).
func (p *pack) checkLocale(n *source.Node, field string) {
	if n.Str() == "" {
		return
	}
	tag, err := language.Parse(n.Text)
	private := strings.HasPrefix(strings.ToLower(n.Text), "x-") || strings.Contains(strings.ToLower(n.Text), "-x-")
	if err != nil || private || tag.IsRoot() && !strings.EqualFold(n.Text, "und") || strings.Contains(n.Text, "_") {
		p.report.Add("invalid-value", p.root.Path, n.Line, field, fmt.Sprintf("%s %q is no language tag", field, n.Text), "Write a BCP 47 tag like en, de-AT or zh-CN.")
	}
}

// overlays finds <name>.<locale>.<ext> beside a file. Broken ones are reported.
func (p *pack) overlays(file string) map[string]*source.Node {
	out := map[string]*source.Node{}
	for _, v := range p.overlayFiles(file) {
		if doc, ok := p.dir.Document(v.path, "", source.Ref{}, p.report); ok {
			out[v.locale] = doc.Root
		}
	}
	return out
}

type overlayFile struct{ locale, path string }

func (p *pack) overlayFiles(file string) []overlayFile {
	folder, name := path.Split(file)
	ext := path.Ext(name)
	base := strings.TrimSuffix(name, ext)
	folder = strings.TrimSuffix(folder, "/")
	if folder == "" {
		folder = "."
	}
	var out []overlayFile
	for _, f := range p.dir.Files(folder) {
		loc, ok := strings.CutPrefix(f, base+".")
		loc, same := strings.CutSuffix(loc, ext)
		if !ok || !same || loc == "" || f == name {
			continue
		}
		if _, err := language.Parse(loc); err != nil {
			continue
		}
		out = append(out, overlayFile{locale: loc, path: path.Join(folder, f)})
	}
	return out
}

func (p *pack) readLore() {
	if !p.dir.Exists("WORLD.md") {
		p.report.Add("file-missing", "WORLD.md", 0, "", "WORLD.md does not exist in the package", "Write the world's text into WORLD.md.")
		return
	}
	read := func(locale, file string) {
		text, ok := p.dir.Text(file, source.Ref{}, p.report)
		if !ok {
			return
		}
		p.world.lore[locale] = text
		lore, problems := splitLore(text)
		reportMarkers(problems, file, p.report)
		if n := p.cfg.Estimator.Count(lore.Model); n > loreTokens {
			p.report.Warn("lore-long", file, 0, "", fmt.Sprintf("%s has %d estimated tokens; models see the first %d", file, n, loreTokens), "Shorten the text, or move parts into the lorebook.")
		}
	}
	read("", "WORLD.md")
	for _, v := range p.overlayFiles("WORLD.md") {
		read(v.locale, v.path)
	}
}

// checkSettings compares pluginSettings with the installed plugins' settings.
// Undeclared keys are ignored at run time (spec 05 §8).
func (p *pack) checkSettings() {
	if p.cfg.Plugins == nil {
		return
	}
	for _, f := range fields(p.root.Root.Get("pluginSettings")) {
		m, ok := p.cfg.Plugins.Plugin(f.Key)
		if !ok {
			continue
		}
		for _, s := range f.Value.Fields {
			i := slices.IndexFunc(m.Contributes.Settings, func(x pluginSetting) bool { return x.Key == s.Key })
			if i < 0 {
				continue
			}
			if why := m.Contributes.Settings[i].Refuses(s.Value.JSON()); why != "" {
				field := "pluginSettings." + f.Key + "." + s.Key
				p.report.Add("invalid-value", p.root.Path, s.Line, field, fmt.Sprintf("%s %s %s", field, source.Show(s.Value), why), "Write a value that the plugin's setting allows.")
			}
		}
	}
}

func items(n *source.Node) []*source.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

func fields(n *source.Node) []source.Field {
	if n == nil {
		return nil
	}
	return n.Fields
}
