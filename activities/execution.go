package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// frozen is what an execution fixed at its start (spec 03 §2 step 2). It is
// stored in the journal, so any worker goes on with the same.
type frozen struct {
	Input      turn.Input `json:"input"`
	Generation string     `json:"generation"`
	StartedAt  time.Time  `json:"startedAt"`
	// LogicalTurn is what the player counts; TurnNumber the raw count of player
	// messages (spec 03 §1.2).
	LogicalTurn   int                        `json:"logicalTurn"`
	TurnNumber    int                        `json:"turnNumber"`
	Locale        string                     `json:"locale"`
	CountPolicy   turn.CountPolicy           `json:"countPolicy"`
	LogicalTurnID string                     `json:"logicalTurnId,omitempty"`
	ActivePlugins []string                   `json:"activePlugins"`
	Settings      map[string]json.RawMessage `json:"settings,omitempty"` // by plugin
	Plan          turn.Plan                  `json:"plan"`
	// Flip says that the commit stores phase playing: nothing is left to set up.
	Flip    bool              `json:"flip,omitempty"`
	Skipped []schedule.Skip   `json:"skipped,omitempty"`
	Hazards []schedule.Hazard `json:"hazards,omitempty"`
	// Hash is the input's when Input is not what the caller sent.
	Hash string `json:"hash,omitempty"`
	// Resume is set for the resume of a suspension.
	Resume *resumed `json:"resume,omitempty"`
}

// inputHash tells a repeated start from another one.
func (f *frozen) inputHash() string {
	if f.Hash != "" {
		return f.Hash
	}
	return f.Input.Hash()
}

// sourceTurn is the turn that a retry starts from.
func (f *frozen) sourceTurn() string {
	if f.Input.ManualTrigger == nil {
		return ""
	}
	return f.Input.ManualTrigger.SourceTurnID
}

var errNoPlan = errors.New("the execution has no plan")

// readPlan reads what an execution fixed at its start; none is errNoPlan.
func readPlan(ctx context.Context, r store.Reader, scope turn.Scope, f *frozen) error {
	entry, ok, err := r.JournalEntry(ctx, scope.SessionID, scope.ExecutionID, journalPlan, "")
	if err != nil {
		return err
	}
	if !ok {
		return errNoPlan
	}
	return json.Unmarshal(entry.Payload, f)
}

// now is the instant of a new record.
func (a *Activities) now() time.Time { return a.cfg.Now().UTC().Truncate(time.Millisecond) }

// execution is one execution as a worker knows it: the frozen scope, the
// session's records as they were at its start, and the results so far. It can
// be read from the store at any time.
type execution struct {
	scope  turn.Scope
	frozen frozen
	gen    *plugin.Generation
	active *plugin.Active
	lang   locale.Lang

	session    session.Session
	world      worldView
	characters []session.Character
	lore       []session.LoreEntry
	form       json.RawMessage

	mu       sync.Mutex
	results  map[string]*turn.RuntimeResult
	events   map[string]turn.Event // by follower
	segments segmentsOnce
	raw      rawOnce
}

// execution gives a running execution, from memory or from the store.
func (a *Activities) execution(ctx context.Context, scope turn.Scope) (*execution, error) {
	if ex, ok := a.executions.Get(scope.ExecutionID); ok {
		return ex, nil
	}
	var f frozen
	ok, err := a.recorded(ctx, scope, journalPlan, "", &f)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, turn.Errorf("read execution", turn.CodeSessionLost, "execution %s has no plan; its turn was deleted", scope.ExecutionID)
	}
	return a.open(ctx, scope, f)
}

// open reads the session's records for an execution and remembers it.
func (a *Activities) open(ctx context.Context, scope turn.Scope, f frozen) (*execution, error) {
	st := a.cfg.Store
	gen, ok, err := a.generation(ctx, st, scope.SessionID, f.Generation)
	if err != nil {
		return nil, err
	}
	if !ok {
		// The set that this execution started with is not loaded here. Runtimes
		// that still exist go on; one that is gone fails by its name. A resume
		// without its set does not get here.
		a.cfg.Log.Sugar().Warnw("plugins changed while a turn ran", "session", scope.SessionID, "turn", scope.TurnID)
		gen = a.cfg.Plugins
	}
	ex := &execution{
		scope:   scope,
		frozen:  f,
		gen:     gen,
		active:  gen.Active(f.ActivePlugins),
		lang:    locale.Instruction(f.Locale, a.cfg.ForcedLanguage),
		results: map[string]*turn.RuntimeResult{},
		events:  map[string]turn.Event{},
	}
	if ex.session, err = st.Session(ctx, scope.SessionID); err != nil {
		return nil, err
	}
	if ex.world.Snapshot, err = readWorld(ex.session); err != nil {
		return nil, err
	}
	if err := a.readDimensions(ctx, ex); err != nil {
		return nil, err
	}
	if ex.characters, err = st.Characters(ctx, scope.SessionID); err != nil {
		return nil, err
	}
	if ex.lore, err = st.Lorebook(ctx, scope.SessionID); err != nil {
		return nil, err
	}
	form, ok, err := st.LatestPlayerInput(ctx, scope.SessionID)
	if err != nil {
		return nil, err
	}
	if ok {
		ex.form = form.Values
	}
	if err := a.refresh(ctx, ex); err != nil {
		return nil, err
	}
	// Runtimes of one level may open the execution at the same time: all share
	// the first.
	if first, ok, _ := a.executions.PeekOrAdd(scope.ExecutionID, ex); ok {
		return first, nil
	}
	return ex, nil
}

