package activities

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// BeginResume opens the resume of a suspension (spec 03 §12.3): it takes the
// session's fence, checks the data, claims the suspension, thaws it and plans
// the one runtime that goes on. Any refusal leaves the suspension open. A
// repeat answers the stored plan.
func (a *Activities) BeginResume(ctx context.Context, scope turn.Scope, in turn.ResumeInput) (turn.ResumePlan, error) {
	plan, err := a.beginResume(ctx, scope, in)
	return plan, outcome(err)
}

func (a *Activities) beginResume(ctx context.Context, scope turn.Scope, in turn.ResumeInput) (turn.ResumePlan, error) {
	if err := in.Validate(); err != nil {
		return turn.ResumePlan{}, err
	}
	b := &resumeBegin{a: a, scope: scope, in: in}
	err := a.cfg.Store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		b.plan, b.expired = turn.ResumePlan{}, nil
		return b.run(ctx, tx)
	})
	switch {
	case errors.Is(err, store.ErrNotFound) && turn.CodeOf(err) == "":
		return b.plan, turn.Errorf("resume", turn.CodeSessionNotFound, "there is no session %q", scope.SessionID)
	case err != nil:
		return b.plan, err
	case b.expired != nil:
		return b.plan, b.expired
	}
	return b.plan, nil
}

// resumeBegin is one attempt of BeginResume's transaction.
type resumeBegin struct {
	a     *Activities
	scope turn.Scope
	in    turn.ResumeInput

	plan turn.ResumePlan
	// expired is the refusal of a suspension whose deadline had come: the
	// transaction that closed it is kept.
	expired error
}

func (b *resumeBegin) run(ctx context.Context, tx store.Tx) error {
	if err := tx.LockSession(ctx, b.scope.SessionID); err != nil {
		return err
	}
	stored, err := tx.TurnRecord(ctx, b.scope.SessionID, b.scope.TurnID)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case stored.ExecutionID == b.scope.ExecutionID:
		var f frozen
		if err := readPlan(ctx, tx, b.scope, &f); err != nil {
			return err
		}
		b.plan = b.a.resumePlan(f)
		return nil
	default:
		return b.replay(ctx, tx, stored)
	}
	if err := tx.SetFence(ctx, b.scope.SessionID, b.scope.ExecutionID); err != nil {
		return err
	}
	if err := failLeftovers(ctx, tx, b.scope.SessionID); err != nil {
		return err
	}
	s, err := findSuspension(ctx, tx, b.scope.SessionID, b.in.SuspensionID)
	if err != nil {
		return err
	}
	if err := continuation.ValidateData(s.ResumeSchema, b.in.Data); err != nil {
		return err
	}
	payload, err := continuation.Thaw(s.Payload)
	if err != nil {
		return err
	}
	game, err := tx.Session(ctx, b.scope.SessionID)
	if err != nil {
		return err
	}
	if game.Status != session.StatusActive {
		return turn.Errorf("resume", turn.CodeSessionNotActive, "session %q is %s; only an active one goes on", game.ID, game.Status)
	}
	if err := b.claim(ctx, tx, s); err != nil || b.expired != nil {
		return err
	}
	return b.open(ctx, tx, game, s, payload)
}

// replay answers a turn id that is stored already.
func (b *resumeBegin) replay(ctx context.Context, tx store.Tx, stored store.TurnRecord) error {
	if stored.InputHash != b.in.Hash() {
		return turn.Errorf("resume", turn.CodeTurnIDConflict, "turn id %q was used with other input; use a new turn id", b.in.TurnID)
	}
	b.plan = turn.ResumePlan{Action: turn.PlanReplay, LogicalTurn: stored.LogicalTurn, Replayed: turn.StatusCommitted}
	if stored.CommitStatus == recordPending {
		if err := failRecord(ctx, tx, stored); err != nil {
			return err
		}
		stored.CommitStatus = recordFailed
	}
	if stored.CommitStatus == recordFailed {
		b.plan.Replayed = turn.StatusFailed
	}
	return nil
}

// claim takes the suspension. A suspension whose deadline has come is closed
// instead, as a cancel would close it.
func (b *resumeBegin) claim(ctx context.Context, tx store.Tx, s session.Suspension) error {
	now := b.a.now()
	if s.Expired(now) {
		if _, err := b.a.closeSuspension(ctx, tx, b.scope.ExecutionID, s, closedByDeadline); err != nil {
			return err
		}
		b.expired = expired(s)
		return nil
	}
	return suspensionError("resume", s.ID, tx.ClaimSuspension(ctx, s.ID, b.scope.ExecutionID, now))
}

