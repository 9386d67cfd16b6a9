package assembler

import (
	"encoding/json"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
)

// Input is everything that one build reads (spec 01 §2.1). The caller has
// loaded it; lists are in the order that matters.
type Input struct {
	Activation *Activation
	// Body is the runtime's template in the instruction language.
	Body string
	// Budget switches pruning on.
	Budget *Budget
	// EventCatalogue is EventCatalogue's text.
	EventCatalogue string
	Exports        []Slot
	// History is the log without the current turn's player rows, filtered and
	// windowed.
	History []session.Message
	Inputs  []Slot
	// ForcedLanguage is the value of locale.SettingForced, "" for none.
	ForcedLanguage string
	// Pictures are those to attach, oldest first; RecentPictures finds them.
	Pictures []Picture
	// Preamble replaces the framework preamble as given when it is not nil; an
	// empty one leaves it out.
	Preamble *string
	// Results are completed results by runtime key, for templates and injects.
	Results []Result
	Runtime Runtime
	// ScanTail is the committed log's end, at most 20 rows, compacted ones too.
	ScanTail  []session.Message
	Segments  []plugin.Segment
	Snapshot  Snapshot
	Story     []Story
	Summaries []session.Summary
	// Texts is the framework's catalogue; required.
	Texts *locale.Texts
	Turn  Turn
	// UserSettings are manifest defaults overlaid with the player's values, as
	// a JSON object.
	UserSettings json.RawMessage
}

// Turn is the part of a turn's input that a prompt shows.
type Turn struct {
	SessionID string
	TurnID    string
	// Number is the session's turn number.
	Number        int
	PlayerMessage string
	Locale        string
	// ManualRuntime is the target of a manual start, "" for none.
	ManualRuntime string
}

// Runtime is the compiled part of a manifest that shapes a prompt.
type Runtime struct {
	ID       string
	PluginID string
	Stage    string
	// Story says that the output joins the conversation.
	Story           bool
	OutputContract  string
	OutputSchema    json.RawMessage
	AdvertiseEvents bool
	RequireToolUse  bool
	// AfterTools are the tools whose success ends the run; Tools the names that
	// the runtime knows.
	AfterTools []string
	Tools      []string
	Injects    []Inject
}

// RuntimeOf reads a compiled manifest. Tools are the names that the runtime is
// offered; the rows of own data are loaded as SelfDataReads says.
func RuntimeOf(r *plugin.Runtime, tools []string) Runtime {
	out := Runtime{
		ID: r.ID, PluginID: r.PluginID, Stage: r.Schedule.Stage, Story: r.Story(),
		OutputContract: r.IO.Output.Contract, OutputSchema: r.IO.Output.Schema, Tools: tools,
	}
	if r.Agent != nil {
		out.AdvertiseEvents = r.Agent.AdvertiseEvents
		out.RequireToolUse = r.Agent.Require == "tool-use"
		out.AfterTools = r.Agent.AfterTools
	}
	for _, d := range r.IO.SelfData {
		out.Injects = append(out.Injects, Inject{As: d.As, SelfData: &SelfData{SelfData: d}})
	}
	return out
}

// Inject is one declared data block of the turn context: a field of an earlier
// result (FromRuntime, Field), or own data.
type Inject struct {
	As          string
	FromRuntime string
	Field       string
	SelfData    *SelfData
}

// SelfData is one bounded view of the runtime's own rows (spec 01 §8.2). A nil
// Rows means that no store was there to read.
type SelfData struct {
	plugin.SelfData
	Rows *session.DataProjection
}

// Result is one completed result. A key is <plugin>/<runtime>; a nil Output is
// a result without output object.
type Result struct {
	Key    string
	Output json.RawMessage
}

// Slot is one resolved input binding by name.
type Slot struct {
	Name string
	plugin.InputSlot
}

// Activation is why a runtime runs; Source is stage, event or manual.
type Activation struct {
	Source   string
	Detached bool
	Payload  json.RawMessage
}

// Story is one story text of this execution.
type Story struct {
	Name    string
	Content string
}

// Picture is one picture shown to the player; MediaRef names its bytes.
type Picture struct {
	Description string
	MediaRef    string
}

// Snapshot is the execution's view of session and world (spec 01 §6.6).
type Snapshot struct {
	Characters []session.Character
	Lorebook   []session.LoreEntry
	// FormValues are the latest form's, nil without a form.
	FormValues json.RawMessage
	Seats      []session.Seat
	World      World
}

// World is the world as templates and lore blocks show it. Lore is the model
// text, uncut.
type World struct {
	ID         string
	Name       string
	Summary    string
	Tags       []string
	Lore       string
	Schema     json.RawMessage
	Entries    []WorldEntry
	Dimensions []Dimension
}

// WorldEntry is one entry of world.entries.
type WorldEntry struct {
	Key     string
	Content string
}

// Dimension is one public dimension snapshot in definition order. Rule and
// Derived say how it changes and are shown to its tracker only.
type Dimension struct {
	ID          string
	Name        string
	Description string
	Schema      json.RawMessage
	Value       json.RawMessage
	Version     int
	Rule        string
	Derived     bool
}

func jsonValue(raw json.RawMessage) (ordered.Value, error) {
	if len(raw) == 0 {
		return ordered.Value{}, nil
	}
	return ordered.Parse(raw)
}
