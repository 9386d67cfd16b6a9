package model

import (
	"slices"
	"strings"
)

// families are the model families of spec 04 §10.3.
var families = []string{"deepseek", "anthropic", "google", "xai", "qwen", "openai", "compatible"}

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
