package model

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxCount is the largest counter, 2^53-1.
const maxCount = 1<<53 - 1

// Count reads a provider's counter: an integer from 0 to 2^53-1, a numeric
// string included; nil for anything else (spec 04 §15.1).
func Count(raw json.RawMessage) *int64 {
	text := strings.Trim(string(raw), `"`)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != math.Trunc(f) || f < 0 || f > maxCount {
			return nil
		}
		n = int64(f)
	}
	if n < 0 || n > maxCount {
		return nil
	}
	return &n
}

// CountOrZero reads a required counter; a bad one is 0.
func CountOrZero(raw json.RawMessage) int64 {
	if n := Count(raw); n != nil {
		return *n
	}
	return 0
}

// AddCounts sums counters, saturating at 2^53-1.
func AddCounts(counts ...int64) int64 {
	sum := int64(0)
	for _, n := range counts {
		sum = min(sum+n, maxCount)
	}
	return sum
}

// Clamped keeps cached within input and writes within what is left of it.
func (u Usage) Clamped() Usage {
	left := u.InputTokens
	if u.CachedInputTokens != nil {
		v := min(*u.CachedInputTokens, left)
		u.CachedInputTokens = &v
		left -= v
	}
	if u.CacheWriteInputTokens != nil {
		v := min(*u.CacheWriteInputTokens, left)
		u.CacheWriteInputTokens = &v
	}
	return u
}

// Cost prices a usage in USD, nil when the input or output price is unknown. A
// missing cache price is the input price (spec 04 §15.2).
func Cost(u Usage, p *Pricing) *float64 {
	if p == nil || p.InputPerMToken == nil || p.OutputPerMToken == nil {
		return nil
	}
	price := func(own *float64) float64 {
		if own == nil {
			return *p.InputPerMToken
		}
		return *own
	}
	var cached, write int64
	if u.CachedInputTokens != nil {
		cached = *u.CachedInputTokens
	}
	if u.CacheWriteInputTokens != nil {
		write = *u.CacheWriteInputTokens
	}
	usd := (float64(u.InputTokens-cached-write)**p.InputPerMToken + float64(cached)*price(p.CacheReadPerMToken) +
		float64(write)*price(p.CacheWritePerMToken) + float64(u.OutputTokens)**p.OutputPerMToken) / 1e6
	return &usd
}

// usageOf reads the usage that a failure carries in its details.
func usageOf(e *Error) *Usage {
	raw, ok := e.Details["usage"]
	if !ok {
		return nil
	}
	var u Usage
	if json.Unmarshal(raw, &u) != nil {
		return nil
	}
	return &u
}
