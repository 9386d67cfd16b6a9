package model

import (
	"encoding/json"
	"math"
	"slices"
)

// settings is what the layers of spec 04 §3.4 come to for one target: the free
// fields of the body and what was taken out of them.
type settings struct {
	req       *Request
	protocol  *protocol
	fields    Fields
	choice    json.RawMessage // a player's own tool choice
	cacheKey  *bool           // option promptCacheKey
	late      *bool           // option lateSystemAsUser
	efforts   [3]string       // parameterOverrides.reasoningEffort, reasoning_effort, reasoningEffort
	overrides map[string]json.RawMessage
	summary   json.RawMessage // option reasoningSummary
}

// Places in settings.efforts, the first that is set counts.
const (
	effortOverride = iota
	effortSnake
	effortCamel
)

// mergeSettings lays the layers over each other, later ones winning: preset
// metadata, preset options, call metadata, call options, overrides.
func (c *call) mergeSettings(b *bound, req *Request, foreign bool) (*settings, error) {
	s := &settings{req: req, protocol: b.protocol, overrides: map[string]json.RawMessage{}}
	callMetadata := c.params.Metadata
	if foreign && len(callMetadata) > 0 {
		kept := map[string]json.RawMessage{}
		for key, value := range callMetadata {
			if key == "parameterOverrides" {
				kept[key] = value
			}
		}
		if len(kept) < len(callMetadata) {
			req.Warn("compatibility", "providerRequestMetadata", "the fallback target differs from the primary; the call's free settings were left out")
		}
		callMetadata = kept
	}
	for _, layer := range []struct {
		free    map[string]json.RawMessage
		options map[string]map[string]json.RawMessage
	}{{b.slot.Metadata, b.slot.ProviderOptions}, {callMetadata, c.params.ProviderOptions}} {
		inner, err := s.addMetadata(layer.free)
		if err != nil {
			return nil, err
		}
		for _, options := range []map[string]map[string]json.RawMessage{inner, layer.options} {
			for _, ns := range []string{b.target.Protocol, b.target.Provider} {
				if err := s.addOptions(ns, options[ns]); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := s.applyOverrides(); err != nil {
		return nil, err
	}
	return s, nil
}

// addMetadata adds a layer of providerRequestMetadata. Its providerOptions, if
// any, are given back: they rank above the layer's free fields.
func (s *settings) addMetadata(free map[string]json.RawMessage) (options map[string]map[string]json.RawMessage, err error) {
	if name, ok := authField(free); ok {
		return nil, Configf("providerRequestMetadata.%s: a key or auth header may not stand in settings", name)
	}
	for _, key := range sortedKeys(free) {
		value := free[key]
		switch key {
		case "parameterOverrides":
			var m map[string]json.RawMessage
			if json.Unmarshal(value, &m) != nil {
				return nil, Configf("parameterOverrides: %s is not a table", cut(string(value), 60))
			}
			for name, v := range m {
				if !isNull(v) {
					s.overrides[name] = v
				}
			}
		case "providerOptions":
			if json.Unmarshal(value, &options) != nil {
				return nil, Configf("providerOptions: %s is not a table of tables", cut(string(value), 60))
			}
		case "reasoning_effort", "reasoningEffort":
			at := effortSnake
			if key == "reasoningEffort" {
				at = effortCamel
			}
			if s.efforts[at], err = effortLevel(key, value); err != nil {
				return nil, err
			}
		default:
			if err := s.addField(key, value); err != nil {
				return nil, err
			}
		}
	}
	return options, nil
}

// addField adds one free field, or drops it with a warning. Gemini's
// generationConfig is taken apart: its members have places of their own.
func (s *settings) addField(key string, value json.RawMessage) error {
	switch {
	case !json.Valid(value):
		return Configf("%s: %q is no JSON", key, cut(string(value), 60))
	case key == "generationConfig" && s.protocol.dialect == geminiDialect:
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			return Configf("generationConfig: %s is not a table", cut(string(value), 60))
		}
		for _, name := range sortedKeys(inner) {
			if err := s.addField(name, inner[name]); err != nil {
				return err
			}
		}
	case slices.Contains(protectedKeys, key):
		s.drop(key)
	case key == s.protocol.choiceField:
		s.choice = value
	default:
		s.fields.Set(key, value)
	}
	return nil
}

func (s *settings) drop(key string) {
	s.req.Warn("ignored", key, "this field is built from the request itself; the setting was left out")
}

// addOptions adds a namespace of provider options.
func (s *settings) addOptions(ns string, options map[string]json.RawMessage) error {
	if name, ok := authField(options); ok {
		return Configf("providerOptions.%s.%s: a key or auth header may not stand in settings", ns, name)
	}
	for _, key := range sortedKeys(options) {
		value := options[key]
		if key != "reasoningEffort" && key != "extraBody" && !slices.Contains(s.protocol.options, key) {
			s.req.Warn("unsupported", "providerOptions."+ns+"."+key, "the protocol has no such option; it was left out")
			continue
		}
		if e := checkOption(s.req.Target.Protocol, key, value); e != nil {
			e.Message = "providerOptions." + ns + "." + e.Message
			return e
		}
		if err := s.addOption(key, value); err != nil {
			return err
		}
	}
	return nil
}

// addOption puts a checked option where the wire has it.
func (s *settings) addOption(key string, value json.RawMessage) error {
	switch key {
	case "reasoningEffort":
		_ = json.Unmarshal(value, &s.efforts[effortCamel]) // checked
	case "reasoningSummary":
		s.summary = value
	case "parallelToolCalls":
		s.fields.Set("parallel_tool_calls", value)
	case "promptCacheKey":
		s.cacheKey = new(bool)
		_ = json.Unmarshal(value, s.cacheKey) // checked
	case "lateSystemAsUser":
		s.late = new(bool)
		_ = json.Unmarshal(value, s.late) // checked
	case "thinking":
		s.fields.Set("thinking", wireThinking(value))
	case "extraBody":
		var m map[string]json.RawMessage
		_ = json.Unmarshal(value, &m) // checked
		for _, name := range sortedKeys(m) {
			if err := s.addField(name, m[name]); err != nil {
				return err
			}
		}
	default: // store, user, seed, cachedContent, thinkingConfig have their wire name
		s.fields.Set(key, value)
	}
	return nil
}

// wireThinking spells budgetTokens as Anthropic does.
func wireThinking(value json.RawMessage) json.RawMessage {
	var t struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budgetTokens"`
		Display      string `json:"display"`
	}
	_ = json.Unmarshal(value, &t) // checked
	out, _ := json.Marshal(struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budget_tokens,omitempty"`
		Display      string `json:"display,omitempty"`
	}{t.Type, t.BudgetTokens, t.Display})
	return out
}

