package model

import (
	"os"
	"slices"
	"strings"
)

// KeyVariable is the environment variable of a provider's key: MY_RELAY_API_KEY
// for my-relay (spec 04 §18).
func KeyVariable(provider string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, strings.ToUpper(provider))
	return name + "_API_KEY"
}

// EnvironmentKeys reads a provider's key from the environment; for google,
// GEMINI_API_KEY stands in for an absent GOOGLE_API_KEY. It is the default of
// Config.Keys.
func EnvironmentKeys(provider string) (string, error) {
	return KeysFrom(os.Getenv)(provider)
}

// KeysFrom reads keys as EnvironmentKeys does, from another environment.
func KeysFrom(getenv func(string) string) func(provider string) (string, error) {
	return func(provider string) (string, error) {
		key := getenv(KeyVariable(provider))
		if key == "" && provider == "google" {
			key = getenv("GEMINI_API_KEY")
		}
		return key, nil
	}
}

// key finds the key to send to a target. A key that belongs to a provider goes
// only to its own origins: the built-in one and those of its baseUrls in
// llm.toml; elsewhere the request goes out without it, and without the slot's
// headers (spec 04 §18). own is false then.
func (g *Gateway) key(b *bound) (key string, own bool, err *Error) {
	own = g.ownOrigin(b)
	if ref := b.binding.KeyRef; ref != "" {
		key, failed := g.config.Keys(ref)
		if failed != nil || key == "" {
			return "", own, &Error{Code: CodeConfig, Provider: b.target.Provider, Message: "key reference " + ref + ": the key provider gives no key", Err: failed}
		}
		return key, own, nil
	}
	if b.protocol.keyless || builtins[b.target.Provider].keyless || !own {
		return "", own, nil
	}
	key, failed := g.config.Keys(b.target.Provider)
	if failed != nil || key == "" {
		variable := KeyVariable(b.target.Provider)
		return "", own, &Error{
			Code: CodeConfig, Provider: b.target.Provider, Model: b.target.Model, Err: failed,
			Message: "slot " + b.target.Slot + ": provider " + b.target.Provider + " has no key; set " + variable,
		}
	}
	return key, own, nil
}

func (g *Gateway) ownOrigin(b *bound) bool {
	origins := []string{origin(builtins[b.target.Provider].baseURL)}
	for _, u := range g.config.Slots.baseURLs(b.target.Provider) {
		origins = append(origins, origin(u))
	}
	for _, p := range g.config.Presets {
		if p.Provider == b.target.Provider && p.BaseURL != "" {
			origins = append(origins, origin(p.BaseURL))
		}
	}
	return slices.Contains(origins, origin(b.target.BaseURL))
}

// redact takes a key out of a text.
func redact(text, key string) string {
	if len(key) < 4 {
		return text
	}
	return strings.ReplaceAll(text, key, "[redacted]")
}
