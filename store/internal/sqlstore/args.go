package sqlstore

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/covel-engine/covel/store"
)

// maxKey is the limit of an id or key in bytes, so that every index entry fits
// a PostgreSQL page and both stores refuse the same ids.
const maxKey = 512

// args collects a statement's arguments in order and refuses values that one
// of the databases would refuse or change (spec 02 §13). The first fault wins.
type args struct {
	d     *Dialect
	op    string
	table string
	list  []any
	err   *store.Error
}

func newArgs(c Conn, op, table string) *args {
	return &args{d: c.Dialect(), op: op, table: table, list: make([]any, 0, 16)}
}

func (a *args) done() ([]any, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.list, nil
}

func (a *args) refuse(column, value, why string) {
	if a.err != nil {
		return
	}
	if len(value) > 80 {
		value = value[:80]
	}
	a.err = &store.Error{
		Code: store.CodeInvalidValue, Op: a.op, Table: a.table,
		Value: strings.ToValidUTF8(value, "\uFFFD"), Err: &columnError{column: column, why: why},
	}
}

// columnError names the column of a refused value.
type columnError struct{ column, why string }

func (e *columnError) Error() string { return "column " + e.column + " " + e.why }

func (a *args) add(v any) *args {
	a.list = append(a.list, v)
	return a
}

// id is a text that names something: never empty, at most maxKey bytes.
func (a *args) id(column, v string) *args {
	if v == "" {
		a.refuse(column, v, "is empty; give an id")
	}
	return a.ref(column, v)
}

// ref is an id that may be empty.
func (a *args) ref(column, v string) *args {
	if len(v) > maxKey {
		a.refuse(column, v, "is "+strconv.Itoa(len(v))+" bytes long; the limit is "+strconv.Itoa(maxKey))
	}
	return a.text(column, v)
}

func (a *args) text(column, v string) *args {
	a.checkText(column, v)
	return a.add(v)
}

func (a *args) checkText(column, v string) {
	if !utf8.ValidString(v) {
		a.refuse(column, v, "is not valid UTF-8")
	}
	if strings.IndexByte(v, 0) >= 0 {
		a.refuse(column, v, "holds U+0000")
	}
}

// nullable is a text whose empty value is NULL.
func (a *args) nullable(column, v string) *args {
	if v == "" {
		return a.add(nil)
	}
	return a.ref(column, v)
}

// json keeps the bytes; none is NULL.
func (a *args) json(column string, v json.RawMessage) *args {
	if len(v) == 0 {
		return a.add(nil)
	}
	if !utf8.Valid(v) {
		a.refuse(column, string(v), "is not valid UTF-8")
	} else if !json.Valid(v) {
		a.refuse(column, string(v), "is not valid JSON")
	}
	return a.add(string(v))
}

// needJSON is json that may not be missing.
func (a *args) needJSON(column string, v json.RawMessage) *args {
	if len(v) == 0 {
		a.refuse(column, "", "has no JSON value")
	}
	return a.json(column, v)
}

// encoded is a Go value kept as JSON. encoding/json would quietly replace
// invalid UTF-8, so callers check their texts first.
func (a *args) encoded(column string, v any) *args {
	b, err := json.Marshal(v)
	if err != nil {
		a.refuse(column, "", err.Error())
		return a.add(nil)
	}
	return a.add(string(b))
}

// texts is a list of texts kept as a JSON array, never null.
func (a *args) texts(column string, list []string) *args {
	for _, v := range list {
		a.checkText(column, v)
	}
	if list == nil {
		list = []string{}
	}
	return a.encoded(column, list)
}

// textsOrNull keeps the difference between no list and an empty one.
func (a *args) textsOrNull(column string, list []string) *args {
	if list == nil {
		return a.add(nil)
	}
	return a.texts(column, list)
}

func (a *args) int(v int64) *args { return a.add(v) }

func (a *args) bool(v bool) *args { return a.add(a.d.Bool(v)) }

func (a *args) bytes(v []byte) *args {
	if v == nil {
		v = []byte{}
	}
	return a.add(v)
}

// time is truncated to milliseconds in UTC; the fixed-width form needs a year
// of four digits.
func (a *args) time(column string, t time.Time) *args {
	t = Instant(t)
	if y := t.Year(); y < 1 || y > 9999 {
		a.refuse(column, strconv.Itoa(y), "is a time outside the years 1 to 9999")
	}
	return a.add(a.d.Time(t))
}

func (a *args) nullTime(column string, t *time.Time) *args {
	if t == nil {
		return a.add(nil)
	}
	return a.time(column, *t)
}

// limit checks a row limit: below 0 is INVALID_VALUE.
func (a *args) limit(n int) *args {
	if n < 0 {
		a.refuse("limit", strconv.Itoa(n), "is negative; use 0 or more")
	}
	return a.int(int64(n))
}

// Instant is a time as the stores keep it: UTC, whole milliseconds.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
