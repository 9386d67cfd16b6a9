package workflows

import (
	"time"

	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Config holds every limit of the workflows. The zero value is ready to use.
type Config struct {
	// BeginTimeout bounds one attempt of BeginTurn. Defaults to 10 s.
	BeginTimeout time.Duration
	// CommitTimeout bounds one attempt of CommitTurn. Defaults to 30 s.
	CommitTimeout time.Duration
	// FinishTimeout bounds one attempt of FinishRuntime. Defaults to 10 s.
	FinishTimeout time.Duration
	// FunctionTimeout bounds a function whose manifest names no limit. Defaults to 60 s.
	FunctionTimeout time.Duration
	// ModelHeartbeat is how long a remote call may be silent before its worker
	// counts as lost. Defaults to 10 s.
	ModelHeartbeat time.Duration
	// ModelQueue is the task queue of model calls. Defaults to turn.QueueModels.
	ModelQueue string
	// ModelTimeout bounds one attempt of CallModel; the call's own budget is
	// tighter. Defaults to 35 min.
	ModelTimeout time.Duration
	// PrepareTimeout bounds one attempt of PrepareRuntime. Defaults to 10 s.
	PrepareTimeout time.Duration
	// StoreRetry bounds how long store work is tried again while the store
	// fails. Defaults to 10 min.
	StoreRetry time.Duration
	// ToolTimeout bounds one tool call. Defaults to 60 s.
	ToolTimeout time.Duration
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.BeginTimeout, 10*time.Second)
	set(&c.CommitTimeout, 30*time.Second)
	set(&c.FinishTimeout, 10*time.Second)
	set(&c.FunctionTimeout, time.Minute)
	set(&c.ModelHeartbeat, 10*time.Second)
	if c.ModelQueue == "" {
		c.ModelQueue = turn.QueueModels
	}
	set(&c.ModelTimeout, 35*time.Minute)
	set(&c.PrepareTimeout, 10*time.Second)
	set(&c.StoreRetry, 10*time.Minute)
	set(&c.ToolTimeout, time.Minute)
	return c
}

// Workflows are the workflow functions over one Config.
type Workflows struct {
	cfg Config
}

// New gives the workflows for a configuration.
func New(cfg Config) *Workflows { return &Workflows{cfg: cfg.withDefaults()} }

// storeContext runs short store work as a local activity: repeated until the
// store answers or StoreRetry is over. All of it is idempotent.
func (w *Workflows) storeContext(ctx workflow.Context, attempt time.Duration, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    attempt,
		ScheduleToCloseTimeout: w.cfg.StoreRetry,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    50 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    5 * time.Second,
		},
	})
}

// remoteContext runs a call with effects beyond the store as a remote activity.
// With once it has one attempt; otherwise it is repeated when its worker is lost.
func (w *Workflows) remoteContext(ctx workflow.Context, limit time.Duration, once bool, summary, world string) workflow.Context {
	retry := &temporal.RetryPolicy{MaximumAttempts: 1}
	if !once {
		retry = lostWorkerRetry()
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           turn.QueueMain,
		StartToCloseTimeout: limit,
		HeartbeatTimeout:    w.cfg.ModelHeartbeat,
		Summary:             summary,
		Priority:            temporal.Priority{PriorityKey: priorityOther, FairnessKey: world},
		RetryPolicy:         retry,
	})
}

// lostWorkerRetry repeats an activity whose own failures are not retryable: only
// the loss of its worker leads to another attempt.
func lostWorkerRetry() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:    100 * time.Millisecond,
		BackoffCoefficient: 2,
		MaximumInterval:    5 * time.Second,
		MaximumAttempts:    20,
	}
}

// modelContext runs a model call: repeated only when its worker is lost, since
// a provider's failure leaves the activity as a non-retryable error.
func (w *Workflows) modelContext(ctx workflow.Context, story bool, summary, world string) workflow.Context {
	priority := priorityOther
	if story {
		priority = priorityStory
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           w.cfg.ModelQueue,
		StartToCloseTimeout: w.cfg.ModelTimeout,
		HeartbeatTimeout:    w.cfg.ModelHeartbeat,
		Summary:             summary,
		Priority:            temporal.Priority{PriorityKey: priority, FairnessKey: world},
		RetryPolicy:         lostWorkerRetry(),
	})
}

// Priorities of activity tasks: the story first.
const (
	priorityStory = 1
	priorityOther = 3
)
