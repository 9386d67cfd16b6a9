package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// dialect is how a protocol spells reasoning settings (spec 04 §10.3).
type dialect int

const (
	scriptedDialect dialect = iota
	chatDialect
	responsesDialect
	anthropicDialect
	geminiDialect
)

// Levels that are not efforts.
const (
	levelProviderDefault = "provider-default"
	levelDisabled        = "disabled"
	levelAutomatic       = "automatic"
	levelNone            = "none"
)

// inherited are the fields in which a lower layer may have set reasoning.
var inherited = []string{"enable_thinking", "thinking", "reasoning_effort", "thinking_budget"}

// reasoning puts the asked level into the body's own fields. It says whether
// the player opted out of all of the runtime's preferences.
func (s *settings) reasoning(b *bound, runtimeOff bool) (optedOut bool) {
	level := first(s.efforts[effortOverride], s.efforts[effortSnake], s.efforts[effortCamel], b.slot.ReasoningEffort)
	switch {
	case level == levelProviderDefault:
		for _, key := range inherited {
			s.fields.Delete(key)
		}
		for _, key := range []string{"reasoning", "output_config"} {
			if s.fields.Has(key) {
				s.fields.setMember(key, "effort", nil)
			}
		}
		optedOut = true
	case level != "":
		s.fields.Delete("thinking_budget")
		if !slices.Contains(levels(b), level) || !s.spell(b, level) {
			s.req.Warn("unsupported", "reasoningEffort", "model "+b.target.Model+" has no level "+level+" on "+b.target.Protocol+"; nothing was sent")
		}
	case runtimeOff:
		s.switchOff(b)
	}
	s.summarize(b)
	return optedOut
}

// switchOff obeys the runtime's "off" where nobody set reasoning and the model
// can be switched off (spec 04 §10.2).
func (s *settings) switchOff(b *bound) {
	if slices.ContainsFunc([]string{"enable_thinking", "thinking_budget", "thinking", "thinkingConfig", "reasoning", "output_config"}, s.fields.Has) {
		return
	}
	known := levels(b)
	off := ""
	for _, level := range []string{levelNone, levelDisabled} {
		if off == "" && slices.Contains(known, level) {
			off = level
		}
	}
	if b.model.Has(TraitThinkingAlwaysOn) || off == "" || !s.spell(b, off) {
		if b.protocol.dialect != scriptedDialect {
			s.req.Warn("unsupported", "reasoning", "reasoning of model "+b.target.Model+" cannot be switched off; nothing was sent")
		}
	}
}

// summarize settles reasoning.summary on Responses (spec 04 §10.4).
func (s *settings) summarize(b *bound) {
	if b.protocol.dialect != responsesDialect {
		return
	}
	if s.summary != nil {
		s.fields.setMember("reasoning", "summary", s.summary)
		return
	}
	effort := string(s.fields.member("reasoning", "effort"))
	if b.model.Has(TraitSummaryAuto) && effort != "" && effort != `"none"` && s.fields.member("reasoning", "summary") == nil {
		s.fields.setMember("reasoning", "summary", quoted("auto"))
	}
}

// bareID is a model id in lower case without a provider in front.
func bareID(id string) string {
	id = strings.ToLower(id)
	return id[strings.LastIndexByte(id, '/')+1:]
}

// levels lists what the model can be asked for; an entry's reasoningLevels
// replace the family's.
func levels(b *bound) []string {
	if b.model.ReasoningLevels != nil {
		return b.model.ReasoningLevels
	}
	id := bareID(b.target.Model)
	switch b.model.Family {
	case "deepseek":
		return []string{levelDisabled, "high", "max"}
	case "qwen":
		switch qwenKind(id) {
		case qwenEffort:
			return []string{levelDisabled, levelAutomatic, "low", "medium", "xhigh"}
		case qwenBudget:
			return []string{levelDisabled, levelAutomatic, "low", "medium", "high"}
		default:
			return []string{levelDisabled, levelAutomatic}
		}
	case "openai":
		return openaiLevels(id)
	case "google":
		return googleLevels(id, b.protocol.dialect == chatDialect)
	case "xai":
		switch {
		case strings.HasPrefix(id, "grok-4.20"), strings.HasPrefix(id, "grok-4-20"), strings.HasPrefix(id, "grok-4") && strings.Contains(id, "multi-agent"):
			return []string{"low", "medium", "high", "xhigh"}
		case strings.HasPrefix(id, "grok-3-mini"), strings.HasPrefix(id, "grok-4"):
			return []string{"low", "medium", "high"}
		}
	case "compatible":
		if !slices.Contains(b.model.Features, "reasoning") {
			return nil
		}
		if b.protocol.dialect == anthropicDialect {
			return []string{"low", "medium", "high"}
		}
		return []string{"minimal", "low", "medium", "high"}
	}
	return nil
}

