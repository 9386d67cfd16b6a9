package main

import (
	"path/filepath"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

// promptTargets tells what the models of recorded calls can do. The slots of
// today come first where they still name the recorded model, then the table.
type promptTargets struct {
	slots model.Caller // nil: the slots are unreadable
	table *model.Table
}

// openTargets reads slots and model table. Reading an old game must not fail
// because today's llm.toml is broken.
func openTargets(set *settings) (promptTargets, error) {
	table, err := model.LoadTable(filepath.Join(filepath.Dir(set.llm), "models.toml"))
	if err != nil {
		return promptTargets{}, err
	}
	t := promptTargets{table: table}
	if gateway, _, err := providers.New(providers.Config{LLMPath: set.llm}); err == nil {
		t.slots = gateway
	}
	return t, nil
}

// of gives the estimator and the input limit of a recorded call's model.
func (t promptTargets) of(slot, provider, id string) (tokens.Estimator, int, error) {
	window, output, name := 0, 0, ""
	if t.slots != nil {
		if target, err := t.slots.Resolve(slot); err == nil && target.Model == id && target.Provider == provider {
			window, output, name = target.ContextWindow, target.MaxOutputTokens, target.Tokenizer
		}
	}
	if m, ok := t.table.Lookup(provider, id); ok && window == 0 {
		window, output = m.ContextWindow, m.MaxOutputTokens
	}
	if window == 0 {
		window = model.UnknownWindow
	}
	estimator, err := tokens.New(name)
	return estimator, window - model.ResponseReserve(window, output), err
}

// price gives the known prices of a model's input. Without a price of its own
// cached input costs the model's share of the full price.
func (t promptTargets) price(provider, id string) (trace.Price, bool) {
	m, ok := t.table.Lookup(provider, id)
	if !ok || m.Pricing == nil || m.Pricing.InputPerMToken == nil {
		return trace.Price{}, false
	}
	p := trace.Price{Input: *m.Pricing.InputPerMToken, Cached: *m.Pricing.InputPerMToken}
	switch {
	case m.Pricing.CacheReadPerMToken != nil:
		p.Cached = *m.Pricing.CacheReadPerMToken
	case m.CacheReadShare > 0:
		p.Cached = p.Input * m.CacheReadShare
	}
	return p, true
}
