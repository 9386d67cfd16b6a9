package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Allowed words of llm.toml (spec 04 §3.2).
var (
	slotTags         = []string{"text", "image", "embedding", "speech", "transcription", "music", "evaluation"}
	inputWords       = []string{"text", "image", "audio", "video", "file"}
	outputWords      = []string{"text", "image", "audio", "video", "embedding", "evaluation"}
	featureWords     = []string{"function_calling", "structured_output", "streaming", "reasoning", "vision", "prompt_caching", "web_search", "computer_use"}
	effortWords      = []string{"provider-default", "disabled", "automatic", "none", "minimal", "low", "medium", "high", "xhigh", "max"}
	tokenizerWords   = []string{"covel", "o200k_base", "cl100k_base", "p50k_base", "r50k_base"}
	strategyWords    = []string{CacheAnthropicExplicit, CacheOpenAIBreakpoints, CacheAutoPrefix, CacheNone}
	lateWords        = []string{LateSystem, LateEnvelope, LateNative}
	embeddingFormats = []string{"openai", "nemotron-multimodal"}
	authHeaders      = []string{"authorization", "x-api-key", "x-goog-api-key"}
)

// ParseSlots checks the bytes of an llm.toml; name stands in the errors.
func ParseSlots(name string, data []byte) (*Slots, error) {
	doc, err := readTOML(name, data)
	if err != nil {
		return nil, err
	}
	if err := doc.root().only("covel"); err != nil {
		return nil, err
	}
	covel, err := doc.root().table("covel")
	if err != nil {
		return nil, err
	}
	slots := &Slots{File: name}
	for _, key := range covel.keys() {
		t, err := covel.table(key)
		if err != nil {
			return nil, err
		}
		slot, err := parseSlot(key, t)
		if err != nil {
			return nil, err
		}
		slots.list = append(slots.list, slot)
	}
	if len(slots.list) == 0 {
		return nil, Configf("%s: no slot; add a table such as [covel.story] with provider and model", name)
	}
	for _, slot := range slots.list {
		if err := checkFallback(slots, slot, doc); err != nil {
			return nil, err
		}
	}
	return slots, nil
}

func checkFallback(slots *Slots, slot *Slot, doc *tomlFile) error {
	if slot.Fallback == "" {
		return nil
	}
	field := "covel." + slot.Name + ".fallback"
	next, ok := slots.Lookup(slot.Fallback)
	if !ok {
		return doc.errorf(field, "slot %q names the slot %q, which does not exist; use one of %s", slot.Name, slot.Fallback, strings.Join(slots.Names(), ", "))
	}
	if next.Tag != slot.Tag {
		return doc.errorf(field, "slot %q (tag %s) names the slot %q (tag %s); both need the same tag", slot.Name, slot.Tag, next.Name, next.Tag)
	}
	return nil
}

