package trace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Types of trace events (spec 03 §18).
const (
	TurnStarted       = "turn.started"
	TurnSuspended     = "turn.suspended"
	TurnResumed       = "turn.resumed"
	TurnCompleted     = "turn.completed"
	RuntimeStarted    = "runtime.started"
	RuntimeCompleted  = "runtime.completed"
	RuntimeFailed     = "runtime.failed"
	SchedulingHazard  = "scheduling.hazard"
	MessageCompleted  = "message.completed"
	LLMCalling        = "llm.calling"
	LLMResponded      = "llm.responded"
	ToolCalling       = "tool.calling"
	ToolCompleted     = "tool.completed"
	ContextPruned     = "context.pruned"
	ContextCompacted  = "context.compacted"
	CompactionFailed  = "context.compaction.failed"
	CompactionSkipped = "context.compaction.skipped"
	ServiceCompleted  = "plugin.service.completed"
	SessionNotice     = "session.notice"
	RecursiveCalling  = "recursive.calling"
	RecursiveDone     = "recursive.completed"
	RecursiveFailed   = "recursive.failed"
	HookFired         = "hook.fired"
	HookRewrote       = "hook.rewrote"
	HookAborted       = "hook.aborted"
	HookError         = "hook.error"
	HookTimeout       = "hook.timeout"
	SteeringUnread    = "steering.unread"
	ProposalCommitted = "proposal.committed"
	ProposalFailed    = "proposal.failed"
	StatePatchApplied = "state.patch.applied"
	FanOutFailed      = "commit.fanout.failed"
	JobStatusUpdated  = "job-status.updated"
)

// Event is one thing to record.
type Event struct {
	turn.Scope
	// TraceID groups the events of one flow. Empty: the execution's id.
	TraceID string
	Type    string
	// Key says which one of its type this is within the trace, such as
	// "narrator/2" for the second step of a runtime. It must not depend on the
	// attempt: two events of equal trace, type and key are one.
	Key string
	// Payload is anything that encodes to JSON; a json.RawMessage is kept byte
	// for byte. Nil is an empty object.
	Payload any
}

// Config holds the settings of a Recorder.
type Config struct {
	// Bases is how many runtimes' latest requests are remembered in memory.
	// Defaults to 1,024.
	Bases int
	// Clock dates the events. Defaults to time.Now.
	Clock func() time.Time
	// Store keeps the events. It has no default.
	Store store.Store
}

// Recorder writes trace events. It is safe for concurrent use.
type Recorder struct {
	clock func() time.Time
	store store.Store
	bases *baseCache
}

// NewRecorder checks the configuration.
func NewRecorder(config Config) (*Recorder, error) {
	switch {
	case config.Store == nil:
		return nil, errors.New("trace.Config.Store is nil; give the store that keeps the events")
	case config.Bases < 0:
		return nil, fmt.Errorf("trace.Config.Bases is %d; use 0 for the default or more", config.Bases)
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	if config.Bases == 0 {
		config.Bases = 1024
	}
	return &Recorder{clock: config.Clock, store: config.Store, bases: newBaseCache(config.Bases)}, nil
}

// Record writes events in one transaction, in order. Events that stand already
// change nothing.
func (r *Recorder) Record(ctx context.Context, events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	now := r.clock()
	return r.store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error { return Insert(ctx, tx, now, events...) })
}

// Insert writes events inside an open transaction.
func Insert(ctx context.Context, tx store.Tx, now time.Time, events ...Event) error {
	for _, e := range events {
		row, err := e.row(now)
		if err != nil {
			return err
		}
		if _, err := tx.InsertTrace(ctx, row); err != nil {
			return fmt.Errorf("trace: record %s %s: %w", e.Type, e.Key, err)
		}
	}
	return nil
}

func (e Event) row(now time.Time) (store.TraceEvent, error) {
	payload, ok := e.Payload.(json.RawMessage)
	if !ok {
		var err error
		if payload, err = encode(e.Payload); err != nil {
			return store.TraceEvent{}, fmt.Errorf("trace: record %s %s: payload: %w", e.Type, e.Key, err)
		}
	}
	return store.TraceEvent{
		ID:        eventID(e.SessionID, e.traceID(), e.Type, e.Key),
		SessionID: e.SessionID,
		TraceID:   e.traceID(),
		TurnID:    e.TurnID,
		Type:      e.Type,
		Payload:   payload,
		CreatedAt: now,
	}, nil
}

func (e Event) traceID() string {
	if e.TraceID == "" {
		return e.ExecutionID
	}
	return e.TraceID
}

func encode(payload any) (json.RawMessage, error) {
	if payload == nil {
		return json.RawMessage(`{}`), nil
	}
	return json.Marshal(payload)
}

// eventID is the same for every attempt to record one thing. The lengths keep
// ("a", "bc") and ("ab", "c") apart.
func eventID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return "tr-" + hex.EncodeToString(h.Sum(nil)[:16])
}
