package activities

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// CommitTurn makes everything a turn did take effect in one transaction, or
// records why nothing does (spec 03 §10). A repeat answers the first outcome.
func (a *Activities) CommitTurn(ctx context.Context, in turn.CommitInput) (turn.CommitFacts, error) {
	facts, err := a.commitTurn(ctx, in)
	return facts, outcome(err)
}

func (a *Activities) commitTurn(ctx context.Context, in turn.CommitInput) (turn.CommitFacts, error) {
	ex, err := a.execution(ctx, in.Scope)
	if err != nil {
		return turn.CommitFacts{}, err
	}
	if err := a.refresh(ctx, ex); err != nil {
		return turn.CommitFacts{}, err
	}
	attempts, err := a.settleSetup(ctx, ex)
	if err != nil {
		return turn.CommitFacts{}, err
	}
	plan := a.commitPlan(ex, attempts)
	if err := a.planSuspensions(ctx, ex, &plan); err != nil {
		return turn.CommitFacts{}, err
	}
	var out commit.Outcome
	switch {
	case in.Aborted:
		out, err = commit.Fail(ctx, a.cfg.Store, plan, turn.CodeTurnAborted, errors.New(commit.AbortReasonPlayer))
		out.AbortReason = commit.AbortReasonPlayer
	case in.Code != "":
		out, err = commit.Fail(ctx, a.cfg.Store, plan, in.Code, errors.New(in.Message))
	default:
		out, err = commit.Apply(ctx, a.cfg.Store, plan)
	}
	if err != nil {
		return turn.CommitFacts{}, err
	}
	return commitFacts(&plan, &out), nil
}

func commitFacts(plan *commit.Plan, out *commit.Outcome) turn.CommitFacts {
	facts := turn.CommitFacts{
		Status: turn.StatusCommitted, Code: out.Code, Message: clip(out.Message), AbortReason: out.AbortReason,
		Jobs: out.Jobs, EnteredPlaying: out.EnteredPlaying,
	}
	switch {
	case out.Status == commit.Failed && out.AbortReason != "":
		facts.Status = turn.StatusAborted
	case out.Status == commit.Failed:
		facts.Status = turn.StatusFailed
	case len(out.Suspensions) > 0:
		facts.Status = turn.StatusSuspended
	}
	for i := range plan.Results {
		facts.CostMicroUSD += microUSD(&plan.Results[i].CostUSD)
	}
	return facts
}

// commitPlan gathers what the execution produced.
func (a *Activities) commitPlan(ex *execution, setup map[string]session.SetupEntry) commit.Plan {
	in := ex.frozen.Input
	runtimes := map[string]*plugin.Runtime{}
	for _, rt := range ex.active.Runtimes() {
		runtimes[rt.ID] = rt
	}
	plan := commit.Plan{
		Scope:         ex.scope,
		Origin:        in.Origin,
		CountPolicy:   ex.frozen.CountPolicy,
		LogicalTurn:   ex.frozen.LogicalTurn,
		LogicalTurnID: ex.frozen.LogicalTurnID,
		ParentTurnID:  in.ParentTurnID,
		Now:           a.cfg.Now().UTC().Truncate(time.Millisecond),
		DurationMs:    a.cfg.Now().Sub(ex.frozen.StartedAt).Milliseconds(),
		InputHash:     ex.frozen.inputHash(),
		PlayerMessage: in.PlayerMessage,
		JournalPlayer: !in.SuppressPlayerMessage && in.ManualTrigger == nil && in.Origin != turn.OriginBackground && in.Origin != turn.OriginResume,
		Results:       ex.allResults(),
		Runtimes:      runtimes,
		Setup:         setup,
		EnterPlaying:  ex.session.Phase == session.PhaseSetup && (ex.frozen.Flip || a.setupFinished(ex, setup)),
		Checks:        a.checks(ex),
	}
	if in.ManualTrigger != nil {
		plan.Targets = in.ManualTrigger.Targets()
	}
	if owner, ok := ex.active.Provider(schedule.ContractDimensions); ok {
		plan.DimensionsOwner = owner.ID
	}
	return plan
}