func parseSlot(name string, t *tomlTable) (*Slot, error) {
	s := &Slot{Name: name}
	var asUser *bool
	for _, key := range t.keys() {
		var err error
		switch key {
		case "provider":
			s.Provider, err = t.text(key)
		case "model":
			s.Model, err = t.text(key)
		case "baseUrl":
			if s.BaseURL, err = t.text(key); err == nil {
				if e := CheckBaseURL(s.BaseURL); e != nil {
					err = t.errorf(key, "%s", e.Message)
				}
			}
		case "protocol":
			s.Protocol, err = t.word(key, ProtocolIDs())
		case "tag":
			s.Tag, err = t.word(key, slotTags)
		case "fallback":
			s.Fallback, err = t.text(key)
		case "input":
			s.Input, err = t.words(key, inputWords)
		case "output":
			s.Output, err = t.words(key, outputWords)
		case "features":
			s.Features, err = t.words(key, featureWords)
		case "contextWindow":
			s.ContextWindow, err = t.integer(key, 1)
		case "maxOutputTokens":
			var n int
			if n, err = t.integer(key, 0); err == nil {
				s.MaxOutputTokens = &n
			}
		case "pricing":
			s.Pricing, err = parsePricing(t, key)
		case "reasoningEffort":
			s.ReasoningEffort, err = t.word(key, effortWords)
		case "lateSystem":
			s.LateSystem, err = t.word(key, lateWords)
		case "lateSystemAsUser":
			var b bool
			if b, err = t.boolean(key); err == nil {
				asUser = &b
			}
		case "cacheStrategy":
			s.CacheStrategy, err = t.word(key, strategyWords)
		case "cacheHistoryMarks":
			if s.CacheHistoryMarks, err = t.integer(key, 1); err == nil && s.CacheHistoryMarks > 2 {
				err = t.errorf(key, "%d is not allowed; use 1 or 2", s.CacheHistoryMarks)
			}
		case "tokenizer":
			s.Tokenizer, err = t.word(key, tokenizerWords)
		case "headers":
			s.Headers, err = parseHeaders(t, key)
		case "embeddingFormat":
			s.EmbeddingFormat, err = t.word(key, embeddingFormats)
		case "providerRequestMetadata":
			s.Metadata, err = t.rawMap(key)
		case "providerOptions":
			s.ProviderOptions, err = parseOptions(t, key)
		case "reasoning_effort", "thinking":
			err = t.errorf(key, "unknown field; set the thinking depth with reasoningEffort (%s)", strings.Join(effortWords, ", "))
		default:
			err = t.errorf(key, "unknown field; use one of %s", strings.Join(slotFields, ", "))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := completeSlot(s, t); err != nil {
		return nil, err
	}
	return s, foldLateSystem(s, asUser, t)
}

var slotFields = []string{
	"baseUrl", "cacheHistoryMarks", "cacheStrategy", "contextWindow", "embeddingFormat", "fallback", "features",
	"headers", "input", "lateSystem", "lateSystemAsUser", "maxOutputTokens", "model", "output", "pricing", "protocol",
	"provider", "providerOptions", "providerRequestMetadata", "reasoningEffort", "tag", "tokenizer",
}

// completeSlot fills what follows from other fields and checks the pairings.
func completeSlot(s *Slot, t *tomlTable) error {
	if s.Provider == "" {
		return t.errorf("provider", "missing; name a provider such as openai, anthropic or scripted")
	}
	if s.Model == "" {
		return t.errorf("model", "missing; give the provider's model id")
	}
	known, isBuiltin := builtins[s.Provider]
	if s.Protocol == "" {
		s.Protocol = ProtocolChat
		if isBuiltin {
			s.Protocol = known.protocol
		}
	}
	p := protocols[s.Protocol]
	if s.BaseURL == "" && !isBuiltin && !p.keyless {
		return t.errorf("baseUrl", "missing; provider %q is not built in (%s), so say where it listens", s.Provider, strings.Join(sortedKeys(builtins), ", "))
	}
	if s.Tag == "" {
		s.Tag = TagText
		for _, o := range s.Output {
			if o == "audio" {
				s.Tag = "speech"
			} else if o != TagText && slices.Contains(slotTags, o) && len(s.Output) == 1 {
				s.Tag = o
			}
		}
	}
	if s.LateSystem != "" && !slices.Contains(p.lateModes, s.LateSystem) {
		return t.errorf("lateSystem", "%q does not go with protocol %s; use %s", s.LateSystem, s.Protocol, strings.Join(p.lateModes, " or "))
	}
	if s.CacheStrategy != "" && !slices.Contains(p.strategies, s.CacheStrategy) {
		return t.errorf("cacheStrategy", "%q does not go with protocol %s; use %s", s.CacheStrategy, s.Protocol, strings.Join(p.strategies, ", "))
	}
	if s.CacheHistoryMarks != 0 && (!p.breakpoints || s.CacheStrategy != "" && s.CacheStrategy != CacheOpenAIBreakpoints) {
		return t.errorf("cacheHistoryMarks", "%d only goes with cacheStrategy %s", s.CacheHistoryMarks, CacheOpenAIBreakpoints)
	}
	if name, ok := authField(s.Metadata); ok {
		return t.errorf("providerRequestMetadata", "%s may not stand here; keys come from the environment only", name)
	}
	return checkSlotOptions(s, t)
}

// checkSlotOptions checks the namespaces of the active target; others are not
// read (spec 04 §3.2).
func checkSlotOptions(s *Slot, t *tomlTable) error {
	for _, ns := range []string{s.Protocol, s.Provider} {
		for _, key := range sortedKeys(s.ProviderOptions[ns]) {
			if e := checkOption(s.Protocol, key, s.ProviderOptions[ns][key]); e != nil {
				return t.errorf("providerOptions", "%s.%s", ns, e.Message)
			}
		}
	}
	return nil
}

// foldLateSystem turns lateSystemAsUser, as slot field or provider option, into
// the mode it stands for.
func foldLateSystem(s *Slot, field *bool, t *tomlTable) error {
	asUser := field
	for _, ns := range []string{s.Protocol, s.Provider} {
		if raw, ok := s.ProviderOptions[ns]["lateSystemAsUser"]; ok {
			var b bool
			if json.Unmarshal(raw, &b) == nil {
				asUser = &b
			}
		}
	}
	if asUser == nil {
		return nil
	}
	if s.LateSystem != "" {
		return t.errorf("lateSystem", "%q stands together with lateSystemAsUser = %v; give one of the two", s.LateSystem, *asUser)
	}
	s.LateSystem, s.lateFolded = lateModeAsUser(s.Protocol, *asUser), true
	return nil
}

// lateModeAsUser is the mode that lateSystemAsUser stands for, "" where it has
// no effect.
func lateModeAsUser(protocolID string, asUser bool) string {
	mode := LateSystem
	if asUser {
		mode = LateEnvelope
	}
	if !slices.Contains(protocols[protocolID].lateModes, mode) {
		return ""
	}
	return mode
}

func parseHeaders(t *tomlTable, key string) (map[string]string, error) {
	sub, err := t.table(key)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	for _, name := range sub.keys() {
		if slices.Contains(authHeaders, strings.ToLower(name)) {
			return nil, sub.errorf(name, "an auth header may not stand in this file; keys come from the environment only")
		}
		if headers[name], err = sub.text(name); err != nil {
			return nil, err
		}
	}
	return headers, nil
}

func parseOptions(t *tomlTable, key string) (map[string]map[string]json.RawMessage, error) {
	sub, err := t.table(key)
	if err != nil {
		return nil, err
	}
	options := map[string]map[string]json.RawMessage{}
	for _, ns := range sub.keys() {
		if options[ns], err = sub.rawMap(ns); err != nil {
			return nil, err
		}
		if name, ok := authField(options[ns]); ok {
			return nil, sub.errorf(ns, "%s may not stand here; keys come from the environment only", name)
		}
	}
	return options, nil
}

// pricingFields are the fields of a pricing table in alphabetical order.
func pricingFields(p *Pricing) map[string]**float64 {
	return map[string]**float64{
		"inputPerMToken": &p.InputPerMToken, "outputPerMToken": &p.OutputPerMToken,
		"cacheReadPerMToken": &p.CacheReadPerMToken, "cacheWritePerMToken": &p.CacheWritePerMToken,
		"imageInputPerMToken": &p.ImageInputPerMToken, "audioInputPerMToken": &p.AudioInputPerMToken,
		"audioOutputPerMToken": &p.AudioOutputPerMToken, "perImage": &p.PerImage,
	}
}

func parsePricing(t *tomlTable, key string) (*Pricing, error) {
	sub, err := t.table(key)
	if err != nil {
		return nil, err
	}
	p := &Pricing{}
	fields := pricingFields(p)
	for _, name := range sub.keys() {
		target, ok := fields[name]
		if !ok {
			return nil, sub.errorf(name, "unknown field; use one of %s", strings.Join(sortedKeys(fields), ", "))
		}
		v, err := sub.amount(name)
		if err != nil {
			return nil, err
		}
		*target = &v
	}
	return p, nil
}

// readTOML parses a file into a tree that remembers where each field stands.
func readTOML(name string, data []byte) (*tomlFile, error) {
	f := &tomlFile{name: name, tree: map[string]any{}}
	if err := toml.Unmarshal(data, &f.tree); err != nil {
		if de, ok := err.(*toml.DecodeError); ok { //nolint:errorlint // the library returns it bare
			row, _ := de.Position()
			return nil, &Error{Code: CodeConfig, Message: fmt.Sprintf("%s:%d: %s", name, row, de.Error()), Err: err}
		}
		return nil, &Error{Code: CodeConfig, Message: name + ": " + err.Error(), Err: err}
	}
	f.index(data)
	return f, nil
}
