package turn

// RunRef names a transcript and how much of it is meant: entries [0, Length).
// Entry 0 is the assembled context, each later entry one message.
type RunRef struct {
	RunID  string `json:"run"`
	Length int    `json:"len"`
}

// Note is a fixed text that the loop appends to the transcript before a model
// call, by its id in the locale catalogue (spec 01 §19.2, such as "T21").
type Note struct {
	Text string            `json:"text"`
	Args map[string]string `json:"args,omitempty"`
}

// Tool choices that the agent loop asks for in one request.
const (
	ToolChoiceRequired = "required"
	ToolChoiceNone     = "none"
)

// CallModelInput asks for one model call of a run.
type CallModelInput struct {
	Scope
	RuntimeID string `json:"r"`
	Stage     string `json:"st,omitempty"`
	Step      int    `json:"step"`
	Length    int    `json:"len"`
	// Notes are appended at Length, the reply after them.
	Notes []Note `json:"notes,omitempty"`
	// ToolChoice overrides the manifest's for this request: required or none.
	ToolChoice string `json:"toolChoice,omitempty"`
	// Finalizer marks the one request with tools off.
	Finalizer bool `json:"finalizer,omitempty"`
	// TimeLeftMs is the rest of the runtime's time limit.
	TimeLeftMs int64 `json:"timeLeft,omitempty"`
}

// CallFact is one tool call of a reply, without its arguments.
type CallFact struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Hash identifies the arguments, key order ignored (16 hex digits).
	Hash string `json:"hash"`
	// Remote calls have effects beyond proposals and are not idempotent.
	Remote bool `json:"remote,omitempty"`
}

// StepOutcome is the small answer of one model call.
type StepOutcome struct {
	Length int `json:"len"` // transcript length, reply included
	// Finish is stop, length, tool_calls, content_filter, error or other.
	Finish  string     `json:"finish"`
	HasText bool       `json:"text,omitempty"`
	Calls   []CallFact `json:"calls,omitempty"`
	// Corrected says that a PostLLMResponse hook discarded the draft.
	Corrected bool `json:"corrected,omitempty"`
	// Failed is the code of a call that failed for good; Message its text.
	Failed  string `json:"failed,omitempty"`
	Message string `json:"message,omitempty"`
	// Groups says that the transcript holds a complete tool group.
	Groups       bool  `json:"groups,omitempty"`
	Usage        Usage `json:"usage,omitzero"`
	CostMicroUSD int64 `json:"costMicro,omitempty"`
	// ClockMs is how much of the runtime's time limit the call used.
	ClockMs int64 `json:"clock,omitempty"`
}

// RunToolInput asks for one tool call of the reply at transcript entry Reply.
// Its result is appended at entry At.
type RunToolInput struct {
	Scope
	RuntimeID string `json:"r"`
	Stage     string `json:"st,omitempty"`
	CallID    string `json:"call"`
	Reply     int    `json:"reply"`
	At        int    `json:"at"`
	// Cancelled answers the call with CANCELLED without running it.
	Cancelled bool `json:"cancelled,omitempty"`
	// Because says why: CancelSuspended or CancelTerminated.
	Because string `json:"because,omitempty"`
	// TimeLeftMs is the rest of the runtime's time limit; a result that comes
	// later is discarded.
	TimeLeftMs int64 `json:"timeLeft,omitempty"`
	// Lost answers the call with OUTCOME_UNKNOWN unless its answer is recorded:
	// the worker that ran it was lost.
	Lost bool `json:"lost,omitempty"`
}

