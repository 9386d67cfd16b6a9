package activities

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/activity"
)

// heartbeatEvery is how often a model call tells Temporal that it lives. It
// comes from a ticker, not from stream events (spec 04 §1.4).
const heartbeatEvery = 2 * time.Second

// replyEntry is a model's reply in a transcript: the message, and the facts
// that a repeat of the activity must answer again without another call.
type replyEntry struct {
	model.Message
	Meta replyMeta `json:"meta"`
}

type replyMeta struct {
	Finish       string     `json:"finish"`
	Usage        turn.Usage `json:"usage"`
	CostMicroUSD int64      `json:"costMicro,omitempty"`
	ClockMs      int64      `json:"clock,omitempty"`
	DurationMs   int64      `json:"ms"`
	// Ledger is what the budget has shortened in this run so far; later
	// requests repeat it byte for byte (spec 01 §15.8).
	Ledger *assembler.Ledger `json:"ledger,omitempty"`
}

// CallModel makes one model call of a run: it assembles the context when the
// run has none yet, sends it with what the run has added since, streams a
// story's deltas, and appends the reply to the transcript. A reply that is
// stored already, because a worker died after storing it, is answered without
// a second call.
func (a *Activities) CallModel(ctx context.Context, in turn.CallModelInput) (turn.StepOutcome, error) {
	stop := heartbeat(ctx)
	defer stop()
	out, err := a.callModel(ctx, in)
	return out, outcome(err)
}

func (a *Activities) callModel(ctx context.Context, in turn.CallModelInput) (turn.StepOutcome, error) {
	ex, rt, err := a.runtime(ctx, in.Scope, in.RuntimeID)
	if err != nil {
		return turn.StepOutcome{}, err
	}
	replyAt := in.Length + len(in.Notes)
	var reply replyEntry
	done, err := a.entry(ctx, in.Scope, in.RuntimeID, replyAt, &reply)
	if err != nil {
		return turn.StepOutcome{}, err
	}
	base, fresh, err := a.contextOf(ctx, ex, rt, in.Stage)
	if err != nil {
		return turn.StepOutcome{}, err
	}
	added, ledger, err := a.transcript(ctx, in.Scope, in.RuntimeID, in.Length)
	if err != nil {
		return turn.StepOutcome{}, err
	}
	set := a.toolSet(ex, rt)
	if !done {
		call := &modelCall{a: a, ex: ex, rt: rt, in: in, base: base, fresh: fresh, set: set, ledger: ledger}
		if reply, err = call.make(ctx, added, replyAt); err != nil {
			return turn.StepOutcome{}, err
		}
	}
	return stepOutcome(rt, set, added, reply, replyAt+1), nil
}

// modelCall is one logical call.
type modelCall struct {
	a    *Activities
	ex   *execution
	rt   *plugin.Runtime
	in   turn.CallModelInput
	base *runContext
	// fresh is what must be written for base, nil when it is stored.
	fresh *newContext
	set   tool.Set
	// ledger gains what this call's request was shortened by.
	ledger *assembler.Ledger
}

// make calls the model and stores, in one transaction, everything that the call
// adds: a new context, notes, the reply, and the trace of the request. A failed
// call stores its request too, so that an operator can see what was sent.
func (c *modelCall) make(ctx context.Context, added []model.Message, replyAt int) (replyEntry, error) {
	notes := c.a.notes(c.ex, c.in.Notes)
	reply, sent, failure := c.run(ctx, append(slices.Clip(added), notes...))
	if sent == nil || errors.Is(failure, errAborted) {
		return reply, failure
	}
	recorded, err := c.a.trace.PrepareRequest(ctx, *sent)
	if err != nil {
		return reply, err
	}
	err = c.a.write(ctx, c.in.Scope, func(ctx context.Context, tx store.Tx) error {
		if c.fresh != nil {
			if err := c.a.writeContext(ctx, tx, c.in.Scope, c.fresh); err != nil {
				return err
			}
		}
		if err := recorded.Insert(ctx, tx); err != nil {
			return err
		}
		if failure != nil {
			return trace.Insert(ctx, tx, c.a.cfg.Now(), c.failed(failure))
		}
		for i, note := range notes {
			if err := c.a.appendEntry(ctx, tx, c.in.Scope, c.in.RuntimeID, c.in.Length+i, note.Role, note); err != nil {
				return err
			}
		}
		if err := c.a.appendEntry(ctx, tx, c.in.Scope, c.in.RuntimeID, replyAt, model.RoleAssistant, reply); err != nil {
			return err
		}
		return trace.Insert(ctx, tx, c.a.cfg.Now(), c.responded(reply))
	})
	if err != nil {
		return reply, err
	}
	recorded.Committed()
	if c.fresh != nil {
		c.a.rememberContext(c.in.Scope, c.in.RuntimeID, c.fresh)
	}
	return reply, failure
}

