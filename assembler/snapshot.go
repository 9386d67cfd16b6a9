package assembler

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/world"
)

// Read is one independent read of a snapshot: its value, or why it failed.
type Read[T any] struct {
	Value T
	Err   error
}

// SnapshotReads are the reads of one execution (spec 01 §6.6). Rows that a
// caller already holds are handed in the same way.
type SnapshotReads struct {
	Characters Read[[]session.Character]
	// Context is the answer of session.world-context@1.
	Context Read[WorldContext]
	// Form is the latest form, nil without one.
	Form     Read[*session.PlayerInput]
	Locale   string
	Lorebook Read[[]session.LoreEntry]
	Session  Read[session.Session]
	// World is the world's record, nil when the id has none.
	World   Read[*WorldRecord]
	WorldID string
}

// WorldRecord is a world as it is stored.
type WorldRecord struct {
	Name    string
	Summary string
	Tags    []string
	Locale  string
	// Lore is the edited text in the world's own locale; LocalizedLore holds the
	// other locales'.
	Lore          string
	LocalizedLore map[string]string
	Schema        json.RawMessage
}

// WorldContext is what session.world-context@1 adds to the world.
type WorldContext struct {
	Schema     json.RawMessage
	Entries    []WorldEntry
	Dimensions []Dimension
}

// NewSnapshot composes the view. It never fails: a failed read gives empty data
// and a snapshot-read warning.
func NewSnapshot(r SnapshotReads) (Snapshot, []Warning) {
	var warnings []Warning
	failed := func(read string, err error) {
		if err != nil {
			warnings = append(warnings, Warning{Code: WarnSnapshotRead, Item: read, Reason: err.Error()})
		}
	}
	failed("session", r.Session.Err)
	failed("characters", r.Characters.Err)
	failed("form", r.Form.Err)
	failed("lorebook", r.Lorebook.Err)
	failed("world", r.World.Err)
	failed("world-context", r.Context.Err)

	s := Snapshot{
		Characters: usable(r.Characters), Lorebook: usable(r.Lorebook), Seats: usable(r.Session).Seats,
		World: World{ID: cmp.Or(usable(r.Session).WorldID, r.WorldID)},
	}
	if form := usable(r.Form); form != nil {
		s.FormValues = form.Values
	}
	context := usable(r.Context)
	s.World.Dimensions = context.Dimensions
	s.World.Entries = worldEntries(s.Lorebook, context.Entries)
	if record := usable(r.World); record != nil {
		s.World.Name, s.World.Summary, s.World.Tags, s.World.Schema = record.Name, record.Summary, record.Tags, record.Schema
		s.World.Lore = loreFor(record, r.Locale)
	}
	if len(context.Schema) > 0 {
		s.World.Schema = context.Schema
	}
	if override, ok := loreOverride(usable(r.Session).Metadata); ok {
		s.World.Lore = override
	}
	s.World.Lore = world.SplitLore(s.World.Lore).Model
	return s, warnings
}

func usable[T any](r Read[T]) T {
	if r.Err != nil {
		var none T
		return none
	}
	return r.Value
}

func loreFor(w *WorldRecord, tag string) string {
	want := locale.Canonical(tag)
	if want == locale.Canonical(w.Locale) {
		return w.Lore
	}
	for _, key := range sortedKeys(w.LocalizedLore) {
		if locale.Canonical(key) == want {
			return w.LocalizedLore[key]
		}
	}
	return w.Lore
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// loreOverride is the session's own lore; an empty text counts.
func loreOverride(metadata json.RawMessage) (string, bool) {
	v, err := jsonValue(metadata)
	if err != nil {
		return "", false
	}
	m := v.Member("loreOverride")
	return m.Text, m.Kind == ordered.String
}

// worldEntries lists enabled constant rows of the world by insertion order;
// provided entries replace by key or come last.
func worldEntries(rows []session.LoreEntry, provided []WorldEntry) []WorldEntry {
	var own []session.LoreEntry
	for _, e := range rows {
		if e.Enabled && e.Strategy == LoreConstant && e.Owner.Kind == session.LoreOwnerWorld {
			own = append(own, e)
		}
	}
	slices.SortStableFunc(own, func(a, b session.LoreEntry) int {
		return cmp.Or(cmp.Compare(a.InsertionOrder, b.InsertionOrder), strings.Compare(a.ID, b.ID))
	})
	var out []WorldEntry
	for _, e := range own {
		key := e.ID
		if len(e.Keys) > 0 {
			key = e.Keys[0]
		}
		out = append(out, WorldEntry{key, e.Content})
	}
	for _, p := range provided {
		at := slices.IndexFunc(out, func(e WorldEntry) bool { return e.Key == p.Key })
		if at < 0 {
			out = append(out, p)
			continue
		}
		out[at] = p
	}
	return out
}
