package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// BeginTurn opens an execution (spec 03 §2 steps 2 to 15): it takes the
// session's fence, answers a turn that is stored already, freezes what the
// execution may see and plans what runs. A repeat answers the stored plan.
func (a *Activities) BeginTurn(ctx context.Context, scope turn.Scope, in turn.Input) (turn.Plan, error) {
	plan, err := a.beginTurn(ctx, scope, in)
	return plan, outcome(err)
}

func (a *Activities) beginTurn(ctx context.Context, scope turn.Scope, in turn.Input) (turn.Plan, error) {
	if err := in.Validate(); err != nil {
		return turn.Plan{}, err
	}
	if in.RequestOf != "" {
		if err := a.fillRequest(ctx, &in); err != nil {
			return turn.Plan{}, err
		}
	}
	var plan turn.Plan
	var f frozen
	fresh := false
	err := a.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		plan, f, fresh = turn.Plan{}, frozen{}, false
		if err := tx.LockSession(ctx, scope.SessionID); err != nil {
			return err
		}
		stored, err := tx.TurnRecord(ctx, scope.SessionID, scope.TurnID)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return err
		case stored.ExecutionID == scope.ExecutionID:
			return nil // this activity ran before; the journal has its answer
		default:
			plan, err = a.replay(ctx, tx, stored, in)
			return err
		}
		if err := tx.SetFence(ctx, scope.SessionID, scope.ExecutionID); err != nil {
			return err
		}
		if err := failLeftovers(ctx, tx, scope.SessionID); err != nil {
			return err
		}
		s, err := tx.Session(ctx, scope.SessionID)
		if err != nil {
			return err
		}
		if s.Status != session.StatusActive {
			plan = turn.Plan{Action: turn.PlanEmpty, LogicalTurn: s.LogicalTurn(), World: s.WorldID}
			return nil
		}
		if f, err = a.freeze(ctx, tx, s, in); err != nil {
			return err
		}
		if f.Plan.Action == turn.PlanEmpty {
			plan = f.Plan
			return nil
		}
		fresh = true
		return a.storePlan(ctx, tx, scope, s, f)
	})
	if errors.Is(err, store.ErrNotFound) {
		return plan, turn.Errorf("begin turn", turn.CodeSessionNotFound, "there is no session %q; create one first", scope.SessionID)
	}
	if err != nil || plan.Action != turn.PlanRun {
		return plan, err
	}
	if fresh {
		_, err = a.open(ctx, scope, f)
		return f.Plan, err
	}
	ex, err := a.execution(ctx, scope)
	if err != nil {
		return plan, err
	}
	return ex.frozen.Plan, nil
}

// fillRequest gives a continuation the request of the turn that it opens.
func (a *Activities) fillRequest(ctx context.Context, in *turn.Input) error {
	stored, err := a.cfg.Store.TurnRecord(ctx, in.SessionID, in.RequestOf)
	if err != nil {
		return err
	}
	in.PlayerMessage, in.SuppressPlayerMessage = stored.PlayerMessage, true
	var f frozen
	err = readPlan(ctx, a.cfg.Store, turn.Scope{SessionID: in.SessionID, TurnID: in.RequestOf, ExecutionID: stored.ExecutionID}, &f)
	if errors.Is(err, errNoPlan) {
		return nil
	}
	asked := f.Input
	in.Locale, in.UserSettings = asked.Locale, asked.UserSettings
	in.ModelOverride, in.RuntimeModelOverrides = asked.ModelOverride, asked.RuntimeModelOverrides
	return err
}

// replay answers a turn id that is stored already (spec 03 §1.3). A record
// left pending by a run that is gone was never committed: it is a failed turn.
func (a *Activities) replay(ctx context.Context, tx store.Tx, stored store.TurnRecord, in turn.Input) (turn.Plan, error) {
	if stored.InputHash != in.Hash() {
		e := turn.Errorf("begin turn", turn.CodeTurnIDConflict, "turn id %q was used with other input; use a new turn id", in.TurnID)
		e.Session, e.Turn = in.SessionID, in.TurnID
		return turn.Plan{}, e
	}
	plan := turn.Plan{Action: turn.PlanReplay, LogicalTurn: stored.LogicalTurn, Replayed: turn.StatusCommitted}
	if stored.CommitStatus == recordPending {
		if err := failRecord(ctx, tx, stored); err != nil {
			return plan, err
		}
		stored.CommitStatus = recordFailed
	}
	if stored.CommitStatus == recordFailed {
		plan.Replayed = turn.StatusFailed
	}
	return plan, nil
}

