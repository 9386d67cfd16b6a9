package compact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Config holds the settings of a Runner.
type Config struct {
	// Clock dates what is written. Defaults to time.Now.
	Clock func() time.Time
	// NewID makes the id of a fresh summary. Defaults to a random UUID.
	NewID func() string
	// Provider condenses history. Nil means that history is never condensed.
	Provider compaction.Provider
	// Settings are the deployment's. Defaults to compaction.DefaultSettings.
	Settings *compaction.Settings
	// Store has no default.
	Store store.Store
	// Texts is the framework's catalogue. It has no default.
	Texts *locale.Texts
	// Warn is told of trace events that could not be written. Defaults to
	// nobody.
	Warn func(message string, err error)
}

// Runner makes attempts. It is safe for concurrent use.
type Runner struct {
	clock    func() time.Time
	newID    func() string
	provider compaction.Provider
	settings compaction.Settings
	store    store.Store
	texts    *locale.Texts
	warn     func(string, error)
}

// NewRunner checks the configuration.
func NewRunner(config Config) (*Runner, error) {
	r := &Runner{
		clock: config.Clock, newID: config.NewID, provider: config.Provider, settings: compaction.DefaultSettings(),
		store: config.Store, texts: config.Texts, warn: config.Warn,
	}
	switch {
	case config.Store == nil:
		return nil, errors.New("compact.Config.Store is nil; give the store of the sessions")
	case config.Texts == nil:
		return nil, errors.New("compact.Config.Texts is nil; give the framework's catalogue")
	}
	if config.Settings != nil {
		r.settings = *config.Settings
	}
	if r.clock == nil {
		r.clock = time.Now
	}
	if r.newID == nil {
		r.newID = uuid.NewString
	}
	if r.warn == nil {
		r.warn = func(string, error) {}
	}
	return r, nil
}

// Request is one attempt. Story and Fast are resolved by the caller, once.
type Request struct {
	turn.Scope
	// TraceID groups the trace events. Empty: a call from a tool, which is
	// traced under the summary's id.
	TraceID string
	Locale  string
	// Lang is the instruction language of the turn.
	Lang    locale.Lang
	Preview compaction.Preview
	// History is the projected history, marked rows included if it has them.
	History []session.Message
	Story   compaction.Slot
	Fast    compaction.Slot
	// Services are what the provider may use; Reserve is filled in.
	Services compaction.Services
}

// Outcome is how an attempt ended (spec 02 §4).
type Outcome string

// Outcomes.
const (
	BelowThreshold Outcome = "below_threshold"
	NothingToDo    Outcome = "nothing_to_do"
	HookSkipped    Outcome = "hook_skipped"
	Compacted      Outcome = "compacted"
	Skipped        Outcome = "skipped"
	Blocked        Outcome = "blocked"
	Failed         Outcome = "failed"
)

// Result is an attempt's outcome without any story text. A repeated call has
// only the first five members.
type Result struct {
	Outcome    Outcome           `json:"outcome"`
	Reason     compaction.Reason `json:"reason,omitempty"`
	SummaryID  string            `json:"summaryId,omitempty"`
	SummaryIDs []string          `json:"summaryIds,omitempty"`
	Repeated   bool              `json:"repeated,omitempty"`

	Messages        int `json:"messages,omitempty"` // newly marked rows
	EstimatedTokens int `json:"estimatedTokens,omitempty"`
	ContextWindow   int `json:"contextWindow,omitempty"`
	InputWindow     int `json:"inputWindow,omitempty"`
	// Failures is the session's count in a row after this attempt.
	Failures int     `json:"failures,omitempty"`
	Notice   *Notice `json:"notice,omitempty"`
}

// Compacted says whether history is shorter now.
func (r Result) Compacted() bool { return r.Outcome == Compacted }

// Codes of notices to the player (spec 02 §9.2, §9.3).
const (
	NoticeFailing = "compaction_failing"
	NoticeBlocked = "compaction_blocked"
)

// Notice is one session.notice event for the player.
type Notice struct {
	Code    string            `json:"code"`
	Count   int               `json:"count,omitempty"`
	Reason  compaction.Reason `json:"reason,omitempty"`
	Message string            `json:"message"`
}

// Stored gives the outcome that an earlier call of this execution stored, so
// that a repeated barrier calls neither hooks nor provider again.
func (r *Runner) Stored(ctx context.Context, scope turn.Scope) (Result, bool, error) {
	return stored(ctx, r.store, scope)
}

func stored(ctx context.Context, st store.Reader, scope turn.Scope) (Result, bool, error) {
	run, ok, err := st.CompactionRun(ctx, scope.SessionID, scope.ExecutionID)
	if err != nil || !ok {
		return Result{}, false, err
	}
	result := Result{Outcome: Outcome(run.Outcome), Reason: compaction.Reason(run.Reason), SummaryIDs: run.SummaryIDs, Repeated: true}
	if n := len(run.SummaryIDs); n > 0 {
		result.SummaryID = run.SummaryIDs[n-1]
	}
	return result, true, nil
}

