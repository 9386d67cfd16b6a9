package commit

import (
	"encoding/json"

	"github.com/covel-engine/covel/world"
)

// StatePatch is the payload of state.patch: one row of a state table. Op is
// set (the default), merge (top-level members of an object) or delete.
type StatePatch struct {
	Table string          `json:"table"`
	Key   string          `json:"key"`
	Op    string          `json:"op,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// EventEmit is the payload of event.emit.
type EventEmit struct {
	Topic string          `json:"topic"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// NarrativeAppend is the payload of narrative.append: story text that joins
// the conversation.
type NarrativeAppend struct {
	Text string `json:"text"`
	Name string `json:"name,omitempty"`
}

// DataWrite is the payload of plugin.data.
type DataWrite struct {
	Namespace string          `json:"namespace"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
}

// DataDelete is the payload of plugin.data.delete.
type DataDelete struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
}

// DataBatch is the payload of plugin.data.batch: all entries or none.
type DataBatch struct {
	Namespace string       `json:"namespace"`
	Entries   []BatchEntry `json:"entries"`
}

// BatchEntry is one write of a batch. With Compare it takes place only if the
// stored value's own member version is Expected, or the key is absent for null
// (spec 02 §19).
type BatchEntry struct {
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	Compare  bool            `json:"compare,omitempty"`
	Expected *int64          `json:"expected,omitempty"`
}

// CharacterUpsert is the payload of character.upsert. A known id is changed:
// given members replace, fields are merged by name, null removes a field. A
// new one needs name and type.
type CharacterUpsert struct {
	ID          string          `json:"id"`
	Name        string          `json:"name,omitempty"`
	Type        string          `json:"type,omitempty"`
	Description *string         `json:"description,omitempty"`
	Aliases     []string        `json:"aliases,omitempty"`
	Fields      json.RawMessage `json:"fields,omitempty"`
}

// CharacterSchemaSet is the payload of character.schema.set.
type CharacterSchemaSet struct {
	Schema json.RawMessage `json:"schema"`
}

// LoreUpsert is the payload of lorebook.upsert; the owner is always the
// proposing plugin.
type LoreUpsert struct {
	ID             string          `json:"id"`
	Keys           []string        `json:"keys,omitempty"`
	Content        string          `json:"content"`
	Strategy       string          `json:"strategy,omitempty"`
	Position       string          `json:"position,omitempty"`
	InsertionOrder int             `json:"insertionOrder,omitempty"`
	Enabled        *bool           `json:"enabled,omitempty"`
	Extra          json.RawMessage `json:"extra,omitempty"`
}

// Dimension is one stored dimension: a row of the owner's namespace
// NamespaceDimensions under the dimension's id (spec 05 §12.7).
type Dimension = world.Dimension

// DimensionInitialize is the payload of dimension.initialize. Dimensions that
// stand already keep value and version.
type DimensionInitialize struct {
	Dimensions []Dimension `json:"dimensions"`
}

// DimensionUpdate is the payload of dimension.update. Each version must be the
// current one, else everything is refused with dimension-version-conflict.
type DimensionUpdate struct {
	Updates []DimensionChange `json:"updates"`
	// Receipt is settled (the default), no-change, manual or skipped.
	Receipt string `json:"receipt,omitempty"`
}

// DimensionChange is one new value.
type DimensionChange struct {
	ID      string          `json:"id"`
	Value   json.RawMessage `json:"value"`
	Version int             `json:"version"`
	Reason  string          `json:"reason,omitempty"`
}

// Settlement is one receipt: a row of NamespaceSettlements.
type Settlement struct {
	TurnID  string   `json:"turnId"`
	Status  string   `json:"status"`
	Updated []string `json:"updated,omitempty"`
}

// AssetGenerate is the payload of asset.generate: either Data (base64) with
// Mime, or the SHA256 of media that the session refers to already.
type AssetGenerate struct {
	Modality string          `json:"modality"`
	Mime     string          `json:"mime,omitempty"`
	Data     []byte          `json:"data,omitempty"`
	SHA256   string          `json:"sha256,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
}

// PictureUI is the ui member of a shown picture's row.
type PictureUI struct {
	MediaRef string `json:"mediaRef"`
	Mime     string `json:"mime,omitempty"`
}

// TriggerEntry is one row of the trigger ledger (spec 03 §4.2).
type TriggerEntry struct {
	Count    int `json:"count"`
	LastTurn int `json:"lastTurn"`
}

// Where the engine keeps its own rows of plugin data.
const (
	// PluginTriggers, NamespaceTriggers: key runtime id, value TriggerEntry.
	PluginTriggers    = "__kernel:triggers"
	NamespaceTriggers = "runtimes"
	// PluginState: namespace state table, key row, value the row's JSON.
	PluginState = "__kernel:state"
	// PluginCharacters, NamespaceSchema, KeySchema: the session's character
	// schema once character.schema.set has been committed.
	PluginCharacters = "__kernel:characters"
	NamespaceSchema  = "schema"
	KeySchema        = "schema"
	// NamespaceDimensions and NamespaceSettlements belong to the plugin that
	// provides world.dimensions@1.
	NamespaceDimensions  = "_dimensions"
	NamespaceSettlements = "_dimension-settlements"
)

// Interaction is what the engine reads of an interaction.request payload; the
// rest is kept as it is.
type Interaction struct {
	InteractionID string `json:"interactionId"`
}