// CommitInput ends an execution: a commit, or the record of why there is none.
type CommitInput struct {
	Scope
	Aborted bool   `json:"aborted,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// ToolOutcome is the small answer of one tool call.
type ToolOutcome struct {
	CallID string `json:"id"`
	Name   string `json:"name"`
	OK     bool   `json:"ok,omitempty"`
	Code   string `json:"code,omitempty"`
	// Terminate says that a PostToolUse hook ends the loop.
	Terminate bool `json:"terminate,omitempty"`
	// Suspended says that the call suspends the runtime.
	Suspended bool  `json:"suspended,omitempty"`
	ClockMs   int64 `json:"clock,omitempty"`
}

// FinishInput asks to turn a run into a result and to journal it.
type FinishInput struct {
	Scope
	RuntimeID string `json:"r"`
	Stage     string `json:"st,omitempty"`
	Level     int    `json:"lv,omitempty"`
	Length    int    `json:"len"`
	Ending    Ending `json:"ending"`
	// Tool is the completing tool's call id for EndingTool.
	Tool string `json:"tool,omitempty"`
	// Code and Message are set for EndingFailed.
	Code         string `json:"code,omitempty"`
	Message      string `json:"message,omitempty"`
	Steps        int    `json:"steps"`
	Usage        Usage  `json:"usage"`
	CostMicroUSD int64  `json:"costMicro,omitempty"`
	DurationMs   int64  `json:"ms"`
	// CapturedAt is the transcript entry of the latest non-blank reply text
	// that counts as final text, 0 for none; Parts are earlier ones that late
	// steering joins before it.
	CapturedAt int   `json:"captured,omitempty"`
	Parts      []int `json:"parts,omitempty"`
}

// Ending is how an agent loop ended (spec 03 §11.4).
type Ending string

// Endings of a loop.
const (
	EndingText      Ending = "text"
	EndingTool      Ending = "tool" // a completing tool succeeded
	EndingDone      Ending = "done" // runtime-done
	EndingTerminate Ending = "terminate"
	EndingExhausted Ending = "exhausted" // steps or time ran out, captured text is the answer
	EndingSuspended Ending = "suspended"
	EndingFailed    Ending = "failed"
)

// PrepareInput asks for the gates of one runtime (spec 03 §5.1).
type PrepareInput struct {
	Scope
	RuntimeID string `json:"r"`
	Stage     string `json:"st,omitempty"`
	Level     int    `json:"lv,omitempty"`
}

// Prepared answers the gates: either Run, or the journaled result's facts.
type Prepared struct {
	Run   bool          `json:"run,omitempty"`
	Facts *RuntimeFacts `json:"facts,omitempty"`
}

// FunctionInput asks to run one function runtime.
type FunctionInput struct {
	Scope
	RuntimeID string `json:"r"`
	Stage     string `json:"st,omitempty"`
	Level     int    `json:"lv,omitempty"`
	// Lost fails the runtime unless its answer is recorded: the worker that ran
	// it was lost.
	Lost bool `json:"lost,omitempty"`
}

// CommitFacts is CommitTurn's answer.
type CommitFacts struct {
	Status       Status `json:"status"`
	Code         string `json:"code,omitempty"`
	Message      string `json:"message,omitempty"`
	AbortReason  string `json:"abortReason,omitempty"`
	CostMicroUSD int64  `json:"costMicro,omitempty"`
	Jobs         int    `json:"jobs,omitempty"`
	// EnteredPlaying says that this commit ended the setup phase: the engine
	// opens the game with a continuation (spec 03 §3.2).
	EnteredPlaying bool `json:"playing,omitempty"`
}

// TurnResult is what workflow Turn answers: small; the story is read from the
// store under session and turn id.
type TurnResult struct {
	SessionID    string         `json:"sessionId"`
	TurnID       string         `json:"turnId"`
	LogicalTurn  int            `json:"logicalTurn"`
	Status       Status         `json:"status"`
	AbortReason  string         `json:"abortReason,omitempty"`
	Code         string         `json:"code,omitempty"`
	Message      string         `json:"message,omitempty"`
	Runtimes     []RuntimeFacts `json:"runtimes,omitempty"`
	CostMicroUSD int64          `json:"costMicroUSD,omitempty"`
	// SetupTurnID is the turn whose commit ended the setup phase, when TurnID is
	// the continuation that followed it.
	SetupTurnID string `json:"setupTurnId,omitempty"`
}
