package ordered

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Float makes a number: an integer as plain digits, another number in the
// shortest form that reads back equal.
func Float(f float64) Value {
	if f == 0 {
		return Value{Kind: Number, Text: "0"}
	}
	format := byte('f')
	if a := math.Abs(f); f != math.Trunc(f) && a < 1e-6 {
		format = 'e'
	}
	text := strconv.FormatFloat(f, format, -1, 64)
	if format == 'e' { // 1e-07 reads 1e-7
		if n := len(text); n >= 4 && text[n-4] == 'e' && text[n-2] == '0' {
			text = text[:n-2] + text[n-1:]
		}
	}
	return Value{Kind: Number, Text: text}
}

// JSON is the value as model JSON: compact, members in order, `<`, `>` and `&`
// as they are.
func (v Value) JSON() string { return string(v.Append(nil)) }

// Append appends the value's model JSON.
func (v Value) Append(b []byte) []byte {
	switch v.Kind {
	case Null:
		return append(b, "null"...)
	case Bool, Number:
		return append(b, v.Text...)
	case String:
		return AppendString(b, v.Text)
	case Array:
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Items[i].Append(b)
		}
		return append(b, ']')
	default:
		b = append(b, '{')
		for i := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendString(b, v.Members[i].Key)
			b = append(b, ':')
			b = v.Members[i].Value.Append(b)
		}
		return append(b, '}')
	}
}

// Indented is the value with one member or item a line, indented by two blanks
// a level. Empty objects and arrays stay on one line.
func (v Value) Indented() string { return string(v.indent(nil, "\n")) }

func (v Value) indent(b []byte, line string) []byte {
	inner := line + "  "
	switch {
	case v.Kind == Array && len(v.Items) > 0:
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Items[i].indent(append(b, inner...), inner)
		}
		return append(append(b, line...), ']')
	case v.Kind == Object && len(v.Members) > 0:
		b = append(b, '{')
		for i := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendString(append(b, inner...), v.Members[i].Key)
			b = v.Members[i].Value.indent(append(b, ": "...), inner)
		}
		return append(append(b, line...), '}')
	default:
		return v.Append(b)
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends a JSON string in which only quotes, backslashes and
// control characters are escaped.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		if j := strings.IndexByte("\"\\\b\f\n\r\t", c); j >= 0 {
			b = append(b, '\\', `"\bfnrt`[j])
		} else {
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
