package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// checkRoot applies the rules of spec 05 §2 that span several fields.
func (p *pkg) checkRoot() {
	root, path := p.root.Root, p.root.Path
	for i, n := range items(root.Get("conflicts")) {
		if slices.Contains(kernelPoints, n.Text) {
			p.add("invalid-conflict", path, shape.Index("conflicts", i), n, root,
				fmt.Sprintf("conflicts[%d] %q is a point of the kernel", i, n.Text), "Remove it; a kernel point has no single owner.")
		}
	}
	for i, n := range items(root.Get("provides")) {
		name := n.StrOr(n.Get("contract").Str())
		if slices.Contains(kernelPoints, name) {
			p.add("invalid-value", path, shape.Index("provides", i), n, root,
				fmt.Sprintf("provides[%d] %q is a point of the kernel", i, name), "Declare it under contributes.extensions instead.")
		}
	}
	c := root.Get("contributes")
	p.checkTools(c)
	p.checkExtensions(c.Get("extensions"))
	p.checkUnique(c.Get("events"), "contributes.events", "topic")
	p.checkUnique(c.Get("prompt"), "contributes.prompt", "id")
	p.checkUnique(c.Get("settings"), "contributes.settings", "key")
	for i, n := range items(c.Get("settings")) {
		p.checkSetting(n, shape.Index("contributes.settings", i))
	}
	for _, f := range fields(c.Get("data")) {
		p.checkNamespace(f)
	}
	p.checkProjections(c.Get("worldProjections"))
	p.checkProduced()
}

func (p *pkg) checkExtensions(list *source.Node) {
	seen := map[string]bool{}
	for i, n := range items(list) {
		field := shape.Index("contributes.extensions", i)
		point, id := n.Get("point"), n.Get("id")
		if shape.Contract.Match(point.Str()) && !slices.Contains(kernelPoints, point.Str()) {
			p.add("unknown-reference", p.root.Path, field+".point", point, n,
				fmt.Sprintf("%s.point %q is no extension point", field, point.Str()), "Use one of "+strings.Join(kernelPoints, ", ")+".")
		}
		key := extensionKey(point.Str(), id.Str())
		if key != "" && seen[key] {
			p.add("duplicate-id", p.root.Path, field+".id", id, n, fmt.Sprintf("%s.id: %q is declared twice for %s", field, id.Str(), point.Str()), "Keep one declaration.")
		}
		seen[key] = true
	}
}

func (p *pkg) checkTools(c *source.Node) {
	seen := map[string]bool{}
	for i, n := range items(c.Get("tools")) {
		name := n.StrOr(n.Get("name").Str())
		if seen[name] && name != "" {
			p.add("duplicate-id", p.root.Path, shape.Index("contributes.tools", i), n, c,
				fmt.Sprintf("contributes.tools[%d]: tool %q is declared twice", i, name), "Keep one declaration.")
		}
		seen[name] = true
	}
}

func (p *pkg) checkUnique(list *source.Node, field, key string) {
	seen := map[string]bool{}
	for i, n := range items(list) {
		id := n.Get(key).Str()
		if id != "" && seen[id] {
			p.add("duplicate-id", p.root.Path, shape.Index(field, i)+"."+key, n.Get(key), n,
				fmt.Sprintf("%s[%d].%s %q is declared twice", field, i, key, id), "Keep one declaration.")
		}
		seen[id] = true
	}
}

func (p *pkg) checkSetting(n *source.Node, field string) {
	s := compileSetting(n)
	path := p.root.Path
	if s.Type == "select" && !n.Has("options") {
		shape.Missing(p.report, path, n.Line, field+".options", "; type select needs it")
	}
	if d := n.Get("default"); d != nil && slices.Contains(settingTypes, s.Type) {
		if why := s.Refuses(d.JSON()); why != "" {
			p.add("invalid-value", path, field+".default", d, n,
				fmt.Sprintf("%s.default %s %s", field, source.Show(d), why), "Write a default that fits type, bounds and options.")
		}
	}
}

func (p *pkg) checkNamespace(f source.Field) {
	field := "contributes.data." + f.Key
	n, path := f.Value, p.root.Path
	for i, a := range items(n.Get("accepts")) {
		if slices.Contains(kernelPoints, a.Text) {
			p.add("invalid-value", path, shape.Index(field+".accepts", i), a, n, fmt.Sprintf("%s.accepts[%d] %q is a point of the kernel", field, i, a.Text), "Accept a data contract.")
		}
	}
	authoring := n.Get("authoring")
	if authoring == nil {
		return
	}
	if len(items(n.Get("accepts"))) == 0 {
		p.add("forbidden-field", path, field+".authoring", authoring, n, field+".authoring stands in a namespace without accepts", "Add accepts with a contract, or remove authoring.")
		return
	}
	src := authoring.Get("source")
	if g := authoring.Get("generate"); g != nil {
		switch {
		case !authoring.Has("example"):
			shape.Missing(p.report, path, authoring.Line, field+".authoring.example", "; generate needs it")
		case src == nil:
			shape.Missing(p.report, path, authoring.Line, field+".authoring.source", "; generate needs it")
		case src.Get("kind").Str() == "media" || src.Get("visibility").Str() == "hidden" || src.Get("key").Str() != "id":
			p.add("forbidden-field", path, field+".authoring.generate", g, authoring,
				fmt.Sprintf("%s.authoring.generate %q needs a public source that is not media and has key: id", field, g.Str()), "Set source.key to id, or remove generate.")
		}
	}
	if src != nil && src.Has("path") && !source.SafePath(src.Get("path").Str()) {
		p.add("path-escape", path, field+".authoring.source.path", src.Get("path"), src,
			fmt.Sprintf("%s.authoring.source.path %s leads outside of the package", field, source.Show(src.Get("path"))), "Use a path relative to the world package.")
	}
	p.checkExample(authoring.Get("example"), n.Get("schema").Str(), field+".authoring.example")
}

