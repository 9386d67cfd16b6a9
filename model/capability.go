package model

import (
	"slices"
	"strconv"
	"strings"
)

// unsupportedFeatures are features that no text adapter offers.
var unsupportedFeatures = []string{"web_search", "computer_use"}

// bound is a slot after the request's bindings and the model table: where a
// call goes and all that is known of the model there.
type bound struct {
	slot     *Slot
	binding  Binding
	target   Target
	model    Model
	protocol *protocol
}

// bind merges request override, llm.toml, table and protocol defaults, in that
// order of rank (spec 04 §4.2).
func (t *Table) bind(slot *Slot, b Binding) *bound {
	s := *slot
	if b.Provider != "" && b.Provider != s.Provider {
		s.BaseURL, s.Protocol, s.Headers = "", "", nil
	}
	if b.Model != "" && b.Model != s.Model { // what the file says of its own model is not said of this one
		s.ContextWindow, s.MaxOutputTokens, s.Pricing, s.Tokenizer = 0, nil, nil, ""
		s.Input, s.Output, s.Features, s.CacheStrategy = nil, nil, nil, ""
	}
	s.Provider = first(b.Provider, s.Provider)
	s.Model = first(b.Model, s.Model)
	s.Protocol = first(b.Protocol, s.Protocol, builtins[s.Provider].protocol, ProtocolChat)
	base := first(b.BaseURL, s.BaseURL, builtins[s.Provider].baseURL)
	p := protocols[s.Protocol]

	entry, _ := t.Lookup(s.Provider, s.Model)
	m := entry
	m.ID = s.Model
	m.Family = familyOf(entry, s.Provider, s.Model)
	m.Input = narrow(firstList(b.Input, s.Input, entry.Input, p.input), "text", "image")
	m.Output = narrow(firstList(b.Output, s.Output, entry.Output, textOnly), "text")
	m.Features = slices.DeleteFunc(slices.Clone(firstList(b.Features, s.Features, entry.Features, p.features)), func(f string) bool {
		return slices.Contains(unsupportedFeatures, f)
	})
	m.ContextWindow = firstNumber(b.ContextWindow, s.ContextWindow, entry.ContextWindow)
	if s.MaxOutputTokens != nil {
		m.MaxOutputTokens = *s.MaxOutputTokens
	}
	m.MaxOutputTokens = firstNumber(b.MaxOutputTokens, m.MaxOutputTokens)
	m.Pricing = priced(mergePricing(entry.Pricing, s.Pricing), entry)

	strategy := first(s.CacheStrategy, p.stableCache)
	if s.CacheStrategy == "" && p.breakpoints && m.Has(TraitCacheBreakpoints) {
		strategy = CacheOpenAIBreakpoints
	}
	tokenizer := s.Tokenizer
	if tokenizer == "" {
		tokenizer = "covel"
		if m.Family == "openai" {
			tokenizer = "o200k_base"
		}
	}
	return &bound{
		slot: &s, binding: b, model: m, protocol: p,
		target: Target{
			Slot: s.Name, Provider: s.Provider, Protocol: s.Protocol, Model: s.Model, BaseURL: strings.TrimRight(base, "/"),
			ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens, Tokenizer: tokenizer,
			Input: m.Input, Pricing: m.Pricing, CacheStrategy: strategy,
		},
	}
}

// knownToSeeImages says whether images may be sent: declared input only, never
// assumed.
func (b *bound) knownToSeeImages() bool { return slices.Contains(b.model.Input, "image") }

// declaredWithoutImages says whether slot or table name an input that lacks
// images (spec 04 §6.4). A protocol's default declares nothing.
func (b *bound) declaredWithoutImages(t *Table) bool {
	entry, _ := t.Lookup(b.slot.Provider, b.slot.Model)
	declared := firstList(b.binding.Input, b.slot.Input, entry.Input)
	return declared != nil && !slices.Contains(declared, "image")
}

// priced fills cache prices that are known only as a share of the input price.
func priced(p *Pricing, entry Model) *Pricing {
	if p == nil || p.InputPerMToken == nil {
		return p
	}
	q := *p
	if q.CacheReadPerMToken == nil && entry.CacheReadShare > 0 {
		v := *q.InputPerMToken * entry.CacheReadShare
		q.CacheReadPerMToken = &v
	}
	if q.CacheWritePerMToken == nil && entry.CacheWriteShare > 0 {
		v := *q.InputPerMToken * entry.CacheWriteShare
		q.CacheWritePerMToken = &v
	}
	return &q
}

func narrow(list []string, allowed ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(allowed, s) })
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func firstNumber(values ...int) int {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

func firstList(lists ...[]string) []string {
	for _, l := range lists {
		if l != nil {
			return l
		}
	}
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }
