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

// crossCheck applies the rules that compare packages (spec 05 §4.2, §7). Only
// packages without errors of their own take part as the other side.
func (l *loader) crossCheck() {
	var all []publisher
	for _, p := range l.packages {
		if p.manifest != nil && !p.report.Failed() {
			all = append(all, publisher{manifest: p.manifest, p: p})
		}
	}
	for _, m := range l.beside {
		all = append(all, publisher{manifest: m})
	}
	published := map[string][]publisher{}
	topics := map[string][]publisher{}
	for _, x := range all {
		names := map[string]bool{}
		for _, prov := range x.manifest.Provides {
			names[prov.Contract] = true
		}
		for c := range x.manifest.Contracts {
			names[c] = true
		}
		for _, c := range sortedKeys(names) {
			if x.schema = x.manifest.Publishes(c); x.schema != nil {
				x.field = "contracts." + c
				published[c] = append(published[c], x)
			}
		}
		for i, e := range x.manifest.Contributes.Events {
			x.schema, x.field = e.Schema, fmt.Sprintf("contributes.events[%d].schema", i)
			topics[e.Topic] = append(topics[e.Topic], x)
		}
	}
	conflicts("contract", published)
	conflicts("event topic", topics)
	for _, p := range l.packages {
		if p.manifest != nil {
			p.resolveAccepts(all)
			p.checkTopics(topics)
		}
	}
}

// publisher is one package with a schema that it publishes under a name. p is
// nil for a package that was taken over.
type publisher struct {
	manifest *Manifest
	p        *pkg
	schema   json.RawMessage
	field    string
}

// conflicts reports packages that publish different schemas under one name: on
// every user package among them, or on all when only embedded ones differ.
func conflicts(what string, byName map[string][]publisher) {
	for _, name := range sortedKeys(byName) {
		list := byName[name]
		anyUser := slices.ContainsFunc(list, func(x publisher) bool { return x.manifest.User })
		for _, x := range list {
			if x.p == nil || anyUser && !x.manifest.User {
				continue
			}
			for _, y := range list {
				if x.manifest == y.manifest || sameJSON(x.schema, y.schema) {
					continue
				}
				x.p.report.Add("contract-schema-conflict", x.p.root.Path, x.p.lineOf(x.field), x.field,
					fmt.Sprintf("%s: %s %q has another schema in %s (%s) than in %s (%s)", x.field, what, name, y.manifest.ID, y.manifest.Origin, x.manifest.ID, x.manifest.Origin), "Publish the same schema in both, or use a new version number.")
				break
			}
		}
	}
}

// lineOf gives the line of a field path's deepest member that exists.
func (p *pkg) lineOf(field string) int {
	n := p.root.Root
	line := 1
	for _, f := range n.Fields {
		if f.Key != "contracts" && f.Key != "contributes" {
			continue
		}
		for _, g := range fields(f.Value) {
			if field == f.Key+"."+g.Key {
				line = g.Line
			}
			for i, item := range items(g.Value) {
				if field == fmt.Sprintf("%s.%s[%d].schema", f.Key, g.Key, i) {
					line = item.Get("schema").LineOr(item.Line)
				}
			}
		}
	}
	return line
}

// resolveAccepts binds accepts: contract:<x> to the published schema.
func (p *pkg) resolveAccepts(all []publisher) {
	for i, r := range p.manifest.Runtimes {
		rf := p.runtimes[i]
		p.resolveOutputSchema(r, rf, all)
		for j := range r.IO.Inputs {
			in := &r.IO.Inputs[j]
			if in.AcceptsContract == "" {
				continue
			}
			if in.Accepts = p.manifest.Publishes(in.AcceptsContract); in.Accepts == nil {
				in.Accepts = publishedBy(all, in.AcceptsContract)
			}
			if in.Accepts != nil {
				in.Accepts = acceptsSchema(*in)
				continue
			}
			in.Unresolved = true
			field := at(rf.prefix, "io.inputs."+in.Name+".accepts")
			n := rf.node.Get("io").Get("inputs").Get(in.Name).Get("accepts")
			problem := fmt.Sprintf("%s %s: nobody publishes contract %q", field, source.Show(n), in.AcceptsContract)
			if in.Required {
				p.report.Add("contract-unpublished", rf.file.Path, n.LineOr(1), field, problem, "Add a package that publishes it, or use a schema file.")
				continue
			}
			p.report.Warn("accepts-contract-unresolved", rf.file.Path, n.LineOr(1), field, problem+"; bound values are dropped", "Add a package that publishes it, or use a schema file.")
		}
	}
}

// resolveOutputSchema binds io.output.schema: contract:<x>.
func (p *pkg) resolveOutputSchema(r *Runtime, rf runtimeFile, all []publisher) {
	n := rf.node.Get("io").Get("output").Get("schema")
	name, ok := strings.CutPrefix(n.Str(), "contract:")
	if !ok || !shape.Contract.Match(name) {
		return
	}
	if r.IO.Output.Schema = p.manifest.Publishes(name); r.IO.Output.Schema == nil {
		r.IO.Output.Schema = publishedBy(all, name)
	}
	if r.IO.Output.Schema == nil {
		field := at(rf.prefix, "io.output.schema")
		p.report.Add("contract-unpublished", rf.file.Path, n.Line, field, fmt.Sprintf("%s %q: nobody publishes the contract", field, n.Text), "Publish its schema under contracts in PLUGIN.md, or name a schema file.")
	}
}

// acceptsSchema wraps the contract's schema in an array for cardinality all.
func acceptsSchema(in Input) json.RawMessage {
	if in.Cardinality != "all" {
		return in.Accepts
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"array","items":`)
	b.Write(in.Accepts)
	b.WriteString("}")
	return b.Bytes()
}

func publishedBy(all []publisher, contract string) json.RawMessage {
	for _, x := range all {
		if s := x.manifest.Publishes(contract); s != nil {
			return s
		}
	}
	return nil
}

func (p *pkg) checkTopics(topics map[string][]publisher) {
	own := map[string]bool{}
	for _, e := range p.manifest.Contributes.Events {
		own[e.Topic] = true
	}
	for i, r := range p.manifest.Runtimes {
		topic := r.Schedule.Trigger.Topic
		if topic == "" || own[topic] || topics[topic] != nil || r.Schedule.Trigger.Type != TriggerEvent {
			continue
		}
		rf := p.runtimes[i]
		field := at(rf.prefix, "schedule.trigger.topic")
		p.report.Add("unknown-reference", rf.file.Path, rf.node.Get("schedule").Get("trigger").Get("topic").LineOr(1), field,
			fmt.Sprintf("%s %q is declared by no package", field, topic), "Declare the topic under contributes.events.")
	}
}
