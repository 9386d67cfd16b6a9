package plugin

import "encoding/json"

// Manifest is one loaded plugin package (spec 05 §2). Bodies and segments hold
// both instruction languages.
type Manifest struct {
	ID          string
	Kind        string // core or plugin
	Description string
	Version     string
	DisplayName string
	Tags        []string
	// Author, License and Homepage are display only, never in prompts.
	Author   json.RawMessage
	License  string
	Homepage string
	// Covel is the range of host versions, "" for any.
	Covel string
	// Origin is where the package was read; User says that it came from the
	// user's directory.
	Origin string
	User   bool
	// Labels maps a UI locale to translated labels by manifest path, such as
	// "contributes.settings.difficulty.label"; messages are "messages.<English>".
	Labels    map[string]map[string]string
	Provides  []Provided
	Requires  []string
	Optional  []string
	Conflicts []string
	// Contracts maps a contract to its public JSON Schema.
	Contracts   map[string]json.RawMessage
	Entry       string
	Contributes Contributes
	Runtimes    []*Runtime
}

// Provided is one contract a package provides.
type Provided struct {
	Contract string
	Default  bool
}

// Contributes is what a package adds besides runtimes (spec 05 §2.2).
type Contributes struct {
	Tools            []ToolDecl
	Services         []ServiceDecl
	Extensions       []ExtensionDecl
	Hooks            []HookDecl
	Events           []EventDecl
	Settings         []Setting
	Data             map[string]DataNamespace
	WorldProjections map[string]WorldProjection
	Prompt           []StaticSegment
}

// ToolDecl declares a tool. Input is its JSON Schema; Handler is empty when
// the package's entry registers it.
type ToolDecl struct {
	Name        string
	Handler     string
	Description string
	Input       json.RawMessage
	Idempotent  bool
}

// ServiceDecl declares a service contract.
type ServiceDecl struct {
	Contract string
	Handler  string
}

// ExtensionDecl declares a provider of an extension point.
type ExtensionDecl struct {
	Point   string
	ID      string
	Order   int
	Handler string
}

// HookDecl declares a hook.
type HookDecl struct {
	Event   string
	Enforce string // pre, normal or post
	Handler string
}

// EventDecl declares a topic that the package consumes.
type EventDecl struct {
	Topic       string
	Schema      json.RawMessage
	Description string
	Advertise   bool
}

// Setting declares one player setting (spec 05 §8).
type Setting struct {
	Key         string
	Type        string
	Default     json.RawMessage
	Label       string
	Description string
	Min         *float64
	Max         *float64
	Step        *float64
	Options     []SettingOption
}

// SettingOption is one choice of a select setting.
type SettingOption struct {
	Value string
	Label string
}

// DataNamespace declares a namespace of plugin data (spec 05 §6).
type DataNamespace struct {
	Schema      json.RawMessage
	Version     int
	Description string
	Accepts     []string
	SearchText  string
	Authoring   json.RawMessage
}

// WorldProjection turns a contract's data into rows of own namespaces.
type WorldProjection struct {
	From    string
	Handler string
	Outputs map[string]ProjectionOutput
}

// ProjectionOutput names where a projection's output lands.
type ProjectionOutput struct {
	Namespace string
	Key       string
}

// StaticSegment is a fixed instruction (spec 05 §5.1). Content maps an
// instruction language (en, zh) to its text.
type StaticSegment struct {
	ID string
	// Variants of an exact locale stand beside the languages.
	Content  map[string]string
	Position json.RawMessage
	Role     string
}

// Runtime is one compiled runtime of a package (spec 05 §3).
type Runtime struct {
	ID          string // <plugin> or <plugin>/<name>
	PluginID    string
	Type        string // agent or function
	Description string
	Schedule    Schedule
	IO          IO
	Agent       *Agent
	Function    *Function
	Guard       string
	Effects     EffectsDecl
	HTTP        []HTTPPermission
	// Body maps an instruction language (en, zh) to the prompt template; a
	// variant of an exact locale stands beside it under its name (zh-CN).
	Body map[string]string
}

// Story says whether the runtime's text joins the conversation.
func (r *Runtime) Story() bool { return r.IO.Visibility == VisibilityStory }

