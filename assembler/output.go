package assembler

import (
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
)

// Assembled is a built request (spec 01 §2.2).
type Assembled struct {
	SystemPrompt string
	Messages     []model.Message
	// FrameworkHead is preamble and sentinel; no hook sees or replaces it.
	FrameworkHead string
	TurnContext   string
	// CurrentTurnUserMessages counts the user messages of the protected turn.
	CurrentTurnUserMessages int
	// PrunedMessageCount and OverBudget are set only with a budget.
	PrunedMessageCount int
	OverBudget         bool
	// Tokens estimates system prompt and messages; 0 without a budget.
	Tokens   int
	Language locale.Lang
	// Lore lists the active lorebook entries, for the debug trace.
	Lore []ActiveLore
	Mode Mode
	// PlayerIndex is the place of the current player message.
	PlayerIndex int
	Sections    []Section
	Warnings    []Warning
}

// Zones of sections.
const (
	ZoneSystem   = "system"
	ZoneMessages = "messages"
)

// Section is one named part of a request, in order. System parts are preamble,
// body, stable, lore-before, events, lore-after and fresh; message parts are
// pre-history, history, turn-context, pictures, player, story, cue, lore-depth,
// depth and post-history. In the system zone From and To are
// byte offsets of the system prompt, the sentinel included; in the messages
// zone indices of the messages, [From, To).
type Section struct {
	Name string `json:"name"`
	Zone string `json:"zone"`
	From int    `json:"from"`
	To   int    `json:"to"`
	// Cached says that a cache border ends the section.
	Cached bool `json:"cached,omitempty"`
}

// Codes of warnings (spec 01 §20).
const (
	WarnBadSegment       = "bad-segment"
	WarnSegmentSkipped   = "segment-skipped"
	WarnTransformSkipped = "transform-skipped"
	WarnPositionUnknown  = "position-unknown"
	WarnPictureSkipped   = "picture-skipped"
	WarnSnapshotRead     = "snapshot-read"
	WarnTemplateValue    = "template-value"
)

// Warning is something that was left out, and why. It loses nothing but the
// item it names.
type Warning struct {
	Code   string `json:"code"`
	Item   string `json:"item,omitempty"`
	Field  string `json:"field,omitempty"`
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`
}
