package agentloop

import "github.com/covel-engine/covel/turn"

// Command is what the machine asks its driver to do. At most one member is
// set; the zero Command asks for the next call of the batch.
type Command struct {
	CallModel *CallModel
	RunTools  *RunTools
	Finish    *Finish
}

// CallModel asks for one model call: append Notes to the transcript at
// Length, call, append the reply.
type CallModel struct {
	Step       int
	Length     int
	Notes      []turn.Note
	ToolChoice string // "", required or none
	Finalizer  bool
	TimeLeftMs int64
}

// RunTools asks for the calls of the reply at entry Reply, in order, one after
// another. The result of call i is appended at Reply+1+i. The driver answers
// with one ToolFinished event per call and stops asking when the machine says
// that the rest is cancelled (RunTools again with Cancelled set).
type RunTools struct {
	Reply int
	Calls []turn.CallFact
	// From is the index of the first call that has not been answered yet.
	From int
	// Cancelled says to answer the calls from From on with CANCELLED.
	Cancelled bool
	// Because is turn.CancelSuspended, turn.CancelTerminated or turn.CancelCut.
	Because string
	// TimeLeftMs is the rest of the runtime's time limit when the batch starts.
	TimeLeftMs int64
}

// Finish ends the loop. Failed endings carry Code and Message.
type Finish struct {
	Ending turn.Ending
	// Tool is the id of the latest completing call that succeeded, if any.
	Tool       string
	Code       string
	Message    string
	Length     int
	CapturedAt int
	Parts      []int
}
