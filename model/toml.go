package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFile is a parsed TOML file whose errors name file, line and field.
type tomlFile struct {
	name  string
	tree  map[string]any
	lines map[string]int // dotted field → line, from 1
	order map[string]int // dotted field → place in the file
}

// tomlTable is one table of a file.
type tomlTable struct {
	file   *tomlFile
	path   string // dotted, "" for the root
	values map[string]any
}

// index walks the file once more for the place of every key.
func (f *tomlFile) index(data []byte) {
	f.lines, f.order = map[string]int{}, map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	table := ""
	counts := map[string]int{}
	note := func(base string, it unstable.Iterator) string {
		path := base
		for it.Next() {
			node := it.Node()
			path = joinField(path, string(node.Data))
			if _, ok := f.lines[path]; !ok {
				f.lines[path] = p.Shape(node.Raw).Start.Line
				f.order[path] = len(f.order)
			}
		}
		return path
	}
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = note("", e.Key())
		case unstable.ArrayTable:
			base := note("", e.Key())
			table = fmt.Sprintf("%s[%d]", base, counts[base])
			f.lines[table] = f.lines[base]
			counts[base]++
		case unstable.KeyValue:
			note(table, e.Key())
		}
	}
}

func joinField(base, key string) string {
	if base == "" {
		return key
	}
	return base + "." + key
}

func (f *tomlFile) root() *tomlTable { return &tomlTable{file: f, values: f.tree} }

// errorf makes the CONFIG_ERROR of a field. A field that is not in the file is
// placed at the nearest table above it.
func (f *tomlFile) errorf(field, format string, args ...any) *Error {
	place := f.name
	for at := field; at != ""; {
		if line, ok := f.lines[at]; ok {
			place = fmt.Sprintf("%s:%d", f.name, line)
			break
		}
		cut := strings.LastIndexByte(at, '.')
		if cut < 0 {
			break
		}
		at = at[:cut]
	}
	return Configf("%s: %s: %s", place, field, fmt.Sprintf(format, args...))
}

func (t *tomlTable) errorf(key, format string, args ...any) *Error {
	return t.file.errorf(joinField(t.path, key), format, args...)
}

// keys lists the table's keys in file order.
func (t *tomlTable) keys() []string {
	keys := sortedKeys(t.values)
	sort.SliceStable(keys, func(i, j int) bool {
		return t.file.order[joinField(t.path, keys[i])] < t.file.order[joinField(t.path, keys[j])]
	})
	return keys
}

// only refuses keys other than the given ones.
func (t *tomlTable) only(allowed ...string) error {
	for _, key := range t.keys() {
		if !slices.Contains(allowed, key) {
			return t.errorf(key, "unknown field; use %s", strings.Join(allowed, ", "))
		}
	}
	return nil
}

func (t *tomlTable) table(key string) (*tomlTable, error) {
	if t.values[key] == nil {
		return &tomlTable{file: t.file, path: joinField(t.path, key), values: map[string]any{}}, nil
	}
	m, ok := t.values[key].(map[string]any)
	if !ok {
		return nil, t.errorf(key, "%s is not a table", shown(t.values[key]))
	}
	return &tomlTable{file: t.file, path: joinField(t.path, key), values: m}, nil
}

func (t *tomlTable) text(key string) (string, error) {
	s, ok := t.values[key].(string)
	if !ok || s == "" {
		return "", t.errorf(key, "%s is not a text; give a non-empty string", shown(t.values[key]))
	}
	return s, nil
}

func (t *tomlTable) word(key string, allowed []string) (string, error) {
	s, ok := t.values[key].(string)
	if !ok || !slices.Contains(allowed, s) {
		return "", t.errorf(key, "%s is not allowed; use one of %s", shown(t.values[key]), strings.Join(allowed, ", "))
	}
	return s, nil
}

// strings reads a list of texts.
func (t *tomlTable) strings(key string) ([]string, error) {
	list, ok := t.values[key].([]any)
	if !ok {
		return nil, t.errorf(key, "%s is not a list", shown(t.values[key]))
	}
	out := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok || s == "" {
			return nil, t.errorf(key, "%s is not a text", shown(v))
		}
		out = append(out, s)
	}
	return out, nil
}

func (t *tomlTable) words(key string, allowed []string) ([]string, error) {
	out, err := t.strings(key)
	if err != nil {
		return nil, err
	}
	for _, s := range out {
		if !slices.Contains(allowed, s) {
			return nil, t.errorf(key, "%q is not allowed; use a subset of %s", s, strings.Join(allowed, ", "))
		}
	}
	return out, nil
}

func (t *tomlTable) integer(key string, least int) (int, error) {
	n, ok := t.values[key].(int64)
	if !ok || n < int64(least) || n > math.MaxInt32 {
		return 0, t.errorf(key, "%s is not allowed; give an integer of at least %d", shown(t.values[key]), least)
	}
	return int(n), nil
}

func (t *tomlTable) boolean(key string) (bool, error) {
	b, ok := t.values[key].(bool)
	if !ok {
		return false, t.errorf(key, "%s is not allowed; use true or false", shown(t.values[key]))
	}
	return b, nil
}

// amount reads a non-negative, finite number.
func (t *tomlTable) amount(key string) (float64, error) {
	var v float64
	switch n := t.values[key].(type) {
	case int64:
		v = float64(n)
	case float64:
		v = n
	default:
		return 0, t.errorf(key, "%s is not a number", shown(t.values[key]))
	}
	if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, t.errorf(key, "%v is not allowed; give a number of at least 0", v)
	}
	return v, nil
}

// rawMap reads a free table, each value as JSON.
func (t *tomlTable) rawMap(key string) (map[string]json.RawMessage, error) {
	sub, err := t.table(key)
	if err != nil {
		return nil, err
	}
	out := make(map[string]json.RawMessage, len(sub.values))
	for k, v := range sub.values {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, sub.errorf(k, "%s has no JSON form: %v", shown(v), err)
		}
		out[k] = raw
	}
	return out, nil
}

// shown writes a value into a message, at most 60 bytes of it.
func shown(v any) string {
	if v == nil {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > 60 {
		return string(b[:60]) + "…"
	}
	return string(b)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
