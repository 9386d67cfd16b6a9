package golden_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
)

// TestNothingMovesBeforeTheTurnContext plays the same three turns twice, over
// each protocol. The second game differs in one thing just before the third
// turn; the narrator's third request must be the same byte for byte up to its
// turn context, cache marks included.
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
			if tc.say == "" {
				tc.say = boats
			}
			for _, name := range inEnglish {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					movesNothing(t, thirdRequest(t, name, nil, boats), thirdRequest(t, name, tc.change, tc.say), tc.want)
				})
			}
		})
	}
}

// inEnglish are the English games, one for each protocol.
var inEnglish = []string{"en-US", "en-US.anthropic", "en-US.gemini", "en-US.responses"}

// thirdRequest is the narrator's in the third turn.
func thirdRequest(t *testing.T, name string, change func(*game), say string) call {
	t.Helper()
	g := newGame(t, configOf(name))
	g.say("I wake and count the oil.")
	g.say("I ask the warden about the cellar.")
	if change != nil {
		change(g)
	}
	g.say(say)
	list := firsts(g.calls(), "narrator")
	return list[len(list)-1]
}

// movesNothing compares two requests that differ in their turn context.
func movesNothing(t *testing.T, plain, changed call, want string) {
	t.Helper()
	if !strings.Contains(string(changed.Body()), want) {
		t.Fatalf("the change does not reach the request: %q is not in it", want)
	}
	if string(plain.Body()) == string(changed.Body()) {
		t.Fatal("nothing changed")
	}
	at := plain.turnContextAt(t)
	if n := commonBytes(plain.Body(), changed.Body()); n < at {
		t.Errorf("byte %d of %d before the turn context differs: %.120q", n, at, changed.Body()[n:])
	}
	// Tools and system prompt may stand behind the messages in a body.
	was, now := trace.ReadPlain(plain.Body()), trace.ReadPlain(changed.Body())
	if was.System != now.System || !sameTools(was.Tools, now.Tools) {
		t.Error("the system prompt or the tools differ")
	}
}

// boats is what the player says in the third turn.
const boats = "I go down to the boats."

// turnContextAt is the offset of the turn context in the body.
func (c *call) turnContextAt(t *testing.T) int {
	t.Helper()
	for _, s := range c.built.Sections {
		if s.Name == "turn-context" {
			return offsetOf(t, c.Body(), c.built.Messages[s.From].Content)
		}
	}
	t.Fatalf("%s has no turn context", keyOf(&c.Recorded))
	return 0
}

// offsetOf is where a body first holds a text.
func offsetOf(t *testing.T, body []byte, text string) int {
	t.Helper()
	written, err := json.Marshal(text)
	must(t, err)
	at := strings.Index(string(body), unescaped(string(written)))
	if at < 0 {
		t.Fatalf("the body does not hold %.80q", text)
	}
	return at
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