// SkipByHook stores that PreCompaction kept the barrier from compacting;
// reason is hook_aborted or hook_failed.
func (r *Runner) SkipByHook(ctx context.Context, req Request, reason compaction.Reason) (Result, error) {
	result, err := r.settle(ctx, &req, Result{Outcome: HookSkipped, Reason: reason})
	if err == nil && !result.Repeated {
		r.trace(ctx, &req, r.clock(), skippedEvent(&req, reason))
	}
	return result, err
}

// Attempt runs the compactor once for the execution. Its error is a cancelled
// context, session_lost, or a store that could not keep the outcome.
func (r *Runner) Attempt(ctx context.Context, req Request) (Result, error) {
	if result, ok, err := r.Stored(ctx, req.Scope); ok || err != nil {
		return result, err
	}
	windows, err := compaction.Resolve(req.Story, req.Fast, r.settings)
	if err != nil {
		return r.fail(ctx, &req, Result{}, compaction.AsError(err))
	}
	summaries, err := r.store.Summaries(ctx, req.SessionID)
	if err != nil {
		return Result{}, fmt.Errorf("compaction: read summaries: %w", err)
	}
	sizes := Result{
		EstimatedTokens: compaction.Estimate(req.Services.Estimator, r.texts, req.Lang, req.Preview, req.History, summaries),
		ContextWindow:   windows.Effective, InputWindow: windows.Input,
	}
	if !compaction.Due(sizes.EstimatedTokens, windows.Effective, r.settings.Trigger) {
		sizes.Outcome = BelowThreshold
		return r.settle(ctx, &req, sizes)
	}
	input := compaction.Input{
		Messages: req.History, ExistingSummaries: summaries, ContextWindow: windows.Effective, InputWindow: windows.Input,
		EstimatedTokens: sizes.EstimatedTokens, Estimator: req.Services.Estimator.Name(),
		InputEstimator: req.Services.InputEstimator.Name(), Locale: req.Locale, SummaryBudget: compaction.BudgetFor(windows.Effective),
	}
	services := req.Services
	services.Reserve = windows.Reserve
	out, failure := r.provide(ctx, input, services)
	if ctx.Err() != nil {
		return Result{}, ctx.Err() // a cancelled attempt writes nothing
	}
	if r.provider != nil {
		r.trace(ctx, &req, r.clock(), serviceEvent(&req, failure))
	}
	if failure == nil {
		if err := compaction.Validate(req.Services.Estimator, req.SessionID, input, out); err != nil {
			failure = compaction.AsError(err)
		}
	}
	switch {
	case failure != nil:
		return r.fail(ctx, &req, sizes, failure)
	case out == nil:
		sizes.Outcome = NothingToDo
		return r.settle(ctx, &req, sizes)
	}
	return r.save(ctx, &req, sizes, input, out)
}

// provide calls the provider within the attempt's time. A panic and whatever
// is no compaction.Error is provider_error.
func (r *Runner) provide(ctx context.Context, in compaction.Input, use compaction.Services) (out *compaction.Output, failure *compaction.Error) {
	if r.provider == nil {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, r.settings.Timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			out, failure = nil, &compaction.Error{
				Reason: compaction.ProviderError, Step: compaction.StepPlan, Detail: fmt.Sprintf("the provider panicked: %v", p),
			}
		}
	}()
	out, err := r.provider(limited, in, use)
	if err == nil {
		return out, nil
	}
	failure = compaction.AsError(err)
	if limited.Err() != nil && ctx.Err() == nil {
		failure = &compaction.Error{
			Reason: compaction.Timeout, Step: failure.Step, Detail: fmt.Sprintf("no result within %s", r.settings.Timeout), Err: err,
		}
	}
	return nil, failure
}

// settle stores an outcome that leaves the counter alone.
func (r *Runner) settle(ctx context.Context, req *Request, result Result) (Result, error) {
	return r.within(ctx, req, func(ctx context.Context, tx store.Tx) (Result, error) {
		return result, insertRun(ctx, tx, req, result, r.clock())
	})
}

// within runs fn in a transaction of the execution that owns the session. An
// outcome stored by an earlier call comes back instead.
func (r *Runner) within(ctx context.Context, req *Request, fn func(context.Context, store.Tx) (Result, error)) (Result, error) {
	var result Result
	err := r.store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.LockSession(ctx, req.SessionID); err != nil {
			return err
		}
		first, ok, err := stored(ctx, tx, req.Scope)
		if err != nil || ok {
			result = first
			return err
		}
		if err := tx.CheckFence(ctx, req.SessionID, req.ExecutionID); err != nil {
			return err
		}
		result, err = fn(ctx, tx)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

func insertRun(ctx context.Context, tx store.Tx, req *Request, result Result, now time.Time) error {
	return tx.InsertCompactionRun(ctx, store.CompactionRun{
		SessionID: req.SessionID, ExecutionID: req.ExecutionID, TurnID: req.TurnID, Outcome: string(result.Outcome),
		Reason: string(result.Reason), SummaryIDs: result.SummaryIDs, CreatedAt: now,
	})
}
