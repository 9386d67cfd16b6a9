package tokens

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	tiktokenloader "github.com/pkoukk/tiktoken-go-loader"
)

// maxPiece bounds the bytes that the encoder sees at once: its merge of one
// unbroken word takes quadratic time, which a hostile text could use.
const maxPiece = 512

// encoding counts with one tiktoken table, read on first use.
type encoding struct {
	name  string
	table func() *tiktoken.Tiktoken
}

func newEncoding(name string) *encoding { return &encoding{name: name, table: sharedTable(name)} }

func (e *encoding) Name() string { return e.name }

// Count splits a long text where every encoding has a token border anyway; text
// without such a place is cut at maxPiece.
func (e *encoding) Count(text string) int {
	table, n := e.table(), 0
	for len(text) > maxPiece {
		cut := border(text)
		n += len(table.EncodeOrdinary(text[:cut]))
		text = text[cut:]
	}
	if text == "" {
		return n
	}
	return n + len(table.EncodeOrdinary(text))
}

// border finds the last token border before maxPiece: behind a single line break
// that no white space and no slash touches, or before one character between two
// letters that is neither letter, digit, line break nor apostrophe. All four
// patterns split there, because they join such a character to what follows.
func border(text string) int {
	next, size := utf8.DecodeRuneInString(text[maxPiece:])
	if next == utf8.RuneError && size == 1 { // within a rune
		next = 0
	}
	for i := maxPiece; i > maxPiece/4; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		at := i - size
		switch {
		case r == '\n':
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			if next != 0 && next != '/' && !unicode.IsSpace(next) && !unicode.IsSpace(before) {
				return i
			}
		case unicode.IsLetter(next) && joins(r):
			if before, _ := utf8.DecodeLastRuneInString(text[:at]); unicode.IsLetter(before) {
				return at
			}
		}
		next, i = r, at
	}
	cut := maxPiece
	for cut > maxPiece-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return cut
}

func joins(r rune) bool {
	switch {
	case r == '\'', r == '\r', r == '\n', r == utf8.RuneError:
		return false
	default:
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}
}

// tables are the four encodings, each read at most once for the process: a
// table takes a second to parse and some 50 MB, whoever asks.
type tables struct {
	loader sync.Once
	o200k  func() *tiktoken.Tiktoken
	cl100k func() *tiktoken.Tiktoken
	p50k   func() *tiktoken.Tiktoken
	r50k   func() *tiktoken.Tiktoken
}

var shared = func() *tables {
	t := &tables{}
	read := func(name string) func() *tiktoken.Tiktoken {
		return sync.OnceValue(func() *tiktoken.Tiktoken {
			t.loader.Do(func() { tiktoken.SetBpeLoader(tiktokenloader.NewOfflineLoader()) })
			table, err := tiktoken.GetEncoding(name)
			if err != nil {
				// The tables are compiled in, so this is a broken build.
				panic(fmt.Sprintf("tokens: embedded table %s: %v", name, err))
			}
			return table
		})
	}
	t.o200k, t.cl100k, t.p50k, t.r50k = read(NameO200K), read(NameCL100K), read(NameP50K), read(NameR50K)
	return t
}()

func sharedTable(name string) func() *tiktoken.Tiktoken {
	switch name {
	case NameCL100K:
		return shared.cl100k
	case NameP50K:
		return shared.p50k
	case NameR50K:
		return shared.r50k
	default:
		return shared.o200k
	}
}