// stepOutcome tells the agent loop what it must know of a reply.
func stepOutcome(rt *plugin.Runtime, set tool.Set, added []model.Message, reply replyEntry, length int) turn.StepOutcome {
	out := turn.StepOutcome{
		Length:       length,
		Finish:       reply.Meta.Finish,
		HasText:      usableText(rt, reply.Content),
		Usage:        reply.Meta.Usage,
		CostMicroUSD: reply.Meta.CostMicroUSD,
		ClockMs:      reply.Meta.ClockMs,
	}
	for i := range added {
		out.Groups = out.Groups || added[i].Role == model.RoleTool
	}
	for _, c := range reply.ToolCalls {
		out.Calls = append(out.Calls, turn.CallFact{
			ID: c.ID, Name: c.Name, Hash: tool.ArgumentHash(c.Arguments), Remote: set.Remote(c.Name),
		})
	}
	return out
}

// usableText says whether a reply's text can be the run's answer: a story's
// text must not be blank after sanitising (spec 03 §11.7).
func usableText(rt *plugin.Runtime, text string) bool {
	if rt.Story() {
		text = tool.SanitiseStory(text)
	}
	return strings.TrimSpace(text) != ""
}

// notes renders the loop's fixed texts in the session's instruction language.
// The text that asks a story runtime for its story comes as a system message,
// like every other (spec 03 §11.2).
func (a *Activities) notes(ex *execution, notes []turn.Note) []model.Message {
	messages := make([]model.Message, len(notes))
	for i, n := range notes {
		messages[i] = model.Message{Role: model.RoleSystem, Content: a.cfg.Texts.Get(ex.lang, n.Text, n.Args)}
	}
	return messages
}

// run gives the reply and the request as it was sent, nil when nothing was.
func (c *modelCall) run(ctx context.Context, added []model.Message) (replyEntry, *trace.Request, error) {
	params, err := c.fit(ctx, c.params(added))
	if err != nil {
		return replyEntry{}, nil, err
	}
	ctx, stop := c.a.watchAbort(ctx, c.in.Scope)
	defer stop()
	tries, err := c.attempts(params)
	if err != nil {
		return replyEntry{}, nil, err
	}
	started := c.a.cfg.Now()
	result, err := tries.run(ctx)
	if err != nil {
		var failed *model.Error
		if errors.As(err, &failed) && len(failed.Records) > 0 {
			return replyEntry{}, c.request(tries.params, failed.Records), err
		}
		return replyEntry{}, nil, err
	}
	ended := c.a.cfg.Now()
	clock := ended.Sub(started)
	if !tries.first.IsZero() {
		// The clock stands still while a streamed reply arrives (spec 03 §11.1).
		clock = tries.first.Sub(started)
	}
	return replyEntry{
		Message: c.message(result),
		Meta: replyMeta{
			Finish:       result.FinishReason,
			Usage:        usage(result.Usage),
			CostMicroUSD: microUSD(result.CostUSD),
			ClockMs:      clock.Milliseconds(),
			DurationMs:   ended.Sub(started).Milliseconds(),
			Ledger:       c.kept(),
		},
	}, c.request(tries.params, result.Records), nil
}

// kept is the ledger to keep with the reply, nil while it is empty.
func (c *modelCall) kept() *assembler.Ledger {
	if len(c.ledger.Elisions)+len(c.ledger.Digests) == 0 {
		return nil
	}
	return c.ledger
}

// fit brings the exact request under the window of the slot it goes to
// (spec 01 §15.5). A request that does not fit is context-overflow: nothing is
// sent.
func (c *modelCall) fit(ctx context.Context, params model.Params) (model.Params, error) {
	target, err := c.a.cfg.Model.Resolve(c.base.Head.Slot)
	if err != nil {
		return params, err
	}
	estimator, err := c.a.estimator(target.Tokenizer)
	if err != nil {
		return params, err
	}
	window := target.ContextWindow
	if window == 0 {
		window = model.UnknownWindow
	}
	budget := assembler.Budget{
		CurrentTurnUserMessages: c.base.Head.CurrentTurnUserMessages,
		Emergency:               c.in.Finalizer,
		Estimator:               estimator,
		Lang:                    c.ex.lang,
		Model:                   target.Model,
		Provider:                target.Provider,
		Reserve:                 model.ResponseReserve(window, target.MaxOutputTokens),
		Runtime:                 c.rt.ID,
		Slot:                    c.base.Head.Slot,
		Texts:                   c.a.cfg.Texts,
		Window:                  window,
	}
	fitted, report, err := budget.Fit(params, c.ledger)
	if err != nil || !report.Traced() {
		return fitted, err
	}
	return fitted, c.a.trace.Record(ctx, trace.Event{
		Scope: c.in.Scope, Type: trace.ContextPruned, Key: fmt.Sprintf("%s/%d", c.in.RuntimeID, c.in.Step),
		Payload: map[string]any{
			"runtimeId": c.rt.ID, "pluginId": c.rt.PluginID, "prunedMessageCount": report.Pruned,
			"truncatedToolResultCount": report.TruncatedResults, "truncatedSummaryCount": report.TruncatedSummaries,
		},
	})
}