// BodyFor gives the template in an instruction language, English without one.
func (r *Runtime) BodyFor(lang string) string {
	if b, ok := r.Body[lang]; ok {
		return b
	}
	return r.Body["en"]
}

// BodyIn gives the template for a session: the variant of its exact locale, else
// that of the instruction language, else English (spec 05 §10).
func (r *Runtime) BodyIn(sessionLocale, lang string) string {
	return Localized(r.Body, sessionLocale, lang)
}

// Visibilities of a runtime's output.
const (
	VisibilityStory  = "story"
	VisibilityPlugin = "plugin"
	VisibilitySystem = "system"
)

// Trigger types.
const (
	TriggerAuto      = "auto"
	TriggerScheduled = "scheduled"
	TriggerManual    = "manual"
	TriggerEvent     = "event"
)

// Schedule says when a runtime runs (spec 05 §3.1).
type Schedule struct {
	Stage           string
	Trigger         Trigger
	Needs           []Dependency
	After           []Dependency
	Completion      Completion
	ManualExecution string // sync or background
}

// Trigger holds the conditions of spec 03 §4.1.
type Trigger struct {
	Type            string
	Interval        int
	Topic           string
	MaxTriggerCount int
	CooldownTurns   int
	StartTurn       int
}

// Dependency names a runtime or a contract.
type Dependency struct {
	Runtime     string
	Contract    string
	Cardinality string // one or all
	Scope       string // turn or session
}

// Completion says whether a runtime is awaited (spec 03 §7.1).
type Completion struct {
	Detached        bool
	MaxSettleWaitMs int64
	MaxQueueMs      int64
	MaxExecutionMs  int64
	Settle          bool
}

// IO declares what a runtime reads and gives (spec 05 §3.2).
type IO struct {
	Inputs        []Input
	SelfData      []SelfData
	PayloadSchema json.RawMessage
	Output        Output
	Visibility    string
	Concealed     bool
}

// Input binds another runtime's value. Exactly one of Runtime, Contract and
// Kernel is set.
type Input struct {
	Name        string
	Runtime     string
	Contract    string
	Kernel      string
	Cardinality string
	Scope       string // turn or committed
	Select      string // JSON Pointer
	Required    bool
	Accepts     json.RawMessage
	// AcceptsContract is the contract that Accepts was taken from; Unresolved
	// says that nobody publishes it, so every bound value is dropped.
	AcceptsContract string
	Unresolved      bool
	RecordAs        string
}

// SelfData injects own rows into the prompt.
type SelfData struct {
	Namespace  string
	As         string
	Format     string // summary, ids-only or full
	MaxEntries int
}

// Output declares the runtime's value.
type Output struct {
	Contract string
	Schema   json.RawMessage
	RecordAs string
}

// Agent holds the model-facing options (spec 05 §3.3). Zero numbers mean the
// default; LoopDetection and MaxRetries are nil when not written.
type Agent struct {
	Model               string
	ReasoningOff        bool
	ToolChoiceRequired  bool
	ToolChoiceName      string
	HistoryMaxTurns     *int
	IncludeSummaries    bool
	BuiltinTools        []string
	PluginTools         []string
	DeferAll            bool
	Defer               []string
	AdvertiseEvents     bool
	MaxSteps            int
	TimeoutMs           int64
	CallTimeoutMs       int64
	FirstTokenTimeoutMs int64
	IdleTimeoutMs       int64
	MaxRetries          *int
	LoopDetection       *int
	MaxRecursionDepth   *int
	Require             string // "", tool-use or explicit
	AfterTools          []string
	FinalizerMaxSteps   int
}

// Function holds a function runtime's options (spec 05 §3.4).
type Function struct {
	Handler      string
	Model        string
	TimeoutMs    int64
	Idempotent   bool
	BuiltinTools []string
	PluginTools  []string
}

// EffectsDecl declares what a runtime reads and writes, for hazards.
type EffectsDecl struct {
	Reads        []string
	Writes       []string
	ParallelSafe bool
}

// HTTPPermission is one origin a runtime may reach.
type HTTPPermission struct {
	Origin  string
	Methods []string
}
