package golden_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// TestNothingMovesBeforeTheTurnContext plays the same three turns twice. The
// second game differs in one thing just before the third turn; the narrator's
// third request must be the same byte for byte up to its turn context.
func TestNothingMovesBeforeTheTurnContext(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*game)
		say    string // in the third turn; the plain game's message by default
		want   string // stands in the third request then
	}{
		{name: "a memory block is rewritten", change: func(g *game) {
			g.write(func(ctx context.Context, tx store.Tx) error {
				return tx.PutPluginData(ctx, session.PluginDatum{
					SessionID: g.session, PluginID: "memory", Namespace: "blocks", Key: "debts",
					Value: json.RawMessage(`{"label":"Debts and promises","content":"Owes the chandler a copper nail."}`),
				})
			})
		}, want: "Owes the chandler a copper nail."},
		{name: "a fact is recalled", change: func(g *game) {
			g.write(func(ctx context.Context, tx store.Tx) error {
				return tx.PutPluginData(ctx, session.PluginDatum{
					SessionID: g.session, PluginID: "memory", Namespace: "facts", Key: "f1",
					Value: json.RawMessage(`{"text":"The boats are painted at midwinter.","keys":["boats"],"turn":1}`),
				})
			})
		}, want: "The boats are painted at midwinter."},
		{name: "the die rolls another number", change: func(g *game) { g.turns += 40 }, want: "runtime-inputs"},
		{name: "a dimension changes", change: func(g *game) {
			g.write(func(ctx context.Context, tx store.Tx) error {
				row, err := tx.PluginDatum(ctx, g.session, "world-init", "_dimensions", "lamp-oil")
				if err != nil {
					return err
				}
				row.Value = json.RawMessage(strings.Replace(string(row.Value), `"value":40`, `"value":17`, 1))
				return tx.PutPluginData(ctx, row)
			})
		}, want: "17"},
		{name: "a lorebook entry fires at depth 0", change: func(g *game) { g.addLore("tarred-plank", 0) }, say: boats + " I step over the tarred plank.", want: "It is older than the quay."},
		{name: "a lorebook entry fires at depth 1", change: func(g *game) { g.addLore("tarred-plank", 1) }, say: boats + " I step over the tarred plank.", want: "It is older than the quay."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			third := func(change func(*game), say string) call {
				g := newGame(t, games["en-US"])
				g.say("I wake and count the oil.")
				g.say("I ask the warden about the cellar.")
				if change != nil {
					change(g)
				}
				g.say(say)
				list := firsts(g.calls(), "narrator")
				return list[len(list)-1]
			}
			if tc.say == "" {
				tc.say = boats
			}
			plain, changed := third(nil, boats), third(tc.change, tc.say)
			if !strings.Contains(string(changed.Body()), tc.want) {
				t.Fatalf("the change does not reach the request: %q is not in it", tc.want)
			}
			if string(plain.Body()) == string(changed.Body()) {
				t.Fatal("nothing changed")
			}
			at := plain.turnContextAt(t)
			if n := commonBytes(plain.Body(), changed.Body()); n < at {
				t.Errorf("byte %d of %d before the turn context differs: %.120q", n, at, changed.Body()[n:])
			}
		})
	}
}

// boats is what the player says in the third turn.
const boats = "I go down to the boats."

// turnContextAt is the offset of the turn context in the body.
func (c *call) turnContextAt(t *testing.T) int {
	t.Helper()
	for _, s := range c.built.Sections {
		if s.Name != "turn-context" {
			continue
		}
		start, err := json.Marshal(firstLine(c.built.Messages[s.From].Content))
		must(t, err)
		if at := strings.LastIndex(string(c.Body()), unescaped(string(start))); at >= 0 {
			return at
		}
	}
	t.Fatalf("%s has no turn context", keyOf(&c.Recorded))
	return 0
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// unescaped is a JSON string's inside as wire bodies write it: Go's encoder
// escapes < and >, theirs does not.
func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(strings.Trim(s, `"`))
}

func commonBytes(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// write changes the store between two turns.
func (g *game) write(fn func(ctx context.Context, tx store.Tx) error) {
	g.t.Helper()
	must(g.t, g.store.WithTx(g.t.Context(), fn))
}

// addLore adds a keyword entry that stands in the conversation.
func (g *game) addLore(id string, depth int) {
	g.t.Helper()
	extra, err := json.Marshal(map[string]any{"coordinate": map[string]int{"depth": depth}})
	must(g.t, err)
	g.write(func(ctx context.Context, tx store.Tx) error {
		return tx.PutLore(ctx, session.LoreEntry{
			ID: id, SessionID: g.session, Owner: session.LoreOwner{Kind: session.LoreOwnerWorld}, Keys: []string{"tarred plank"},
			Content: "It is older than the quay.", Strategy: "keyword", Position: "at_depth", Enabled: true, Extra: extra,
		})
	})
}
