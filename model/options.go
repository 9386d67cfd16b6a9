package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// protectedKeys never come from free metadata or extraBody (spec 04 §12).
var protectedKeys = []string{
	"model", "messages", "input", "contents", "system", "systemInstruction", "tools", "stream", "stream_options",
	"max_tokens", "max_completion_tokens", "max_output_tokens", "response_format", "text", "generationConfig",
	"embeddingFormat", "parameterOverrides", "reasoning_effort", "reasoningEffort", "promptCacheKey", "lateSystem",
	"lateSystemAsUser",
}

// authField finds an auth header or key among free settings.
func authField(m map[string]json.RawMessage) (string, bool) {
	for _, key := range sortedKeys(m) {
		if slices.Contains(authHeaders, strings.ToLower(key)) {
			return key, true
		}
		if strings.EqualFold(key, "headers") || key == "extraBody" {
			var inner map[string]json.RawMessage
			if json.Unmarshal(m[key], &inner) == nil {
				if name, ok := authField(inner); ok {
					return key + "." + name, true
				}
			}
		}
	}
	return "", false
}

// checkOption checks the value of one provider option that the protocol knows;
// options that it does not know are dropped later, with a warning.
func checkOption(protocolID, key string, raw json.RawMessage) *Error {
	bad := func(want string) *Error {
		return Configf("%s: %s is not allowed; give %s", key, cut(string(raw), 60), want)
	}
	p := protocols[protocolID]
	if key != "reasoningEffort" && key != "extraBody" && !slices.Contains(p.options, key) {
		return nil
	}
	switch key {
	case "reasoningEffort":
		var s string
		if json.Unmarshal(raw, &s) != nil || !slices.Contains(effortWords, s) {
			return bad("one of " + strings.Join(effortWords, ", "))
		}
	case "reasoningSummary", "user", "cachedContent":
		var s string
		if json.Unmarshal(raw, &s) != nil || s == "" {
			return bad("a text")
		}
	case "parallelToolCalls", "store", "promptCacheKey", "lateSystemAsUser":
		var b bool
		if json.Unmarshal(raw, &b) != nil || isNull(raw) {
			return bad("true or false")
		}
	case "seed":
		var n int64
		if json.Unmarshal(raw, &n) != nil || isNull(raw) {
			return bad("an integer")
		}
	case "extraBody":
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil || m == nil {
			return bad("a table")
		}
	case "thinking":
		return checkThinking(raw, bad)
	case "thinkingConfig":
		return checkThinkingConfig(raw, bad)
	}
	return nil
}

func checkThinking(raw json.RawMessage, bad func(string) *Error) *Error {
	var t struct {
		Type         string `json:"type"`
		BudgetTokens *int   `json:"budgetTokens"`
	}
	if json.Unmarshal(raw, &t) != nil || !slices.Contains([]string{"enabled", "disabled", "adaptive"}, t.Type) {
		return bad(`{type = "enabled", budgetTokens = n}`)
	}
	if t.BudgetTokens != nil && *t.BudgetTokens <= 0 {
		return bad("a positive budgetTokens")
	}
	return nil
}

func checkThinkingConfig(raw json.RawMessage, bad func(string) *Error) *Error {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return bad("a table with thinkingBudget or thinkingLevel")
	}
	if m["thinkingBudget"] != nil && m["thinkingLevel"] != nil {
		return bad("thinkingBudget or thinkingLevel, not both")
	}
	var n int
	if v := m["thinkingBudget"]; v != nil && json.Unmarshal(v, &n) != nil {
		return bad("an integer thinkingBudget")
	}
	var s string
	if v := m["thinkingLevel"]; v != nil && json.Unmarshal(v, &s) != nil {
		return bad("a text as thinkingLevel")
	}
	var b bool
	if v := m["includeThoughts"]; v != nil && json.Unmarshal(v, &b) != nil {
		return bad("true or false as includeThoughts")
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// cut shortens a text to n bytes for a message.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
