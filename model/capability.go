package model

import (
	"slices"
	"strconv"
	"strings"
)

// families are the model families of spec 04 §10.3.
var families = []string{"deepseek", "anthropic", "google", "xai", "qwen", "openai", "compatible"}

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
		s.BaseURL, s.Protocol = "", ""
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

// familyWords gives the words by which an id or a provider name tells its
// family, in the order of spec 04 §10.3.
var familyWords = []struct {
	family string
	words  []string
}{
	{"deepseek", []string{"deepseek"}},
	{"anthropic", []string{"claude", "anthropic"}},
	{"google", []string{"gemini", "google/"}},
	{"xai", []string{"grok", "xai/"}},
	{"qwen", []string{"qwen", "alibaba/"}},
	{"openai", []string{"gpt-", "o1", "o3", "o4", "openai/"}},
}

// prefixWords are family words that count only where a name starts: "o1" also
// stands inside other names.
var prefixWords = []string{"o1", "o3", "o4"}

func familyOf(entry Model, provider, id string) string {
	if entry.Family != "" {
		return entry.Family
	}
	for _, name := range []string{strings.ToLower(id), strings.ToLower(provider)} {
		for _, f := range familyWords {
			if slices.ContainsFunc(f.words, func(w string) bool { return namesFamily(name, w) }) {
				return f.family
			}
		}
	}
	switch provider { // provider names that stand for a family without its slash
	case "google", "xai", "openai":
		return provider
	}
	return "compatible"
}

func namesFamily(name, word string) bool {
	if slices.Contains(prefixWords, word) {
		return strings.HasPrefix(name, word) || strings.Contains(name, "/"+word)
	}
	return strings.Contains(name, word)
}

// ResponseReserve is the automatic output budget: 16,384, capped by the
// model's limit and half its window (spec 04 §4.5).
func ResponseReserve(contextWindow, maxOutputTokens int) int {
	reserve := 16_384
	if maxOutputTokens > 0 {
		reserve = min(reserve, maxOutputTokens)
	}
	if contextWindow > 0 {
		reserve = min(reserve, contextWindow/2)
	}
	return reserve
}

// UnknownWindow is the context window that counts where none is known.
const UnknownWindow = 262_144

func (b *bound) window() int { return firstNumber(b.model.ContextWindow, UnknownWindow) }

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
