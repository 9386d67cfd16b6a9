package model

import (
	"context"
	"slices"
)

// Caller is the gateway as its users see it: one logical call on one slot,
// with the slot's fallback chain, retries and budget behind it (spec 04 §6).
type Caller interface {
	// Call sends params on the named slot. Deltas are given to onDelta while
	// the reply arrives; nil means not streamed. Failures are *Error.
	Call(ctx context.Context, slot string, params Params, onDelta func(Delta)) (*Result, error)
	// Resolve says what a slot name stands for right now.
	Resolve(slot string) (Target, error)
}

// Target is a resolved slot: where a call goes and what its model can do
// (spec 04 §3, §4).
type Target struct {
	Slot            string   `json:"slot"`
	Provider        string   `json:"provider"`
	Protocol        string   `json:"protocol"`
	Model           string   `json:"model"`
	BaseURL         string   `json:"baseUrl,omitempty"`
	ContextWindow   int      `json:"contextWindow,omitempty"`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty"`
	Tokenizer       string   `json:"tokenizer"`
	Input           []string `json:"input,omitempty"`
	Pricing         *Pricing `json:"pricing,omitempty"`
	CacheStrategy   string   `json:"cacheStrategy,omitempty"`
}

// AcceptsImages says whether the target is known to accept images.
func (t Target) AcceptsImages() bool {
	return slices.Contains(t.Input, "image")
}

// Pricing is USD per million tokens (spec 04 §3.2); nil members are unknown.
type Pricing struct {
	InputPerMToken       *float64 `json:"inputPerMToken,omitempty" toml:"inputPerMToken"`
	OutputPerMToken      *float64 `json:"outputPerMToken,omitempty" toml:"outputPerMToken"`
	CacheReadPerMToken   *float64 `json:"cacheReadPerMToken,omitempty" toml:"cacheReadPerMToken"`
	CacheWritePerMToken  *float64 `json:"cacheWritePerMToken,omitempty" toml:"cacheWritePerMToken"`
	ImageInputPerMToken  *float64 `json:"imageInputPerMToken,omitempty" toml:"imageInputPerMToken"`
	AudioInputPerMToken  *float64 `json:"audioInputPerMToken,omitempty" toml:"audioInputPerMToken"`
	AudioOutputPerMToken *float64 `json:"audioOutputPerMToken,omitempty" toml:"audioOutputPerMToken"`
	PerImage             *float64 `json:"perImage,omitempty" toml:"perImage"`
}
