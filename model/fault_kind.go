package model

import (
	"slices"
	"strings"
)

// Kind is what a provider's error words mean (spec 04 §6.6).
type Kind string

// Kinds of provider faults.
const (
	KindNone           Kind = ""
	KindRefusal        Kind = "refusal"
	KindQuota          Kind = "quota"
	KindAuth           Kind = "auth"
	KindNotFound       Kind = "not_found"
	KindInvalidRequest Kind = "invalid_request"
)

var exactKinds = map[Kind][]string{
	KindRefusal:  {"content_filter", "content_policy_violation"},
	KindQuota:    {"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"},
	KindAuth:     {"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "unauthenticated"},
	KindNotFound: {"not_found_error", "model_not_found", "not_found"},
	KindInvalidRequest: {
		"invalid_request_error", "invalid_argument", "invalid_prompt", "context_length_exceeded", "request_too_large",
	},
}

var fragmentKinds = []struct {
	kind      Kind
	fragments []string
}{
	{KindRefusal, []string{"content_filter", "content_policy", "safety", "refusal"}},
	{KindQuota, []string{"insufficient_quota", "insufficient_balance", "billing"}},
	{KindAuth, []string{"authentication", "permission"}},
	{KindNotFound, []string{"not_found"}},
	{KindInvalidRequest, []string{"invalid_request", "context_length", "token_limit"}},
}

// FaultKind reads a provider's code and type: the code exactly, then by
// fragment; then the type likewise.
func FaultKind(code, typ string) Kind {
	for _, word := range []string{strings.ToLower(code), strings.ToLower(typ)} {
		if word == "" {
			continue
		}
		for kind, words := range exactKinds {
			if slices.Contains(words, word) {
				return kind
			}
		}
		for _, f := range fragmentKinds {
			if slices.ContainsFunc(f.fragments, func(s string) bool { return strings.Contains(word, s) }) {
				return f.kind
			}
		}
	}
	return KindNone
}
