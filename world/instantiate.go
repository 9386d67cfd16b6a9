package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// Options say how a session of a world begins.
type Options struct {
	// Active are the session's plugins; they receive the world's data.
	Active *plugin.Active
	// Excluded are the plugins that the request excluded: a source whose every
	// installed receiver is excluded is skipped with a warning.
	Excluded []string
	// Locale is fixed for the session's life. Defaults to the world's default.
	Locale string
	// Now is the instant of creation that every row gets.
	Now       time.Time
	SessionID string
	// WithoutPremadePlayer leaves the world's player character out
	// (creation option usePremadePlayer: false).
	WithoutPremadePlayer bool
}

// Seed is what the creation of a session writes, in one transaction.
type Seed struct {
	Session    session.Session
	Characters []session.Character
	Lorebook   []session.LoreEntry
	// Data holds plugin rows in creation order, hidden ones and the dimensions
	// included.
	Data       []session.PluginDatum
	Dimensions []Dimension
	Media      []Media
	Snapshot   Snapshot
	// Warnings tell what was skipped.
	Warnings []string
}

// Snapshot is the world as the session keeps it: every text resolved to the
// session's locale. It is stored as session metadata under "world".
type Snapshot struct {
	ID              string          `json:"id"`
	Version         string          `json:"version"`
	Name            string          `json:"name"`
	Summary         string          `json:"summary"`
	Tags            []string        `json:"tags,omitempty"`
	Locale          string          `json:"locale"`
	Lore            string          `json:"lore"`
	PlayerLore      string          `json:"playerLore"`
	CharacterSchema json.RawMessage `json:"characterSchema,omitempty"`
	// Metadata is what sources put under world:metadata.<path>.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Settings are the world's plugin settings, by plugin and key.
	Settings map[string]map[string]json.RawMessage `json:"pluginSettings,omitempty"`
}

// SnapshotOf reads the world snapshot from a session's metadata.
func SnapshotOf(metadata json.RawMessage) (Snapshot, error) {
	var m struct {
		World Snapshot `json:"world"`
	}
	if len(metadata) == 0 {
		return m.World, nil
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return Snapshot{}, fmt.Errorf("session metadata: %w", err)
	}
	return m.World, nil
}

// Instantiate resolves a world for a new session. Nothing is created when it
// fails: the *turn.Error names source, contract and what to do
// (world-data-unreceived, invalid-value).
func (w *World) Instantiate(o Options) (*Seed, error) {
	if o.Locale == "" {
		o.Locale = w.DefaultLocale
	}
	s := &seeding{world: w, opts: o, seed: &Seed{}, metadata: &source.Node{Kind: source.Map}}
	manifest := w.manifest.resolve(o.Locale, ArrayKeys{})
	lore, _ := splitLore(w.loreFor(o.Locale))
	s.seed.Snapshot = Snapshot{
		ID: w.ID, Version: w.Version, Name: manifest.Get("name").Str(), Summary: manifest.Get("summary").Str(), Tags: manifest.Get("tags").Strings(),
		Locale: o.Locale, Lore: lore.Model, PlayerLore: lore.Player, CharacterSchema: manifest.Get("characterSchema").JSON(), Settings: w.Settings,
	}
	s.schema = characterSchemaOrNil(manifest.Get("characterSchema"))
	s.addDimensions(manifest.Get("dimensions"))
	for _, d := range w.dimensionSources {
		s.addDimensions(d.resolve(o.Locale, ArrayKeys{}))
	}
	for _, src := range w.Sources {
		if err := s.apply(src); err != nil {
			return nil, err
		}
	}
	s.storeDimensions()
	return s.finish()
}

func characterSchemaOrNil(n *source.Node) *CharacterSchema {
	if n == nil {
		return nil
	}
	return characterSchema(n)
}

type seeding struct {
	world    *World
	opts     Options
	seed     *Seed
	schema   *CharacterSchema
	metadata *source.Node
}

func (s *seeding) warnf(format string, args ...any) {
	s.seed.Warnings = append(s.seed.Warnings, fmt.Sprintf(format, args...))
}

func (s *seeding) apply(src Source) error {
	var value *source.Node
	if src.doc.root != nil {
		value = src.doc.resolve(s.opts.Locale, src.ArrayKeys)
	}
	switch src.To {
	case toCharacters:
		s.addCharacters(value, src.doc.root)
	case toLorebook:
		s.addLore(src, value)
	case toDimensions:
		s.addDimensions(value)
	case toMedia:
		return s.addMedia(src)
	case toMetadata:
		if src.Locale == "" || compatible(src.Locale, s.opts.Locale) {
			s.addMetadata(src, value)
		}
	case toContract:
		if src.Lorebook {
			s.addLore(src, value)
		}
		if err := s.addRows(src, value, src.Contract); err != nil {
			return err
		}
		return s.applyEffects(src, value)
	}
	return nil
}

