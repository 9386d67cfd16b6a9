package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/store"
)

// plain is a dialect without a database.
func plain(t *testing.T) *Dialect {
	t.Helper()
	d := &Dialect{
		Name: "postgres", Param: '$', Bool: func(b bool) any { return b }, Time: func(at time.Time) any { return at },
		Types: map[string]string{"text": "text", "json": "json", "time": "timestamptz", "bool": "boolean", "bytes": "bytea", "int": "bigint", "serial": "bigint", "table": ""},
	}
	if err := d.Load(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDialect(t *testing.T) {
	t.Parallel()
	d := plain(t)
	for _, name := range d.QueryNames() {
		sql, err := d.Query(name)
		if err != nil || sql == "" || strings.ContainsAny(sql, "?;{}") {
			t.Errorf("%s is %q, %v", name, sql, err)
		}
	}
	if _, err := d.Query("nothing"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("an unknown statement: %v", err)
	}
	for i, m := range d.Migrations() {
		if m.Version != i+1 || m.Name == "" || strings.ContainsAny(strings.SplitN(m.SQL, "\n\n", 2)[1], "{}") {
			t.Errorf("migration %d is %d %q or has a word in braces left", i, m.Version, m.Name)
		}
	}
	if d.Want() != len(d.Migrations()) || d.Want() == 0 {
		t.Errorf("the program wants schema %d", d.Want())
	}
}

func TestParseQueries(t *testing.T) {
	t.Parallel()
	got, err := parseQueries("-- a note\n\n-- name: one\n-- why\nSELECT 1\nFROM t;\n\n-- name: two\nSELECT 2;\n")
	if err != nil || len(got) != 2 || got["one"] != "SELECT 1\nFROM t" || got["two"] != "SELECT 2" {
		t.Errorf("got %v, %v", got, err)
	}
	for fault, text := range map[string]string{
		"used twice": "-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;", "before the first name": "SELECT 1;",
		"only semicolon": "-- name: a\nSELECT 1; SELECT 2;", `"a" must end`: "-- name: a\nSELECT 1",
	} {
		if _, err := parseQueries(text); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseQueries(f *testing.F) {
	f.Add("-- name: one\nSELECT 1;\n")
	f.Fuzz(func(t *testing.T, text string) {
		named, err := parseQueries(text)
		if err != nil {
			return
		}
		for name, sql := range named {
			if strings.Contains(sql, ";") {
				t.Errorf("%q holds several statements: %q", name, sql)
			}
		}
	})
}

func TestMentionedHashes(t *testing.T) {
	t.Parallel()
	a, b := hashOf([]byte("a")), hashOf([]byte("b"))
	for text, want := range map[string][]string{
		"": nil, a: {a}, `["` + b + `","` + a + `","` + b + `"]`: slices.Sorted(slices.Values([]string{a, b})),
		a + "0": nil, a[:63]: nil, strings.ToUpper(b): nil, "x" + a + "-" + b[1:]: {a},
	} {
		if got := mentionedHashes([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q mentions %v, want %v", text, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		var want []string
		var text strings.Builder
		for _, part := range rapid.SliceOf(rapid.StringMatching(`[g-z"\[\], ]{1,9}`)).Draw(r, "parts") {
			hash := hashOf([]byte(part))
			want = append(want, hash)
			text.WriteString(part + hash)
		}
		slices.Sort(want)
		if got := mentionedHashes([]byte(text.String())); !slices.Equal(got, slices.Compact(want)) {
			r.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestBaseOf(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"base":"e1","keep":2}`: "e1", `{"base":null}`: "", `{"base":7}`: "", `{}`: "", `[]`: "", ``: "",
	} {
		e := store.TraceEvent{Type: "llm.calling", Payload: json.RawMessage(payload)}
		if got := baseOf(e); got != want {
			t.Errorf("%s has base %q, want %q", payload, got, want)
		}
		e.Type = "stage.started"
		if got := baseOf(e); got != "" {
			t.Errorf("%s of another type has base %q", payload, got)
		}
	}
}

func TestHub(t *testing.T) {
	t.Parallel()
	h := NewHub()
	ctx, cancel := context.WithCancel(t.Context())
	a, b := h.Listen(ctx, "a"), h.Listen(t.Context(), "b")
	h.Wake("a")
	h.Wake("a")
	if len(a) != 1 || len(b) != 0 {
		t.Errorf("listeners hold %d and %d values", len(a), len(b))
	}
	h.WakeAll()
	if len(b) != 1 {
		t.Error("not everyone woke")
	}
	cancel()
	for { // the listener goes in a goroutine of its own
		h.mu.Lock()
		left := len(h.topics["a"])
		h.mu.Unlock()
		if left == 0 {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("the listener outlived its context")
		}
	}
}
