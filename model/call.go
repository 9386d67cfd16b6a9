package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// call is one logical call on its way through the chain.
type call struct {
	gateway *Gateway
	params  *Params
	budget  *Budget
	onEvent func(Event) // nil: not streamed
	object  bool        // object generation: no tools, no preferences, no cache key
	slot    string
	chain   []*bound

	warnings []Warning
	records  []RequestRecord
}

// run tries the targets in order (spec 04 §6.1, §6.3).
func (c *call) run(ctx context.Context) (*Result, error) {
	var last *Error
	for i, b := range c.chain {
		if err := c.budget.Left(); err != nil {
			return nil, err
		}
		req, err := c.prepare(ctx, b, i > 0)
		if err != nil {
			if i > 0 && errors.Is(err, errSkipTarget) {
				continue
			}
			return nil, c.refused(err, b, last)
		}
		result, failure, shown := c.attempt(ctx, b, req)
		if failure == nil {
			result.Warnings = c.warnings
			result.Records = c.records
			return result, nil
		}
		last = failure
		c.budget.failed(failure)
		if shown || ctx.Err() != nil || i == len(c.chain)-1 || !mayFallBack(failure) {
			break
		}
	}
	return nil, last
}

// refused completes the error of a request that was not sent; the failure of
// the target before it, if any, is its cause.
func (c *call) refused(err error, b *bound, before *Error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if before != nil && e.Err == nil {
		e.Err = before
	}
	e.Records = c.records
	e.Provider, e.Model = first(e.Provider, b.target.Provider), first(e.Model, b.target.Model)
	return e
}

// mayFallBack says whether another target may be asked after a failure (spec
// 04 §6.3).
func mayFallBack(e *Error) bool {
	if e.StatusCode == 429 {
		return true
	}
	clientFault := e.StatusCode >= 400 && e.StatusCode < 500
	return (e.Code == CodeRateLimited || e.Code == CodeProvider) && !clientFault
}

// outcome is what one attempt brought.
type outcome struct {
	result *Result
	err    error
}

// attempt sends to one target and waits for it, at most until the budget's
// deadline even if the adapter ignores cancellation. shown is true once output
// went to the caller.
func (c *call) attempt(ctx context.Context, b *bound, req *Request) (_ *Result, _ *Error, shown bool) {
	c.before(ctx, b, req)
	watched, stop := c.budget.watch(ctx)
	defer stop()

	var mu sync.Mutex
	closed := false
	emit := func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return
		}
		c.budget.Progress()
		if e.Kind == EventToolCall || (e.Kind == EventText || e.Kind == EventReasoning) && e.Text != "" {
			shown = true
		}
		if c.onEvent != nil {
			c.onEvent(e)
		}
	}
	untouched := req.untouched()
	done := make(chan outcome, 1)
	started := c.gateway.config.Clock.Now()
	go func(req *Request) { // its own variable: req names another request once the adapter is left behind
		result, err := send(watched, c.gateway.config.Adapters[b.target.Protocol], req, emit)
		done <- outcome{result, err}
	}(req)

	var out outcome
	select {
	case out = <-done:
	case <-watched.Done():
		select {
		case out = <-done: // the adapter answered the cancellation, or had finished
		case <-c.grace():
			out.err = context.Cause(watched)
			req = untouched // the adapter left behind may still write to its own
		}
	}
	mu.Lock()
	closed = true
	mu.Unlock()

	failure := c.failure(ctx, watched, b, req, out)
	c.record(b, req, out.result, failure, started)
	c.after(ctx, b, req, out.result, failure)
	c.warnings = append(c.warnings, req.Warnings...)
	if failure != nil {
		return nil, failure, shown
	}
	if cost := Cost(out.result.Usage, b.target.Pricing); cost != nil {
		out.result.CostUSD = cost
	}
	return out.result, nil, shown
}

// send calls an adapter. A panic in it fails the attempt: the adapter runs on a
// goroutine of its own, where nobody above could catch it.
func send(ctx context.Context, a Adapter, req *Request, emit func(Event)) (result *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, &Error{Code: CodeProvider, Message: fmt.Sprintf("[%s] the adapter panicked: %v", req.Target.Protocol, p)}
		}
	}()
	return a.Send(ctx, req, emit)
}

// grace is how long an adapter may take to answer its cancellation before the
// waiter leaves it behind.
func (c *call) grace() <-chan time.Time {
	fired, _ := c.gateway.config.Clock.After(50 * time.Millisecond)
	return fired
}

// failure gives the typed error of an attempt, nil when it succeeded.
func (c *call) failure(ctx, watched context.Context, b *bound, req *Request, out outcome) *Error {
	if out.err == nil {
		if out.result == nil {
			return &Error{Code: CodeProvider, Message: fmt.Sprintf("[%s] the adapter gave no result", b.target.Protocol)}
		}
		return nil
	}
	if ctx.Err() == nil && errors.Is(context.Cause(watched), errDeadline) {
		var typed *Error
		if !errors.As(out.err, &typed) || typed.Code == CodeProvider && typed.StatusCode == 0 {
			return c.budget.deadlineError()
		}
	}
	e := Normalize(out.err)
	if blocked := req.blocked(); blocked != nil && e.Code != CodeBudgetExceeded {
		c.budget.failed(e)
		e = c.budget.exceededBy(blocked)
	}
	e.Provider, e.Model = first(e.Provider, b.target.Provider), first(e.Model, b.target.Model)
	redactError(e, req.Key)
	return e
}

// hookWait is the time that one hook stage may take in total.
const hookWait = time.Second

func (c *call) before(ctx context.Context, b *bound, req *Request) {
	c.hooks(ctx, req, func(ctx context.Context, h Hook) error { return h.BeforeTarget(ctx, b.target, req.Identity) })
}

func (c *call) after(ctx context.Context, b *bound, req *Request, result *Result, failure *Error) {
	c.hooks(ctx, req, func(ctx context.Context, h Hook) error {
		return h.AfterTarget(ctx, b.target, req.Identity, result, failure)
	})
}

func (c *call) hooks(ctx context.Context, req *Request, each func(context.Context, Hook) error) {
	if len(c.gateway.config.Hooks) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(c.gateway.config.Hooks))
	go func() {
		for _, h := range c.gateway.config.Hooks {
			errs <- each(ctx, h)
		}
	}()
	fired, stop := c.gateway.config.Clock.After(hookWait)
	defer stop()
	for range c.gateway.config.Hooks {
		select {
		case err := <-errs:
			if err != nil {
				req.Warn("ignored", "hook", "a hook failed: "+err.Error())
			}
		case <-fired:
			req.Warn("ignored", "hook", "hooks took over 1 s and were left behind")
			return
		}
	}
}

// record adds the record of a target (spec 04 §18).
func (c *call) record(b *bound, req *Request, result *Result, failure *Error, started time.Time) {
	r := req.Record
	r.DurationMs = c.gateway.config.Clock.Now().Sub(started).Milliseconds()
	r.Warnings = slices.Clone(req.Warnings)
	if result != nil {
		r.Usage, r.RawFinishReason = &result.Usage, result.RawFinishReason
	}
	req.noteSends()
	if failure != nil {
		r.Error = failure.Message
		if u := usageOf(failure); u != nil {
			r.Usage = u
		}
	}
	if r.Usage != nil {
		r.CostUSD = Cost(*r.Usage, b.target.Pricing)
	}
	redactRecord(r, req.Messages, req.Key)
	c.records = append(c.records, *r)
	if failure != nil {
		failure.Records = c.records
	}
}