// addCharacters takes the overlay's fields only where they still fit.
func (s *seeding) addCharacters(value, canonical *source.Node) {
	for i, n := range value.Items {
		c := characterOf(n)
		if c.Type == session.CharacterTypePlayer && s.opts.WithoutPremadePlayer {
			continue
		}
		if f := n.Get("fields"); f != nil && s.schema != nil && i < len(items(canonical)) {
			kept := &source.Node{Kind: source.Map}
			for _, m := range f.Fields {
				if s.schema.refuses(m.Key, m.Value) != "" {
					m.Value = canonical.Items[i].Get("fields").Get(m.Key)
				}
				kept.Fields = append(kept.Fields, m)
			}
			c.Fields = kept.JSON()
		}
		c.SessionID, c.CreatedAt, c.UpdatedAt = s.opts.SessionID, s.opts.Now, s.opts.Now
		s.seed.Characters = append(s.seed.Characters, c)
	}
}

func (s *seeding) addLore(src Source, value *source.Node) {
	for _, n := range items(value) {
		e := loreOf(n)
		if e.ID == "" || e.Content == "" {
			continue
		}
		at := slices.IndexFunc(s.seed.Lorebook, func(x session.LoreEntry) bool { return x.ID == e.ID })
		if at >= 0 && src.SkipExists {
			continue
		}
		e.SessionID, e.CreatedAt, e.UpdatedAt = s.opts.SessionID, s.opts.Now, s.opts.Now
		if at >= 0 {
			s.seed.Lorebook[at] = e
			continue
		}
		s.seed.Lorebook = append(s.seed.Lorebook, e)
	}
}

func (s *seeding) addDimensions(value *source.Node) {
	s.seed.Dimensions = append(s.seed.Dimensions, dimensionsOf(value, len(s.seed.Dimensions))...)
}

func (s *seeding) addMetadata(src Source, value *source.Node) {
	at := s.metadata
	for _, key := range src.Metadata[:len(src.Metadata)-1] {
		next := at.Get(key)
		if next == nil || next.Kind != source.Map {
			next = &source.Node{Kind: source.Map}
			setMember(at, key, next)
		}
		at = next
	}
	last := src.Metadata[len(src.Metadata)-1]
	if src.SkipExists && at.Has(last) {
		return
	}
	setMember(at, last, value)
}

func setMember(n *source.Node, key string, value *source.Node) {
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			n.Fields[i].Value = value
			return
		}
	}
	n.Fields = append(n.Fields, source.Field{Key: key, Value: value})
}

// receivers gives the namespaces for a contract; skip says that the source is
// left out with a warning.
func (s *seeding) receivers(src Source, contract string) (list []plugin.Receiver, skip bool, err error) {
	if s.opts.Active != nil {
		list = s.opts.Active.Receivers(contract)
	}
	if len(list) > 0 {
		return list, false, nil
	}
	why := fmt.Sprintf("source %q (%s) of world %q has contract %s, which no active plugin accepts", src.ID, src.Path, s.world.ID, contract)
	if src.Implied || contract == src.IndexTo || s.allExcluded(contract) {
		s.warnf("%s; the source is skipped", why)
		return nil, true, nil
	}
	e := turn.Errorf("world.Instantiate", "world-data-unreceived", "%s; activate a plugin with a namespace that accepts it, or disable the source", why)
	e.Field = src.ID
	return nil, false, e
}

// allExcluded says that receivers are installed and the request excluded all.
func (s *seeding) allExcluded(contract string) bool {
	if s.opts.Active == nil {
		return false
	}
	gen := s.opts.Active.Generation()
	var all []string
	for _, m := range gen.Plugins() {
		all = append(all, m.ID)
	}
	installed := gen.Active(all).Receivers(contract)
	return len(installed) > 0 && !slices.ContainsFunc(installed, func(r plugin.Receiver) bool { return !slices.Contains(s.opts.Excluded, r.PluginID) })
}