// applyOverrides puts the parameter overrides into the body under their wire
// names; maxOutputTokens stays for the output limit.
func (s *settings) applyOverrides() error {
	for _, name := range sortedKeys(s.overrides) {
		value := s.overrides[name]
		if name == "reasoningEffort" {
			level, err := effortLevel("parameterOverrides.reasoningEffort", value)
			if err != nil {
				return err
			}
			s.efforts[effortOverride] = level
			continue
		}
		if !slices.Contains(overrideNames, name) {
			s.req.Warn("unsupported", "parameterOverrides."+name, "no such override; it was left out")
			continue
		}
		var n float64
		if json.Unmarshal(value, &n) != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return Configf("parameterOverrides.%s: %s is not a finite number", name, cut(string(value), 60))
		}
		if name == "maxOutputTokens" {
			continue
		}
		wire, ok := s.protocol.overrides[name]
		if !ok {
			s.req.Warn("unsupported", "parameterOverrides."+name, "the protocol has no such parameter; it was left out")
			continue
		}
		s.fields.Set(wire, value)
	}
	return nil
}

var overrideNames = []string{"temperature", "topP", "topK", "maxOutputTokens", "frequencyPenalty", "presencePenalty"}

func effortLevel(field string, value json.RawMessage) (string, error) {
	var level string
	if json.Unmarshal(value, &level) != nil || !slices.Contains(effortWords, level) {
		return "", Configf("%s: %s is not allowed; use one of %v", field, cut(string(value), 60), effortWords)
	}
	return level, nil
}

// outputLimit is the output limit to send, 0 for none (spec 04 §4.5).
func (s *settings) outputLimit(b *bound, reserve int) (int, error) {
	limit, field := reserve, "maxOutputTokens"
	if raw, ok := s.overrides["maxOutputTokens"]; ok {
		field = "parameterOverrides.maxOutputTokens"
		var n float64
		_ = json.Unmarshal(raw, &n) // checked
		if n != math.Trunc(n) || n <= 0 || n > math.MaxInt32 {
			return 0, Configf("%s: %s is not a positive integer", field, raw)
		}
		limit = int(n)
	}
	if limit < 0 {
		return 0, Configf("%s: %d is not a positive integer", field, limit)
	}
	if limit == 0 {
		if b.protocol.alwaysBudgeted {
			return ResponseReserve(b.model.ContextWindow, b.model.MaxOutputTokens), nil
		}
		return 0, nil
	}
	if limit >= b.window() {
		return 0, Configf("%s: %d does not leave room in the context window of %d tokens", field, limit, b.window())
	}
	if top := b.model.MaxOutputTokens; top > 0 && limit > top {
		s.req.Warn("compatibility", "maxOutputTokens", "the model answers with at most "+itoa(top)+" tokens; "+itoa(limit)+" was lowered")
		limit = top
	}
	return limit, nil
}
