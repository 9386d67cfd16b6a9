package activities

import (
	"fmt"
	"time"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"
)

// Config configures the activities.
type Config struct {
	// AbortPoll is how often a model or tool call looks for the player's abort
	// without having been woken. Defaults to 200 ms.
	AbortPoll time.Duration
	// ForcedLanguage is the value of COVEL_INSTRUCTION_LOCALE. Defaults to none.
	ForcedLanguage string
	// Library holds the worlds. Required.
	Library *world.Library
	// Log gets warnings. Defaults to none.
	Log *zap.Logger
	// Model makes model calls. Required.
	Model model.Caller
	// Now is the engine's clock. Defaults to time.Now.
	Now func() time.Time
	// Plugins is the loaded plugin set. Required.
	Plugins *plugin.Generation
	// Store keeps everything. Required.
	Store store.Store
	// Streams takes story deltas. Required.
	Streams *stream.Hub
	// Texts is the catalogue of fixed texts. Required.
	Texts *locale.Texts
}

// Activities are the side effects of turns. Safe for concurrent use.
type Activities struct {
	cfg Config
	// contexts are the runtimes' latest contexts by session and runtime.
	contexts   *lru.Cache[string, *keptContext]
	estimators estimators
	executions *lru.Cache[string, *execution]
	// generations are earlier plugin sets, by id.
	generations *lru.Cache[string, *plugin.Generation]
	// histories are the sessions' raw rows as last read.
	histories *lru.Cache[string, []session.Message]
	tools     *tool.Registry
	trace     *trace.Recorder
}

// New checks the configuration.
func New(cfg Config) (*Activities, error) {
	for _, required := range []struct {
		field   string
		missing bool
	}{
		{"Library", cfg.Library == nil},
		{"Model", cfg.Model == nil},
		{"Plugins", cfg.Plugins == nil},
		{"Store", cfg.Store == nil},
		{"Streams", cfg.Streams == nil},
		{"Texts", cfg.Texts == nil},
	} {
		if required.missing {
			return nil, fmt.Errorf("activities.Config.%s is nil; it is required", required.field)
		}
	}
	if cfg.AbortPoll == 0 {
		cfg.AbortPoll = 200 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	recorder, err := trace.NewRecorder(trace.Config{Clock: cfg.Now, Store: cfg.Store})
	if err != nil {
		return nil, err
	}
	tools, err := tool.NewRegistry(tool.Config{})
	if err != nil {
		return nil, err
	}
	return &Activities{
		cfg:         cfg,
		contexts:    newCache[*keptContext](contextsKept),
		estimators:  estimators{byName: map[string]tokens.Estimator{}},
		executions:  newCache[*execution](executionsKept),
		generations: newCache[*plugin.Generation](generationsKept),
		histories:   newCache[[]session.Message](historiesKept),
		tools:       tools,
		trace:       recorder,
	}, nil
}

// Each gives every activity with its name on Temporal. A crash test lists its
// points from here, so a new activity is covered by itself.
func (a *Activities) Each(register func(name string, fn any)) {
	register(turn.ActivityBeginTurn, a.BeginTurn)
	register(turn.ActivityPrepareRuntime, a.PrepareRuntime)
	register(turn.ActivityCallModel, a.CallModel)
	register(turn.ActivityRunTool, a.RunTool)
	register(turn.ActivityRunFunction, a.RunFunction)
	register(turn.ActivityFinishRuntime, a.FinishRuntime)
	register(turn.ActivityPlanFollowers, a.PlanFollowers)
	register(turn.ActivityCommitTurn, a.CommitTurn)
	register(turn.ActivityFinishTurn, a.FinishTurn)
	register(turn.ActivityRequestAbort, a.RequestAbort)
	register(turn.ActivityBeginResume, a.BeginResume)
	register(turn.ActivityApplyEdit, a.ApplyEdit)
}
