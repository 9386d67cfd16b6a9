// Package check is what covel check does: it examines author packages beside
// the embedded ones and prints every finding (spec 05 §17).
//
//	errors, warnings, err := check.Plugin(os.Stdout, "my-plugins/weather")
//	if err != nil {
//		return err // wrong usage or an unreadable directory: exit code 2
//	}
//	if errors > 0 {
//		os.Exit(1)
//	}
package check

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/world"
)

// ErrUsage is a call without a directory.
var ErrUsage = errors.New("name at least one package directory")

// Checker holds the embedded packages, read once.
type Checker struct {
	embedded *plugin.Generation
}

// New reads the embedded packages.
func New() (*Checker, error) {
	gen, _, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	if err != nil {
		return nil, fmt.Errorf("load the embedded plugins: %w", err)
	}
	return &Checker{embedded: gen}, nil
}

// Plugin checks plugin packages with a new Checker.
func Plugin(w io.Writer, dirs ...string) (errs, warnings int, err error) {
	c, err := New()
	if err != nil {
		return 0, 0, err
	}
	return c.Plugin(w, dirs...)
}

// World checks world packs with a new Checker.
func World(w io.Writer, dirs ...string) (errs, warnings int, err error) {
	c, err := New()
	if err != nil {
		return 0, 0, err
	}
	return c.World(w, dirs...)
}

// Plugin checks plugin packages, each beside the embedded ones and standing in
// for one of its id. Nothing is printed when err is not nil.
func (c *Checker) Plugin(w io.Writer, dirs ...string) (errs, warnings int, err error) {
	return report(w, c.PluginFindings, dirs)
}

// World checks world packs like Plugin, their data against the embedded
// plugins' schemas.
func (c *Checker) World(w io.Writer, dirs ...string) (errs, warnings int, err error) {
	return report(w, c.WorldFindings, dirs)
}

// PluginFindings gives the findings of plugin packages, sorted.
func (c *Checker) PluginFindings(dirs ...string) ([]source.Finding, error) {
	return gather(dirs, func(batch []string) ([]source.Finding, error) {
		_, findings, err := plugin.Load(plugin.Config{Beside: c.embedded, Handlers: plugins.Handlers(), Packages: batch, Strict: true})
		return findings, err
	})
}

// WorldFindings gives the findings of world packs, sorted.
func (c *Checker) WorldFindings(dirs ...string) ([]source.Finding, error) {
	return gather(dirs, func(batch []string) ([]source.Finding, error) {
		_, findings, err := world.Load(world.Config{Packages: batch, Plugins: c.embedded})
		return findings, err
	})
}

func gather(dirs []string, load func([]string) ([]source.Finding, error)) ([]source.Finding, error) {
	if len(dirs) == 0 {
		return nil, ErrUsage
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%q is not a directory; name a package's directory", dir)
		}
		if _, err := os.ReadDir(dir); err != nil {
			return nil, fmt.Errorf("directory %q can not be read: %w", dir, err)
		}
	}
	var all []source.Finding
	for _, batch := range batches(dirs) {
		findings, err := load(batch)
		if err != nil {
			return nil, err
		}
		for _, f := range findings {
			if !slices.Contains(batch, f.Package) {
				continue // an embedded package
			}
			if len(dirs) > 1 {
				f.Path = strings.TrimRight(filepath.ToSlash(f.Package), "/") + "/" + f.Path
			}
			all = append(all, f)
		}
	}
	source.Sort(all)
	return all, nil
}

func report(w io.Writer, find func(...string) ([]source.Finding, error), dirs []string) (errs, warnings int, err error) {
	all, err := find(dirs...)
	if err != nil {
		return 0, 0, err
	}
	var out strings.Builder
	for _, f := range all {
		out.WriteString(f.String() + "\n")
	}
	errs, warnings = Count(all)
	fmt.Fprintf(&out, "%s, %s\n", count(errs, "error"), count(warnings, "warning"))
	if _, err := io.WriteString(w, out.String()); err != nil {
		return errs, warnings, fmt.Errorf("print findings: %w", err)
	}
	return errs, warnings, nil
}

// Count counts errors and warnings.
func Count(findings []source.Finding) (errs, warnings int) {
	for _, f := range findings {
		if f.Severity == source.Error {
			errs++
		} else {
			warnings++
		}
	}
	return errs, warnings
}

// batches groups directories so that no two of one name, which would replace
// each other, are loaded together; a directory named twice counts once.
func batches(dirs []string) [][]string {
	var out [][]string
	seen := map[string]int{}
	var done []string
	for _, dir := range dirs {
		if slices.Contains(done, dir) {
			continue
		}
		done = append(done, dir)
		name := filepath.Base(filepath.Clean(dir))
		if abs, err := filepath.Abs(dir); err == nil {
			name = filepath.Base(abs)
		}
		n := seen[name]
		seen[name]++
		if n == len(out) {
			out = append(out, nil)
		}
		out[n] = append(out[n], dir)
	}
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
