package session

import (
	"encoding/json"
	"time"
)

// CharacterTypePlayer is the type every world has without listing it (spec 05 §12.1).
const CharacterTypePlayer = "player"

// Character is one person of a game (spec 02 §14 characters). Fields is a JSON
// object whose key order is kept.
type Character struct {
	SessionID   string          `json:"sessionId,omitempty"`
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Aliases     []string        `json:"aliases,omitempty"`
	Fields      json.RawMessage `json:"fields,omitempty"`
	Version     int             `json:"version,omitempty"`
	CreatedAt   time.Time       `json:"createdAt,omitzero"`
	UpdatedAt   time.Time       `json:"updatedAt,omitzero"`
}

// LoreOwnerKind says who owns a lorebook entry (spec 01 §7.1).
type LoreOwnerKind string

// Owners of lorebook entries.
const (
	LoreOwnerWorld  LoreOwnerKind = "world"
	LoreOwnerPlugin LoreOwnerKind = "plugin"
	LoreOwnerPlayer LoreOwnerKind = "player"
)

// LoreOwner is the owner of a lorebook entry; PluginID only for plugins.
type LoreOwner struct {
	Kind     LoreOwnerKind `json:"kind"`
	PluginID string        `json:"pluginId,omitempty"`
}

// LoreEntry is one lorebook row (spec 01 §7.1). Its identity is session, owner and id.
type LoreEntry struct {
	ID             string          `json:"id"`
	SessionID      string          `json:"sessionId,omitempty"`
	Owner          LoreOwner       `json:"owner"`
	Keys           []string        `json:"keys,omitempty"`
	Content        string          `json:"content"`
	Strategy       string          `json:"strategy"`
	Position       string          `json:"position"`
	InsertionOrder int             `json:"insertionOrder"`
	Enabled        bool            `json:"enabled"`
	Extra          json.RawMessage `json:"extra,omitempty"`
	CreatedAt      time.Time       `json:"createdAt,omitzero"`
	UpdatedAt      time.Time       `json:"updatedAt,omitzero"`
}

// PluginDatum is one row of plugin data (spec 02 §19, spec 05 §6).
type PluginDatum struct {
	SessionID     string          `json:"sessionId,omitempty"`
	PluginID      string          `json:"pluginId"`
	Namespace     string          `json:"namespace"`
	Key           string          `json:"key"`
	Value         json.RawMessage `json:"value"`
	SchemaVersion int             `json:"schemaVersion,omitempty"`
	CreatedAt     time.Time       `json:"createdAt,omitzero"`
	UpdatedAt     time.Time       `json:"updatedAt,omitzero"`
	CreatedSeq    int64           `json:"-"`
	UpdatedSeq    int64           `json:"-"`
}

// DataProjection is a bounded view of one namespace (spec 02 §19): all rows in
// creation order when Total fits the limit, else the earliest as Anchors and
// the latest updated others, newest first, as Recent.
type DataProjection struct {
	Anchors []PluginDatum
	Recent  []PluginDatum
	Total   int
}

// Rows gives the rows in the order of the projection: anchors, then recent.
func (p DataProjection) Rows() []PluginDatum {
	rows := make([]PluginDatum, 0, len(p.Anchors)+len(p.Recent))
	rows = append(rows, p.Anchors...)
	return append(rows, p.Recent...)
}

// PlayerInput is one submitted form (spec 02 §14 player_inputs).
type PlayerInput struct {
	ID        string          `json:"id"`
	SessionID string          `json:"sessionId"`
	Seq       int64           `json:"seq"`
	TurnID    string          `json:"turnId"`
	FormID    string          `json:"formId"`
	Values    json.RawMessage `json:"values"`
	CreatedAt time.Time       `json:"createdAt"`
}
