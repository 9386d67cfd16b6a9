package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// split cuts a JSON object into pieces that join puts together again, byte for
// byte. Each element of an array member is a piece of its own, so that a
// request that grew by a message shares every other piece. Between objects the
// comma is left out: a message is the same piece wherever it stands. What is no
// object, or is cut off, is one piece. Bodies come from an encoder, so the cut
// looks at brackets and strings only.
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
				if i+1 < len(body) && body[i-1] == '}' && body[i+1] == '{' {
					from++
				}
			}
		}
	}
	if len(open) > 0 {
		return whole(body)
	}
	cut(len(body))
	return pieces
}

// join puts the pieces of a body together: a comma stands between two objects.
func join(pieces [][]byte) []byte {
	size := len(pieces)
	for _, p := range pieces {
		size += len(p)
	}
	body := make([]byte, 0, size)
	for _, p := range pieces {
		if n := len(body); n > 0 && body[n-1] == '}' && len(p) > 0 && p[0] == '{' {
			body = append(body, ',')
		}
		body = append(body, p...)
	}
	return body
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

// run is a stretch of a list: where it starts in the base's list and how many
// pieces it has. A negative start takes them from the new ones.
type run [2]int

// difference writes a list as runs of the base's list and of fresh pieces. A
// request changes in several places: its system prompt, its last messages.
func difference(base, list []string) (runs []run, fresh []string) {
	keep, tail, limit := 0, 0, min(len(base), len(list))
	for keep < limit && base[keep] == list[keep] {
		keep++
	}
	for tail < limit-keep && base[len(base)-1-tail] == list[len(list)-1-tail] {
		tail++
	}
	if keep > 0 {
		runs = append(runs, run{0, keep})
	}
	places := make(map[string]int, len(base)-tail-keep)
	for i := len(base) - tail - 1; i >= keep; i-- {
		places[base[i]] = i
	}
	for _, h := range list[keep : len(list)-tail] {
		from, known := places[h]
		if !known {
			from, fresh = -1, append(fresh, h)
		}
		runs = extend(runs, from)
	}
	if tail > 0 {
		runs = append(runs, run{len(base) - tail, tail})
	}
	return runs, fresh
}

// extend adds one piece to the last run when it goes on there, else as a new one.
func extend(runs []run, from int) []run {
	if n := len(runs); n > 0 {
		last := &runs[n-1]
		if from < 0 && last[0] < 0 || from >= 0 && last[0] >= 0 && from == last[0]+last[1] {
			last[1]++
			return runs
		}
	}
	return append(runs, run{from, 1})
}

// assemble gives the list that difference wrote.
func assemble(base []string, runs []run, fresh []string) ([]string, error) {
	var list []string
	for _, r := range runs {
		from, n, source := r[0], r[1], base
		if from < 0 {
			from, source = 0, fresh
		}
		if n < 0 || from+n > len(source) {
			return nil, fmt.Errorf("takes parts %d to %d of %d", from, from+n, len(source))
		}
		list = append(list, source[from:from+n]...)
		if r[0] < 0 {
			fresh = fresh[n:]
		}
	}
	return list, nil
}
