package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// The two games, each over another wire protocol.
var games = map[string]gameConfig{
	"en-US": {locale: "en-US", protocol: model.ProtocolChat, script: "en-US.yaml"},
	"zh-CN": {locale: "zh-CN", protocol: model.ProtocolResponses, script: "zh-CN.yaml"},
}

// thirtyTurns is how long a golden game is.
const thirtyTurns = 30

// playOnce plays a golden game to its end; the tests of one run share it.
func playOnce(t *testing.T, name string) []call {
	t.Helper()
	shared := played[name]
	shared.once.Do(func() { shared.calls = play(t, games[name]) })
	if shared.calls == nil {
		t.Fatal("the game could not be played; see the test that played it")
	}
	return shared.calls
}

var played = map[string]*struct {
	once  sync.Once
	calls []call
}{"en-US": {}, "zh-CN": {}}

// call is a recorded request with the context that it was made of.
type call struct {
	trace.Recorded
	built activities.StoredContext
}

func play(t *testing.T, cfg gameConfig) []call {
	t.Helper()
	g := newGame(t, cfg)
	for _, line := range lines(t, cfg.locale) {
		g.say(line)
	}
	return g.calls()
}

// calls reads the requests of a game in the order in which they were sent.
func (g *game) calls() []call {
	g.t.Helper()
	heads, err := trace.Heads(g.t.Context(), g.store, g.session)
	must(g.t, err)
	calls := make([]call, len(heads))
	for i, h := range heads {
		calls[i].Recorded, err = trace.ReadRequest(g.t.Context(), g.store, h.Event)
		must(g.t, err)
		built, known, err := activities.ReadContext(g.t.Context(), g.store, turn.RunID(h.Event.TraceID, h.RuntimeID))
		must(g.t, err)
		if !known {
			g.t.Fatalf("%s has no stored context", keyOf(&calls[i].Recorded))
		}
		calls[i].built = built
	}
	return calls
}

// lines are what the player says, one line a turn.
func lines(t *testing.T, locale string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", locale+".txt"))
	must(t, err)
	list := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(list) != thirtyTurns {
		t.Fatalf("%s.txt has %d lines; a golden game has %d turns", locale, len(list), thirtyTurns)
	}
	return list
}

// TestRequests holds the exact requests of both games.
func TestRequests(t *testing.T) {
	t.Parallel()
	for name := range games {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := playOnce(t, name)
			want := readTape(t, name)
			if *update {
				writeTape(t, name, calls)
				want = readTape(t, name)
			}
			compare(t, want, calls)
		})
	}
}
