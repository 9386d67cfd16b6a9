package assembler

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
)

const (
	dimensionBudget    = 12000 // runes, both segments together
	omissionReserve    = 100
	dimensionValueCut  = 240
	trackerBudget      = 24000 // runes, rules and values together
	truncatedRuleRunes = 80
)

// Words gives a fixed text of the calling plugin's own catalogue (rows P of
// spec 01 §19.2) in the language of the turn.
type Words func(id string, args map[string]string) string

// WorldDimensions gives at most two <world-dimensions> segments (spec 01
// §8.11): dimensions that stay for the whole game, and those that change. Tag is
// the session's locale, by which x-i18n nodes are shown. Words: P01 note, P02
// omission.
func WorldDimensions(dimensions []Dimension, tag string, words Words) []plugin.Segment {
	var fixed, changing []Dimension
	for _, d := range dimensions {
		if blank(d.Rule) && !d.Derived {
			fixed = append(fixed, d)
		} else {
			changing = append(changing, d)
		}
	}
	var out []plugin.Segment
	left := dimensionBudget
	for _, group := range []struct {
		id, volatility string
		dimensions     []Dimension
	}{{"static-dimensions", VolatilitySession, fixed}, {"dimensions", VolatilityTurn, changing}} {
		if len(group.dimensions) == 0 {
			continue
		}
		lines := dimensionLines(group.dimensions, tag, left, words)
		for _, l := range lines {
			left -= runeLen(l) + 1
		}
		out = append(out, plugin.Segment{
			ID: group.id, Position: Quoted(PositionSystem), Audience: Quoted(AudienceStory), Volatility: group.volatility,
			Content: block("world-dimensions", strings.Join(append(lines, words("P01", nil)), "\n")),
		})
	}
	return out
}

// dimensionLine is one line before it is escaped.
type dimensionLine struct {
	head  string
	value string
	cut   bool
}

func (l dimensionLine) text() string {
	if l.cut {
		return Escape(l.head + Cut(l.value, dimensionValueCut, "…"))
	}
	return Escape(l.head + l.value)
}

func (l dimensionLine) size() int { return runeLen(l.text()) + 1 }

func dimensionLines(dimensions []Dimension, tag string, budget int, words Words) []string {
	lines := make([]dimensionLine, len(dimensions))
	total := 0
	for i, d := range dimensions {
		head := Fold(d.ID) + " ("
		if name := Fold(d.Name); name != "" {
			head += name + ", "
		}
		lines[i] = dimensionLine{
			head:  clean(head + "v" + strconv.Itoa(d.Version) + "): "),
			value: clean(shownValue(d, tag).JSON()),
		}
		total += lines[i].size()
	}
	omitted := 0
	var out []string
	if total > budget {
		budget -= omissionReserve
		total = cutLongest(lines, total, budget)
	}
	if total <= budget {
		for _, l := range lines {
			out = append(out, l.text())
		}
		return out
	}
	used := 0
	for _, l := range lines {
		if used+l.size() > budget {
			omitted++
			continue
		}
		used += l.size()
		out = append(out, l.text())
	}
	return append(out, words("P02", map[string]string{"n": strconv.Itoa(omitted)}))
}

// cutLongest cuts values, longest first, until the lines fit the budget, and
// gives the new total.
func cutLongest(lines []dimensionLine, total, budget int) int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(runeLen(lines[b].value), runeLen(lines[a].value))
	})
	for _, i := range order {
		if total <= budget || runeLen(lines[i].value) <= dimensionValueCut {
			break
		}
		before := lines[i].size()
		lines[i].cut = true
		total += lines[i].size() - before
	}
	return total
}

// shownValue is a dimension's value with its x-i18n nodes in one language.
func shownValue(d Dimension, tag string) ordered.Value {
	value, err := jsonValue(d.Value)
	if err != nil {
		return ordered.Value{}
	}
	schema, err := jsonValue(d.Schema)
	if err != nil {
		return value
	}
	return LocalisedDimension(value, schema, tag)
}