func openaiLevels(id string) []string {
	prefixed := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(id, w) })
	}
	switch {
	case prefixed("gpt-6", "gpt-7", "gpt-8", "gpt-9"):
		return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	case prefixed("gpt-5.1"):
		if strings.Contains(id, "codex-max") {
			return []string{"none", "low", "medium", "high", "xhigh"}
		}
		return []string{"none", "low", "medium", "high"}
	case prefixed("gpt-5.2", "gpt-5.3", "gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-5.7", "gpt-5.8", "gpt-5.9"):
		return []string{"none", "minimal", "low", "medium", "high", "xhigh"}
	case prefixed("gpt-5-pro"):
		return []string{"high"}
	case prefixed("gpt-5"):
		return []string{"minimal", "low", "medium", "high"}
	case prefixed("o1", "o3", "o4"):
		return []string{"low", "medium", "high"}
	}
	return nil
}

// googleLevels adds minimal where the Chat endpoint takes it.
func googleLevels(id string, chat bool) []string {
	rest, ok := strings.CutPrefix(id, "gemini-")
	if !ok {
		return nil
	}
	var list []string
	minimal := false
	switch version, kind, _ := strings.Cut(rest, "-"); {
	case version == "2.5" && strings.HasPrefix(kind, "pro"):
		list, minimal = []string{"low", "medium", "high"}, true
	case version == "2.5" && strings.HasPrefix(kind, "flash"):
		list, minimal = []string{"none", "low", "medium", "high"}, true
	case version == "3" && strings.HasPrefix(kind, "pro"):
		list = []string{"low", "high"}
	case version == "3.1" && strings.HasPrefix(kind, "pro"):
		list, minimal = []string{"low", "medium", "high"}, true
	case strings.HasPrefix(kind, "flash-lite") && version >= "3.1" && version <= "3.5",
		strings.HasPrefix(kind, "flash") && !strings.HasPrefix(kind, "flash-lite") && (version == "3" || version == "3.5" || version == "3.6"):
		list = []string{"minimal", "low", "medium", "high"}
	case strings.HasPrefix(kind, "flash") && (version == "3.7" || version == "3.8"):
		list = []string{"low", "medium", "high"}
	}
	if chat && minimal {
		list = append(list, "minimal")
	}
	return list
}

// Kinds of Qwen models: those with efforts, those with a token budget, others.
const (
	qwenPlain = iota
	qwenEffort
	qwenBudget
)

func qwenKind(id string) int {
	for _, suffix := range []string{"max", "flash", "omni-flash", "27b"} {
		if strings.HasPrefix(id, "qwen3.8-"+suffix) {
			return qwenEffort
		}
	}
	for _, version := range []string{"3.5", "3.6", "3.7"} {
		for _, suffix := range []string{"max", "plus", "flash"} {
			if strings.HasPrefix(id, "qwen"+version+"-"+suffix) {
				return qwenBudget
			}
		}
	}
	return qwenPlain
}

func thinkingType(typ string) json.RawMessage { return json.RawMessage(`{"type":"` + typ + `"}`) }

