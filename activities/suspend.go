package activities

import (
	"context"
	"encoding/json"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// suspended is a suspension on its way to the commit, as the journal keeps it.
type suspended struct {
	Suspension session.Suspension   `json:"suspension"`
	Payload    continuation.Payload `json:"payload"`
}

// freezeRun begins a continuation with what every paused runtime needs.
func freezeRun(ex *execution) continuation.Payload {
	return continuation.Payload{
		ManifestGeneration: ex.gen.ID,
		ExecutionContext: continuation.ExecutionContext{
			ExecutionID:   ex.scope.ExecutionID,
			Origin:        ex.frozen.Input.Origin,
			CountPolicy:   ex.frozen.CountPolicy,
			LogicalTurnID: ex.frozen.LogicalTurnID,
			SourceTurnID:  ex.frozen.sourceTurn(),
		},
		Locale:      ex.frozen.Locale,
		LogicalTurn: ex.frozen.LogicalTurn,
		TurnNumber:  ex.frozen.TurnNumber,
	}
}

// suspendAgent freezes an agent whose tool call suspended (spec 03 §12.1).
func (a *Activities) suspendAgent(
	ctx context.Context, ex *execution, rt *plugin.Runtime, in turn.FinishInput, answers []toolAnswer, r *turn.RuntimeResult,
) (*suspended, error) {
	inputs, err := a.bind(ctx, ex, rt, in.Stage)
	if err != nil {
		return nil, err
	}
	built, _, err := a.contextOf(ctx, ex, rt, in.Stage)
	if err != nil {
		return nil, err
	}
	texts, err := a.finalTexts(ctx, in)
	if err != nil {
		return nil, err
	}
	p := freezeRun(ex)
	p.Transcript = turn.RunRef{RunID: r.RunID, Length: in.Length}
	p.CapturedAt, p.Parts = in.CapturedAt, in.Parts
	if in.CapturedAt > 0 && len(texts) > 0 {
		p.PartialContent = texts[len(texts)-1]
	}
	p.InputSlots = inputs.byName()
	p.CurrentTurnUserMessages = built.Head.CurrentTurnUserMessages
	var mark *plugin.SuspendMark
	for i := range answers {
		answer := &answers[i]
		p.ToolCallsSoFar = append(p.ToolCallsSoFar, answer.Record)
		p.PendingProposals = append(p.PendingProposals, answer.Proposals...)
		p.PendingNotifications = append(p.PendingNotifications, answer.Notifications...)
		p.EmittedEvents = append(p.EmittedEvents, answer.Events...)
		if answer.Record.OK && len(answer.Data) > 0 {
			if p.CallData == nil {
				p.CallData = map[string]json.RawMessage{}
			}
			p.CallData[answer.Record.ID] = answer.Data
		}
		switch {
		case answer.Suspend != nil:
			mark, p.SuspendToolCallID = answer.Suspend, answer.Record.ID
		case executed(answer.Record):
			p.CompletionCalls = append(p.CompletionCalls, continuation.CompletionCall{
				Name: answer.Record.Name, Success: answer.Record.OK, Done: answer.Record.Name == turn.ToolRuntimeDone,
			})
		}
	}
	if mark == nil {
		return nil, turn.Errorf("suspend", turn.CodeHandlerError, "runtime %q ended suspended, but none of its calls asked for that", rt.ID)
	}
	return a.suspend(ex, rt, mark, p, r)
}

// executed says that a call succeeded or failed, as contracts see it.
func executed(r turn.ToolRecord) bool {
	return r.OK || r.Code != turn.ResultDenied && r.Code != turn.ResultCancelled
}

// suspendFunction freezes a function whose answer asks for that. What the
// answer wants to write waits with it.
func (a *Activities) suspendFunction(
	ctx context.Context, ex *execution, rt *plugin.Runtime, in turn.FunctionInput, answer functionAnswer, r *turn.RuntimeResult,
) (*suspended, error) {
	inputs, err := a.bind(ctx, ex, rt, in.Stage)
	if err != nil {
		return nil, err
	}
	p := freezeRun(ex)
	p.InputSlots = inputs.byName()
	for i, w := range answer.Result.Proposals {
		p.PendingProposals = append(p.PendingProposals, a.proposal(ex, rt, w, proposalKey(r.RunID, i)))
	}
	if e := answer.Result.Effects; e != nil {
		rest := *e
		p.EmittedEvents, rest.Events = e.Events, nil
		err := commit.EffectWrites(&rest, func(typ string, payload json.RawMessage) {
			w := plugin.ProposedWrite{Type: typ, Payload: payload}
			p.PendingProposals = append(p.PendingProposals, a.proposal(ex, rt, w, proposalKey(r.RunID, len(p.PendingProposals))))
		}, func(entry json.RawMessage) { p.PendingNotifications = append(p.PendingNotifications, entry) })
		if err != nil {
			failResult(r, turn.CodeHandlerError, err.Error())
			return nil, nil
		}
	}
	return a.suspend(ex, rt, answer.Result.Suspend, p, r)
}

// suspend turns the result into a suspended one and gives what to save.
func (a *Activities) suspend(ex *execution, rt *plugin.Runtime, mark *plugin.SuspendMark, p continuation.Payload, r *turn.RuntimeResult) (*suspended, error) {
	now := r.Timestamp
	s := session.Suspension{
		ID:           "sus-" + resultID("suspension/"+r.RunID),
		SessionID:    ex.scope.SessionID,
		TurnID:       ex.scope.TurnID,
		RuntimeID:    rt.ID,
		PluginID:     rt.PluginID,
		Reason:       mark.Reason,
		ResumeSchema: mark.ResumeSchema,
		Status:       session.SuspensionOpen,
		Deadline:     continuation.Deadline(now, mark.DeadlineMs),
		CreatedAt:    now,
	}
	output, err := json.Marshal(struct {
		Suspended    bool            `json:"suspended"`
		SuspensionID string          `json:"suspensionId"`
		Reason       string          `json:"reason"`
		ResumeSchema json.RawMessage `json:"resumeSchema,omitempty"`
	}{true, s.ID, s.Reason, s.ResumeSchema})
	if err != nil {
		return nil, err
	}
	r.Status, r.Output = turn.RuntimeSuspended, output
	return &suspended{Suspension: s, Payload: p}, nil
}

// settleSuspended journals a suspended result together with its continuation.
func (a *Activities) settleSuspended(ctx context.Context, ex *execution, r *turn.RuntimeResult, s *suspended) (turn.RuntimeFacts, error) {
	err := a.write(ctx, ex.scope, func(ctx context.Context, tx store.Tx) error {
		if err := a.keepGeneration(ctx, tx, ex); err != nil {
			return err
		}
		return a.record(ctx, tx, ex.scope, journalSuspension, r.RuntimeID, s)
	})
	if err != nil {
		return turn.RuntimeFacts{}, err
	}
	return a.settle(ctx, ex, r)
}

// planSuspensions adds to a commit what it saves of paused runtimes, and for a
// resume the claim that it resolves.
func (a *Activities) planSuspensions(ctx context.Context, ex *execution, plan *commit.Plan) error {
	if ex.frozen.Resume != nil {
		return a.planResolve(ctx, ex, plan)
	}
	entries, err := a.cfg.Store.JournalEntries(ctx, ex.scope.SessionID, ex.scope.ExecutionID, journalSuspension)
	if err != nil || len(entries) == 0 {
		return err
	}
	// The jobs wait until the last suspension is resolved (spec 03 §7.1).
	var withheld []json.RawMessage
	for _, job := range plan.Jobs {
		withheld = append(withheld, job.Payload)
	}
	for _, e := range entries {
		var s suspended
		if err := json.Unmarshal(e.Payload, &s); err != nil {
			return turn.Errorf("commit", turn.CodeHandlerError, "suspension of %s is unreadable: %w", e.Key, err)
		}
		s.Payload.WithheldRuntimeJobs = withheld
		if s.Suspension.Payload, err = continuation.Freeze(s.Payload); err != nil {
			return err
		}
		plan.Suspensions = append(plan.Suspensions, s.Suspension)
	}
	return nil
}

// planResolve makes the commit resolve the resume's claim. The resume that
// resolves the last suspension of its logical turn counts the turn and releases
// its jobs (spec 03 §12.5).
func (a *Activities) planResolve(ctx context.Context, ex *execution, plan *commit.Plan) error {
	r := ex.frozen.Resume
	plan.Resolve = &commit.Claim{SuspensionID: r.Suspension, Token: ex.scope.ExecutionID}
	if r.Trigger != nil {
		plan.Targets = r.Trigger.Targets()
	}
	others, err := unresolved(ctx, a.cfg.Store, ex.scope.SessionID, r.Suspension, &r.Payload)
	if err != nil {
		return err
	}
	plan.CountPolicy, plan.ResolvesLast = r.Payload.CountPolicy(others), others == 0
	if others > 0 {
		return nil
	}
	for _, job := range r.Payload.WithheldRuntimeJobs {
		plan.Jobs = append(plan.Jobs, commit.Job{Payload: job})
	}
	return nil
}

// unresolved counts the other suspensions of a logical turn that are not closed.
func unresolved(ctx context.Context, r store.Reader, sessionID, id string, p *continuation.Payload) (int, error) {
	all, err := r.Suspensions(ctx, sessionID)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range all {
		s := &all[i]
		if s.ID == id || s.Status != session.SuspensionOpen && s.Status != session.SuspensionClaimed {
			continue
		}
		other, err := continuation.Thaw(s.Payload)
		if err == nil && other.ExecutionContext.LogicalTurnID == p.ExecutionContext.LogicalTurnID {
			n++
		}
	}
	return n, nil
}
