package world

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
)

// Finding is one problem of an author's file (spec 05 §17).
type Finding = source.Finding

// Library is an immutable set of loaded worlds.
type Library struct {
	worlds map[string]*World
	ids    []string
}

// World gives a world by its id.
func (l *Library) World(id string) (*World, bool) {
	w, ok := l.worlds[id]
	return w, ok
}

// Worlds gives all worlds in id order.
func (l *Library) Worlds() []*World {
	out := make([]*World, len(l.ids))
	for i, id := range l.ids {
		out[i] = l.worlds[id]
	}
	return out
}

// Load reads all world packs and gives those without errors. Findings of broken
// packs come back too; the error is only for a directory that can not be read
// (spec 05 §1.1).
func Load(cfg Config) (*Library, []Finding, error) {
	cfg = cfg.withDefaults()
	dirs, err := collect(cfg)
	if err != nil {
		return nil, nil, err
	}
	var packs []*pack
	byID := map[string][]*pack{}
	for _, d := range dirs {
		p := loadPack(d, cfg)
		_ = d.Close() // a directory handle that was only read from
		packs = append(packs, p)
		if p.world.ID != "" {
			byID[p.world.ID] = append(byID[p.world.ID], p)
		}
	}
	for id, same := range byID {
		for i, p := range same {
			if len(same) > 1 {
				p.report.Add("duplicate-id", "world.yaml", 1, "id",
					fmt.Sprintf("id %q is used by two worlds: %s and %s", id, p.dir.Origin, same[(i+1)%len(same)].dir.Origin), "Keep one of the two worlds, or rename one.")
			}
		}
	}
	lib := &Library{worlds: map[string]*World{}}
	var findings []Finding
	for _, p := range packs {
		source.Sort(p.report.Findings)
		findings = append(findings, p.report.Findings...)
		if !p.report.Failed() {
			lib.worlds[p.world.ID] = p.world
			lib.ids = append(lib.ids, p.world.ID)
		}
	}
	slices.Sort(lib.ids)
	return lib, findings, nil
}

func collect(cfg Config) ([]*source.Dir, error) {
	user, err := plugin.ChildDirs(cfg.UserDir)
	if err != nil {
		return nil, err
	}
	user = slices.DeleteFunc(user, func(path string) bool {
		return slices.ContainsFunc(cfg.Packages, func(p string) bool { return filepath.Base(filepath.Clean(p)) == filepath.Base(path) })
	})
	var dirs []*source.Dir
	standIns := map[string]*source.Dir{}
	for _, path := range slices.Concat(user, cfg.Packages) {
		d := source.OpenDirOrBroken(path)
		dirs = append(dirs, d)
		standIns[d.Name] = d
		if file, ok := d.Document("world.yaml", "", source.Ref{}, &source.Report{}); ok {
			standIns[file.Root.Get("id").Str()] = d
		}
	}
	if cfg.Bundled == nil {
		return dirs, nil
	}
	entries, err := fs.ReadDir(cfg.Bundled, ".")
	if err != nil {
		return nil, fmt.Errorf("list bundled worlds: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		d, err := source.EmbeddedDir(cfg.Bundled, e.Name())
		if err != nil {
			return nil, err
		}
		if by, ok := standIns[e.Name()]; ok {
			cfg.Logger.Info("user world replaces an embedded one", zap.String("id", e.Name()), zap.String("embedded", d.Origin), zap.String("user", by.Origin))
			continue
		}
		dirs = append(dirs, d)
	}
	return dirs, nil
}
