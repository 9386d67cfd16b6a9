package assembler

import (
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
)

// lookup reads a variable; false is a missing one.
type lookup func(path []string) (ordered.Value, bool)

// Interpolate replaces the placeholders {{ path }} of a body, once (spec 01
// §6): inserted text is never scanned again. Inside a tag block values are
// escaped, elsewhere they stand raw. Missing and null values are empty text.
func Interpolate(body string, vars ordered.Value) string {
	return interpolate(body, func(path []string) (ordered.Value, bool) { return walk(vars, path) })
}

func interpolate(body string, read lookup) string {
	if !strings.Contains(body, "{{") {
		return body
	}
	blocks := tagBlocks(body)
	var out strings.Builder
	done := 0
	for {
		start, end := nextPlaceholder(body, done)
		if start < 0 {
			break
		}
		out.WriteString(body[done:start])
		done = end
		path := strings.Split(strings.TrimSpace(body[start+2:end-2]), ".")
		v, ok := read(path)
		if !ok {
			continue
		}
		for len(blocks) > 0 && blocks[0].to <= start {
			blocks = blocks[1:]
		}
		text := render(v)
		if len(blocks) > 0 && blocks[0].from <= start {
			text = Escape(text)
		}
		out.WriteString(text)
	}
	out.WriteString(body[done:])
	return out.String()
}

// nextPlaceholder finds the next {{…}} from at on: its first byte and the byte
// after it, or -1. The inside has at least one character and no "}".
func nextPlaceholder(body string, at int) (start, end int) {
	for {
		i := strings.Index(body[at:], "{{")
		if i < 0 {
			return -1, -1
		}
		start = at + i
		j := strings.IndexByte(body[start:], '}')
		if j < 0 {
			return -1, -1
		}
		end = start + j
		if end > start+2 && strings.HasPrefix(body[end:], "}}") {
			return start, end + 2
		}
		// No later "{{" before this "}" can match either.
		at = end + 1
	}
}

// walk follows a path through maps, lists and the length of lists.
func walk(v ordered.Value, path []string) (ordered.Value, bool) {
	for _, step := range path {
		switch v.Kind {
		case ordered.Object:
			m, ok := v.Get(step)
			if !ok {
				return ordered.Value{}, false
			}
			v = m
		case ordered.Array:
			if step == "length" {
				v = ordered.Int(len(v.Items))
				continue
			}
			i, ok := index(step)
			if !ok || i >= len(v.Items) {
				return ordered.Value{}, false
			}
			v = v.Items[i]
		default:
			return ordered.Value{}, false
		}
	}
	return v, true
}

// index reads a decimal index without sign or leading zero.
func index(s string) (int, bool) {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// render writes a value as a placeholder shows it (spec 01 §6.3).
func render(v ordered.Value) string {
	switch v.Kind {
	case ordered.Null:
		return ""
	case ordered.Object, ordered.Array:
		return project(v).JSON()
	default:
		return v.Text
	}
}

type span struct{ from, to int }

// tagBlocks finds the tag blocks of a body (spec 01 §6.4): from a line that
// starts with <name> to the next </name>, or to the end.
func tagBlocks(body string) []span {
	var blocks []span
	for at := 0; at < len(body); {
		if name := openingTag(body[at:]); name != "" {
			inside := at + len(name) + 2
			to := len(body)
			if i := strings.Index(body[inside:], "</"+name+">"); i >= 0 {
				to = inside + i
			}
			blocks = append(blocks, span{at, to})
			at = to
		}
		next := strings.IndexByte(body[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return blocks
}

// openingTag gives the name of the tag <name> that a line starts with.
func openingTag(line string) string {
	if len(line) < 3 || line[0] != '<' {
		return ""
	}
	n := nameLen(line[1:])
	if n == 0 || !strings.HasPrefix(line[1+n:], ">") {
		return ""
	}
	return line[1 : 1+n]
}