func (p *pkg) checkExample(n *source.Node, schemaPath, field string) {
	if n.Str() == "" {
		return
	}
	file, ok := p.dir.Document(n.Text, "example-invalid", source.Ref{Path: p.root.Path, Line: n.Line, Field: field}, p.report)
	if !ok || p.schemas[schemaPath] == nil {
		return
	}
	if err := p.schemas[schemaPath].Validate(file.Root.JSON()); err != nil {
		p.report.Add("example-invalid", n.Text, 1, field, fmt.Sprintf("%s, named by %s, breaks %s: %v", n.Text, field, schemaPath, err), "Correct the example or the schema.")
	}
}

func (p *pkg) checkProjections(n *source.Node) {
	for _, f := range fields(n) {
		for _, o := range fields(f.Value.Get("outputs")) {
			field := fmt.Sprintf("contributes.worldProjections.%s.outputs.%s.namespace", f.Key, o.Key)
			name := o.Value.Get("namespace")
			ns, ok := p.manifest.Contributes.Data[name.Str()]
			switch {
			case name.Str() == "":
			case !ok:
				p.add("unknown-reference", p.root.Path, field, name, o.Value, fmt.Sprintf("%s %q is not declared under contributes.data", field, name.Str()), "Declare the namespace or correct the name.")
			case len(ns.Accepts) == 0:
				p.add("forbidden-field", p.root.Path, field, name, o.Value, fmt.Sprintf("%s %q is a namespace without accepts", field, name.Str()), "Add accepts to the namespace.")
			}
		}
	}
}

// produced says whether the package makes a contract it provides.
func (m *Manifest) produced(contract string) bool {
	return slices.ContainsFunc(m.Runtimes, func(r *Runtime) bool { return r.IO.Output.Contract == contract }) ||
		slices.ContainsFunc(m.Contributes.Services, func(s ServiceDecl) bool { return s.Contract == contract }) ||
		slices.ContainsFunc(m.Contributes.Extensions, func(e ExtensionDecl) bool { return e.Point == contract }) ||
		m.acceptedBy(contract) != nil
}

// acceptedBy gives the schemas of the namespaces that accept a contract, in
// name order.
func (m *Manifest) acceptedBy(contract string) []json.RawMessage {
	var out []json.RawMessage
	for _, name := range sortedKeys(m.Contributes.Data) {
		if ns := m.Contributes.Data[name]; slices.Contains(ns.Accepts, contract) {
			out = append(out, ns.Schema)
		}
	}
	return out
}

// Publishes gives the public schema of a contract, nil when the package has
// none (spec 05 §2.1, §4.2).
func (m *Manifest) Publishes(contract string) json.RawMessage {
	if s, ok := m.Contracts[contract]; ok {
		return s
	}
	accepted := m.acceptedBy(contract)
	if len(accepted) == 0 {
		return nil
	}
	for _, s := range accepted[1:] {
		if !sameJSON(s, accepted[0]) {
			return nil
		}
	}
	return accepted[0]
}

func (p *pkg) checkProduced() {
	root := p.root.Root
	for i, n := range items(root.Get("provides")) {
		name := n.StrOr(n.Get("contract").Str())
		if !shape.Contract.Match(name) || slices.Contains(kernelPoints, name) || p.manifest.produced(name) || p.report.Has(p.root.Path, "mixed-layout") {
			continue
		}
		p.add("contract-unproduced", p.root.Path, shape.Index("provides", i), n, root,
			fmt.Sprintf("provides[%d] %q is made by no runtime, service, namespace or extension of the package", i, name), "Add a producer, or remove the contract.")
	}
	seen := map[string]bool{}
	for _, name := range sortedKeys(p.manifest.Contributes.Data) {
		for _, c := range p.manifest.Contributes.Data[name].Accepts {
			if seen[c] && p.manifest.Publishes(c) == nil {
				field := "contributes.data." + name + ".accepts"
				p.add("contract-unpublished", p.root.Path, field, root.Get("contributes").Get("data").Get(name).Get("accepts"), root,
					fmt.Sprintf("%s: %q is accepted twice with different schemas and has no public schema", field, c), "Publish its schema under contracts.")
			}
			seen[c] = true
		}
	}
	for i, r := range p.manifest.Runtimes {
		c := r.IO.Output.Contract
		if c == "" || p.manifest.Publishes(c) != nil || p.report.Failed() && p.schemaBroken(c) {
			continue
		}
		rf := p.runtimes[i]
		p.add("contract-unpublished", rf.file.Path, at(rf.prefix, "io.output.contract"), rf.node.Get("io").Get("output").Get("contract"), rf.node,
			fmt.Sprintf("%s %q has no public schema", at(rf.prefix, "io.output.contract"), c), "Publish its schema under contracts in PLUGIN.md.")
	}
}

// schemaBroken says that a contract declares a schema that could not be read,
// which is reported already.
func (p *pkg) schemaBroken(contract string) bool { return p.root.Root.Get("contracts").Has(contract) }

// sameJSON compares two JSON texts by value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	m, err1 := json.Marshal(x)
	n, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(m, n)
}
