package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// split cuts a JSON object into pieces whose concatenation is the object, byte
// for byte. Each element of an array member is a piece of its own (with the
// comma before it), so that a request that grew by a message shares every
// other piece. What is no object is one piece.
func split(body []byte) [][]byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return whole(body)
	}
	var pieces [][]byte
	from := 0
	cut := func(to int) {
		if to > from {
			pieces = append(pieces, body[from:to])
			from = to
		}
	}
	for dec.More() {
		if _, err := dec.Token(); err != nil { // the member's name
			return whole(body)
		}
		value := skipColon(body, int(dec.InputOffset()))
		if value < len(body) && body[value] == '[' {
			if _, err := dec.Token(); err != nil {
				return whole(body)
			}
			cut(int(dec.InputOffset()))
			for dec.More() {
				var element json.RawMessage
				if dec.Decode(&element) != nil {
					return whole(body)
				}
				cut(int(dec.InputOffset()))
			}
			if _, err := dec.Token(); err != nil {
				return whole(body)
			}
			continue
		}
		var member json.RawMessage
		if dec.Decode(&member) != nil {
			return whole(body)
		}
	}
	cut(len(body))
	return pieces
}

func whole(body []byte) [][]byte {
	if len(body) == 0 {
		return nil
	}
	return [][]byte{body}
}

// skipColon gives the offset of the value after a member's name.
func skipColon(body []byte, at int) int {
	for at < len(body) {
		switch body[at] {
		case ':', ' ', '\t', '\n', '\r':
			at++
		default:
			return at
		}
	}
	return at
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
