package model

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Budget defaults (spec 04 §7.2).
const (
	DefaultMaxAttempts = 8
	DefaultTimeout     = 120 * time.Second
	DefaultIdleTimeout = 120 * time.Second
	DefaultCeiling     = 30 * time.Minute
)

// Limits bound one logical call. Zero times and a nil MaxAttempts were not given. A Timeout or
// Deadline is fixed unless an IdleTimeout comes along: then each event moves
// the deadline to now + IdleTimeout, up to the ceiling.
//
// An agent's streamed call (spec 04 §7.2) gives its first-token limit as
// Timeout, agent.loop.idleTimeoutMs as IdleTimeout, and the larger of 120 s and
// the runtime's remaining time as Ceiling; one that is not streamed gives
// callTimeoutMs as Timeout alone.
type Limits struct {
	Ceiling     time.Duration `json:"ceiling,omitempty"`
	Deadline    time.Time     `json:"deadline,omitzero"`
	IdleTimeout time.Duration `json:"idleTimeout,omitempty"`
	MaxAttempts *int          `json:"maxAttempts,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`
}

// Budget is the one budget of a logical call, shared by re-sends, fallback
// targets and runtime retries. It is safe for concurrent use.
type Budget struct {
	clock       Clock
	maxAttempts int
	idle        time.Duration // 0: the deadline is fixed
	ceiling     time.Time

	mu       sync.Mutex
	attempts int
	deadline time.Time
	last     error
}

// NewBudget starts a budget now. Streamed calls get the moving default, others
// a fixed 120 s. A clock of nil is the machine's.
func NewBudget(l Limits, streamed bool, clock Clock) (*Budget, error) {
	if clock == nil {
		clock = systemClock{}
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	now := clock.Now()
	b := &Budget{clock: clock, maxAttempts: DefaultMaxAttempts}
	if l.MaxAttempts != nil {
		b.maxAttempts = *l.MaxAttempts
	}
	switch {
	case !l.Deadline.IsZero():
		b.deadline = l.Deadline
	case l.Timeout > 0:
		b.deadline = now.Add(l.Timeout)
	default:
		b.deadline = now.Add(DefaultTimeout)
	}
	explicit := !l.Deadline.IsZero() || l.Timeout > 0
	switch {
	case l.IdleTimeout > 0:
		b.idle = l.IdleTimeout
	case streamed && !explicit:
		b.idle = DefaultIdleTimeout
	}
	b.ceiling = b.deadline
	if b.idle > 0 {
		ceiling := DefaultCeiling
		if l.Ceiling > 0 {
			ceiling = l.Ceiling
		}
		b.ceiling = now.Add(ceiling)
		if b.deadline.After(b.ceiling) {
			b.deadline = b.ceiling
		}
	}
	return b, nil
}

func (l Limits) check() error {
	if l.MaxAttempts != nil && *l.MaxAttempts <= 0 {
		return Configf("limits.maxAttempts: %d is not allowed; give a positive integer", *l.MaxAttempts)
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"timeout", l.Timeout}, {"idleTimeout", l.IdleTimeout}, {"ceiling", l.Ceiling}} {
		if f.value < 0 {
			return Configf("limits.%s: %s is not allowed; give a time above 0", f.name, f.value)
		}
	}
	return nil
}

// Take consumes one attempt right before bytes leave. Its error is
// REQUEST_BUDGET_EXCEEDED with the last provider failure as cause.
func (b *Budget) Take() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.clock.Now().Before(b.deadline) {
		return b.exceeded("deadline")
	}
	if b.attempts >= b.maxAttempts {
		return b.exceeded("attempts")
	}
	b.attempts++
	return nil
}

// Left says why nothing more may be sent, nil while an attempt is left.
func (b *Budget) Left() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.clock.Now().Before(b.deadline):
		return b.exceeded("deadline")
	case b.attempts >= b.maxAttempts:
		return b.exceeded("attempts")
	}
	return nil
}

// Attempts is the number of sends so far.
func (b *Budget) Attempts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempts
}

// Deadline is the time at which the call ends unless an event moves it.
func (b *Budget) Deadline() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deadline
}

// Ceiling is the time that no event moves the deadline past.
func (b *Budget) Ceiling() time.Time { return b.ceiling }

// Progress moves the deadline for an event: to now + idle, up to the ceiling,
// never earlier than before.
func (b *Budget) Progress() {
	if b.idle == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.clock.Now().Add(b.idle)
	if next.After(b.ceiling) {
		next = b.ceiling
	}
	if next.After(b.deadline) {
		b.deadline = next
	}
}

// failed remembers the last provider failure.
func (b *Budget) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = err
}

// deadlineError is REQUEST_BUDGET_EXCEEDED for the deadline.
func (b *Budget) deadlineError() *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.exceeded("deadline")
}

// exceededBy repeats why a re-send was forbidden, with the last failure as cause.
func (b *Budget) exceededBy(blocked error) *Error {
	var e *Error
	reason := "attempts"
	if errors.As(blocked, &e) {
		reason = e.Detail("reason")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.exceeded(reason)
}

func (b *Budget) exceeded(reason string) *Error {
	message := fmt.Sprintf("the request budget is used up: %d of %d attempts; raise limits.maxAttempts", b.attempts, b.maxAttempts)
	if reason == "deadline" {
		message = fmt.Sprintf("the request budget is used up: its deadline passed after %d attempts; raise limits.timeout", b.attempts)
	}
	e := &Error{Code: CodeBudgetExceeded, Message: message, Err: b.last}
	e.setDetail("reason", reason)
	return e
}

// errDeadline is the cause of a context that the budget ended.
var errDeadline = errors.New("the request budget's deadline passed")

// watch cancels the call when the deadline passes. The returned context is done
// then, or when stop is called.
func (b *Budget) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			left := b.Deadline().Sub(b.clock.Now())
			if left <= 0 {
				cancel(errDeadline)
				return
			}
			fired, stop := b.clock.After(left)
			select {
			case <-ctx.Done():
				stop()
				return
			case <-fired:
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