// LocalisedDimension replaces the locale maps that a schema marks with x-i18n by one
// text. Other JSON is never translated.
func LocalisedDimension(v, schema ordered.Value, tag string) ordered.Value {
	if schema.Member("x-i18n").Text == "true" && v.Kind == ordered.Object {
		keys := make([]string, len(v.Members))
		for i, m := range v.Members {
			keys[i] = m.Key
		}
		if key, ok := locale.Choose(tag, keys); ok {
			return v.Member(key)
		}
		return v
	}
	switch v.Kind {
	case ordered.Array:
		items := make([]ordered.Value, len(v.Items))
		for i := range v.Items {
			items[i] = LocalisedDimension(v.Items[i], schema.Member("items"), tag)
		}
		return ordered.List(items...)
	case ordered.Object:
		members := make([]ordered.Member, len(v.Members))
		for i, m := range v.Members {
			node, ok := schema.Member("properties").Get(m.Key)
			if !ok {
				node = schema.Member("additionalProperties")
			}
			members[i] = ordered.Member{Key: m.Key, Value: LocalisedDimension(m.Value, node, tag)}
		}
		return ordered.Obj(members...)
	default:
		return v
	}
}

// Tracker is what a dimension tracker is shown (spec 01 §8.12).
type Tracker struct {
	Segments []plugin.Segment
	// Truncated lists the dimensions that did not fit; without any, the tools
	// that read dimensions are not offered.
	Truncated []string
}

// TrackerSegments gives rules (session) and values (turn) of the dimensions that
// have a rule. Without any there is no segment, and the tracker's model is not
// called. Words: P03 rules note, P04 heading, P05 values note.
func TrackerSegments(dimensions []Dimension, words Words) Tracker {
	var rules, values, late []string
	var t Tracker
	used := 0
	for _, d := range dimensions {
		if blank(d.Rule) {
			continue
		}
		rule := Escape(clean("- " + d.ID + ": " + trackerRule(d).JSON()))
		value := Escape(clean(d.ID + ": " + rawValue(d).JSON()))
		if size := runeLen(rule) + runeLen(value) + 2; used+size <= trackerBudget {
			used += size
			rules, values = append(rules, rule), append(values, value)
			continue
		}
		t.Truncated = append(t.Truncated, d.ID)
		late = append(late, Escape(clean("- "+d.ID+": "+Cut(Fold(d.Rule), truncatedRuleRunes, ""))))
	}
	if len(rules)+len(late) == 0 {
		return Tracker{}
	}
	id := "dimension-rules"
	if len(late) > 0 {
		id = "dimension-rules-truncated"
		rules = append(append(rules, words("P04", nil)), late...)
	}
	t.Segments = append(t.Segments, selfSegment(id, VolatilitySession,
		block("dimension-rules", strings.Join(append(rules, words("P03", nil)), "\n"))))
	if len(values) > 0 {
		t.Segments = append(t.Segments, selfSegment("dimension-values", VolatilityTurn,
			block("dimension-values", strings.Join(append(values, words("P05", nil)), "\n"))))
	}
	return t
}

func selfSegment(id, volatility, content string) plugin.Segment {
	return plugin.Segment{
		ID: id, Content: content, Position: Quoted(PositionSystem), Audience: Quoted(AudienceSelf), Volatility: volatility,
	}
}

func rawValue(d Dimension) ordered.Value {
	v, err := jsonValue(d.Value)
	if err != nil {
		return ordered.Value{}
	}
	return v
}

func trackerRule(d Dimension) ordered.Value {
	schema, err := jsonValue(d.Schema)
	if err != nil {
		schema = ordered.Obj()
	}
	return ordered.Obj(
		ordered.Member{Key: "rule", Value: ordered.Str(d.Rule)},
		ordered.Member{Key: "schema", Value: tightened(schema)},
	)
}

// tightened shows 80 % of every text's maxLength, rounded down and at least 1,
// because models overrun; writes are checked against the author's schema.
func tightened(schema ordered.Value) ordered.Value {
	members := make([]ordered.Member, len(schema.Members))
	for i, m := range schema.Members {
		switch m.Key {
		case "maxLength":
			if n, ok := wholeNumber(m.Value); ok {
				m.Value = ordered.Int(max(1, n*8/10))
			}
		case "items", "additionalProperties":
			if m.Value.Kind == ordered.Object {
				m.Value = tightened(m.Value)
			}
		case "properties":
			properties := make([]ordered.Member, len(m.Value.Members))
			for j, p := range m.Value.Members {
				properties[j] = ordered.Member{Key: p.Key, Value: tightened(p.Value)}
			}
			m.Value = ordered.Obj(properties...)
		}
		members[i] = m
	}
	if schema.Kind != ordered.Object {
		return schema
	}
	return ordered.Obj(members...)
}