// estimator gives the cached estimator of a slot's tokenizer.
func (a *Activities) estimator(name string) (tokens.Estimator, error) {
	a.estimators.mu.Lock()
	defer a.estimators.mu.Unlock()
	if e, ok := a.estimators.byName[name]; ok {
		return e, nil
	}
	e, err := tokens.New(name)
	if err != nil {
		return nil, err
	}
	cached := tokens.NewCache(e, tokens.CacheConfig{})
	a.estimators.byName[name] = cached
	return cached, nil
}

// estimators are the estimators in use, one for each tokenizer.
type estimators struct {
	mu     sync.Mutex
	byName map[string]tokens.Estimator
}

// message is the reply as the transcript keeps it. A reply cut at the output
// limit keeps its text only: half a call must never be answered.
func (c *modelCall) message(result *model.Result) model.Message {
	m := model.Message{
		Role:                 model.RoleAssistant,
		Content:              result.Text,
		ReasoningContent:     result.ReasoningContent,
		ProviderContinuation: result.ProviderContinuation,
	}
	if result.FinishReason != model.FinishLength {
		m.ToolCalls = result.ToolCalls
	}
	return m
}

func (c *modelCall) params(added []model.Message) model.Params {
	messages := make([]model.Message, 0, 1+len(c.base.Messages)+len(added))
	messages = append(messages, model.Message{Role: model.RoleSystem, Content: c.base.System})
	messages = append(messages, c.base.Messages...)
	messages = append(messages, added...)
	p := model.Params{
		Messages:       messages,
		Tools:          c.base.Tools,
		ResponseSchema: c.base.Head.ResponseSchema,
		PromptCacheKey: cacheKey(c.in.SessionID, c.in.RuntimeID),
		Identity: model.Identity{
			SessionID: c.in.SessionID, RuntimeID: c.in.RuntimeID, Turn: c.ex.frozen.LogicalTurn, Step: c.in.Step, Slot: c.base.Head.Slot,
		},
	}
	if agent := c.rt.Agent; agent != nil {
		p.ReasoningOff = agent.ReasoningOff
		p.ToolChoice = model.ToolChoice{Name: agent.ToolChoiceName, Required: agent.ToolChoiceRequired}
	}
	switch {
	case c.in.ToolChoice == turn.ToolChoiceNone:
		p.ToolChoice = model.ToolChoice{None: true}
		p.Tools = nil
	case c.in.ToolChoice == turn.ToolChoiceRequired && p.ToolChoice.Name == "":
		p.ToolChoice = model.ToolChoice{Required: true}
	}
	return p
}

// request is the call as the trace keeps it.
func (c *modelCall) request(params model.Params, records []model.RequestRecord) *trace.Request {
	return &trace.Request{
		Scope:       c.in.Scope,
		RuntimeID:   c.in.RuntimeID,
		Step:        c.in.Step,
		LogicalTurn: c.ex.frozen.LogicalTurn,
		Slot:        c.base.Head.Slot,
		Records:     records,
		Tools:       params.Tools,
		Messages:    params.Messages,
		Concealed:   c.rt.IO.Concealed,
	}
}

// failed is the trace event of a call that ended without a reply.
func (c *modelCall) failed(err error) trace.Event {
	return trace.Event{
		Scope: c.in.Scope, Type: trace.LLMResponded, Key: fmt.Sprintf("%s/%d/failed", c.in.RuntimeID, c.in.Step),
		Payload: map[string]any{"runtimeId": c.in.RuntimeID, "step": c.in.Step, "slot": c.base.Head.Slot, "error": clip(err.Error())},
	}
}

// responded is the trace event of a finished call.
func (c *modelCall) responded(reply replyEntry) trace.Event {
	payload := map[string]any{
		"runtimeId": c.in.RuntimeID, "step": c.in.Step, "slot": c.base.Head.Slot, "finishReason": reply.Meta.Finish,
		"usage": reply.Meta.Usage, "costMicroUSD": reply.Meta.CostMicroUSD, "durationMs": reply.Meta.DurationMs,
		"toolCalls": len(reply.ToolCalls),
	}
	return trace.Event{
		Scope: c.in.Scope, Type: trace.LLMResponded, Key: fmt.Sprintf("%s/%d", c.in.RuntimeID, c.in.Step), Payload: payload,
	}
}

func usage(u model.Usage) turn.Usage {
	out := turn.Usage{Input: u.InputTokens, Output: u.OutputTokens}
	if u.CachedInputTokens != nil {
		out.Cached = *u.CachedInputTokens
	}
	if u.CacheWriteInputTokens != nil {
		out.CacheWrite = *u.CacheWriteInputTokens
	}
	return out
}

// microUSD rounds up to whole millionths, so that no call counts as free that is not.
func microUSD(usd *float64) int64 {
	if usd == nil {
		return 0
	}
	return int64(math.Ceil(*usd*1e6 - 1e-9))
}

// attempt is the activity's attempt, from 1.
func attempt(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

// heartbeat reports life until stop.
func heartbeat(ctx context.Context) (stop func()) {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).HeartbeatTimeout == 0 {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { close(done); <-ended }
}
