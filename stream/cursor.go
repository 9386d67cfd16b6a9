package stream

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Cursor is a position in the streams of a turn: the last chunk seen of each
// runtime. The zero Cursor stands before every chunk. A Cursor is immutable.
//
// Its text is "<runtime>:<seq>" per stream, joined by commas in runtime order,
// with the runtime id percent-encoded; it fits an SSE id and a URL.
type Cursor struct {
	seen map[string]int64
}

// CursorError is a text that is no cursor.
type CursorError struct {
	Text   string
	Reason string
}

// Error names the text and what a cursor looks like.
func (e *CursorError) Error() string {
	return fmt.Sprintf("cursor %q: %s; send the id of the last event, such as narrator:12, or none", e.Text, e.Reason)
}

// ParseCursor reads what String wrote; "" is the zero Cursor. Errors are
// *CursorError.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	seen := make(map[string]int64)
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(part, ":")
		if !ok {
			return Cursor{}, &CursorError{text, fmt.Sprintf("%q has no colon", part)}
		}
		runtime, err := url.QueryUnescape(name)
		if err != nil || runtime == "" {
			return Cursor{}, &CursorError{text, fmt.Sprintf("%q is no runtime id", name)}
		}
		seq, err := strconv.ParseInt(number, 10, 64)
		if err != nil || seq < 0 {
			return Cursor{}, &CursorError{text, fmt.Sprintf("%q is no chunk number", number)}
		}
		if _, twice := seen[runtime]; twice {
			return Cursor{}, &CursorError{text, fmt.Sprintf("runtime %q stands twice", runtime)}
		}
		seen[runtime] = seq
	}
	return Cursor{seen}, nil
}

// String gives the text of the position, "" before every chunk.
func (c Cursor) String() string {
	var b strings.Builder
	for i, runtime := range slices.Sorted(maps.Keys(c.seen)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(url.QueryEscape(runtime))
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(c.seen[runtime], 10))
	}
	return b.String()
}

// after gives the last chunk seen of a runtime, -1 for none.
func (c Cursor) after(runtimeID string) int64 {
	if seq, ok := c.seen[runtimeID]; ok {
		return seq
	}
	return -1
}

// advanced gives the position after one more chunk.
func (c Cursor) advanced(runtimeID string, seq int64) Cursor {
	seen := make(map[string]int64, len(c.seen)+1)
	maps.Copy(seen, c.seen)
	seen[runtimeID] = seq
	return Cursor{seen}
}
