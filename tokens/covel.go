package tokens

import "unicode/utf8"

// Covel is the built-in estimator: one token per rune in U+2E80–9FFF,
// U+AC00–D7AF, U+F900–FAFF and U+FF00–FFEF, plus ceil(n/4) for the n other
// runes (spec 01 §15.2). Its zero value is ready to use.
type Covel struct{}

// Name is "covel".
func (Covel) Name() string { return NameCovel }

// Count costs the text in one pass without allocating. A byte that is no valid
// UTF-8 counts as one other rune.
func (Covel) Count(text string) int {
	wide, other := runes(text)
	return wide + (other+3)/4
}

// Runes gives the two numbers that Count is made of: CJK runes, which cost one
// token each, and other runes, of which four cost one. A caller that adds up
// pieces of a text keeps these instead of rounding every piece.
func (Covel) Runes(text string) (wide, other int) { return runes(text) }

// Cost turns numbers of Runes into tokens.
func (Covel) Cost(wide, other int) int { return wide + (other+3)/4 }

func runes(s string) (wide, other int) {
	i := 0
	for i < len(s) {
		// Eight ASCII bytes at a time: the compiler joins the loads.
		for i+8 <= len(s) {
			t := s[i : i+8]
			w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
				uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
			if w&0x8080808080808080 != 0 {
				break
			}
			i += 8
			other += 8
		}
		for i < len(s) && s[i] < utf8.RuneSelf {
			i++
			other++
		}
		for i < len(s) && s[i] >= utf8.RuneSelf {
			if i+3 <= len(s) {
				// Three valid bytes of U+3000–9FFF, the bulk of CJK text.
				if b := s[i]; b >= 0xE3 && b <= 0xE9 && s[i+1]&0xC0 == 0x80 && s[i+2]&0xC0 == 0x80 {
					wide++
					i += 3
					continue
				}
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if Wide(r) {
				wide++
			} else {
				other++
			}
		}
	}
	return wide, other
}

// Wide says whether the rune costs a whole token.
func Wide(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7AF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFFEF:
		return true
	default:
		return false
	}
}