// refresh reads the results and the chain's events that other workers stored.
// Whatever looks at earlier results calls it first: the runtimes of an execution
// may be spread over any number of workers, and only the store knows them all.
func (a *Activities) refresh(ctx context.Context, ex *execution) error {
	results, err := a.journaledResults(ctx, ex.scope)
	if err != nil {
		return err
	}
	ex.mu.Lock()
	for i := range results {
		ex.results[results[i].RuntimeID] = &results[i]
	}
	ex.mu.Unlock()
	return a.readChain(ctx, ex)
}

func (a *Activities) journaledResults(ctx context.Context, scope turn.Scope) ([]turn.RuntimeResult, error) {
	entries, err := a.cfg.Store.JournalEntries(ctx, scope.SessionID, scope.ExecutionID, journalResult)
	if err != nil {
		return nil, err
	}
	results := make([]turn.RuntimeResult, len(entries))
	for i, e := range entries {
		if err := json.Unmarshal(e.Payload, &results[i]); err != nil {
			return nil, fmt.Errorf("result of %s is unreadable: %w", e.Key, err)
		}
	}
	return results, nil
}

// runtime gives an execution and one of its runtimes.
func (a *Activities) runtime(ctx context.Context, scope turn.Scope, id string) (*execution, *plugin.Runtime, error) {
	ex, err := a.execution(ctx, scope)
	if err != nil {
		return nil, nil, err
	}
	rt, ok := ex.gen.Runtime(id)
	if !ok {
		return nil, nil, turn.Errorf("load runtime", "runtime_not_found", "runtime %q is not among the loaded plugins; put its plugin back", id)
	}
	return ex, rt, nil
}

// result gives a runtime's result of this execution, nil for none.
func (ex *execution) result(id string) *turn.RuntimeResult {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.results[id]
}

// allResults gives the results so far in stored order (spec 03 §3.3).
func (ex *execution) allResults() []turn.RuntimeResult {
	ex.mu.Lock()
	list := make([]turn.RuntimeResult, 0, len(ex.results))
	for _, r := range ex.results {
		list = append(list, *r)
	}
	ex.mu.Unlock()
	slices.SortFunc(list, func(x, y turn.RuntimeResult) int { return schedule.CompareStored(&x, &y) })
	return list
}

// settle journals a runtime's result once and remembers it. A repeat answers
// the stored one.
func (a *Activities) settle(ctx context.Context, ex *execution, r *turn.RuntimeResult) (turn.RuntimeFacts, error) {
	err := a.write(ctx, ex.scope, func(ctx context.Context, tx store.Tx) error {
		if err := a.record(ctx, tx, ex.scope, journalResult, r.RuntimeID, r); err != nil {
			return err
		}
		return trace.Insert(ctx, tx, a.cfg.Now(), ended(ex.scope, r))
	})
	if err != nil {
		return turn.RuntimeFacts{}, err
	}
	ex.mu.Lock()
	ex.results[r.RuntimeID] = r
	ex.mu.Unlock()
	return factsOf(r), nil
}

// started is the event of a runtime that passed its gates. It is written with
// the first thing that the runtime stores.
func started(scope turn.Scope, runtimeID, stage string) trace.Event {
	return trace.Event{Scope: scope, Type: trace.RuntimeStarted, Key: runtimeID, Payload: map[string]any{"runtimeId": runtimeID, "stage": stage}}
}

// ended is the event of a runtime's result.
func ended(scope turn.Scope, r *turn.RuntimeResult) trace.Event {
	payload := map[string]any{"runtimeId": r.RuntimeID, "status": r.Status, "durationMs": r.DurationMs}
	e := trace.Event{Scope: scope, Type: trace.RuntimeCompleted, Key: r.RuntimeID, Payload: payload}
	if r.Status == turn.RuntimeFailed {
		e.Type = trace.RuntimeFailed
		payload["error"] = r.Error
	}
	if r.Reason != "" {
		payload["reason"], payload["skippedBy"] = r.Reason, r.SkippedBy
	}
	return e
}

func factsOf(r *turn.RuntimeResult) turn.RuntimeFacts {
	f := turn.RuntimeFacts{
		ID: r.RuntimeID, Status: r.Status, Steps: r.Steps, ToolCalls: len(r.ToolCalls), Usage: r.Usage,
		CostMicroUSD: microUSD(&r.CostUSD),
	}
	if r.Error != nil {
		f.Code = r.Error.Code
	}
	return f
}

// newResult begins a result of this execution.
func (a *Activities) newResult(ex *execution, rt *plugin.Runtime, stage string, level int) *turn.RuntimeResult {
	runID := turn.RunID(ex.scope.ExecutionID, rt.ID)
	return &turn.RuntimeResult{
		ID:        resultID(runID),
		PluginID:  rt.PluginID,
		RuntimeID: rt.ID,
		Stage:     stage,
		Level:     level,
		RunID:     runID,
		TurnID:    ex.scope.TurnID,
		Story:     rt.Story(),
		ToolCalls: []turn.ToolRecord{},
		Timestamp: a.cfg.Now().UTC().Truncate(time.Millisecond),
	}
}
