package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// EstimateTokens counts a text as the built-in estimator does (spec 01 §15.2):
// one token per rune of the CJK ranges, one per four other runes.
func EstimateTokens(text string) int {
	wide, narrow := 0, 0
	for _, r := range text {
		switch {
		case r >= 0x2E80 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7AF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFFEF:
			wide++
		default:
			narrow++
		}
	}
	return wide + (narrow+3)/4
}

// CallID names a tool call that the provider left without an id: call_ and the
// first 24 hex digits of SHA-256 over the exact request body, a newline and the
// call's index (spec 04 §12.1).
func CallID(body []byte, index int) string {
	h := sha256.New()
	h.Write(body)
	h.Write([]byte("\n" + strconv.Itoa(index)))
	return "call_" + hex.EncodeToString(h.Sum(nil))[:24]
}

// PromptCacheKey is the cache key of a session's runtime: covel- and the first
// 32 hex digits of SHA-256 over both ids (spec 04 §13.4).
func PromptCacheKey(sessionID, runtimeID string) string {
	sum := sha256.Sum256([]byte(sessionID + "\n" + runtimeID))
	return "covel-" + hex.EncodeToString(sum[:16])
}
