package assembler

import (
	"strings"
	"unicode"
)

// Sentinel marks a cache border in a system prompt (spec 01 §16). Only the
// assembler inserts it; no message holds one.
const Sentinel = "\ue000COVEL_CACHE_BREAK\ue000"

// maxSentinels is how many cache borders one system prompt may have.
const maxSentinels = 4

// StripSentinels removes every sentinel, also one that removing another would
// put together.
func StripSentinels(text string) string {
	if !strings.Contains(text, Sentinel) {
		return text
	}
	return string(stripAfter(text, 0))
}

// CapSentinels keeps the first four sentinels of a system prompt.
func CapSentinels(system string) string {
	if strings.Count(system, Sentinel) <= maxSentinels {
		return system
	}
	return string(stripAfter(system, maxSentinels))
}

func stripAfter(text string, keep int) []byte {
	last := Sentinel[len(Sentinel)-1]
	out := make([]byte, 0, len(text))
	floor := 0 // bytes before floor are kept sentinels and what stands before them
	for i := range len(text) {
		out = append(out, text[i])
		if text[i] != last || len(out)-floor < len(Sentinel) || string(out[len(out)-len(Sentinel):]) != Sentinel {
			continue
		}
		if keep > 0 {
			keep--
			floor = len(out)
			continue
		}
		out = out[:len(out)-len(Sentinel)]
	}
	return out
}

// SplitSentinels cuts a system prompt at its sentinels, trims the end of each
// piece and drops empty pieces; the tail keeps its leading blank line. Text
// without a sentinel is one piece, empty text none.
func SplitSentinels(system string) []string {
	var pieces []string
	for piece := range strings.SplitSeq(system, Sentinel) {
		if piece = strings.TrimRightFunc(piece, unicode.IsSpace); piece != "" {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}
