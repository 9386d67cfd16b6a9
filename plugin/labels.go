package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// labelFields are the members that locales/<locale>.yaml may translate.
var labelFields = []string{"displayName", "description", "label", "title", "summary", "about"}

// loadLabels reads locales/<locale>.yaml (spec 05 §10). What it can not place
// is ignored; strict reports it as locale-entry.
func (p *pkg) loadLabels(strict bool) {
	for _, name := range p.dir.Files("locales") {
		tag, ok := strings.CutSuffix(name, ".yaml")
		if !ok {
			continue
		}
		report := p.report
		if !strict {
			report = &source.Report{}
		}
		file, ok := p.dir.Document("locales/"+name, "locale-entry", source.Ref{}, report)
		if !ok || file.Root.Kind != source.Map {
			continue
		}
		if p.manifest.Labels == nil {
			p.manifest.Labels = map[string]map[string]string{}
		}
		l := labels{file: file, report: report, out: map[string]string{}}
		for _, f := range file.Root.Fields {
			switch f.Key {
			case "messages":
				l.messages(f.Value)
			case "runtimes":
				for _, r := range fields(f.Value) {
					l.walk("runtimes."+r.Key, r.Value, p.runtimeNode(r.Key))
				}
			default:
				l.section(f, p.root.Root)
			}
		}
		p.manifest.Labels[tag] = l.out
	}
}

func (p *pkg) runtimeNode(rid string) *source.Node {
	for _, rf := range p.runtimes {
		if rf.folder == "runtimes/"+rid {
			return rf.node
		}
	}
	return nil
}

type labels struct {
	file   *source.File
	report *source.Report
	out    map[string]string
}

// section allows a manifest path as one key, such as contributes.settings.
func (l labels) section(f source.Field, root *source.Node) {
	parts := strings.Split(f.Key, ".")
	if len(parts) == 1 {
		l.member("", f, root)
		return
	}
	for _, part := range parts[:len(parts)-1] {
		root = root.Get(part)
	}
	l.member(strings.Join(parts[:len(parts)-1], "."), source.Field{Key: parts[len(parts)-1], Line: f.Line, Value: f.Value}, root)
}

func (l labels) walk(at string, n, canonical *source.Node) {
	if n.Kind != source.Map || canonical == nil {
		l.bad(n, at)
		return
	}
	for _, f := range n.Fields {
		l.member(at, f, canonical)
	}
}

func (l labels) member(at string, f source.Field, canonical *source.Node) {
	field := shape.Join(at, f.Key)
	child := canonical.Get(f.Key)
	if canonical != nil && canonical.Kind == source.List {
		child = itemNamed(canonical, f.Key)
	}
	if f.Value.Kind == source.String {
		if !slices.Contains(labelFields, f.Key) || child == nil && !(at == "" && f.Key == "displayName") {
			l.bad(f.Value, field)
			return
		}
		l.out[field] = f.Value.Text
		return
	}
	l.walk(field, f.Value, child)
}

func itemNamed(list *source.Node, key string) *source.Node {
	for _, item := range list.Items {
		for _, by := range []string{"id", "name", "key", "topic", "value", "contract"} {
			if item.Get(by).Str() == key {
				return item
			}
		}
	}
	return nil
}

func (l labels) messages(n *source.Node) {
	if n.Kind != source.Map {
		l.bad(n, "messages")
		return
	}
	for _, f := range n.Fields {
		if f.Value.Kind != source.String {
			l.bad(f.Value, "messages."+f.Key)
			continue
		}
		l.out["messages."+f.Key] = f.Value.Text
	}
}

func (l labels) bad(n *source.Node, field string) {
	l.report.Add("locale-entry", l.file.Path, n.LineOr(1), field, fmt.Sprintf("%s %s translates nothing of the manifest", field, source.Show(n)), "Translate only "+strings.Join(labelFields, ", ")+" of existing entries, or messages.")
}

// Label gives a text of the manifest for people in a UI locale, such as
// "contributes.settings.tone.label"; without a translation it is fallback. The
// UI locale serves labels only (spec 05 §10).
func (m *Manifest) Label(uiLocale, path, fallback string) string {
	var locales []string
	for _, l := range sortedKeys(m.Labels) {
		if _, ok := m.Labels[l][path]; ok {
			locales = append(locales, l)
		}
	}
	// English is the manifest's own text, so it always takes part.
	if chosen, ok := locale.Choose(uiLocale, append([]string{"en"}, locales...)); ok {
		if text, ok := m.Labels[chosen][path]; ok {
			return text
		}
	}
	return fallback
}
