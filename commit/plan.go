package commit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Plan is what one execution wants to make permanent (spec 03 §10.2).
type Plan struct {
	turn.Scope
	Origin turn.Origin
	// CountPolicy is the execution's; with a suspended result it counts as none.
	CountPolicy turn.CountPolicy
	LogicalTurn int
	// LogicalTurnID is counted at most once. Empty: the turn's id.
	LogicalTurnID string
	// ParentTurnID is the suspended or retried turn.
	ParentTurnID string
	// TraceID groups the trace rows. Empty: the execution's id.
	TraceID string
	// Now dates every row.
	Now        time.Time
	DurationMs int64

	// InputHash and ExecutionContext go into the turn record when none is
	// stored yet.
	InputHash        string
	ExecutionContext json.RawMessage
	// PlayerMessage is kept in the record, also of a failed turn. It becomes a
	// row of the session only with JournalPlayer.
	PlayerMessage string
	JournalPlayer bool
	// Interjections were read by a story agent, in order (spec 03 §11.10).
	Interjections []string

	// Results are in stored order (spec 03 §3.3), nested ones included, seeds
	// not.
	Results []turn.RuntimeResult
	// Runtimes are the manifests under which the results came about, by
	// runtime id.
	Runtimes map[string]*plugin.Runtime
	// Targets are the runtimes that ran as manual targets; they do not enter
	// the trigger ledger.
	Targets []string

	Suspensions []session.Suspension
	// Resolve is set for a resume: the claim that its commit resolves.
	Resolve *Claim
	// ResolvesLast says that no other suspension of the logical turn is left.
	ResolvesLast bool
	// Setup holds the changed entries of the session's setup map.
	Setup map[string]session.SetupEntry
	// EnterPlaying flips the phase from setup to playing.
	EnterPlaying bool
	// ActivePlugins replaces the session's list unless nil.
	ActivePlugins []string

	// Jobs are queued unless a result is suspended.
	Jobs          []Job
	Notifications []json.RawMessage

	// DimensionsOwner is the plugin that provides world.dimensions@1; only it
	// may propose dimension writes.
	DimensionsOwner string
	Checks          Checks
	// HostWrites run inside the transaction, after the journal (spec 03 §10.4).
	HostWrites []HostWrite
	// Snapshot is the automatic snapshot when one is due, else nil. Its failure
	// loses only the snapshot.
	Snapshot func(ctx context.Context, tx store.Tx) error
}

// Claim is a suspension claimed by a resume.
type Claim struct {
	SuspensionID string
	Token        string
}

// Job is one job that the commit queues. It is left out when its runtime was
// dropped, or when it has Emitters and all of them were.
type Job struct {
	RuntimeID string
	Emitters  []string
	Payload   json.RawMessage
}

// HostWrite is one write of the host inside the transaction. Its error rolls
// everything back. It may run more than once, so it has no other effect.
type HostWrite func(ctx context.Context, tx store.Tx, dropped []string) error

// Checks are the rules that the commit cannot know by itself. A nil member
// accepts everything, unless it says otherwise.
type Checks struct {
	// Review runs PreStateCommit on one proposal, before the transaction. It
	// may replace the payload; an error that is a *RejectedError refuses the
	// proposal, any other error fails the commit.
	Review func(ctx context.Context, p turn.Proposal) (json.RawMessage, error)
	// PluginData checks a value against its namespace's schema and gives the
	// schema's version. Its error is the reason shown.
	PluginData func(pluginID, namespace string, value json.RawMessage) (version int, err error)
	// Character checks a character after the write, with the schema in force.
	Character func(schema json.RawMessage, c session.Character) error
	// Dimension checks a new value against the dimension's schema. Nil is
	// world.CheckDimensionValue.
	Dimension func(schema, value json.RawMessage) error
	// PictureText is the sentence of a shown picture's row; the description is
	// "" when nothing is known (spec 01 §13.1). Nil writes no rows for pictures.
	PictureText func(description string) string
}

func (p *Plan) logicalTurnID() string {
	if p.LogicalTurnID == "" {
		return p.TurnID
	}
	return p.LogicalTurnID
}

// suspended says whether the execution leaves a suspension behind.
func (p *Plan) suspended() bool {
	if len(p.Suspensions) > 0 {
		return true
	}
	for i := range p.Results {
		if p.Results[i].Status == turn.RuntimeSuspended {
			return true
		}
	}
	return false
}

// setup says whether a runtime belongs to the setup stage.
func (p *Plan) setup(runtimeID string) bool {
	rt, ok := p.Runtimes[runtimeID]
	return ok && rt.Schedule.Stage == schedule.StageSetup
}

// optional results may be dropped beside a successful story.
func (p *Plan) optional(r *turn.RuntimeResult) bool { return !r.Story && !p.setup(r.RuntimeID) }
