package plugin

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"github.com/covel-engine/covel/plugin/source"
)

// Finding is one problem of an author's file (spec 05 §17).
type Finding = source.Finding

// Load reads all packages and gives the set of those without errors. Findings
// of broken packages come back too; the error is only for a directory that can
// not be read or a malformed Config (spec 05 §1.1).
func Load(cfg Config) (*Generation, []Finding, error) {
	cfg = cfg.withDefaults()
	host, err := parseVersion(cfg.HostVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("plugin.Config.HostVersion %q: %w; write a semantic version", cfg.HostVersion, err)
	}
	l := &loader{cfg: cfg, host: host, replaced: map[string]string{}}
	dirs, err := l.collect()
	defer closeAll(dirs)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range dirs {
		l.packages = append(l.packages, l.loadPackage(d))
	}
	l.refuseDuplicates()
	l.takeOver()
	l.crossCheck()
	gen := newGeneration(l)
	for _, b := range gen.Broken() {
		cfg.Logger.Warn("package is not loaded because of errors", zap.String("id", b.ID), zap.String("origin", b.Origin), zap.String("embedded", b.Replaces))
	}
	var findings []Finding
	for _, p := range l.packages {
		source.Sort(p.report.Findings)
		findings = append(findings, p.report.Findings...)
	}
	return gen, findings, nil
}

type loader struct {
	cfg  Config
	host version
	// replaced maps an embedded package's name to its origin.
	replaced map[string]string
	// beside are the packages that are taken over from an earlier set.
	beside   []*Manifest
	packages []*pkg
}

// pkg is one package on its way to a manifest.
type pkg struct {
	dir      *source.Dir
	report   *source.Report
	root     *source.File
	runtimes []runtimeFile
	manifest *Manifest
	schemas  map[string]*Schema // by path
	// variants are the translated files that were read, by path.
	variants map[string]*source.File
	// layoutA says that the one runtime stands in PLUGIN.md.
	layoutA bool
	digest  string
	files   map[string][]byte // by path
}

// runtimeFile is one runtime with the file it stands in. prefix is its field
// path in the file: "runtime" inline, "" in its own file.
type runtimeFile struct {
	id     string
	file   *source.File
	node   *source.Node
	prefix string
	folder string // "" inline, else runtimes/<rid>
}

func (p *pkg) id() string { return p.manifest.ID }

func (l *loader) collect() ([]*source.Dir, error) {
	byName := map[string]*source.Dir{}
	var dirs []*source.Dir
	if l.cfg.Bundled != nil {
		entries, err := fs.ReadDir(l.cfg.Bundled, ".")
		if err != nil {
			return nil, fmt.Errorf("list bundled plugins: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			if _, err := fs.Stat(l.cfg.Bundled, e.Name()+"/PLUGIN.md"); err != nil {
				continue // a folder of Go code
			}
			d, err := source.EmbeddedDir(l.cfg.Bundled, e.Name())
			if err != nil {
				return nil, err
			}
			byName[e.Name()] = d
		}
	}
	user, err := ChildDirs(l.cfg.UserDir)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Concat(user, l.cfg.Packages) {
		dirs = append(dirs, source.OpenDirOrBroken(path))
	}
	// A package stands in for the embedded one of its directory's name or id.
	standIns := map[string]*source.Dir{}
	for _, d := range dirs {
		standIns[d.Name] = d
		if id := declaredID(d); id != "" {
			standIns[id] = d
		}
	}
	for _, name := range sortedKeys(byName) {
		by, replaced := standIns[name]
		if !replaced {
			dirs = append(dirs, byName[name])
			continue
		}
		l.replaced[name] = byName[name].Origin
		l.cfg.Logger.Info("user package replaces an embedded one",
			zap.String("id", name), zap.String("embedded", byName[name].Origin), zap.String("user", by.Origin))
	}
	if l.cfg.Packages != nil { // a checked package also stands in for a user's
		dirs = slices.DeleteFunc(dirs, func(d *source.Dir) bool {
			return slices.Contains(user, d.Origin) && slices.ContainsFunc(l.cfg.Packages, func(p string) bool { return filepath.Base(p) == d.Name })
		})
	}
	slices.SortStableFunc(dirs, func(a, b *source.Dir) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Origin, b.Origin))
	})
	return dirs, nil
}

// declaredID gives the id that a package declares, "" when it can not be read.
func declaredID(d *source.Dir) string {
	file, ok := d.Frontmatter("PLUGIN.md", &source.Report{})
	if !ok {
		return ""
	}
	return file.Root.Get("id").Str()
}

// ChildDirs lists the directories in a directory, in name order; none for "".
func ChildDirs(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list packages in %s: %w", dir, err)
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() && e.Name()[0] != '.' {
			out = append(out, path)
		}
	}
	return out, nil
}

func closeAll(dirs []*source.Dir) {
	for _, d := range dirs {
		_ = d.Close() // a directory handle that was only read from
	}
}

// takeOver picks those packages of the earlier set that were not read now.
func (l *loader) takeOver() {
	if l.cfg.Beside == nil {
		return
	}
	read := map[string]bool{}
	for _, p := range l.packages {
		read[p.dir.Name] = true
		if p.manifest != nil {
			read[p.id()] = true
		}
	}
	for _, m := range l.cfg.Beside.Plugins() {
		if !read[m.ID] {
			l.beside = append(l.beside, m)
		}
	}
}

func (l *loader) refuseDuplicates() {
	byID := map[string][]*pkg{}
	for _, p := range l.packages {
		if p.manifest != nil && p.id() != "" {
			byID[p.id()] = append(byID[p.id()], p)
		}
	}
	for _, id := range sortedKeys(byID) {
		same := byID[id]
		if len(same) < 2 {
			continue
		}
		for i, p := range same {
			other := same[(i+1)%len(same)]
			p.report.Add("duplicate-id", "PLUGIN.md", p.root.Root.Get("id").LineOr(1), "id",
				fmt.Sprintf("id %q is used by two packages: %s and %s", id, p.dir.Origin, other.dir.Origin), "Keep one of the two packages, or rename one.")
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