// open stores the pending record, the frozen scope and the run's transcript.
func (b *resumeBegin) open(ctx context.Context, tx store.Tx, game session.Session, s session.Suspension, p continuation.Payload) error {
	f, err := b.freeze(ctx, tx, game, s, p)
	if err != nil {
		return err
	}
	rt, gen, err := b.a.resumable(ctx, tx, f)
	switch {
	case err != nil:
		return err
	case rt == nil:
		f.Resume.Code, f.Resume.Message = turn.CodeRuntimeNotFound, "Runtime not found on resume"
		if gen == nil {
			f.Resume.Message += ": plugin generation " + p.ManifestGeneration + " cannot be loaded; put the plugins back as they were"
		}
	default:
		f.Resume.Spec = b.a.spec(gen.Active(f.ActivePlugins), rt)
		err := b.a.thawTranscript(ctx, tx, b.scope, s, p, b.in.Data)
		var failed *turn.Error
		switch {
		case errors.As(err, &failed) && failed.Code == continuation.CodePlaceholderMissing:
			f.Resume.Code, f.Resume.Message = failed.Code, failed.Error()
		case err != nil:
			return err
		}
	}
	b.plan = b.a.resumePlan(f)
	return b.a.storePlan(ctx, tx, b.scope, game, f)
}

// freeze is the scope of a resume: what the suspended execution had frozen, so
// that the same continuation gives the same requests whatever changed since.
func (b *resumeBegin) freeze(ctx context.Context, tx store.Tx, game session.Session, s session.Suspension, p continuation.Payload) (frozen, error) {
	f := frozen{ActivePlugins: game.ActivePlugins}
	source := turn.Scope{SessionID: s.SessionID, TurnID: s.TurnID, ExecutionID: p.ExecutionContext.ExecutionID}
	if err := readPlan(ctx, tx, source, &f); err != nil && !errors.Is(err, errNoPlan) {
		return f, err
	}
	r := &resumed{Suspension: s.ID, Turn: s.TurnID, Runtime: s.RuntimeID, Data: b.in.Data, Payload: p}
	r.Trigger = f.Input.ManualTrigger
	var err error
	if r.Stage, r.Level, err = placeOf(ctx, tx, s); err != nil {
		return f, err
	}
	if r.Event, err = activationOf(ctx, tx, source, s.RuntimeID); err != nil {
		return f, err
	}
	f.Input = turn.Input{
		SessionID: b.scope.SessionID, TurnID: b.scope.TurnID, Origin: turn.OriginResume, Locale: p.Locale, ParentTurnID: s.TurnID,
		ModelOverride: f.Input.ModelOverride, RuntimeModelOverrides: f.Input.RuntimeModelOverrides,
	}
	f.Hash = b.in.Hash()
	f.Generation, f.StartedAt = p.ManifestGeneration, b.a.now()
	f.LogicalTurn, f.TurnNumber, f.Locale = p.LogicalTurn, p.TurnNumber, p.Locale
	f.CountPolicy, f.LogicalTurnID = p.ExecutionContext.CountPolicy, p.ExecutionContext.LogicalTurnID
	f.Plan = turn.Plan{LogicalTurn: p.LogicalTurn, World: game.WorldID, Phase: string(game.Phase)}
	f.Flip, f.Skipped, f.Hazards = false, nil, nil
	f.Resume = r
	return f, nil
}

// placeOf gives stage and level of the suspended result, for its place in
// stored order.
func placeOf(ctx context.Context, tx store.Tx, s session.Suspension) (stage string, level int, err error) {
	record, err := tx.TurnRecord(ctx, s.SessionID, s.TurnID)
	if errors.Is(err, store.ErrNotFound) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	var results []turn.RuntimeResult
	if err := json.Unmarshal(record.RuntimeResults, &results); err != nil {
		return "", 0, turn.Errorf("resume", turn.CodeHandlerError, "results of turn %q are unreadable: %w", s.TurnID, err)
	}
	for i := range results {
		if results[i].RuntimeID == s.RuntimeID {
			return results[i].Stage, results[i].Level, nil
		}
	}
	return "", 0, nil
}

// activationOf gives the event that had woken the suspended runtime.
func activationOf(ctx context.Context, tx store.Tx, source turn.Scope, runtimeID string) (*turn.Event, error) {
	entries, err := tx.JournalEntries(ctx, source.SessionID, source.ExecutionID, journalChain)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		var planned chainDepth
		if err := json.Unmarshal(e.Payload, &planned); err != nil {
			return nil, err
		}
		if event, ok := planned.Events[runtimeID]; ok {
			return &event, nil
		}
	}
	return nil, nil
}

