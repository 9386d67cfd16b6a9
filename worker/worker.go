package worker

import (
	"fmt"
	"time"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/workflows"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Config configures a Worker.
type Config struct {
	// Activities are the engine's side effects. Required.
	Activities *activities.Activities
	// BuildID and Deployment switch Worker Versioning on when both are set.
	// Default to unversioned.
	BuildID    string
	Deployment string
	// EagerModelCalls puts model calls on the workflows' task queue, so that the
	// worker which finishes a workflow task starts the calls that came of it at
	// once, as long as it has room for them. It saves a call's way through the
	// server's queue, and with it that queue's priorities and rates. Defaults to
	// a queue of their own.
	EagerModelCalls bool
	// Interceptors see every activity, local ones too. Defaults to none.
	Interceptors []interceptor.WorkerInterceptor
	// MaxModelCalls bounds model calls at a time. Defaults to 200.
	MaxModelCalls int
	// StopTimeout is how long Stop waits for running activities. Defaults to 10 s.
	StopTimeout time.Duration
	// Temporal is the connection. Required.
	Temporal client.Client
	// Workflows are the workflows' limits. Defaults to workflows.Config{}.
	Workflows workflows.Config
}

// Worker polls Temporal for turns and model calls.
type Worker struct {
	main   worker.Worker
	models worker.Worker
}

// New registers everything; Start begins to poll.
func New(cfg Config) (*Worker, error) {
	switch {
	case cfg.Activities == nil:
		return nil, fmt.Errorf("worker.Config.Activities is nil; give the engine's activities")
	case cfg.Temporal == nil:
		return nil, fmt.Errorf("worker.Config.Temporal is nil; give a Temporal client")
	case (cfg.Deployment == "") != (cfg.BuildID == ""):
		return nil, fmt.Errorf("worker.Config.Deployment is %q and BuildID is %q; set both or none", cfg.Deployment, cfg.BuildID)
	}
	if cfg.MaxModelCalls == 0 {
		cfg.MaxModelCalls = 200
	}
	if cfg.StopTimeout == 0 {
		cfg.StopTimeout = 10 * time.Second
	}
	main := worker.Options{
		DeploymentOptions: deployment(cfg),
		Interceptors:      cfg.Interceptors,
		WorkerStopTimeout: cfg.StopTimeout,
	}
	if cfg.EagerModelCalls {
		cfg.Workflows.ModelQueue = turn.QueueMain
		main.MaxConcurrentActivityExecutionSize = cfg.MaxModelCalls
		main.MaxEagerActivityReservationsPerWorkflowTask = &cfg.MaxModelCalls
	}
	w := &Worker{
		main: worker.New(cfg.Temporal, turn.QueueMain, main),
		models: worker.New(cfg.Temporal, turn.QueueModels, worker.Options{
			DeploymentOptions:                  deployment(cfg),
			DisableWorkflowWorker:              true,
			Interceptors:                       cfg.Interceptors,
			MaxConcurrentActivityExecutionSize: cfg.MaxModelCalls,
			WorkerStopTimeout:                  cfg.StopTimeout,
		}),
	}
	RegisterWorkflows(w.main, cfg.Workflows)
	cfg.Activities.Each(func(name string, fn any) {
		options := activity.RegisterOptions{Name: name}
		if name == turn.ActivityCallModel {
			// Wherever a worker of another configuration has put the call.
			w.models.RegisterActivityWithOptions(fn, options)
		}
		w.main.RegisterActivityWithOptions(fn, options)
	})
	return w, nil
}

// RegisterWorkflows registers the workflows alone, for replaying histories.
func RegisterWorkflows(r worker.WorkflowRegistry, cfg workflows.Config) {
	flows := workflows.New(cfg)
	pinned := workflow.VersioningBehaviorPinned
	r.RegisterWorkflowWithOptions(flows.Turn, workflow.RegisterOptions{Name: turn.WorkflowTurn, VersioningBehavior: pinned})
	r.RegisterWorkflowWithOptions(flows.Stage, workflow.RegisterOptions{Name: turn.WorkflowStage, VersioningBehavior: pinned})
	r.RegisterWorkflowWithOptions(flows.Resume, workflow.RegisterOptions{Name: turn.WorkflowResume, VersioningBehavior: pinned})
	r.RegisterWorkflowWithOptions(flows.Edit, workflow.RegisterOptions{
		Name: turn.WorkflowEdit, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	})
}

func deployment(cfg Config) worker.DeploymentOptions {
	if cfg.BuildID == "" {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning: true,
		Version:       worker.WorkerDeploymentVersion{DeploymentName: cfg.Deployment, BuildID: cfg.BuildID},
	}
}

// Start polls until Stop.
func (w *Worker) Start() error {
	if err := w.main.Start(); err != nil {
		return turn.Errorf("start worker", turn.CodeUnavailable, "queue %s: %w", turn.QueueMain, err)
	}
	if err := w.models.Start(); err != nil {
		w.main.Stop()
		return turn.Errorf("start worker", turn.CodeUnavailable, "queue %s: %w", turn.QueueModels, err)
	}
	return nil
}

// Stop stops polling and waits for running activities.
func (w *Worker) Stop() {
	w.models.Stop()
	w.main.Stop()
}
