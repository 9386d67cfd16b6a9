package turn

// Tools that the agent loop itself knows (spec 05 §11.1).
const (
	ToolRuntimeDone = "runtime-done"
	ToolSearchTools = "search-tools"
)

// Result codes of tool calls, in the order of checking (spec 05 §11.2). They
// are data in a transcript, not errors of the engine.
const (
	ResultUnauthorized    = "UNAUTHORIZED"
	ResultNotFound        = "NOT_FOUND"
	ResultDenied          = "DENIED"
	ResultInvalidArgs     = "INVALID_ARGS"
	ResultValidationError = "VALIDATION_ERROR"
	ResultCancelled       = "CANCELLED"
	ResultExecutionError  = "EXECUTION_ERROR"
	// ResultOutcomeUnknown is a call that was lost with its worker and must not
	// be made a second time.
	ResultOutcomeUnknown = "OUTCOME_UNKNOWN"
)

// Why the rest of a batch of tool calls is answered with CANCELLED.
const (
	CancelSuspended  = "suspended"
	CancelTerminated = "terminated"
	// CancelCut answers the calls of a reply that was cut at the output limit.
	CancelCut = "cut"
)