// resumable gives the suspended runtime in its generation; nil for either that
// is not loaded here.
func (a *Activities) resumable(ctx context.Context, r store.Reader, f frozen) (*plugin.Runtime, *plugin.Generation, error) {
	gen, ok, err := a.generation(ctx, r, f.Input.SessionID, f.Generation)
	if err != nil || !ok {
		return nil, nil, err
	}
	rt, ok := gen.Runtime(f.Resume.Runtime)
	if !ok {
		return nil, gen, nil
	}
	return rt, gen, nil
}

// thawTranscript gives the resumed run the suspended run's transcript with the
// answer in the place of its placeholder. The budget's ledger starts empty
// (spec 03 §16 item 4). A function has no transcript.
func (a *Activities) thawTranscript(ctx context.Context, tx store.Tx, scope turn.Scope, s session.Suspension, p continuation.Payload, data json.RawMessage) error {
	if p.Transcript.RunID == "" {
		return nil
	}
	entries, err := tx.Transcript(ctx, p.Transcript.RunID, 0, p.Transcript.Length)
	if err != nil {
		return err
	}
	if len(entries) != p.Transcript.Length {
		return turn.Errorf("resume", continuation.CodePlaceholderMissing, "transcript %s has %d entries; %d are expected", p.Transcript.RunID, len(entries), p.Transcript.Length)
	}
	messages := make([]model.Message, len(entries))
	for i := 1; i < len(entries); i++ {
		var reply replyEntry
		if err := json.Unmarshal(entries[i].Content, &reply); err != nil {
			return turn.Errorf("resume", continuation.CodePlaceholderMissing, "transcript entry %d of %s is unreadable: %w", i, p.Transcript.RunID, err)
		}
		messages[i] = reply.Message
		if reply.Meta.Ledger != nil {
			reply.Meta.Ledger = nil
			if entries[i].Content, err = json.Marshal(reply); err != nil {
				return err
			}
		}
	}
	answered, err := p.Answer(messages, data)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(messages, func(m model.Message) bool { return m.ToolCallID == p.SuspendToolCallID && m.ToolCallID != "" })
	if len(answered) > len(entries) { // no call waits: the data is the last message
		last := entries[len(entries)-1]
		last.Seq, last.Role = len(entries), string(model.RoleUser)
		entries = append(entries, last)
		at = len(entries) - 1
	}
	if entries[at].Content, err = json.Marshal(answered[at]); err != nil {
		return err
	}
	for _, e := range entries {
		e.RunID, e.SessionID, e.TurnID = turn.RunID(scope.ExecutionID, s.RuntimeID), scope.SessionID, scope.TurnID
		e.ContentHash, e.CreatedAt = "", a.cfg.Now()
		if _, _, err := tx.AppendTranscript(ctx, e); err != nil {
			return err
		}
	}
	return trace.Insert(ctx, tx, a.cfg.Now(), started(scope, s.RuntimeID, ""))
}

// resumePlan is what the Resume workflow carries of a frozen resume.
func (a *Activities) resumePlan(f frozen) turn.ResumePlan {
	r := f.Resume
	seed := agentloop.SeedOf(r.Payload, tool.ArgumentHash)
	if r.Payload.SuspendToolCallID == "" && r.Payload.Transcript.RunID != "" {
		seed.Length++ // the data is a message of its own
	}
	return turn.ResumePlan{
		LogicalTurn: f.LogicalTurn, World: f.Plan.World, Stage: r.Stage, Level: r.Level, Runtime: r.Spec,
		Seed: seed, Code: r.Code, Message: r.Message, SuspendedTurnID: r.Turn,
	}
}

// findSuspension reads a suspension of this session.
func findSuspension(ctx context.Context, tx store.Reader, sessionID, id string) (session.Suspension, error) {
	s, err := tx.Suspension(ctx, id)
	if err == nil && s.SessionID == sessionID {
		return s, nil
	}
	if err == nil || errors.Is(err, store.ErrNotFound) {
		return s, turn.Errorf("find suspension", turn.CodeSuspensionNotFound, "session %q has no suspension %q", sessionID, id)
	}
	return s, err
}

// suspensionError gives a store's refusal the code that callers see.
func suspensionError(op, id string, err error) error {
	var coded *store.Error
	switch {
	case !errors.As(err, &coded):
		return err
	case coded.Code == store.CodeContinuationTaken:
		return turn.Errorf(op, turn.CodeSuspensionClaimed, "suspension %q is being resumed by someone else", id)
	case coded.Code == store.CodeContinuationClosed:
		return turn.Errorf(op, turn.CodeSuspensionClosed, "suspension %q is %s; it is closed for good", id, coded.Value)
	default:
		return err
	}
}
