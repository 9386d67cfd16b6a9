package model

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
