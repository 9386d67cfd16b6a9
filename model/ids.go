package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

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
