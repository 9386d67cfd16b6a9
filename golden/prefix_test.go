package golden_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

// firsts are each turn's first request of a runtime.
func firsts(calls []call, runtimeID string) []call {
	var list []call
	for _, c := range calls {
		if c.RuntimeID == runtimeID && (len(list) == 0 || list[len(list)-1].LogicalTurn != c.LogicalTurn) {
			list = append(list, c)
		}
	}
	return list
}

// beforeTurn are the parts of a request up to the end of its history: all that
// a later turn can repeat.
func (c *call) beforeTurn(t *testing.T) []trace.Part {
	t.Helper()
	parts := trace.Parts(c.Body())
	tools := len(trace.ReadPlain(c.Body()).Tools)
	if len(parts) <= tools || !strings.HasPrefix(parts[tools].Label, "message 1 (system)") {
		t.Fatalf("%s does not lead with tools and system prompt", keyOf(&c.Recorded))
	}
	history := c.history()
	if n := len(parts); n < tools+1+history {
		t.Fatalf("%s has %d parts; its context has %d tools and %d rows of history", keyOf(&c.Recorded), n, tools, history)
	}
	return parts[:tools+1+history]
}

// history is where the messages of the history end.
func (c *call) history() int {
	for _, s := range c.built.Sections {
		if s.Name == "history" {
			return s.To
		}
	}
	return 0
}

// stableHead is the system prompt up to its third cache border: preamble, body,
// world lore and stable segments.
func (c *call) stableHead() string {
	pieces, _ := model.SplitSentinels(c.built.System)
	return model.StripSentinels(strings.Join(pieces[:min(3, len(pieces))], ""))
}

// lore is the lorebook's text in the system prompt.
func (c *call) lore() string {
	var b strings.Builder
	for _, s := range c.built.Sections {
		if s.Name == "lore-before" || s.Name == "lore-after" {
			b.WriteString(c.built.System[s.From:s.To])
		}
	}
	return b.String()
}

func count(parts []trace.Part) (n int) {
	for _, p := range parts {
		n += tokens.Covel{}.Count(p.Text)
	}
	return n
}

func equalParts(a, b []trace.Part) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestNarratorKeepsItsPrefix: from turn to turn the narrator's request repeats
// at least 95 % of what can be repeated at all. A keyword entry of the lorebook
// that stands in the system prompt moves what follows it (spec 01 §4.1, §7.3);
// where one comes or goes, everything up to the third cache border repeats.
func TestNarratorKeepsItsPrefix(t *testing.T) {
	t.Parallel()
	for name := range games {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := firsts(playOnce(t, name), "narrator")
			if len(list) != thirtyTurns {
				t.Fatalf("the narrator spoke in %d turns", len(list))
			}
			var moved []int
			for i := 1; i < len(list); i++ {
				was, now := &list[i-1], &list[i]
				if was.stableHead() != now.stableHead() {
					t.Errorf("turn %d changes the system prompt before its third cache border", now.LogicalTurn)
				}
				if was.lore() != now.lore() {
					moved = append(moved, now.LogicalTurn)
					continue
				}
				cacheable := was.beforeTurn(t)
				same := equalParts(cacheable, trace.Parts(now.Body()))
				if share := 100 * count(cacheable[:same]) / count(cacheable); share < 95 {
					t.Errorf("turn %d repeats %d %% of what turn %d made cacheable; %q is the first part that differs",
						now.LogicalTurn, share, was.LogicalTurn, cacheable[same].Label)
				}
			}
			if !slices.Equal(moved, loreTurns) {
				t.Errorf("the lorebook moves the system prompt at turns %v; want %v", moved, loreTurns)
			}
		})
	}
}

// loreTurns are the turns of the golden games at which a keyword entry of the
// system prompt comes or goes: the gull at turn 10, salt fever at 21.
var loreTurns = []int{10, 11, 21, 22}

// TestEveryProtocolRepeatsTheHistory: whatever protocol carries it, a turn's
// request begins with tools, system prompt and history of the turn before.
// Cache marks move with the end of the history; they are no part of the text.
func TestEveryProtocolRepeatsTheHistory(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{model.ProtocolAnthropic, model.ProtocolChat, model.ProtocolGemini, model.ProtocolResponses} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			g := newGame(t, gameConfig{locale: "en-US", protocol: protocol, script: "en-US.yaml"})
			for _, line := range lines(t, "en-US")[:8] {
				g.say(line)
			}
			list := firsts(g.calls(), "narrator")
			// The first turn has no history: its turn context leads the conversation,
			// and two protocols put what leads into the top-level system prompt.
			for i := 2; i < len(list); i++ {
				was, now := trace.ReadPlain(list[i-1].Body()), trace.ReadPlain(list[i].Body())
				if was.System == "" || was.System != now.System {
					t.Fatalf("turn %d has another system prompt", list[i].LogicalTurn)
				}
				if !sameTools(was.Tools, now.Tools) {
					t.Fatalf("turn %d has other tools", list[i].LogicalTurn)
				}
				// Gemini joins neighbours of one role: the last row of the history may
				// stand in one message with what follows it.
				for j, row := range was.Messages[:list[i-1].history()] {
					if next := now.Messages[j]; next.Role != row.Role || !strings.HasPrefix(row.Content, next.Content) {
						t.Fatalf("turn %d has another message %d: %s %.60q; it was %s %.60q", list[i].LogicalTurn, j, next.Role, next.Content, row.Role, row.Content)
					}
				}
			}
		})
	}
}

func sameTools(a, b []model.Tool) bool {
	return slices.EqualFunc(a, b, func(a, b model.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && string(a.Parameters) == string(b.Parameters)
	})
}

// TestWindowedRuntimesKeepTheirHead: where the history slides, tools and system
// prompt are what can repeat, and they do.
func TestWindowedRuntimesKeepTheirHead(t *testing.T) {
	t.Parallel()
	for name := range games {
		for _, runtimeID := range []string{"affinity", "guide", "world-init/dimension-tracker", "char-creator/character-tracker"} {
			t.Run(name+"/"+runtimeID, func(t *testing.T) {
				t.Parallel()
				list := firsts(playOnce(t, name), runtimeID)
				if len(list) != thirtyTurns {
					t.Fatalf("it ran in %d turns", len(list))
				}
				for i := 1; i < len(list); i++ {
					was, now := trace.ReadPlain(list[i-1].Body()), trace.ReadPlain(list[i].Body())
					if was.System != now.System && list[i-1].lore() == list[i].lore() && !newcomer(runtimeID, list[i].LogicalTurn) {
						t.Errorf("turn %d has another system prompt", list[i].LogicalTurn)
					}
					if !sameTools(was.Tools, now.Tools) {
						t.Errorf("turn %d has other tools", list[i].LogicalTurn)
					}
				}
			})
		}
	}
}

// newcomer says whether a turn follows the one that put a character on the
// roster, which is a session segment of the character tracker.
func newcomer(runtimeID string, logicalTurn int) bool {
	return runtimeID == "char-creator/character-tracker" && logicalTurn == 9
}
