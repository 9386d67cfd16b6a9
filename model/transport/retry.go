package transport

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Retry bounds (spec 04 §7.1).
const (
	maxRetries  = 3
	baseBackoff = 500  // ms
	maxBackoff  = 8000 // ms
	maxDelay    = 60 * time.Second
)

// retrier is layer 3: it takes an attempt of the budget for each send and sends
// the same bytes again where that may help.
type retrier struct{ config Config }

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	call := CallFrom(req.Context())
	if call == nil {
		return r.config.Base.RoundTrip(req)
	}
	wait := time.Duration(0)
	for n := 0; ; n++ {
		if err := call.Budget.Take(); err != nil {
			call.Blocked = err
			return nil, err
		}
		resp, err := r.send(req, n)
		sent := Send{Wait: wait, Err: err}
		if resp != nil {
			sent.Status = resp.StatusCode
		}
		call.Sends = append(call.Sends, sent)
		var again bool
		if wait, again = r.again(req.Context(), call, resp, err, n); !again {
			return resp, err
		}
		if resp != nil {
			_ = resp.Body.Close() // unread
		}
		if err := r.sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// send sends the request's bytes once more.
func (r *retrier) send(req *http.Request, n int) (*http.Response, error) {
	if n > 0 {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		again := req.Clone(req.Context())
		again.Body = body
		req = again
	}
	return r.config.Base.RoundTrip(req)
}

// again says whether to send once more after the n-th outcome (from 0), and
// after which wait.
func (r *retrier) again(ctx context.Context, call *Call, resp *http.Response, err error, n int) (time.Duration, bool) {
	if n >= maxRetries || r.config.NoRetry || ctx.Err() != nil {
		return 0, false
	}
	if err != nil && !LinkFailure(err) || err == nil && !retriable(resp) {
		return 0, false
	}
	wait := Backoff(n, r.config.Jitter())
	now := r.config.Clock.Now()
	if resp != nil {
		if delay, ok := ServerDelay(resp.Header, now); ok {
			if delay > maxDelay {
				return 0, false
			}
			wait = delay
		}
	}
	if !now.Add(wait).Before(call.Budget.Deadline()) {
		return 0, false
	}
	if err := call.Budget.Left(); err != nil {
		call.Blocked = err
		return 0, false
	}
	return wait, true
}

func retriable(resp *http.Response) bool {
	if resp.StatusCode < 300 {
		return false
	}
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return resp.StatusCode >= 500
}

// Backoff is floor(500·2^n·factor) ms, at most 8 s.
func Backoff(n int, factor float64) time.Duration {
	ms := math.Floor(baseBackoff * math.Exp2(float64(n)) * factor)
	return time.Duration(min(ms, maxBackoff)) * time.Millisecond
}

// ServerDelay reads how long a server wants to be left alone: retry-after-ms
// (decimal, rounded up), else Retry-After (whole seconds or an HTTP date; a
// past date is 0). Other texts are ignored; huge numbers saturate.
func ServerDelay(h http.Header, now time.Time) (time.Duration, bool) {
	if text := strings.TrimSpace(h.Get("Retry-After-Ms")); decimal(text) {
		if ms, err := strconv.ParseFloat(text, 64); err == nil || math.IsInf(ms, 1) {
			return saturated(math.Ceil(ms), time.Millisecond), true
		}
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, _ := strconv.ParseFloat(text, 64) // digits only: saturates to +Inf
		return saturated(seconds, time.Second), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// decimal says whether a text is a plain non-negative decimal number.
func decimal(text string) bool {
	whole, fraction, dotted := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && (!dotted || digits(fraction))
}

func saturated(n float64, unit time.Duration) time.Duration {
	if d := n * float64(unit); d < math.MaxInt64 {
		return time.Duration(d)
	}
	return math.MaxInt64
}

// sleep waits, or ends at once when the context does.
func (r *retrier) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	fired, stop := r.config.Clock.After(d)
	defer stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-fired:
		return nil
	}
}
