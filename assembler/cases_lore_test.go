package assembler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/world"
)

func keyword(id string, keys ...string) session.LoreEntry {
	return session.LoreEntry{ID: id, Keys: keys, Content: id + " text", Strategy: "keyword", Position: "after_plugin", Enabled: true}
}

func activate(t *testing.T, lang locale.Lang, player string, tail []string, entries ...session.LoreEntry) ([]assembler.ActiveLore, []assembler.Warning) {
	t.Helper()
	rows := make([]session.Message, len(tail))
	for i, text := range tail {
		rows[i].Content = text
	}
	return assembler.ActivateLore(entries, rows, player, texts(t), lang)
}

func activeIDs(active []assembler.ActiveLore) string {
	ids := make([]string, len(active))
	for i, a := range active {
		ids[i] = a.Entry.ID
	}
	return strings.Join(ids, " ")
}

func loreCases() map[string]caseTest {
	gate := keyword("seal-gate", "封印门")
	gate.Position, gate.Extra = "at_depth", raw(`{"coordinate":{"depth":2}}`)
	return map[string]caseTest{
		"CA-035": func(t *testing.T) {
			active, _ := activate(t, locale.Chinese, "", nil, session.LoreEntry{
				ID: "x", Content: "Fish.", Strategy: "constant", Position: "before_plugin", InsertionOrder: 20, Enabled: true, Extra: raw(`{"title":"Fog Market"}`),
			})
			same(t, "text", active[0].Text, "[世界规则：Fog Market]\nFish.")
			same(t, "position", active[0].Position, "before_plugin")
			same(t, "order", active[0].Entry.InsertionOrder, 20)
		},
		"CA-036": func(t *testing.T) {
			active, _ := activate(t, locale.Chinese, "打开封印门吧", nil, gate, keyword("other", "月光"))
			same(t, "active", activeIDs(active), "seal-gate")
			same(t, "depth", active[0].Depth, 2)
			same(t, "label", active[0].Label, "封印门")
		},
		"CA-037": func(t *testing.T) {
			for _, tag := range []string{"en-US", "zh-Hant-TW"} {
				active, _ := activate(t, locale.Instruction(tag, ""), "封印门", nil, gate)
				contains(t, active[0].Text, "[World Rule: 封印门]\n")
			}
		},
		"CA-038": func(t *testing.T) {
			deep := func(e session.LoreEntry, extra string) session.LoreEntry {
				e.Extra = raw(extra)
				return e
			}
			active, _ := activate(t, locale.English, "Join the party.", []string{"castle", "The gate opens.", "月光照在桥上"},
				keyword("art", "art"), deep(keyword("moon-glyph", "月光"), `{"scanDepth":1}`), deep(keyword("gate", "gate"), `{"extra":{"scanDepth":2}}`),
				keyword("default", "月光"), deep(keyword("castle", "castle"), `{"scanDepth":2}`), deep(keyword("fraction", "月光"), `{"scanDepth":1.5}`),
				deep(keyword("text", "月光"), `{"scanDepth":"1"}`))
			same(t, "active", activeIDs(active), "gate moon-glyph")
		},
		"CA-039": func(t *testing.T) {
			active, _ := activate(t, locale.English, "Inspect ART, then leave.", nil, keyword("art", "art"))
			same(t, "active", activeIDs(active), "art")
		},
		"CA-040": func(t *testing.T) {
			for text, want := range map[string]bool{
				"lanterns": true, "lantern's": true, "lantern’s": true, "lanternfish": false, "a lantern_": false, "看lantern灯": true, "my lantern.": true,
			} {
				active, _ := activate(t, locale.English, text, nil, keyword("l", "lantern"))
				same(t, text, len(active) == 1, want)
			}
			active, _ := activate(t, locale.English, "boxes", nil, keyword("b", "box"), keyword("none"), keyword("blank", " "))
			same(t, "active", activeIDs(active), "b")
		},
		"CA-041": func(t *testing.T) {
			at := func(id, position string) session.LoreEntry {
				return session.LoreEntry{ID: id, Content: "x", Strategy: "constant", Position: position, Enabled: true}
			}
			active, warnings := activate(t, locale.English, "", nil, at("a", "before-memory"), at("b", "at-depth"), at("c", "before_plugin"))
			same(t, "warnings", len(warnings), 2)
			for i, want := range []string{"a before-memory", "b at-depth"} {
				same(t, "warning", warnings[i].Item+" "+warnings[i].Value, want)
				same(t, "code", warnings[i].Code, "position-unknown")
			}
			same(t, "position", active[0].Position+" "+active[1].Position+" "+active[2].Position, "after_plugin after_plugin before_plugin")
		},
		"CA-042": func(t *testing.T) {
			out := build(t, history("u u1", "a a1", "u u2"), func(in *assembler.Input) {
				in.Snapshot.Lorebook = []session.LoreEntry{{ID: "x", Content: "Deep.", Strategy: "constant", Position: "at_depth", Enabled: true, Extra: raw(`{"coordinate":{"depth":2}}`)}}
			})
			wantMessages(t, out.Messages, "user:u1", "assistant:a1", "system:[World Rule: x]\nDeep.", "user:u2", "user:hello")
		},
		"CA-043": func(t *testing.T) {
			off := session.LoreEntry{ID: "off", Content: "x", Strategy: "constant", Position: "at_depth"}
			on := off
			on.ID, on.Enabled = "on", true
			active, _ := activate(t, locale.English, "", nil, off, on)
			same(t, "active", activeIDs(active), "on")
			same(t, "depth", active[0].Depth, 4)
			for extra, want := range map[string]int{`{"coordinate":{"depth":1.5}}`: 2, `{"coordinate":{"depth":-3}}`: 0, `{"coordinate":{"depth":"7"}}`: 4} {
				on.Extra = raw(extra)
				active, _ = activate(t, locale.English, "", nil, on)
				same(t, extra, active[0].Depth, want)
			}
		},
		"CA-044": func(t *testing.T) {
			s, warnings := assembler.NewSnapshot(assembler.SnapshotReads{})
			same(t, "warnings", len(warnings), 0)
			same(t, "world id", s.World.ID, "")
			same(t, "entries", len(s.World.Entries)+len(s.World.Dimensions)+len(s.World.Schema)+len(s.Characters), 0)
			if s.FormValues != nil {
				t.Error("form values are there")
			}
			got := bodyOf(t, "[{{ world.id }}{{ world.entries }}{{ world.dimensions }}{{ world.schema }}{{ player.character }}{{ userSettings }}]")
			same(t, "body", got, "[[]{}{}]")
		},
		"CA-045": func(t *testing.T) {
			for tag, want := range map[string]string{"en-US": "E", "zh-CN": "C", "zh_cn": "C", "fr": "E"} {
				s, _ := assembler.NewSnapshot(assembler.SnapshotReads{Locale: tag, World: assembler.Read[*assembler.WorldRecord]{Value: &assembler.WorldRecord{
					Locale: "en-US", Lore: "E", LocalizedLore: map[string]string{"zh-CN": "C", "en-US": "old"},
				}}})
				same(t, tag, s.World.Lore, want)
			}
			override := assembler.SnapshotReads{
				World:   assembler.Read[*assembler.WorldRecord]{Value: &assembler.WorldRecord{Lore: "E"}},
				Session: assembler.Read[session.Session]{Value: session.Session{Metadata: raw(`{"loreOverride":""}`)}},
			}
			s, _ := assembler.NewSnapshot(override)
			same(t, "override", s.World.Lore, "")
		},
		"CA-046": func(t *testing.T) {
			world := func(id, key string, order int) session.LoreEntry {
				return session.LoreEntry{
					ID: id, Keys: []string{key}, Content: id, Strategy: "constant", InsertionOrder: order, Enabled: true,
					Owner: session.LoreOwner{Kind: session.LoreOwnerWorld},
				}
			}
			foreign := world("f", "foreign", 1)
			foreign.Owner = session.LoreOwner{Kind: session.LoreOwnerPlugin, PluginID: "other"}
			s, _ := assembler.NewSnapshot(assembler.SnapshotReads{
				Lorebook: assembler.Read[[]session.LoreEntry]{Value: []session.LoreEntry{world("2", "beta", 100), foreign, world("1", "alpha", 50)}},
				Context:  assembler.Read[assembler.WorldContext]{Value: assembler.WorldContext{Entries: []assembler.WorldEntry{{Key: "beta", Content: "new"}, {Key: "c", Content: "more"}}}},
			})
			want := []assembler.WorldEntry{{Key: "alpha", Content: "1"}, {Key: "beta", Content: "new"}, {Key: "c", Content: "more"}}
			if !slices.Equal(s.World.Entries, want) {
				t.Errorf("entries %v", s.World.Entries)
			}
			got := bodyOf(t, "{{ world.entries.0 }}[{{ world.tone }}{{ world.openingScenario }}]", func(in *assembler.Input) { in.Snapshot.World = s.World })
			same(t, "body", got, `{"key":"alpha","content":"1"}[]`)
		},
		"CA-047": func(t *testing.T) {
			boom := errors.New("disk gone")
			s, warnings := assembler.NewSnapshot(assembler.SnapshotReads{
				WorldID: "w-x", Characters: assembler.Read[[]session.Character]{Value: []session.Character{{ID: "c"}}, Err: boom},
				Context: assembler.Read[assembler.WorldContext]{Err: boom}, Form: assembler.Read[*session.PlayerInput]{Err: boom},
				Lorebook: assembler.Read[[]session.LoreEntry]{Err: boom}, Session: assembler.Read[session.Session]{Err: boom},
				World: assembler.Read[*assembler.WorldRecord]{Err: boom},
			})
			same(t, "id", s.World.ID, "w-x")
			same(t, "rows", len(s.Characters)+len(s.Lorebook)+len(s.World.Entries)+len(s.World.Dimensions), 0)
			same(t, "warnings", len(warnings), 6)
			for _, w := range warnings {
				same(t, "warning", w.Code+" "+w.Reason, "snapshot-read disk gone")
			}
		},
		"CA-048": func(t *testing.T) {
			lore := "A town.\n<!-- narrator-only -->\nthe vault is empty\n<!-- /narrator-only -->\nA lamp."
			s, _ := assembler.NewSnapshot(assembler.SnapshotReads{World: assembler.Read[*assembler.WorldRecord]{Value: &assembler.WorldRecord{Lore: lore}}})
			same(t, "model text", s.World.Lore, "A town.\nthe vault is empty\nA lamp.")
			same(t, "player text", world.SplitLore(lore).Player, "A town.\nA lamp.")
			same(t, "unclosed", world.SplitLore(strings.Replace(lore, "<!-- /narrator-only -->", "", 1)).Player, "A town.")
		},
	}
}
