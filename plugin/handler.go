package plugin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// Handlers are the Go handlers of a binary, by the name after "go:"
// (spec 05 §1.5). A package's entry names a Registration.
type Handlers struct {
	Entries     map[string]Registration
	Extensions  map[string]ExtensionHandler
	Functions   map[string]FunctionHandler
	Guards      map[string]GuardHandler
	Hooks       map[string]HookHandler
	Projections map[string]ProjectionHandler
	Segments    map[string]SegmentHandler
	Services    map[string]ServiceHandler
	Tools       map[string]ToolHandler
}

// Registration is what one package's entry registers by name.
type Registration struct {
	Tools map[string]ToolHandler
	// Definitions describe the registered tools to the model, by tool name.
	Definitions map[string]ToolDefinition
	Segments    map[string]SegmentHandler // prompt.segment@1 providers by id
	// Extensions are providers of the other points, by "<point>/<id>".
	Extensions map[string]ExtensionHandler
	Hooks      map[string]HookHandler // by event
	Services   map[string]ServiceHandler
}

// View is what a handler may read: the execution's frozen session, characters,
// world and the plugin's own committed data. It never reaches another plugin's
// rows.
type View struct {
	Scope       turn.Scope
	PluginID    string
	RuntimeID   string
	LogicalTurn int
	Locale      string
	// Language is the instruction language, en or zh, when it is forced; empty
	// follows the locale (spec 05 §10).
	Language string
	// StartedAt is the execution's frozen instant (spec 03 §1.2).
	StartedAt     time.Time
	PlayerMessage string
	Session       session.Session
	Characters    []session.Character
	// CharacterSchema and Dimensions are the world's, as JSON.
	CharacterSchema json.RawMessage
	Dimensions      json.RawMessage
	UserSettings    json.RawMessage
	Data            DataReader
	Messages        MessageReader
	Model           model.Caller
	// Services reaches the services of other active packages; nil when the
	// caller offers none.
	Services ServiceCaller
}

// ServiceCaller asks every active provider of a service contract.
type ServiceCaller interface {
	// Collect gives the answers by plugin id, in id order; a provider that
	// fails is left out and traced.
	Collect(ctx context.Context, contract string, input json.RawMessage) ([]ServiceAnswer, error)
}

// ServiceAnswer is one provider's answer.
type ServiceAnswer struct {
	PluginID string
	Output   json.RawMessage
}

// DataReader reads the plugin's own rows; _hidden.* only from functions and
// guards (spec 05 §6).
type DataReader interface {
	// Get gives a bare value, nil when the key is absent.
	Get(ctx context.Context, namespace, key string) (json.RawMessage, error)
	List(ctx context.Context, namespace string, after string, limit int) ([]session.PluginDatum, error)
}

// MessageReader reads the session's committed log.
type MessageReader interface {
	Tail(ctx context.Context, n int) ([]session.Message, error)
}

// InputSlot is one resolved input binding, with provenance for code.
type InputSlot struct {
	Cardinality string          `json:"cardinality"`
	Value       json.RawMessage `json:"value,omitempty"`
	Source      *InputSource    `json:"source,omitempty"`
	Items       []InputItem     `json:"items,omitempty"`
}

// InputItem is one item of a slot of cardinality all.
type InputItem struct {
	Value  json.RawMessage `json:"value"`
	Source InputSource     `json:"source"`
}

// InputSource is the provenance of a value; ResultID is for code only.
type InputSource struct {
	PluginID  string `json:"pluginId"`
	RuntimeID string `json:"runtimeId"`
	ResultID  string `json:"resultId,omitempty"`
}

// FunctionCall is what a function runtime gets.
type FunctionCall struct {
	View
	Inputs  map[string]InputSlot
	Payload json.RawMessage
	Event   *turn.Event
	// ResumeData and ResumedFrom are set when a suspension is resumed.
	ResumeData  json.RawMessage
	ResumedFrom string
	// IdempotencyKey is the same for every attempt of this call.
	IdempotencyKey string
}