func boolean(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// spell writes a level in the protocol's fields. It is false where the family
// has no field there.
func (s *settings) spell(b *bound, level string) bool {
	switch b.protocol.dialect {
	case chatDialect:
		return s.spellChat(b, level)
	case responsesDialect:
		return s.spellResponses(b, level)
	case anthropicDialect:
		return s.spellAnthropic(b, level)
	case geminiDialect:
		return s.spellGemini(b, level)
	}
	return true // scripted has nothing to say it with, and nobody to say it to
}

func (s *settings) spellChat(b *bound, level string) bool {
	f := &s.fields
	switch b.model.Family {
	case "deepseek":
		if level == levelDisabled {
			f.Set("thinking", thinkingType("disabled"))
			return true
		}
		f.Set("thinking", thinkingType("enabled"))
		f.Set("reasoning_effort", quoted(level))
	case "qwen":
		id := bareID(b.target.Model)
		on := level != levelDisabled || strings.Contains(id, "-thinking")
		f.Set("enable_thinking", boolean(on))
		switch kind := qwenKind(id); {
		case kind == qwenEffort && !on:
			f.Set("reasoning_effort", quoted(levelNone))
		case kind == qwenEffort && level != levelAutomatic:
			f.Set("reasoning_effort", quoted(level))
		case kind == qwenBudget && on && level != levelAutomatic:
			f.Set("thinking_budget", json.RawMessage(map[string]string{"low": "2048", "medium": "8192", "high": "16384"}[level]))
		}
	case "openai", "xai", "google", "compatible":
		f.Set("reasoning_effort", quoted(level))
	default:
		return false
	}
	return true
}

func (s *settings) spellResponses(b *bound, level string) bool {
	switch b.model.Family {
	case "deepseek", "qwen", "openai", "xai", "compatible":
	default:
		return false
	}
	switch level {
	case levelDisabled:
		level = levelNone
	case levelAutomatic:
		s.fields.setMember("reasoning", "effort", nil)
		return true
	}
	s.fields.setMember("reasoning", "effort", quoted(level))
	return true
}

func (s *settings) spellAnthropic(b *bound, level string) bool {
	f := &s.fields
	switch b.model.Family {
	case "deepseek":
		if level == levelDisabled {
			f.Set("thinking", thinkingType("disabled"))
			return true
		}
		f.Set("thinking", thinkingType("enabled"))
		f.setMember("output_config", "effort", quoted(level))
	case "qwen":
		if level != levelDisabled {
			return false
		}
		f.Set("thinking", thinkingType("disabled"))
	case "anthropic":
		if level == levelDisabled || level == levelNone {
			f.Set("thinking", thinkingType("disabled"))
			f.setMember("output_config", "effort", nil)
			return true
		}
		f.setMember("output_config", "effort", quoted(level))
		if b.model.Has(TraitAdaptiveThinking) {
			display := f.member("thinking", "display")
			if display == nil {
				display = quoted("summarized")
			}
			f.Set("thinking", json.RawMessage(`{"type":"adaptive","display":`+string(display)+`}`))
		}
	case "compatible":
		f.setMember("output_config", "effort", quoted(level))
	default:
		return false
	}
	return true
}

func (s *settings) spellGemini(b *bound, level string) bool {
	if b.model.Family != "google" {
		return false
	}
	budgets := map[string]string{"none": "0", "low": "1024", "medium": "8192", "high": "24576"}
	if strings.HasPrefix(bareID(b.target.Model), "gemini-2.5") {
		s.fields.setMember("thinkingConfig", "thinkingLevel", nil)
		s.fields.setMember("thinkingConfig", "thinkingBudget", json.RawMessage(budgets[level]))
		return budgets[level] != ""
	}
	s.fields.setMember("thinkingConfig", "thinkingBudget", nil)
	s.fields.setMember("thinkingConfig", "thinkingLevel", quoted(level))
	return true
}

// sampling drops parameters that the model refuses (spec 04 §10.4).
func (s *settings) sampling(b *bound) {
	drop := func(keys ...string) {
		for _, key := range keys {
			if s.fields.Has(key) {
				s.fields.Delete(key)
				s.req.Warn("unsupported", key, "model "+b.target.Model+" does not take it here; it was left out")
			}
		}
	}
	if b.model.Has(TraitNoPenalties) {
		drop("frequency_penalty", "presence_penalty", "frequencyPenalty", "presencePenalty")
	}
	if b.model.Has(TraitNoSampling) {
		drop("temperature", "top_p", "top_k")
		return
	}
	if b.model.Family == "anthropic" && thinkingOn(&s.fields) {
		drop("temperature", "top_k")
		var p float64
		if json.Unmarshal(s.fields.Get("top_p"), &p) == nil && (p < 0.95 || p > 1) {
			drop("top_p")
		}
	}
}

// thinkingOn says whether the body asks for thinking.
func thinkingOn(f *Fields) bool {
	var on bool
	if json.Unmarshal(f.Get("enable_thinking"), &on) == nil && on {
		return true
	}
	typ := string(f.member("thinking", "type"))
	return typ == `"enabled"` || typ == `"adaptive"`
}
