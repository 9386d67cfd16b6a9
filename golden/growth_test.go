package golden_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

// longHistory is how many tokens a session has before the measured turns.
const longHistory = 150_000

// What thirty turns may add to the store. The goal is twice the new text in the
// whole database; the whole ratio holds what has been reached, and goes down
// with every saving.
const (
	wholeLimit    = 10.5 // times the new text, every row of every table
	requestsLimit = 0.5  // times the new text, the rows of recorded requests
	lengthLimit   = 1.15 // times what the same turns add to a session without history
)

// TestGrowth: what thirty turns add to the store follows what is new in them,
// not how long the session is.
func TestGrowth(t *testing.T) {
	t.Parallel()
	long, short := grow(t, longHistory), grow(t, 0)
	t.Logf("%d turns after %d tokens: %d bytes of new text\n%s", thirtyTurns, longHistory, long.text, long.table())
	if whole := long.bytes(); float64(whole) > wholeLimit*float64(long.text) {
		t.Errorf("the store grew by %d bytes over %d bytes of new text; %.1f times is allowed", whole, long.text, wholeLimit)
	}
	if requests := long.tables[callingRows].bytes; float64(requests) > requestsLimit*float64(long.text) {
		t.Errorf("recorded requests take %d bytes over %d bytes of new text; %.1f times is allowed", requests, long.text, requestsLimit)
	}
	if a, b := long.bytes(), short.bytes(); float64(a) > lengthLimit*float64(b) {
		t.Errorf("the turns add %d bytes to a long session and %d to a short one; %.2f times is allowed\n%s", a, b, lengthLimit, short.table())
	}
}

// growth is what thirty turns added.
type growth struct {
	text   int // bytes of texts that no earlier request held
	tables map[string]size
}

// callingRows are the rows of recorded requests, a part of their table.
const callingRows = "trace_events (llm.calling)"

func grow(t *testing.T, history int) growth {
	t.Helper()
	g := newGame(t, gameConfig{locale: "en-US", protocol: model.ProtocolChat, script: longScript(t)})
	g.say("I wake.")
	g.fill(history)
	g.say("I look around.") // the first request over the long history is its own cost
	before, old := sizes(t, g.path), g.calls()
	for _, line := range lines(t, "en-US") {
		g.say(line)
	}
	added := growth{text: newText(old, g.calls()), tables: sizes(t, g.path)}
	for name, s := range before {
		added.tables[name] = size{added.tables[name].rows - s.rows, added.tables[name].bytes - s.bytes}
	}
	return added
}

// bytes sums the tables.
func (g growth) bytes() (n int) {
	for name, s := range g.tables {
		if name != callingRows {
			n += s.bytes
		}
	}
	return n
}

func (g growth) table() string {
	var b strings.Builder
	names := slices.SortedFunc(maps.Keys(g.tables), func(x, y string) int { return cmp.Compare(g.tables[y].bytes, g.tables[x].bytes) })
	for _, name := range names {
		if s := g.tables[name]; s.bytes != 0 {
			fmt.Fprintf(&b, "%-28s %6d rows %9d bytes %6.2f times\n", name, s.rows, s.bytes, float64(s.bytes)/float64(g.text))
		}
	}
	fmt.Fprintf(&b, "%-28s %11s %9d bytes %6.2f times\n", "together", "", g.bytes(), float64(g.bytes())/float64(g.text))
	return b.String()
}

// longScript gives the narrator a page of its own in each turn, as a model
// would; the other runtimes find nothing to note.
func longScript(t *testing.T) string {
	t.Helper()
	short, err := os.ReadFile("testdata/en-US.yaml")
	must(t, err)
	var b strings.Builder
	b.WriteString("version: 1\nnoMatch: storyteller\nreplies:\n")
	for n := 1; n <= thirtyTurns+2; n++ {
		page := ""
		for i := range 40 {
			page += fmt.Sprintf("Page %d has line %d, and the tide turns over it once. ", n, i)
		}
		fmt.Fprintf(&b, "  - when: {runtime: narrator, turn: %d}\n    text: %q\n", n, strings.TrimSpace(page))
	}
	_, rest, _ := strings.Cut(string(short), "replies:\n")
	b.WriteString(rest)
	path := filepath.Join(t.TempDir(), "long.yaml")
	must(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// fill appends committed turns until the history has n tokens.
func (g *game) fill(n int) {
	g.t.Helper()
	var rows []session.Message
	for i := 0; n > 0; i++ {
		said := fmt.Sprintf("I go on, for the %dth time.", i)
		told := fmt.Sprintf("Part %d. %s", i, strings.Repeat("The water keeps its own accounts and the lamp keeps none. ", 40))
		for j, text := range []string{said, told} {
			row := session.Message{
				ID: fmt.Sprintf("old-%d-%d", i, j), TurnID: fmt.Sprintf("old-%d", i), Role: session.RoleUser, SourceType: session.SourcePlayer, Content: text,
			}
			if j == 1 {
				row.Role, row.SourceType = session.RoleAssistant, session.SourceRuntime
				row.SourceRuntimeID, row.SourcePluginID = "narrator", "narrator"
			}
			rows = append(rows, row)
			n -= tokens.Covel{}.Count(text)
		}
	}
	g.write(func(ctx context.Context, tx store.Tx) error {
		_, err := tx.AppendMessages(ctx, g.session, rows)
		return err
	})
}

// newText counts the bytes of message texts that no earlier request held: each
// is new once, whoever is sent it.
func newText(old, all []call) int {
	known := map[string]bool{}
	n := 0
	for i, c := range all {
		plain := trace.ReadPlain(c.Body())
		texts := []string{plain.System}
		for _, m := range plain.Messages {
			texts = append(texts, m.Text())
			for _, call := range m.ToolCalls {
				texts = append(texts, call.Arguments)
			}
		}
		for _, text := range texts {
			if !known[text] && i >= len(old) {
				n += len(text)
			}
			known[text] = true
		}
	}
	return n
}

type size struct{ rows, bytes int }

// sizes sums the bytes of every value of every table.
func sizes(t *testing.T, file string) map[string]size {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	must(t, err)
	defer db.Close()
	list := func(query string) (names []string) {
		rows, err := db.QueryContext(t.Context(), query)
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var name string
			must(t, rows.Scan(&name))
			names = append(names, name)
		}
		must(t, rows.Err())
		return names
	}
	out := map[string]size{}
	for _, table := range list("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		var sum []string
		for _, column := range list("SELECT name FROM pragma_table_info('" + table + "')") {
			sum = append(sum, `coalesce(length(cast("`+column+`" AS blob)), 0)`)
		}
		var s size
		must(t, db.QueryRowContext(t.Context(), "SELECT count(*), coalesce(sum("+strings.Join(sum, "+")+"), 0) FROM "+table).Scan(&s.rows, &s.bytes))
		out[table] = s
	}
	var calling size
	must(t, db.QueryRowContext(t.Context(), "SELECT count(*), coalesce(sum(length(cast(payload AS blob))), 0) FROM trace_events WHERE type = 'llm.calling'").
		Scan(&calling.rows, &calling.bytes))
	out[callingRows] = calling
	return out
}
