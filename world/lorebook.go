package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/session"
)

var lorePositions = []string{"before_plugin", "after_plugin", "at_depth"}

// checkLorebook applies the rules of spec 05 §12.6 to one file.
func (p *pack) checkLorebook(file *source.File) {
	seen := map[string]bool{}
	for i, n := range file.Root.Items {
		at := shape.Index("", i)
		id := n.Get("id").Str()
		if id != "" && seen[id] {
			p.report.Add("duplicate-id", file.Path, n.Get("id").Line, at+".id", fmt.Sprintf("%s.id %q is used by two entries", at, id), "Give each entry an id of its own.")
		}
		seen[id] = true
		for _, x := range []struct {
			field string
			node  *source.Node
		}{{at + ".position", n.Get("position")}, {at + ".extra.coordinate.position", n.Get("extra").Get("coordinate").Get("position")}} {
			if x.node.Str() != "" && !slices.Contains(lorePositions, x.node.Text) {
				p.report.Warn("position-unknown", file.Path, x.node.Line, x.field, fmt.Sprintf("%s %q of entry %q is no position; the entry stands after the plugin body", x.field, x.node.Text, id), "Use one of "+strings.Join(lorePositions, ", ")+".")
			}
		}
		if n.Get("strategy").Str() == "keyword" && !slices.ContainsFunc(n.Get("keys").Strings(), func(k string) bool { return strings.TrimSpace(k) != "" }) {
			p.report.Warn("lore-never-fires", file.Path, n.Get("strategy").Line, at+".keys", fmt.Sprintf("%s: entry %q has strategy keyword and no keys", at, id), "Add keys, or use strategy constant.")
		}
	}
}

// loreOf makes a world-owned row. Without strategy it is keyword when there are
// keys, else constant. An unknown position stays, so that each turn can warn.
func loreOf(n *source.Node) session.LoreEntry {
	e := session.LoreEntry{
		ID: n.Get("id").Str(), Owner: session.LoreOwner{Kind: session.LoreOwnerWorld}, Keys: n.Get("keys").Strings(),
		Content: n.Get("content").Str(), Strategy: n.Get("strategy").Str(), Position: n.Get("position").StrOr("after_plugin"),
		InsertionOrder: n.Get("insertionOrder").Int(0), Enabled: n.Get("enabled").True(true), Extra: n.Get("extra").JSON(),
	}
	if e.Strategy == "" {
		e.Strategy = "constant"
		if len(e.Keys) > 0 {
			e.Strategy = "keyword"
		}
	}
	return e
}
