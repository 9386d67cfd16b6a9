package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// promptSection is one named part of a sent request. In the system zone From
// and To are rune offsets of the system prompt, in the messages zone indices of
// messages, [From, To).
type promptSection struct {
	Name   string `json:"name"`
	Zone   string `json:"zone"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Tokens int    `json:"tokens"`
	// Cached is boundary where a cache border ends the section, prefix where the
	// section repeats the turn before and can be read from the cache, else none.
	Cached string `json:"cached"`
	// LeftOut counts messages of the section that the budget did not send.
	LeftOut int `json:"leftOut,omitempty"`
}

// Values of promptSection.Cached.
const (
	cacheBoundary = "boundary"
	cachePrefix   = "prefix"
	cacheNone     = "none"
)

// Names of parts that the assembler does not name.
const (
	sectionUnnamed = "unnamed" // nothing is known of its origin
	sectionSteps   = "steps"   // what this run has added: replies, tool results
)

// nameSections finds the assembled sections in what was sent.
func nameSections(p *promptRequest, stored activities.StoredContext, windowed bool) []promptSection {
	n := &sectionNamer{p: p, windowed: windowed, stable: true}
	n.system(stored)
	n.messages(stored)
	return n.sections
}

type sectionNamer struct {
	p        *promptRequest
	windowed bool
	// stable ends with the first section that changes from turn to turn: what
	// follows cannot be read from a prefix cache.
	stable   bool
	sections []promptSection
}

// system names the system prompt's sections by finding their texts in order.
func (n *sectionNamer) system(stored activities.StoredContext) {
	sent, at := n.p.System, 0
	for _, s := range stored.Sections {
		if s.Zone != assembler.ZoneSystem || s.To > len(stored.System) {
			continue
		}
		text := strings.TrimSpace(model.StripSentinels(stored.System[s.From:s.To]))
		found := strings.Index(sent[at:], text)
		if text == "" || found < 0 {
			continue
		}
		n.text(at, at+found)
		n.add(s.Name, assembler.ZoneSystem, n.runes(at+found), n.runes(at+found+len(text)), n.p.estimator.Count(text), s.Cached, 0)
		at += found + len(text)
	}
	n.text(at, len(sent))
}

// text names a stretch of the system prompt that no section covers.
func (n *sectionNamer) text(from, to int) {
	gap := n.p.System[from:to]
	text := strings.TrimSpace(gap)
	if text == "" {
		return
	}
	from += strings.Index(gap, text)
	n.add(sectionUnnamed, assembler.ZoneSystem, n.runes(from), n.runes(from+len(text)), n.p.estimator.Count(text), false, 0)
}

func (n *sectionNamer) runes(offset int) int { return utf8.RuneCountInString(n.p.System[:offset]) }

// messages names the messages by finding each assembled one among those sent.
// A protocol may have joined two or wrapped one; the budget may have left some
// out or shortened them.
func (n *sectionNamer) messages(stored activities.StoredContext) {
	sent := n.p.Messages
	places := place(stored.Messages, sent)
	at := 0
	for _, s := range stored.Sections {
		if s.Zone != assembler.ZoneMessages || s.To > len(places) {
			continue
		}
		from, to, cost, leftOut := -1, -1, 0, 0
		for i := s.From; i < s.To; i++ {
			if places[i] < 0 {
				leftOut++
				continue
			}
			if from < 0 {
				from = places[i]
			}
			to = places[i] + 1
			cost += assembler.MessageCost(n.p.estimator, stored.Messages[i])
		}
		if from < 0 {
			from, to = at, at
		}
		n.rest(at, from, sectionUnnamed)
		n.add(s.Name, assembler.ZoneMessages, from, to, cost, s.Cached, leftOut)
		at = max(at, to)
	}
	name := sectionSteps
	if len(stored.Messages) == 0 {
		name = sectionUnnamed
	}
	n.rest(at, len(sent), name)
}

// rest names messages that no section covers.
func (n *sectionNamer) rest(from, to int, name string) {
	if from >= to {
		return
	}
	cost := 0
	for _, m := range n.p.Messages[from:to] {
		cost += assembler.MessageCost(n.p.estimator, m)
	}
	n.add(name, assembler.ZoneMessages, from, to, cost, false, 0)
}

func (n *sectionNamer) add(name, zone string, from, to, cost int, border bool, leftOut int) {
	switch name {
	case "fresh", "turn-context", "pictures", "player", "story", "cue", "lore-depth", "depth", "post-history", sectionSteps, sectionUnnamed:
		n.stable = false
	case "history":
		n.stable = n.stable && !n.windowed && leftOut == 0
	}
	cached := cacheNone
	switch {
	case border:
		cached = cacheBoundary
	case n.stable:
		cached = cachePrefix
	}
	n.sections = append(n.sections, promptSection{
		Name: name, Zone: zone, From: from, To: to, Tokens: cost, Cached: cached, LeftOut: leftOut,
	})
}

// place gives for each assembled message the sent one that holds its text, -1
// for none. Both run forward: order is never changed.
func place(assembled, sent []model.Message) []int {
	texts := make([]string, len(sent))
	for i, m := range sent {
		texts[i] = model.StripSentinels(m.Text())
	}
	places := make([]int, len(assembled))
	at := 0
	for i, m := range assembled {
		text := strings.TrimSpace(model.StripSentinels(m.Text()))
		found := -1
		if text != "" && at < len(texts) {
			found = slices.IndexFunc(texts[at:], func(s string) bool { return strings.TrimSpace(s) == text })
			if found < 0 {
				found = slices.IndexFunc(texts[at:], func(s string) bool { return strings.Contains(s, text) })
			}
		}
		places[i] = -1
		if found >= 0 {
			at += found
			places[i] = at
			if strings.TrimSpace(texts[at]) == text {
				at++ // wholly used; a joined message may hold the next one too
			}
		}
	}
	return places
}

// costs sums the sections' tokens by their place in the cache.
func (p *promptRequest) costs() (cached, fresh int) {
	for _, s := range p.Sections {
		if s.Cached == cacheNone {
			fresh += s.Tokens
		} else {
			cached += s.Tokens
		}
	}
	return cached, fresh
}

// toolTokens estimates one tool definition.
func toolTokens(est tokens.Estimator, t model.Tool) int {
	return est.Count(t.Name) + est.Count(t.Description) + est.Count(string(t.Parameters))
}