// checks are the rules that only the plugins and the world know.
func (a *Activities) checks(ex *execution) commit.Checks {
	return commit.Checks{
		PluginData: func(pluginID, namespace string, value json.RawMessage) (int, error) {
			if err := ex.gen.CheckDatum(pluginID, namespace, "key", value); err != nil {
				return 0, err
			}
			m, _ := ex.gen.Plugin(pluginID)
			return m.Contributes.Data[namespace].Version, nil
		},
		PictureText: func(description string) string {
			meta, err := json.Marshal(map[string]string{"caption": description})
			if err != nil {
				return ""
			}
			return assembler.PictureRow(a.cfg.Texts, ex.lang, "", meta).Content
		},
	}
}

// settleSetup uses up the attempts of the setup runtimes that ran, outside the
// commit's transaction: a rollback still uses one (spec 03 §4.3). It gives the
// changed entries; a repeat gives the recorded ones.
func (a *Activities) settleSetup(ctx context.Context, ex *execution) (map[string]session.SetupEntry, error) {
	changed := map[string]session.SetupEntry{}
	if ok, err := a.recorded(ctx, ex.scope, journalSetup, "", &changed); ok || err != nil {
		return changed, err
	}
	before := schedule.SetupMap(ex.session.SetupRuntimes)
	used := maps.Clone(ex.session.SetupRuntimes)
	if used == nil {
		used = map[string]session.SetupEntry{}
	}
	ran := false
	for _, rt := range a.scheduled(ex.frozen.ActivePlugins) {
		r := ex.result(rt.ID)
		if !rt.Setup() || r == nil {
			continue
		}
		completed := schedule.SetupCompleted(r)
		if r.Status == turn.RuntimeSkipped && !completed {
			continue // a gate kept it from running: no attempt
		}
		if ex.frozen.Resume != nil && !completed {
			continue // its attempt is the suspended one (spec 03 §12.4)
		}
		entry := before.Attempt(rt, completed)
		if r.Status == turn.RuntimeSkipped || ex.frozen.Resume != nil {
			entry.Attempts-- // waived by its guard it did not run; a resume is no new attempt
		}
		if entry.State == session.SetupBlocked {
			now := a.cfg.Now().UTC().Truncate(time.Millisecond)
			entry.BlockedAt = &now
		}
		changed[rt.ID] = entry
		// What only a commit may say waits for the commit: until then the entry
		// has used its attempt and is open.
		if entry.State == session.SetupDone {
			entry.State = session.SetupPending
		}
		used[rt.ID] = entry
		ran = true
	}
	if !ran {
		return nil, nil
	}
	err := a.write(ctx, ex.scope, func(ctx context.Context, tx store.Tx) error {
		s, err := tx.Session(ctx, ex.scope.SessionID)
		if err != nil {
			return err
		}
		s.SetupRuntimes = used
		if err := tx.UpdateSession(ctx, s); err != nil {
			return err
		}
		return a.record(ctx, tx, ex.scope, journalSetup, "", &changed)
	})
	return changed, err
}

// setupFinished says whether no active setup runtime is left to run once the
// changed entries stand.
func (a *Activities) setupFinished(ex *execution, changed map[string]session.SetupEntry) bool {
	entries := schedule.SetupMap(maps.Clone(ex.session.SetupRuntimes))
	if entries == nil {
		entries = schedule.SetupMap{}
	}
	maps.Copy(entries, changed)
	return schedule.SetupFinished(a.scheduled(ex.frozen.ActivePlugins), entries)
}

// FinishTurn ends what the commit could not: it closes the story's streams and
// tells listeners. Each part may be repeated.
func (a *Activities) FinishTurn(ctx context.Context, scope turn.Scope) error {
	keys, err := a.cfg.Store.Streams(ctx, scope.SessionID, scope.TurnID)
	if err != nil {
		return outcome(err)
	}
	for _, key := range keys {
		if err := a.cfg.Streams.End(ctx, key); err != nil {
			return outcome(err)
		}
	}
	a.executions.Remove(scope.ExecutionID)
	return nil
}
