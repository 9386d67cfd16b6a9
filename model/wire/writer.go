package wire

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Writer appends JSON to one buffer and sets the commas. The caller keeps the
// nesting right.
type Writer struct {
	b     []byte
	comma bool
}

// NewWriter gives a writer whose buffer holds size bytes before it grows.
func NewWriter(size int) *Writer { return &Writer{b: make([]byte, 0, size)} }

// Bytes is what was written.
func (w *Writer) Bytes() []byte { return w.b }

// Open begins an object '{' or an array '['.
func (w *Writer) Open(bracket byte) *Writer {
	w.separate()
	w.b = append(w.b, bracket)
	w.comma = false
	return w
}

// Close ends an object '}' or an array ']'.
func (w *Writer) Close(bracket byte) *Writer {
	w.b = append(w.b, bracket)
	w.comma = true
	return w
}

// Key writes a member's name.
func (w *Writer) Key(name string) *Writer {
	w.separate()
	w.b = appendString(w.b, name)
	w.b = append(w.b, ':')
	w.comma = false
	return w
}

// String writes a text; bytes that are no UTF-8 become U+FFFD.
func (w *Writer) String(s string) *Writer {
	w.separate()
	w.b = appendString(w.b, s)
	w.comma = true
	return w
}

// Text writes a text without a mark that may stand in it, without a copy of
// the text first.
func (w *Writer) Text(s, mark string) *Writer {
	w.separate()
	w.b = append(w.b, '"')
	for {
		at := strings.Index(s, mark)
		if at < 0 {
			break
		}
		w.b = appendEscaped(w.b, s[:at])
		s = s[at+len(mark):]
	}
	w.b = append(appendEscaped(w.b, s), '"')
	w.comma = true
	return w
}

// Int writes a number.
func (w *Writer) Int(n int) *Writer {
	w.separate()
	w.b = strconv.AppendInt(w.b, int64(n), 10)
	w.comma = true
	return w
}

// Bool writes true or false.
func (w *Writer) Bool(v bool) *Writer {
	w.separate()
	w.b = strconv.AppendBool(w.b, v)
	w.comma = true
	return w
}

// Raw writes a JSON value as it stands.
func (w *Writer) Raw(raw json.RawMessage) *Writer {
	w.separate()
	w.b = append(w.b, raw...)
	w.comma = true
	return w
}

func (w *Writer) separate() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = false
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	return append(appendEscaped(b, s), '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped copies runs of plain bytes and escapes what JSON does not take.
func appendEscaped(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(b, s[start:i]...)
				b = append(b, `\ufffd`...)
				i++
				start = i
				continue
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(b, s[start:]...)
}
