package turn

import "strings"

// Workflow types on Temporal.
const (
	WorkflowTurn      = "Turn"
	WorkflowStage     = "Stage"
	WorkflowResume    = "Resume"
	WorkflowJob       = "Job"
	WorkflowJobCommit = "JobCommit"
	WorkflowEdit      = "Edit"
	WorkflowSweep     = "Sweep"
)

// Task queues. A plugin's temporal: handlers have queues of their own.
const (
	QueueMain   = "covel"
	QueueModels = "covel-models"
)

// Activity types.
const (
	ActivityBeginTurn      = "BeginTurn"
	ActivityPrepareRuntime = "PrepareRuntime"
	ActivityCompactHistory = "CompactHistory"
	ActivityAssemble       = "AssembleContext"
	ActivityCallModel      = "CallModel"
	ActivityRunTool        = "RunTool"
	ActivityRunFunction    = "RunFunction"
	ActivityFinishRuntime  = "FinishRuntime"
	ActivityCommitTurn     = "CommitTurn"
	ActivityFinishTurn     = "FinishTurn"
	ActivityPlanFollowers  = "PlanFollowers"
	ActivityRequestAbort   = "RequestAbort"
	ActivityBeginResume    = "BeginResume"
	ActivityApplyEdit      = "ApplyEdit"
)

// Updates, signals and queries.
const (
	UpdateSteer               = "steer"
	UpdateAbort               = "abort"
	SignalCompactionRequested = "compaction-requested"
	SignalCompactionSettled   = "compaction-settled"
	SignalStorySettled        = "story-settled"
	SignalSteered             = "steered"
	SignalJobReady            = "job-ready"
	SignalJobSettled          = "job-settled"
	QueryProgress             = "progress"
)

// Search attributes. All are keywords but CovelLogicalTurn and
// CovelCostMicroUSD, which are integers.
const (
	AttrSession      = "CovelSession"
	AttrTurn         = "CovelTurn"
	AttrWorld        = "CovelWorld"
	AttrOrigin       = "CovelOrigin"
	AttrStatus       = "CovelStatus"
	AttrLogicalTurn  = "CovelLogicalTurn"
	AttrCostMicroUSD = "CovelCostMicroUSD"
)

// MemoInputHash is the memo member that lets a refused start be compared with
// the running one.
const MemoInputHash = "inputHash"

// MemoSuspension is the memo member that names what a running Resume resumes.
const MemoSuspension = "suspension"

// WorkflowID is the id under which everything runs that may change a session.
// Temporal refuses a second run of it, so it is the session lock.
func WorkflowID(sessionID string) string { return "session/" + sessionID }

// StageWorkflowID is the id of one stage's child workflow.
func StageWorkflowID(sessionID, turnID, stage string) string {
	return WorkflowID(sessionID) + "/" + turnID + "/" + stage
}

// ContinuationTurnID is the turn that opens the game after the setup phase
// ended in another turn (spec 03 §3.2).
func ContinuationTurnID(turnID string) string { return turnID + openingSuffix }

// OpenedTurnID gives the turn that a continuation belongs to: the player asked
// once, so prompts count the two as one. Other ids come back as they are.
func OpenedTurnID(turnID string) string { return strings.TrimSuffix(turnID, openingSuffix) }

const openingSuffix = ".opening"

// ContinuationExecutionID is the executionId of that turn: it runs in the same
// workflow run.
func ContinuationExecutionID(executionID string) string { return executionID + openingSuffix }

// RunID names the transcript of one runtime's run. It is the same on every
// worker, so that a repeated activity finds what an earlier attempt stored.
func RunID(executionID, runtimeID string) string { return executionID + "/" + runtimeID }
