package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// split cuts a JSON object into pieces whose concatenation is the object, byte
// for byte. Each element of an array member is a piece of its own (with the
// comma before it), so that a request that grew by a message shares every
// other piece. What is no object, or is cut off, is one piece. Bodies come from
// an encoder, so the cut looks at brackets and strings only.
func split(body []byte) [][]byte {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte{'{'}) {
		return whole(body)
	}
	var pieces [][]byte
	var open []byte // the brackets around the current place
	from := 0
	cut := func(to int) {
		if to > from {
			pieces = append(pieces, body[from:to])
			from = to
		}
	}
	for i := 0; i < len(body); i++ {
		inList := len(open) == 2 && open[1] == '['
		switch body[i] {
		case '"':
			end := stringEnd(body, i)
			if end < 0 {
				return whole(body)
			}
			i = end
		case '{', '[':
			open = append(open, body[i])
			if len(open) == 2 && body[i] == '[' {
				cut(i + 1)
			}
		case '}', ']':
			if inList {
				cut(i)
			}
			if len(open) == 0 {
				return whole(body)
			}
			open = open[:len(open)-1]
		case ',':
			if inList {
				cut(i)
			}
		}
	}
	if len(open) > 0 {
		return whole(body)
	}
	cut(len(body))
	return pieces
}

// stringEnd gives the offset of the quote that ends the string which begins at
// an offset, below 0 for none.
func stringEnd(body []byte, at int) int {
	for end := at + 1; ; end++ {
		next := bytes.IndexByte(body[end:], '"')
		if next < 0 {
			return -1
		}
		end += next
		escapes := 0
		for body[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
	}
}

func whole(body []byte) [][]byte {
	if len(body) == 0 {
		return nil
	}
	return [][]byte{body}
}

// hashOf is how blobs are named: SHA-256 in lower-case hex (spec 02 §14).
func hashOf(piece []byte) string {
	sum := sha256.Sum256(piece)
	return hex.EncodeToString(sum[:])
}

// difference says how many leading and trailing pieces of base are the leading
// and trailing pieces of list, without overlap.
func difference(base, list []string) (keep, tail int) {
	limit := min(len(base), len(list))
	for keep < limit && base[keep] == list[keep] {
		keep++
	}
	for tail < limit-keep && base[len(base)-1-tail] == list[len(list)-1-tail] {
		tail++
	}
	return keep, tail
}