// FunctionResult is a function's answer (spec 05 §3.4).
type FunctionResult struct {
	Value      json.RawMessage
	Effects    *turn.Effects
	Proposals  []ProposedWrite
	Completion string // "", done or pending
	Suspend    *SuspendMark
}

// ProposedWrite is a proposal before the engine gives it id and source.
type ProposedWrite struct {
	Type    string
	Payload json.RawMessage
}

// SuspendMark asks to suspend the runtime (spec 03 §12.1).
type SuspendMark struct {
	Reason       string          `json:"reason"`
	ResumeSchema json.RawMessage `json:"resumeSchema,omitempty"`
	DeadlineMs   int64           `json:"deadlineMs,omitempty"`
}

// FunctionHandler runs a function runtime.
type FunctionHandler func(ctx context.Context, call FunctionCall) (FunctionResult, error)

// GuardResult is a guard's answer; Value holds {skip, …rest} without skip.
type GuardResult struct {
	Skip  bool
	Value json.RawMessage
}

// GuardHandler decides before the model whether a runtime runs.
type GuardHandler func(ctx context.Context, call FunctionCall) (GuardResult, error)

// ToolCall is what a tool handler gets. Arguments are valid for the schema.
type ToolCall struct {
	View
	CallID         string
	Name           string
	Arguments      json.RawMessage
	InputSlots     map[string]InputSlot
	EmittedTopics  []string
	IdempotencyKey string
	// Pending are the proposals that earlier calls of this run buffered.
	Pending []turn.Proposal
}

// ToolResult is a tool's answer. Text is a plain-text answer instead of the
// envelope. Code and Message make a refusal.
type ToolResult struct {
	Summary   string
	Data      json.RawMessage
	Text      string
	Code      string
	Message   string
	Details   json.RawMessage
	Proposals []ProposedWrite
	Events    []turn.Event
	Suspend   *SuspendMark
}

// ToolHandler answers one tool call.
type ToolHandler func(ctx context.Context, call ToolCall) (ToolResult, error)

// Segment is one prompt extension segment (spec 01 §10.2).
type Segment struct {
	ID         string          `json:"id"`
	Content    string          `json:"content"`
	Position   json.RawMessage `json:"position"`
	Role       string          `json:"role,omitempty"`
	Audience   json.RawMessage `json:"audience"`
	Volatility string          `json:"volatility"`
	Order      int             `json:"order,omitempty"`
	Provider   string          `json:"-"`
}

// SegmentHandler provides prompt.segment@1 segments. It cannot know which
// runtime asks: equal input within one execution reuses the answer.
type SegmentHandler func(ctx context.Context, view View) ([]Segment, error)

// ExtensionHandler provides any other extension point: JSON in, JSON out.
type ExtensionHandler func(ctx context.Context, view View, input json.RawMessage) (json.RawMessage, error)

// ServiceHandler serves a service contract: JSON in, JSON out.
type ServiceHandler func(ctx context.Context, view View, input json.RawMessage) (json.RawMessage, error)

// HookCall is what a hook gets: a private copy of the event's payload.
type HookCall struct {
	View
	Event   string
	Payload json.RawMessage
}

// HookAnswer is a hook's answer: nothing, a replacement of top-level fields,
// or an abort with a reason.
type HookAnswer struct {
	Replace json.RawMessage
	Abort   bool
	Reason  string
}

// HookHandler answers one hook event.
type HookHandler func(ctx context.Context, call HookCall) (HookAnswer, error)

// ToolDefinition is what a registered tool shows the model: its description and
// the JSON Schema of its arguments.
type ToolDefinition struct {
	Description string
	Input       json.RawMessage
	Idempotent  bool
}

// ProjectionHandler turns a world's data of one contract into row values, by
// output id (spec 05 §2.2 worldProjections). It is a pure function.
type ProjectionHandler func(input json.RawMessage) (map[string]json.RawMessage, error)
