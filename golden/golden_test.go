package golden_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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

// carried are the same games over the other protocols, with models whose traits
// shape the body: explicit cache marks, breakpoints, thinking.
var carried = map[string]gameConfig{
	"en-US.anthropic": {locale: "en-US", protocol: model.ProtocolAnthropic, model: "claude-opus-4-8", script: "en-US.yaml"},
	"en-US.gemini":    {locale: "en-US", protocol: model.ProtocolGemini, model: "gemini-3-pro", script: "en-US.yaml"},
	"en-US.responses": {locale: "en-US", protocol: model.ProtocolResponses, model: "gpt-5.6", script: "en-US.yaml"},
	"zh-CN.anthropic": {locale: "zh-CN", protocol: model.ProtocolAnthropic, model: "claude-opus-4-8", script: "zh-CN.yaml"},
	"zh-CN.chat":      {locale: "zh-CN", protocol: model.ProtocolChat, model: "gpt-5.2", script: "zh-CN.yaml"},
	"zh-CN.gemini":    {locale: "zh-CN", protocol: model.ProtocolGemini, model: "gemini-3-pro", script: "zh-CN.yaml"},
}

// whole says which requests of a carried game are stored as pieces; of the rest
// the digest is: the narrator's first turns, its tool loop, and the last turn.
func whole(c *trace.Recorded) bool {
	return c.RuntimeID == "narrator" && slices.Contains([]int{1, 2, 3, 6, 7, thirtyTurns}, c.LogicalTurn)
}

// thirtyTurns is how long a golden game is.
const thirtyTurns = 30

// shared is a golden game that the tests of one run share.
type shared struct {
	once  sync.Once
	calls []call
	sent  []trace.Recorded
}

var played = func() map[string]*shared {
	all := map[string]*shared{}
	for _, list := range []map[string]gameConfig{games, carried} {
		for name := range list {
			all[name] = &shared{}
		}
	}
	return all
}()

// playOnce plays a golden game to its end and gives the requests of its agents
// as they were recorded.
func playOnce(t *testing.T, name string) []call {
	t.Helper()
	game := played[name]
	game.once.Do(func() { game.calls, game.sent = play(t, configOf(name)) })
	if game.calls == nil {
		t.Fatal("the game could not be played; see the test that played it")
	}
	return game.calls
}

func configOf(name string) gameConfig {
	if cfg, ok := carried[name]; ok {
		return cfg
	}
	return games[name]
}

// call is a recorded request with the context that it was made of.
type call struct {
	trace.Recorded
	built activities.StoredContext
}

func play(t *testing.T, cfg gameConfig) ([]call, []trace.Recorded) {
	t.Helper()
	g := newGame(t, cfg)
	for _, line := range lines(t, cfg.locale) {
		g.say(line)
	}
	return g.calls(), g.far.sent
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

// TestRequests holds the exact body of each request as it left, of functions
// too, over each protocol.
func TestRequests(t *testing.T) {
	t.Parallel()
	for name := range played {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := whole
			if _, ok := games[name]; ok {
				stored = func(*trace.Recorded) bool { return true }
			}
			playOnce(t, name)
			sent := played[name].sent
			if *update {
				writeTape(t, name, sent, stored)
			}
			compare(t, readTape(t, name), sent)
		})
	}
}

// TestRecordsAreWhatWasSent: the trace holds an agent's request byte for byte.
func TestRecordsAreWhatWasSent(t *testing.T) {
	t.Parallel()
	for name := range played {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := playOnce(t, name)
			sent := slices.DeleteFunc(slices.Clone(played[name].sent), func(r trace.Recorded) bool { return r.RuntimeID == "memory/extract" })
			if len(sent) != len(calls) {
				t.Fatalf("%d requests were recorded, %d were sent", len(calls), len(sent))
			}
			for i := range calls {
				if !bytes.Equal(calls[i].Body(), sent[i].Unbound) {
					t.Fatalf("%s was recorded other than it was sent", keyOf(&calls[i].Recorded))
				}
			}
		})
	}
}
