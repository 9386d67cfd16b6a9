package activities

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/google/uuid"
)

// resultID is a UUID that follows from a key: the same on every worker and
// attempt. It is for code only and never shown to a model.
func resultID(key string) string {
	return uuid.NewSHA1(uuid.Nil, []byte("covel\x00"+key)).String()
}

// cacheKey is the prompt cache key of one runtime of one session (spec 04 §13.4).
func cacheKey(sessionID, runtimeID string) string {
	sum := sha256.Sum256([]byte(sessionID + "\n" + runtimeID))
	return "covel-" + hex.EncodeToString(sum[:])[:32]
}

// maxErrorText bounds error texts of results, in bytes.
const maxErrorText = 512

// clip cuts a text to maxErrorText bytes at a rune boundary.
func clip(s string) string {
	if len(s) <= maxErrorText {
		return s
	}
	end := maxErrorText - len("…")
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end] + "…"
}
