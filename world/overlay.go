package world

import (
	"slices"

	"golang.org/x/text/language"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin/source"
)

// structural members never change through an overlay: they are machine values.
var structural = []string{
	"id", "key", "type", "kind", "strategy", "position", "role", "schemaVersion", "category", "itemType", "valueType", "subSchema",
	"options", "source", "instantiate", "locale", "defaultLocale", "characterId", "sourceRuleId", "enum", "const", "required", "version",
	"license", "homepage", "worldData", "pluginPolicy", "pluginSettings", "dimensionSources", "supportedLocales",
}

// overlayFor picks the overlay of a locale: the exact one, else one of the same
// language and script (spec 05 §12.4).
func overlayFor[T any](overlays map[string]T, tag string) (T, bool) {
	var none T
	names := make([]string, 0, len(overlays))
	for name := range overlays {
		names = append(names, name)
	}
	slices.Sort(names)
	want := locale.Canonical(tag)
	for _, name := range names {
		if locale.Canonical(name) == want {
			return overlays[name], true
		}
	}
	for _, name := range names {
		if compatible(name, tag) {
			return overlays[name], true
		}
	}
	return none, false
}

// compatible says whether two locales share language and script.
func compatible(a, b string) bool {
	x, errX := language.Parse(locale.Canonical(a))
	y, errY := language.Parse(locale.Canonical(b))
	if errX != nil || errY != nil {
		return false
	}
	baseX, _ := x.Base()
	baseY, _ := y.Base()
	scriptX, _ := x.Script()
	scriptY, _ := y.Script()
	return baseX == baseY && scriptX == scriptY
}

// resolve gives the document in a locale: the canonical values with the
// overlay's texts.
func (d document) resolve(tag string, arrayKeys ArrayKeys) *source.Node {
	overlay, ok := overlayFor(d.overlays, tag)
	if !ok {
		return d.root
	}
	m := merger{arrayKeys: arrayKeys}
	return m.merge(d.root, overlay, "")
}

type merger struct{ arrayKeys ArrayKeys }

// merge takes texts from an overlay into a copy of the canonical value. Records
// of a list meet by id or key; lists of texts are replaced whole; anything else
// of the overlay is ignored.
func (m merger) merge(base, overlay *source.Node, key string) *source.Node {
	if overlay == nil || base == nil {
		return base
	}
	switch {
	case base.Kind == source.String && overlay.Kind == source.String:
		out := *base
		out.Text = overlay.Text
		return &out
	case base.Kind == source.Map && overlay.Kind == source.Map:
		out := &source.Node{Kind: source.Map, Line: base.Line}
		for _, f := range base.Fields {
			if !slices.Contains(structural, f.Key) {
				f.Value = m.merge(f.Value, overlay.Get(f.Key), f.Key)
			}
			out.Fields = append(out.Fields, f)
		}
		return out
	case base.Kind == source.List && overlay.Kind == source.List:
		return m.mergeList(base, overlay, key)
	case base.Kind == source.List && overlay.Kind == source.Map:
		return m.mergeKeyed(base, overlay, key)
	}
	return base
}

func (m merger) mergeList(base, overlay *source.Node, key string) *source.Node {
	if allTexts(base) && allTexts(overlay) && len(overlay.Items) > 0 {
		out := *base
		out.Items = overlay.Items
		return &out
	}
	out := &source.Node{Kind: source.List, Line: base.Line}
	for i, item := range base.Items {
		var other *source.Node
		if id := m.identity(item, key); id != "" {
			j := slices.IndexFunc(overlay.Items, func(o *source.Node) bool { return m.identity(o, key) == id })
			if j >= 0 {
				other = overlay.Items[j]
			}
		} else if i < len(overlay.Items) && len(overlay.Items) == len(base.Items) {
			other = overlay.Items[i]
		}
		out.Items = append(out.Items, m.merge(item, other, key))
	}
	return out
}

// mergeKeyed lets an overlay write a list's records as a map by id.
func (m merger) mergeKeyed(base, overlay *source.Node, key string) *source.Node {
	out := &source.Node{Kind: source.List, Line: base.Line}
	for _, item := range base.Items {
		out.Items = append(out.Items, m.merge(item, overlay.Get(m.identity(item, key)), key))
	}
	return out
}

// identity gives what an item of a list is known by, "" for nothing.
func (m merger) identity(n *source.Node, list string) string {
	if by := m.arrayKeys.ByList[list]; by != "" {
		return n.Get(by).Str()
	}
	for _, by := range append(slices.Clone(m.arrayKeys.Any), "id", "key") {
		if id := n.Get(by).Str(); id != "" {
			return id
		}
	}
	return ""
}

func allTexts(n *source.Node) bool {
	return !slices.ContainsFunc(n.Items, func(i *source.Node) bool { return i.Kind != source.String })
}

// loreFor gives the text of WORLD.md in a locale; an overlay replaces it whole.
func (w *World) loreFor(tag string) string {
	overlays := map[string]string{}
	for loc, text := range w.lore {
		if loc != "" {
			overlays[loc] = text
		}
	}
	if text, ok := overlayFor(overlays, tag); ok {
		return text
	}
	return w.lore[""]
}
