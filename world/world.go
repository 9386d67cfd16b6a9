package world

import (
	"encoding/json"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
)

// World is one loaded pack. It is immutable.
type World struct {
	ID               string
	Version          string
	Name             string
	Summary          string
	Tags             []string
	DefaultLocale    string
	SupportedLocales []string
	Author           json.RawMessage
	License          string
	Homepage         string
	Requested        []string
	Recommended      []string
	Requires         []string
	// Settings are the world's values for plugin settings, by plugin and key.
	Settings map[string]map[string]json.RawMessage
	// Sources are the data sources in the order in which they are read.
	Sources []Source
	// Origin is where the pack was read; User says that it came from the user.
	Origin string
	User   bool

	manifest         document
	lore             map[string]string // by locale, "" for the canonical text
	dimensionSources []document
	media            map[string]Media
}

// Source is one entry of the data descriptor (spec 05 §12.3).
type Source struct {
	ID         string
	Kind       string
	Path       string
	To         string // world:metadata, contract, lorebook, characters or media
	Contract   string
	Metadata   []string // the path of world:metadata.<path>
	Lorebook   bool     // contract:<id>+lorebook
	Key        string
	ArrayKeys  ArrayKeys
	IndexTo    string
	Effects    string
	Locale     string
	SkipExists bool
	After      []string
	Hidden     bool
	// Implied marks a source that was found by its file's place, without a
	// descriptor; a missing receiver is then only a warning.
	Implied bool

	doc    document
	schema *plugin.Schema
}

// ArrayKeys says by which member a list's items meet their translations: by the
// list's own name, else by the first of Any that an item has, else by id or key.
type ArrayKeys struct {
	Any    []string
	ByList map[string]string
}

// Media is one file of the pack with its bytes.
type Media struct {
	SourceID string
	Path     string
	Mime     string
	Bytes    []byte
}

// Request gives the resolver's request of a session in this world (spec 05
// §4.3). The caller adds what the player asked for.
func (w *World) Request(requested, excluded []string) plugin.Request {
	return plugin.Request{Requested: requested, Excluded: excluded, WorldRequested: w.Requested, WorldRequires: w.Requires}
}

// Locales lists the locales that the world has texts for, the default first.
func (w *World) Locales() []string {
	if len(w.SupportedLocales) == 0 {
		return []string{w.DefaultLocale}
	}
	return w.SupportedLocales
}

// document is one parsed file with its overlays by locale.
type document struct {
	path     string
	root     *source.Node
	overlays map[string]*source.Node
}
