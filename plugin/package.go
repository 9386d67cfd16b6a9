package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// loadPackage reads and checks one package by itself (spec 05 §1.2, §2, §3).
func (l *loader) loadPackage(dir *source.Dir) *pkg {
	p := &pkg{dir: dir, report: &source.Report{Package: dir.Origin}, schemas: map[string]*Schema{}, variants: map[string]*source.File{}}
	sum := sha256.New()
	dir.Digest(sum)
	p.digest, p.files = hex.EncodeToString(sum.Sum(nil)), dir.Contents()
	root, ok := dir.Frontmatter("PLUGIN.md", p.report)
	if !ok {
		return p
	}
	p.root = root
	shape.Check(RootShape(), "", root.Root, root.Path, p.report)
	p.checkIdentity(l.host)
	p.findRuntimes()
	p.compile()
	p.checkRoot()
	for i := range p.runtimes {
		p.checkRuntime(i)
	}
	p.checkPackageCycles()
	p.checkHandlers(l.cfg.Handlers)
	p.loadVariants()
	p.loadLabels(l.cfg.Strict)
	p.checkProse(l.cfg.Strict)
	return p
}

func (p *pkg) checkIdentity(host version) {
	id := p.root.Root.Get("id")
	if id.Str() != "" && id.Str() != p.dir.Name {
		p.report.Add("id-directory-mismatch", p.root.Path, id.Line, "id",
			fmt.Sprintf("id is %q, the directory is %q", id.Text, p.dir.Name), "Give the directory and id the same name.")
	}
	covel := p.root.Root.Get("covel")
	if covel.Str() == "" {
		return
	}
	fits, err := rangeAllows(covel.Text, host)
	switch {
	case err != nil:
		p.report.Add("host-version", p.root.Path, covel.Line, "covel", fmt.Sprintf("covel %q is no version range: %v", covel.Text, err), "Write a range like \">=1.0.0 <2.0.0\" or \"^1.0.0\".")
	case !fits:
		p.report.Add("host-version", p.root.Path, covel.Line, "covel", fmt.Sprintf("covel %q does not allow this host, version %s", covel.Text, host), "Widen the range, or use a matching version of covel.")
	}
}

// findRuntimes decides the layout and reads the runtime files.
func (p *pkg) findRuntimes() {
	inline := p.root.Root.Get("runtime")
	folders := p.dir.Folders("runtimes")
	id := p.root.Root.Get("id").StrOr(p.dir.Name)
	if inline != nil && len(folders) > 0 {
		p.report.Add("mixed-layout", p.root.Path, inline.Line, "runtime",
			fmt.Sprintf("PLUGIN.md has an inline runtime and runtimes/%s/RUNTIME.md exists", folders[0]), "Keep either the inline runtime or the runtimes/ folder.")
	}
	if inline != nil {
		p.layoutA = true
		p.runtimes = append(p.runtimes, runtimeFile{id: id, file: p.root, node: inline, prefix: "runtime"})
	}
	for _, rid := range folders {
		folder := "runtimes/" + rid
		file, ok := p.dir.Frontmatter(folder+"/RUNTIME.md", p.report)
		if !ok {
			continue
		}
		if !shape.ID.Match(rid) {
			p.report.Add("invalid-value", file.Path, 1, "", fmt.Sprintf("directory %q is not a runtime name", rid), "Name the directory like roller (lower case letters, digits and -).")
		}
		shape.Check(RuntimeShape(), "", file.Root, file.Path, p.report)
		p.runtimes = append(p.runtimes, runtimeFile{id: id + "/" + rid, file: file, node: file.Root, folder: folder})
	}
}

// add reports an error at a node of a file, at its parent's line when absent.
func (p *pkg) add(code, path, field string, n, parent *source.Node, problem, fix string) {
	p.report.Add(code, path, n.LineOr(parent.LineOr(1)), field, problem, fix)
}

// at joins field path parts, skipping empty ones.
func at(parts ...string) string {
	var used []string
	for _, s := range parts {
		if s != "" {
			used = append(used, s)
		}
	}
	return strings.Join(used, ".")
}