func (s *seeding) addRows(src Source, value *source.Node, contract string) error {
	receivers, skip, err := s.receivers(src, contract)
	if err != nil || skip {
		return err
	}
	for _, to := range receivers {
		list, err := rowsOf(src, value, to)
		if err != nil {
			return s.refuse(src, "%v", err)
		}
		for _, r := range list {
			if err := s.opts.Active.Generation().CheckDatum(to.PluginID, to.Name, r.key, r.value.JSON()); err != nil {
				return s.refuse(src, "%v", err)
			}
			s.addDatum(src, to, r)
		}
	}
	return nil
}

func (s *seeding) refuse(src Source, format string, args ...any) error {
	e := turn.Errorf("world.Instantiate", "invalid-value", "source %q (%s) of world %q: %s", src.ID, src.Path, s.world.ID, fmt.Sprintf(format, args...))
	e.Kind, e.Field = turn.KindInvalid, src.ID
	return e
}

func (s *seeding) addDatum(src Source, to plugin.Receiver, r row) {
	namespace := to.Name
	if src.Hidden {
		namespace = "_hidden." + namespace
	}
	d := session.PluginDatum{
		SessionID: s.opts.SessionID, PluginID: to.PluginID, Namespace: namespace, Key: r.key, Value: r.value.JSON(),
		SchemaVersion: to.Namespace.Version, CreatedAt: s.opts.Now, UpdatedAt: s.opts.Now,
	}
	at := slices.IndexFunc(s.seed.Data, func(x session.PluginDatum) bool {
		return x.PluginID == d.PluginID && x.Namespace == d.Namespace && x.Key == d.Key
	})
	switch {
	case at < 0:
		s.seed.Data = append(s.seed.Data, d)
	case !src.SkipExists:
		s.seed.Data[at] = d
	}
}

func (s *seeding) addMedia(src Source) error {
	m := s.world.media[src.ID]
	s.seed.Media = append(s.seed.Media, m)
	if src.IndexTo == "" {
		return nil
	}
	index := &source.Node{Kind: source.Map, Fields: []source.Field{{Key: src.ID, Value: &source.Node{Kind: source.Map, Fields: []source.Field{
		{Key: "path", Value: &source.Node{Kind: source.String, Text: m.Path}},
		{Key: "mime", Value: &source.Node{Kind: source.String, Text: m.Mime}},
	}}}}}
	return s.addRows(src, index, src.IndexTo)
}

// storeDimensions writes the dimensions for their owner, the active provider of
// world.dimensions@1.
func (s *seeding) storeDimensions() {
	if len(s.seed.Dimensions) == 0 || s.opts.Active == nil {
		return
	}
	owner, ok := s.opts.Active.Provider(contractDimensions)
	if !ok {
		s.warnf("world %q has %d dimensions, but no active plugin provides %s; they are left out", s.world.ID, len(s.seed.Dimensions), contractDimensions)
		return
	}
	for _, d := range s.seed.Dimensions {
		value, err := encodeDimension(d)
		if err != nil {
			s.warnf("dimension %q is left out: %v", d.ID, err)
			continue
		}
		s.seed.Data = append(s.seed.Data, session.PluginDatum{
			SessionID: s.opts.SessionID, PluginID: owner.ID, Namespace: "_dimensions", Key: d.ID, Value: value,
			CreatedAt: s.opts.Now, UpdatedAt: s.opts.Now,
		})
	}
}

func encodeDimension(d Dimension) (json.RawMessage, error) {
	return encode(d)
}

// encode is JSON without HTML escaping.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func (s *seeding) finish() (*Seed, error) {
	seat := session.Seat{ID: "seat-1", Primary: true, CharacterIDs: []string{}}
	for _, c := range s.seed.Characters {
		if c.Type == session.CharacterTypePlayer {
			seat.CharacterIDs = append(seat.CharacterIDs, c.ID)
			if seat.CurrentCharacterID == "" {
				seat.CurrentCharacterID = c.ID
			}
		}
	}
	if len(s.metadata.Fields) > 0 {
		s.seed.Snapshot.Metadata = s.metadata.JSON()
	}
	metadata, err := encode(map[string]any{"world": s.seed.Snapshot})
	if err != nil {
		return nil, err
	}
	s.seed.Session = session.Session{
		ID: s.opts.SessionID, WorldID: s.world.ID, Status: session.StatusActive, Phase: session.PhaseSetup, Locale: s.opts.Locale,
		Seats: []session.Seat{seat}, Metadata: metadata, CreatedAt: s.opts.Now, UpdatedAt: s.opts.Now,
	}
	if s.opts.Active != nil {
		s.seed.Session.ActivePlugins = s.opts.Active.IDs()
	}
	return s.seed, nil
}
