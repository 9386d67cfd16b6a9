package ordered

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that hostile data cannot exhaust the stack.
const maxDepth = 1000

// SyntaxError is a text that is no JSON value.
type SyntaxError struct {
	Offset int
	Reason string
}

// Error names the byte offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("no JSON value: %s at byte %d", e.Reason, e.Offset)
}

// Parse reads one JSON value. Of a repeated key the last value counts, at the
// place of the first. Invalid UTF-8 and lone surrogates become U+FFFD.
func Parse(raw []byte) (Value, error) { return ParseString(string(raw)) }

// ParseString is Parse for text. Parts of the text are shared, not copied.
func ParseString(s string) (Value, error) {
	p := parser{s: s}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.i != len(p.s) {
		return Value{}, p.fail("text after the value")
	}
	return v, nil
}

type parser struct {
	s string
	i int
}

func (p *parser) fail(reason string) error { return &SyntaxError{Offset: p.i, Reason: reason} }

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, p.fail("too deep nesting")
	}
	if p.i >= len(p.s) {
		return Value{}, p.fail("end of text")
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return Value{Kind: String, Text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		for _, w := range []Value{{}, {Kind: Bool, Text: "true"}, {Kind: Bool, Text: "false"}} {
			word := w.Text
			if w.Kind == Null {
				word = "null"
			}
			if strings.HasPrefix(p.s[p.i:], word) {
				p.i += len(word)
				return w, nil
			}
		}
		return Value{}, p.fail("unexpected character")
	}
}

func (p *parser) object(depth int) (Value, error) {
	p.i++
	v := Value{Kind: Object}
	var seen map[string]int // only for large objects; small ones are scanned
	for p.space(); ; p.space() {
		if p.i < len(p.s) && p.s[p.i] == '}' && len(v.Members) == 0 {
			p.i++
			return v, nil
		}
		if p.i >= len(p.s) || p.s[p.i] != '"' {
			return Value{}, p.fail("no member name")
		}
		key, err := p.str()
		if err != nil {
			return Value{}, err
		}
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != ':' {
			return Value{}, p.fail("no colon")
		}
		p.i++
		p.space()
		member, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		at := -1
		if seen == nil && len(v.Members) == 16 {
			seen = make(map[string]int, 64)
			for i := range v.Members {
				seen[v.Members[i].Key] = i
			}
		}
		if seen != nil {
			if i, ok := seen[key]; ok {
				at = i
			} else {
				seen[key] = len(v.Members)
			}
		} else {
			for i := range v.Members {
				if v.Members[i].Key == key {
					at = i
				}
			}
		}
		if at >= 0 {
			v.Members[at].Value = member
		} else {
			v.Members = append(v.Members, Member{key, member})
		}
		p.space()
		switch {
		case p.i < len(p.s) && p.s[p.i] == ',':
			p.i++
		case p.i < len(p.s) && p.s[p.i] == '}':
			p.i++
			return v, nil
		default:
			return Value{}, p.fail("no end of object")
		}
	}
}

func (p *parser) array(depth int) (Value, error) {
	p.i++
	v := Value{Kind: Array}
	for p.space(); ; p.space() {
		if p.i < len(p.s) && p.s[p.i] == ']' && len(v.Items) == 0 {
			p.i++
			return v, nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, item)
		p.space()
		switch {
		case p.i < len(p.s) && p.s[p.i] == ',':
			p.i++
		case p.i < len(p.s) && p.s[p.i] == ']':
			p.i++
			return v, nil
		default:
			return Value{}, p.fail("no end of array")
		}
	}
}

func (p *parser) str() (string, error) {
	p.i++
	start := p.i
	for p.i < len(p.s) {
		for p.i+8 <= len(p.s) && plain(p.s[p.i:p.i+8]) {
			p.i += 8
		}
		if p.i == len(p.s) {
			break
		}
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			return valid(s), nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.fail("control character in a string")
		default:
			p.i++
		}
	}
	return "", p.fail("no end of string")
}

// plain says whether eight bytes hold no quote, backslash or control character.
// It may say no for nothing, never yes: x-0x01… sets the high bit of a byte that
// was zero.
func plain(t string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
	quote, slash := w^('"'*ones), w^('\\'*ones)
	return ((w-0x20*ones)&^w|(quote-ones)&^quote|(slash-ones)&^slash)&high == 0
}

// valid asks first, because most text is valid and asking is ten times faster.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

func (p *parser) escaped(start int) (string, error) {
	b := []byte(p.s[start:p.i])
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '"':
			p.i++
			return valid(string(b)), nil
		case c < 0x20:
			return "", p.fail("control character in a string")
		case c != '\\':
			b = append(b, c)
			p.i++
			continue
		}
		if p.i+1 >= len(p.s) {
			break
		}
		p.i += 2
		switch e := p.s[p.i-1]; e {
		case '"', '\\', '/':
			b = append(b, e)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, ok := p.hex(p.i)
			if !ok {
				return "", p.fail("bad \\u escape")
			}
			p.i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if strings.HasPrefix(p.s[p.i:], `\u`) {
					low, ok = p.hex(p.i + 2)
				}
				if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
					r = pair
					p.i += 6
				} else {
					r = utf8.RuneError
				}
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", p.fail("bad escape")
		}
	}
	return "", p.fail("no end of string")
}

func (p *parser) hex(at int) (rune, bool) {
	if at+4 > len(p.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[at:at+4], 16, 32)
	return rune(n), err == nil && p.s[at] != '+' && p.s[at] != '-'
}

func (p *parser) number() (Value, error) {
	start := p.i
	digits := func() int {
		n := 0
		for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
			p.i++
			n++
		}
		return n
	}
	if p.s[p.i] == '-' {
		p.i++
	}
	first := p.i
	if n := digits(); n == 0 || n > 1 && p.s[first] == '0' {
		return Value{}, p.fail("bad number")
	}
	plain := true
	if p.i < len(p.s) && p.s[p.i] == '.' {
		plain = false
		p.i++
		if digits() == 0 {
			return Value{}, p.fail("bad number")
		}
	}
	if p.i < len(p.s) && (p.s[p.i] == 'e' || p.s[p.i] == 'E') {
		plain = false
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if digits() == 0 {
			return Value{}, p.fail("bad number")
		}
	}
	text := p.s[start:p.i]
	if plain {
		if text == "-0" {
			text = "0"
		}
		return Value{Kind: Number, Text: text}, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Value{}, p.fail("number out of range")
	}
	return Float(f), nil
}
