package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// goName gives the name after "go:", ok is false for other references.
func goName(ref string) (string, bool) { return strings.CutPrefix(ref, "go:") }

// checkHandlers looks up every code reference and compares the entry's
// registration with the declarations (spec 05 §1.5, §2.3).
func (p *pkg) checkHandlers(h Handlers) {
	c := p.root.Root.Get("contributes")
	path := p.root.Path
	for i, n := range items(c.Get("tools")) {
		lookup(p, h.Tools, n.Get("handler"), path, shape.Index("contributes.tools", i)+".handler")
	}
	for i, n := range items(c.Get("services")) {
		lookup(p, h.Services, n.Get("handler"), path, shape.Index("contributes.services", i)+".handler")
	}
	for i, n := range items(c.Get("hooks")) {
		lookup(p, h.Hooks, n.Get("handler"), path, shape.Index("contributes.hooks", i)+".handler")
	}
	for i, n := range items(c.Get("extensions")) {
		field := shape.Index("contributes.extensions", i) + ".handler"
		if n.Get("point").Str() == PointSegment {
			lookup(p, h.Segments, n.Get("handler"), path, field)
			continue
		}
		lookup(p, h.Extensions, n.Get("handler"), path, field)
	}
	for _, f := range fields(c.Get("worldProjections")) {
		lookup(p, h.Projections, f.Value.Get("handler"), path, "contributes.worldProjections."+f.Key+".handler")
	}
	for _, rf := range p.runtimes {
		lookup(p, h.Functions, rf.node.Get("function").Get("handler"), rf.file.Path, at(rf.prefix, "function.handler"))
		lookup(p, h.Guards, rf.node.Get("guard"), rf.file.Path, at(rf.prefix, "guard"))
	}
	p.checkEntry(h)
}

func lookup[H any](p *pkg, registry map[string]H, n *source.Node, path, field string) {
	name, ok := goName(n.Str())
	if !ok || !shape.GoRef.Match(n.Text) {
		return
	}
	if _, ok := registry[name]; !ok {
		p.report.Add("code-missing", path, n.Line, field, fmt.Sprintf("%s %q is not in this program", field, n.Text), "Build covel with the handler, or correct the reference.")
	}
}

func (p *pkg) checkEntry(h Handlers) {
	entry := p.root.Root.Get("entry")
	var reg Registration
	if name, ok := goName(entry.Str()); ok && shape.GoRef.Match(entry.Text) {
		var found bool
		if reg, found = h.Entries[name]; !found {
			p.report.Add("code-missing", p.root.Path, entry.Line, "entry", fmt.Sprintf("entry %q is not in this program", entry.Text), "Build covel with the entry, or correct the reference.")
			return
		}
	}
	declared := p.declaredItems()
	registered := registeredItems(reg)
	for _, item := range declared {
		if !item.own && !slices.Contains(registered, item.kind+" "+item.name) {
			p.add("registration-mismatch", p.root.Path, item.field, item.node, p.root.Root,
				fmt.Sprintf("%s: %s %q is declared without handler and not registered by entry", item.field, item.kind, item.name), "Register it in the entry, or give it a handler.")
		}
	}
	for _, r := range registered {
		if !slices.ContainsFunc(declared, func(d declaredItem) bool { return d.kind+" "+d.name == r }) {
			kind, name, _ := strings.Cut(r, " ")
			p.report.Add("registration-mismatch", p.root.Path, entry.LineOr(1), "entry",
				fmt.Sprintf("entry %q registers %s %q, which is not declared", entry.Str(), kind, name), "Declare it under contributes, or remove the registration.")
		}
	}
}

// declaredItem is one item of contributes that code serves; own says that it
// names its handler itself.
type declaredItem struct {
	kind, name, field string
	node              *source.Node
	own               bool
}

func (p *pkg) declaredItems() []declaredItem {
	c := p.root.Root.Get("contributes")
	var out []declaredItem
	each := func(list, kind string, name func(*source.Node) string) {
		for i, n := range items(c.Get(list)) {
			if id := name(n); id != "" {
				out = append(out, declaredItem{kind: kind, name: id, field: shape.Index("contributes."+list, i), node: n, own: n.Has("handler")})
			}
		}
	}
	each("tools", "tool", func(n *source.Node) string { return n.StrOr(n.Get("name").Str()) })
	each("services", "service", func(n *source.Node) string { return n.StrOr(n.Get("contract").Str()) })
	each("hooks", "hook", func(n *source.Node) string { return n.Get("event").Str() })
	each("extensions", "extension", func(n *source.Node) string { return extensionKey(n.Get("point").Str(), n.Get("id").Str()) })
	return out
}

func extensionKey(point, id string) string {
	if point == "" || id == "" {
		return ""
	}
	return point + "/" + id
}

func registeredItems(r Registration) []string {
	var out []string
	for _, name := range sortedKeys(r.Tools) {
		out = append(out, "tool "+name)
	}
	for _, name := range sortedKeys(r.Services) {
		out = append(out, "service "+name)
	}
	for _, name := range sortedKeys(r.Hooks) {
		out = append(out, "hook "+name)
	}
	for _, name := range sortedKeys(r.Segments) {
		out = append(out, "extension "+extensionKey(PointSegment, name))
	}
	for _, name := range sortedKeys(r.Extensions) {
		out = append(out, "extension "+name)
	}
	return out
}
