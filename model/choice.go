package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// toolChoice settles the tool choice (spec 04 §11): a player's own beats the
// runtime's preference; nil leaves the field out.
func (s *settings) toolChoice(b *bound, preference ToolChoice, optedOut bool) (*Choice, error) {
	if len(s.req.Tools) == 0 {
		return nil, nil
	}
	if s.choice != nil {
		return s.unforced(b, &Choice{Raw: s.choice}), nil
	}
	choice := &Choice{}
	switch {
	case preference.None:
		return &Choice{Mode: ChoiceNone}, nil
	case optedOut:
	case preference.Name != "":
		if !slices.ContainsFunc(s.req.Tools, func(t Tool) bool { return t.Name == preference.Name }) {
			return nil, Configf("toolChoice: %q is not among the offered tools", preference.Name)
		}
		choice = &Choice{Mode: ChoiceNamed, Name: preference.Name}
	case preference.Required:
		choice = &Choice{Mode: ChoiceRequired}
	}
	if s.deepseekThinking(b) {
		return nil, nil
	}
	if choice.Mode != ChoiceDefault && thinkingOn(&s.fields) {
		choice = &Choice{Mode: ChoiceAuto}
	}
	return s.unforced(b, choice), nil
}

// deepseekThinking says whether a DeepSeek model answers in thinking mode, in
// which it refuses a tool choice.
func (s *settings) deepseekThinking(b *bound) bool {
	if !strings.Contains(strings.ToLower(b.target.Provider+" "+b.target.Model), "deepseek") {
		return false
	}
	if !s.fields.Has("thinking") {
		return b.model.Has(TraitThinkingDefaultOn)
	}
	return string(s.fields.member("thinking", "type")) == `"enabled"`
}

// unforced turns a forced tool into auto for models that refuse one.
func (s *settings) unforced(b *bound, c *Choice) *Choice {
	if b.protocol.dialect != anthropicDialect || !b.model.Has(TraitNoForcedTool) {
		return c
	}
	if c.Raw == nil {
		if c.Mode == ChoiceNamed || c.Mode == ChoiceRequired {
			return &Choice{Mode: ChoiceAuto}
		}
		return c
	}
	var own struct {
		Type     string `json:"type"`
		Parallel *bool  `json:"disable_parallel_tool_use,omitempty"`
	}
	if json.Unmarshal(c.Raw, &own) != nil || own.Type != "any" && own.Type != "tool" {
		return c
	}
	own.Type = "auto"
	raw, _ := json.Marshal(own) // two plain members
	return &Choice{Raw: raw}
}
