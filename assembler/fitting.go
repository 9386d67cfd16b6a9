package assembler

import (
	"slices"

	"github.com/covel-engine/covel/model"
)

// fitting is one request while it is shortened. The original messages stay;
// kept ones, their present form and cost stand beside them.
type fitting struct {
	Budget
	original []model.Message
	// current is original until the first change copies it.
	current   []model.Message
	costs     []int
	dropped   []bool
	groups    []group
	collapsed []bool // by group
	digests   map[int]digestAt
	fixed     int
	estimate  int
	limit     int
	changed   bool
	rewritten bool
	report    Report
}

// digestAt is a digest in the place of the message it stands before.
type digestAt struct {
	message model.Message
	cost    int
}

func newFitting(b Budget, req Request) *fitting {
	original := req.Messages
	if slices.ContainsFunc(original, hasSentinel) {
		original = StripMessages(original)
	}
	f := &fitting{
		Budget: b, original: original, current: original,
		costs: make([]int, len(original)), dropped: make([]bool, len(original)),
		groups: findGroups(original), digests: map[int]digestAt{}, limit: b.Limit(),
	}
	f.collapsed = make([]bool, len(f.groups))
	f.fixed, f.report = b.fixedInput(req)
	f.report.Limit, f.report.Fixed, f.report.Groups = f.limit, f.fixed, len(f.groups)
	f.estimate = f.fixed
	for i, m := range f.current {
		f.costs[i] = MessageCost(b.Estimator, m)
		f.estimate += f.costs[i]
	}
	return f
}

func hasSentinel(m model.Message) bool {
	if StripSentinels(m.Content) != m.Content {
		return true
	}
	return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return StripSentinels(p.Text) != p.Text })
}

func (f *fitting) over() bool { return f.estimate > f.limit }

// relaxed says whether the request is at or below 70 % of the limit.
func (f *fitting) relaxed() bool { return 10*f.estimate <= 7*f.limit }

// set replaces the text of a message.
func (f *fitting) set(i int, text string) {
	m := f.current[i]
	m.Content = text
	cost := MessageCost(f.Estimator, m)
	f.estimate += cost - f.costs[i]
	if !f.rewritten {
		f.current, f.rewritten = slices.Clone(f.original), true
	}
	f.current[i], f.costs[i], f.changed = m, cost, true
}

// setDigest puts one digest in the place of the first of the groups.
func (f *fitting) setDigest(groups []int) {
	message := model.Message{Role: model.RoleSystem, Content: f.digestText(groups)}
	cost := MessageCost(f.Estimator, message)
	place := f.groups[slices.Min(groups)].from
	f.digests[place] = digestAt{message, cost}
	f.estimate += cost
	for _, g := range groups {
		f.collapsed[g] = true
		f.drop(f.groups[g])
	}
	f.changed = true
}

func (f *fitting) drop(g group) {
	for i := g.from; i < g.from+g.size; i++ {
		f.dropped[i] = true
		f.estimate -= f.costs[i]
	}
}

// eligible counts the groups that may be shortened when the newest keep ones
// must stay whole.
func (f *fitting) eligible(keep int) int {
	if f.Emergency {
		keep = 0
	}
	return max(0, len(f.groups)-keep)
}

// elide replaces tool results, oldest first, keeping the newest two groups,
// until the request is relaxed (spec 01 §15.5 step 1).
func (f *fitting) elide(ledger *Ledger) {
	for gi := range f.eligible(2) {
		if f.collapsed[gi] {
			continue
		}
		g := f.groups[gi]
		for r := range g.size - 1 {
			if f.relaxed() {
				return
			}
			i := g.from + 1 + r
			text, ok := f.elided(i)
			if !ok || text == f.current[i].Content {
				continue
			}
			m := f.current[i]
			m.Content = text
			if MessageCost(f.Estimator, m) >= f.costs[i] {
				continue
			}
			f.set(i, text)
			f.report.Elided++
			if ledger != nil {
				ledger.Elisions = append(ledger.Elisions, Elision{g.id, r})
			}
		}
	}
}

// collapse puts groups, oldest first, into one digest until the request is
// relaxed, keeping the newest group (spec 01 §15.5 step 2).
func (f *fitting) collapse(ledger *Ledger) {
	var members []int
	digestCost, lines := 0, ""
	for gi := range f.eligible(1) {
		if f.relaxedWith(digestCost) {
			break
		}
		if f.collapsed[gi] {
			continue
		}
		g := f.groups[gi]
		longer := lines + f.digestLines(gi)
		cost := MessageCost(f.Estimator, model.Message{Role: model.RoleSystem, Content: f.digestHeader() + longer})
		saved := 0
		for i := g.from; i < g.from+g.size; i++ {
			saved += f.costs[i]
		}
		if cost-digestCost >= saved {
			continue
		}
		members = append(members, gi)
		lines, digestCost = longer, cost
		f.drop(g)
		f.collapsed[gi] = true
	}
	if len(members) == 0 {
		return
	}
	message := model.Message{Role: model.RoleSystem, Content: f.digestHeader() + lines}
	f.digests[f.groups[members[0]].from] = digestAt{message, digestCost}
	f.estimate += digestCost
	f.report.Collapsed += len(members)
	f.changed = true
	if ledger != nil {
		ids := make([]string, len(members))
		for i, m := range members {
			ids[i] = f.groups[m].id
		}
		ledger.Digests = append(ledger.Digests, Digest{ids})
	}
}

func (f *fitting) relaxedWith(extra int) bool { return 10*(f.estimate+extra) <= 7*f.limit }

// messages is the present conversation.
func (f *fitting) messages() []model.Message {
	if !f.changed {
		return f.original
	}
	out := make([]model.Message, 0, len(f.current))
	f.kept(func(m model.Message, _ int) { out = append(out, m) })
	return out
}

func (f *fitting) keptCosts() []int {
	out := make([]int, 0, len(f.costs))
	f.kept(func(_ model.Message, cost int) { out = append(out, cost) })
	return out
}

func (f *fitting) kept(visit func(m model.Message, cost int)) {
	for i, m := range f.current {
		if d, ok := f.digests[i]; ok {
			visit(d.message, d.cost)
		}
		if !f.dropped[i] {
			visit(m, f.costs[i])
		}
	}
}
