package assembler

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/world"
)

// Lorebook positions and strategies (spec 01 §7).
const (
	LoreBeforePlugin = "before_plugin"
	LoreAfterPlugin  = "after_plugin"
	LoreAtDepth      = "at_depth"
	LoreConstant     = "constant"
	LoreKeyword      = "keyword"
)

// MaxScanDepth is how many committed messages an entry may scan at most, so the
// tail that a caller loads is bounded.
const MaxScanDepth = 20

const defaultLoreDepth = 4

// ActiveLore is one lorebook entry that a turn has switched on.
type ActiveLore struct {
	Entry        session.LoreEntry
	Label        string
	Text         string
	Position     string
	Depth        int // only at_depth
	SourceRuleID string
}

// ActivateLore picks the entries that are active this turn, by insertion order,
// then id (spec 01 §7.2, §7.3). Tail is the committed log's end; an entry scans
// as much of it as its scanDepth says, and always the player's message.
func ActivateLore(entries []session.LoreEntry, tail []session.Message, player string, texts *locale.Texts, lang locale.Lang) ([]ActiveLore, []Warning) {
	scan := scanner{tail: tail, player: player, texts: map[int]string{}}
	var active []ActiveLore
	for _, e := range entries {
		if !e.Enabled {
			continue
		}
		extra := loreExtra(e)
		if e.Strategy != LoreConstant && (e.Strategy != LoreKeyword || !scan.matches(e.Keys, extra)) {
			continue
		}
		a := ActiveLore{Entry: e, Label: loreLabel(e, extra)}
		a.Text = texts.Get(lang, "T04", map[string]string{"label": a.Label}) + "\n" + e.Content
		a.SourceRuleID, _ = textMember(extra, "sourceRuleId")
		active = append(active, a)
	}
	slices.SortStableFunc(active, func(a, b ActiveLore) int {
		return cmp.Or(cmp.Compare(a.Entry.InsertionOrder, b.Entry.InsertionOrder), strings.Compare(a.Entry.ID, b.Entry.ID))
	})
	var warnings []Warning
	for i := range active {
		a := &active[i]
		coordinate := loreExtra(a.Entry).Member("coordinate")
		a.Position = a.Entry.Position
		if p, ok := textMember(coordinate, "position"); ok {
			a.Position = p
		}
		switch a.Position {
		case LoreBeforePlugin, LoreAfterPlugin:
		case LoreAtDepth:
			a.Depth = loreDepth(coordinate)
		default:
			warnings = append(warnings, Warning{
				Code: WarnPositionUnknown, Item: a.Entry.ID, Field: "position", Value: a.Position,
				Reason: "read as " + LoreAfterPlugin,
			})
			a.Position = LoreAfterPlugin
		}
	}
	return active, warnings
}

// loreExtra is the map that holds an entry's options: extra.extra when it is a
// map, else extra.
func loreExtra(e session.LoreEntry) ordered.Value {
	extra, err := jsonValue(e.Extra)
	if err != nil {
		return ordered.Value{}
	}
	if inner := extra.Member("extra"); inner.Kind == ordered.Object {
		return inner
	}
	return extra
}

func textMember(v ordered.Value, key string) (string, bool) {
	m := v.Member(key)
	return m.Text, m.Kind == ordered.String
}

func loreLabel(e session.LoreEntry, extra ordered.Value) string {
	label := e.ID
	if title, ok := textMember(extra, "title"); ok && title != "" {
		label = title
	} else if len(e.Keys) > 0 {
		label = e.Keys[0]
	}
	return label
}

func loreDepth(coordinate ordered.Value) int {
	f, ok := coordinate.Member("depth").Float()
	if !ok || math.IsInf(f, 0) || math.IsNaN(f) {
		return defaultLoreDepth
	}
	return int(min(max(math.Floor(f+0.5), 0), math.MaxInt32))
}

func scanDepth(extra ordered.Value) int {
	v := extra.Member("scanDepth")
	n, err := strconv.Atoi(v.Text)
	if v.Kind != ordered.Number || err != nil {
		if f, ok := v.Float(); ok && f == math.Trunc(f) {
			return int(min(max(f, 0), MaxScanDepth))
		}
		return 0
	}
	return min(max(n, 0), MaxScanDepth)
}

// scanner keeps the text of each scan depth.
type scanner struct {
	tail   []session.Message
	player string
	texts  map[int]string
}

func (s *scanner) matches(keys []string, extra ordered.Value) bool {
	return world.AnyKeyMatches(keys, s.text(min(scanDepth(extra), len(s.tail))))
}

func (s *scanner) text(depth int) string {
	if text, ok := s.texts[depth]; ok {
		return text
	}
	parts := make([]string, 0, depth+1)
	for _, m := range s.tail[len(s.tail)-depth:] {
		parts = append(parts, m.Content)
	}
	text := strings.Join(append(parts, s.player), "\n")
	s.texts[depth] = text
	return text
}

// byDepth gives the non-blank at_depth rows by depth, then activation order.
func byDepth(lore []ActiveLore) []ActiveLore {
	var out []ActiveLore
	for _, l := range lore {
		if l.Position == LoreAtDepth && !blank(l.Entry.Content) {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b ActiveLore) int { return cmp.Compare(a.Depth, b.Depth) })
	return out
}
