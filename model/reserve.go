package model

// ResponseReserve is the automatic output budget: 16,384, capped by the
// model's limit and half its window (spec 04 §4.5).
func ResponseReserve(contextWindow, maxOutputTokens int) int {
	reserve := 16_384
	if maxOutputTokens > 0 {
		reserve = min(reserve, maxOutputTokens)
	}
	if contextWindow > 0 {
		reserve = min(reserve, contextWindow/2)
	}
	return reserve
}

// UnknownWindow is the context window that counts where none is known.
const UnknownWindow = 262_144

func (b *bound) window() int { return firstNumber(b.model.ContextWindow, UnknownWindow) }