// Commit statuses of turn records.
const (
	recordPending = "pending"
	recordFailed  = "failed"
)

// failLeftovers marks the record failed that a terminated or timed-out run
// left pending.
func failLeftovers(ctx context.Context, tx store.Tx, sessionID string) error {
	latest, err := tx.TurnRecords(ctx, sessionID, 1)
	if err != nil {
		return err
	}
	for _, r := range latest {
		if r.CommitStatus == recordPending {
			if err := releaseLeftover(ctx, tx, r); err != nil {
				return err
			}
			if err := failRecord(ctx, tx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// releaseLeftover opens the suspension again that a resume claimed whose run is
// gone.
func releaseLeftover(ctx context.Context, tx store.Tx, r store.TurnRecord) error {
	if turn.Origin(r.Origin) != turn.OriginResume {
		return nil
	}
	var f frozen
	err := readPlan(ctx, tx, turn.Scope{SessionID: r.SessionID, TurnID: r.TurnID, ExecutionID: r.ExecutionID}, &f)
	if err != nil || f.Resume == nil {
		return err
	}
	err = tx.ReleaseSuspension(ctx, f.Resume.Suspension, r.ExecutionID)
	var coded *store.Error
	if errors.As(err, &coded) && coded.Code != store.CodeStoreFailed {
		return nil // it is closed, or another resume has it
	}
	return err
}

func failRecord(ctx context.Context, tx store.Tx, r store.TurnRecord) error {
	text, err := json.Marshal(turn.OutcomeError{
		Kind: turn.KindOf(turn.CodeSessionLost), Code: turn.CodeSessionLost, Message: "the run ended before its commit; send the message again as a new turn",
	})
	if err != nil {
		return err
	}
	r.CommitStatus, r.Error = recordFailed, text
	return tx.PutTurnRecord(ctx, r)
}

// freeze fixes what the execution may see and plans its stages.
func (a *Activities) freeze(ctx context.Context, tx store.Tx, s session.Session, in turn.Input) (frozen, error) {
	counts, err := tx.MessageCounts(ctx, s.ID)
	if err != nil {
		return frozen{}, err
	}
	w, err := readWorld(s)
	if err != nil {
		return frozen{}, err
	}
	f := frozen{
		Input:         in,
		Generation:    a.cfg.Plugins.ID,
		StartedAt:     a.cfg.Now().UTC().Truncate(time.Millisecond),
		LogicalTurn:   s.LogicalTurn(),
		TurnNumber:    counts.PlayerMessages,
		Locale:        in.Locale,
		CountPolicy:   turn.CountNone,
		LogicalTurnID: in.LogicalTurnID,
		ActivePlugins: a.cfg.Plugins.Active(s.ActivePlugins).IDs(),
		Settings:      map[string]json.RawMessage{},
	}
	if f.Locale == "" {
		f.Locale = s.Locale
	}
	if f.LogicalTurnID == "" {
		f.LogicalTurnID = in.TurnID
	}
	if err := a.freezeSettings(&f, w); err != nil {
		return frozen{}, err
	}
	ledger, err := readLedger(ctx, tx, s.ID)
	if err != nil {
		return frozen{}, err
	}
	input := schedule.Input{
		Runtimes:    a.scheduled(f.ActivePlugins),
		Phase:       s.Phase,
		LogicalTurn: f.LogicalTurn,
		Ledger:      ledger,
		Setup:       s.SetupRuntimes,
		Recovery:    in.ManualTrigger != nil && in.ManualTrigger.SourceTurnID != "",
		Job:         in.Origin == turn.OriginBackground,
	}
	if in.ManualTrigger != nil {
		input.Targets = in.ManualTrigger.Targets()
	}
	planned := schedule.Plan(input)
	f.Plan = turn.Plan{LogicalTurn: f.LogicalTurn, World: s.WorldID, Phase: string(planned.Phase)}
	if planned.UnknownTarget != "" {
		f.Plan.Action = turn.PlanEmpty
		f.Plan.AbortReason = "manual-trigger: runtime not found or inactive: " + planned.UnknownTarget
		return f, nil
	}
	f.Flip, f.Skipped, f.Hazards = planned.Flip, planned.Skipped, planned.Hazards
	if planned.Phase == session.PhasePlaying && (in.Origin == turn.OriginPlayer || in.Origin == turn.OriginContinuation) {
		f.CountPolicy = turn.CountCompleteTurn
	}
	active := a.cfg.Plugins.Active(f.ActivePlugins)
	for _, stage := range planned.Stages {
		f.Plan.Stages = append(f.Plan.Stages, a.stagePlan(active, stage))
	}
	f.Plan.Chain = planned.Chain && followsEvents(input.Runtimes)
	return f, nil
}

// freezeSettings composes each active plugin's settings (spec 05 §8).
func (a *Activities) freezeSettings(f *frozen, w world.Snapshot) error {
	player := map[string]map[string]json.RawMessage{}
	if len(f.Input.UserSettings) > 0 {
		if err := json.Unmarshal(f.Input.UserSettings, &player); err != nil {
			e := turn.Errorf("begin turn", turn.CodeInvalidTurnInput, "userSettings is no map of plugin to settings: %w", err)
			e.Field = "userSettings"
			return e
		}
	}
	for _, id := range f.ActivePlugins {
		composed, err := a.cfg.Plugins.Settings(id, w.Settings[id], player[id])
		if err != nil {
			return err
		}
		f.Settings[id] = composed.Values
	}
	return nil
}

// scheduled gives the active runtimes as scheduling sees them.
func (a *Activities) scheduled(active []string) []schedule.Runtime {
	view := a.cfg.Plugins.Active(active)
	var list []schedule.Runtime
	for _, m := range view.Plugins() {
		for _, rt := range m.Runtimes {
			list = append(list, schedule.FromManifest(rt, m.Version))
		}
	}
	return list
}

func followsEvents(runtimes []schedule.Runtime) bool {
	for _, rt := range runtimes {
		if rt.Trigger.Type == schedule.TriggerEvent {
			return true
		}
	}
	return false
}

// stagePlan gives a stage as the workflow carries it.
func (a *Activities) stagePlan(active *plugin.Active, stage schedule.Stage) turn.StagePlan {
	plan := turn.StagePlan{Stage: stage.Name}
	for _, level := range stage.Levels {
		specs := make([]turn.RuntimeSpec, 0, len(level))
		for _, id := range level {
			if rt, ok := active.Runtime(id); ok {
				specs = append(specs, a.spec(active, rt))
			}
		}
		plan.Levels = append(plan.Levels, specs)
	}
	return plan
}

func (a *Activities) spec(active *plugin.Active, rt *plugin.Runtime) turn.RuntimeSpec {
	spec := turn.RuntimeSpec{ID: rt.ID}
	if rt.PluginID != rt.ID {
		spec.PluginID = rt.PluginID
	}
	if rt.Agent == nil {
		spec.TimeoutMs = rt.Function.TimeoutMs
		spec.Remote = len(rt.HTTP) > 0 || rt.Function.Model != ""
		spec.Once = spec.Remote && !rt.Function.Idempotent
		return spec
	}
	agent := rt.Agent
	slot := agent.Model
	if slot == "" {
		slot = defaultSlot
	}
	shown := slot
	if target, err := a.cfg.Model.Resolve(slot); err == nil {
		shown += "/" + target.Model
	}
	spec.Agent = &turn.AgentSpec{
		Story:         rt.Story(),
		Slot:          shown,
		MaxSteps:      agent.MaxSteps,
		TimeoutMs:     agent.TimeoutMs,
		LoopDetection: agent.LoopDetection,
		Require:       agent.Require,
		AfterTools:    agent.AfterTools,
		Finalizer:     agent.FinalizerMaxSteps > 0,
		HasSchema:     len(rt.IO.Output.Schema) > 0,
		OffersDone:    assembler.ModeOf(assembler.RuntimeOf(rt, nil)).OffersRuntimeDone(),
		Windowed:      agent.HistoryMaxTurns != nil,
		MaxRetries:    agent.MaxRetries,
	}
	if agent.Require == "tool-use" && len(agent.AfterTools) == 0 {
		// The correction names the tools that would do.
		spec.Agent.Tools = a.tools.ForRuntime(rt, active).Names()
	}
	return spec
}

const defaultSlot = "default"

// storePlan writes the pending record and the frozen scope.
func (a *Activities) storePlan(ctx context.Context, tx store.Tx, scope turn.Scope, s session.Session, f frozen) error {
	identity, err := json.Marshal(map[string]any{
		"executionId": scope.ExecutionID, "origin": f.Input.Origin, "countPolicy": f.CountPolicy, "logicalTurnId": f.LogicalTurnID,
	})
	if err != nil {
		return err
	}
	err = tx.PutTurnRecord(ctx, store.TurnRecord{
		ID:               "turn-" + resultID(scope.SessionID+"/"+scope.TurnID),
		SessionID:        scope.SessionID,
		TurnID:           scope.TurnID,
		ExecutionID:      scope.ExecutionID,
		InputHash:        f.inputHash(),
		Origin:           string(f.Input.Origin),
		ExecutionContext: identity,
		PlayerMessage:    f.Input.PlayerMessage,
		ParentTurnID:     f.Input.ParentTurnID,
		CommitStatus:     recordPending,
		LogicalTurn:      f.LogicalTurn,
		CreatedAt:        f.StartedAt,
	})
	if err != nil {
		return err
	}
	if err := a.record(ctx, tx, scope, journalPlan, "", &f); err != nil {
		return err
	}
	for _, skip := range f.Skipped {
		rt, ok := a.cfg.Plugins.Runtime(skip.RuntimeID)
		if !ok {
			continue
		}
		ex := &execution{scope: scope, frozen: f}
		r := a.newResult(ex, rt, skip.Stage, 0)
		r.Status, r.Reason, r.SkippedBy, r.CyclePath = turn.RuntimeSkipped, skip.Reason, skip.SkippedBy, skip.CyclePath
		if err := a.record(ctx, tx, scope, journalResult, r.RuntimeID, r); err != nil {
			return err
		}
	}
	return trace.Insert(ctx, tx, a.cfg.Now(), a.startEvents(scope, s, f)...)
}

func (a *Activities) startEvents(scope turn.Scope, s session.Session, f frozen) []trace.Event {
	started := map[string]any{"logicalTurn": f.LogicalTurn, "origin": f.Input.Origin, "world": s.WorldID, "locale": f.Locale}
	if m := f.Input.ManualTrigger; m != nil {
		manual := map[string]any{"sourceTurnId": m.SourceTurnID}
		if m.RuntimeID != "" {
			manual["runtimeId"] = m.RuntimeID
			if rt, ok := a.cfg.Plugins.Runtime(m.RuntimeID); ok {
				manual["pluginId"] = rt.PluginID
			}
		} else {
			manual["runtimeIds"] = m.Targets()
		}
		started["manualTrigger"] = manual
	}
	events := []trace.Event{{Scope: scope, Type: trace.TurnStarted, Payload: started}}
	for i, h := range f.Hazards {
		events = append(events, trace.Event{
			Scope: scope, Type: trace.SchedulingHazard, Key: fmt.Sprintf("plan/%d", i),
			Payload: map[string]any{"code": h.Code, "runtimes": h.Runtimes, "resource": h.Resource},
		})
	}
	return events
}

// readLedger reads the trigger ledger (spec 03 §4.2).
func readLedger(ctx context.Context, tx store.Reader, sessionID string) (map[string]schedule.Run, error) {
	ledger := map[string]schedule.Run{}
	after := ""
	for {
		rows, err := tx.PluginData(ctx, sessionID, commit.PluginTriggers, commit.NamespaceTriggers, after, 500)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			var run commit.TriggerEntry
			if err := json.Unmarshal(row.Value, &run); err != nil {
				return nil, fmt.Errorf("trigger ledger of %s is unreadable: %w", row.Key, err)
			}
			ledger[row.Key] = schedule.Run{Count: run.Count, LastTurn: run.LastTurn}
			after = row.Key
		}
		if len(rows) < 500 {
			return ledger, nil
		}
	}
}
