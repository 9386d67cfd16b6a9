package turn

// Scope names one execution of one turn. Every activity gets it; its
// ExecutionID is what the session's fence is compared with.
type Scope struct {
	SessionID   string `json:"s"`
	TurnID      string `json:"t"`
	ExecutionID string `json:"x"`
}

// PlanAction says what the Turn workflow does with a plan.
type PlanAction string

// Plan actions. The zero value runs the stages.
const (
	PlanRun    PlanAction = ""
	PlanReplay PlanAction = "replay" // the turn is stored already; answer its outcome
	PlanEmpty  PlanAction = "empty"  // an empty result: nothing runs, nothing commits
)

// Plan is BeginTurn's answer: what runs, in which order (spec 03 §2).
type Plan struct {
	Action      PlanAction  `json:"action,omitempty"`
	AbortReason string      `json:"abortReason,omitempty"`
	LogicalTurn int         `json:"logicalTurn"`
	World       string      `json:"world"`
	Phase       string      `json:"phase,omitempty"`
	Stages      []StagePlan `json:"stages,omitempty"`
	// Chain says that event followers may run after the stages (spec 03 §6).
	Chain bool `json:"chain,omitempty"`
	// Replayed is the stored status when Action is PlanReplay.
	Replayed Status `json:"replayed,omitempty"`
}

// StagePlan is one stage: levels run one after another, the runtimes of a
// level in parallel (spec 03 §3).
type StagePlan struct {
	Stage  string          `json:"stage"`
	Levels [][]RuntimeSpec `json:"levels"`
}

// RuntimeSpec is what the Stage workflow must know of one runtime.
type RuntimeSpec struct {
	ID       string `json:"id"`
	PluginID string `json:"plugin,omitempty"` // empty: the same as ID
	// Agent is nil for a function.
	Agent *AgentSpec `json:"agent,omitempty"`
	// Remote marks a function that reaches beyond the store, such as one that
	// calls a model; Once one that is not idempotent besides: it has one attempt
	// and is never repeated.
	Remote    bool  `json:"remote,omitempty"`
	Once      bool  `json:"once,omitempty"`
	TimeoutMs int64 `json:"timeoutMs,omitempty"`
}

// Plugin gives the owning plugin's id.
func (r RuntimeSpec) Plugin() string {
	if r.PluginID == "" {
		return r.ID
	}
	return r.PluginID
}

// AgentSpec is what the agent loop must know of one agent (spec 03 §11.1).
// Zero members mean the chapter's defaults.
type AgentSpec struct {
	// RuntimeID is the id in failure texts. It does not travel: the driver sets
	// it from the RuntimeSpec that holds this spec.
	RuntimeID string `json:"-"`

	Story bool `json:"story,omitempty"`
	// Slot is what an operator reads: the slot's name and its model.
	Slot          string   `json:"slot,omitempty"`
	MaxSteps      int      `json:"maxSteps,omitempty"`
	TimeoutMs     int64    `json:"timeoutMs,omitempty"`
	LoopDetection *int     `json:"loopDetection,omitempty"`
	Require       string   `json:"require,omitempty"` // "", tool-use, explicit
	AfterTools    []string `json:"afterTools,omitempty"`
	// Tools are the runtime's own tools for the correction of a tool-use
	// contract without afterTools; empty otherwise.
	Tools     []string `json:"tools,omitempty"`
	Finalizer bool     `json:"finalizer,omitempty"`
	HasSchema bool     `json:"hasSchema,omitempty"`
	// OffersDone says that runtime-done is offered (spec 01 §5).
	OffersDone bool `json:"offersDone,omitempty"`
	// Windowed agents neither ask nor wait at the compaction barrier.
	Windowed   bool `json:"windowed,omitempty"`
	MaxRetries *int `json:"maxRetries,omitempty"`
}

// StageInput starts a Stage workflow.
type StageInput struct {
	Scope
	LogicalTurn int             `json:"n"`
	World       string          `json:"w"`
	Stage       string          `json:"stage"`
	Levels      [][]RuntimeSpec `json:"levels"`
	// Barrier is the turn's compaction barrier: open, settled or none.
	Barrier string `json:"barrier,omitempty"`
}

// States of the compaction barrier (spec 02 §4).
const (
	BarrierNone    = "none"
	BarrierOpen    = "open"
	BarrierSettled = "settled"
)

// StageResult is a Stage's answer.
type StageResult struct {
	Runtimes []RuntimeFacts `json:"runtimes"`
	Barrier  string         `json:"barrier,omitempty"`
	// Cut says that the stage was cancelled before its end: its last runtimes
	// may be cut and further levels did not start.
	Cut bool `json:"cut,omitempty"`
}

// RuntimeFacts is the small view of one runtime's result that workflows carry.
type RuntimeFacts struct {
	ID           string        `json:"id"`
	Status       RuntimeStatus `json:"status"`
	Code         string        `json:"code,omitempty"`
	Steps        int           `json:"steps,omitempty"`
	ToolCalls    int           `json:"tools,omitempty"`
	Usage        Usage         `json:"usage,omitzero"`
	CostMicroUSD int64         `json:"costMicro,omitempty"`
}
