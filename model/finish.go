package model

import "strings"

var finishWords = map[string]string{
	"stop": FinishStop, "end_turn": FinishStop, "stop_sequence": FinishStop, "complete": FinishStop,
	"completed": FinishStop, "": FinishStop,
	"length": FinishLength, "max_tokens": FinishLength, "max_output_tokens": FinishLength,
	"model_context_window_exceeded": FinishLength,
	"tool_calls":                    FinishToolCalls, "tool_call": FinishToolCalls, "tool_use": FinishToolCalls,
	"function_call":  FinishToolCalls,
	"content_filter": FinishContentFilter, "refusal": FinishContentFilter, "safety": FinishContentFilter,
	"recitation": FinishContentFilter, "blocklist": FinishContentFilter, "prohibited_content": FinishContentFilter,
	"error": FinishError,
}

// FinishReason maps a provider's word to the inner one (spec 04 §15.3).
func FinishReason(raw string) string {
	word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(raw)), "-", "_")
	if reason, ok := finishWords[word]; ok {
		return reason
	}
	return FinishOther
}
