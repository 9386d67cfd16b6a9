package model_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/covel-engine/covel/model"
)

// fake is a provider without a network, for calls whose time is counted: it
// plays steps in order, the last one again and again.
type fake struct {
	steps []step
	mu    sync.Mutex
	at    []time.Duration // of each send, from the first
	start time.Time
	left  []*watchedBody
}

// step is one outcome of a send.
type step struct {
	status int
	header map[string]string
	body   string
	err    error
	reader func(ctx context.Context) io.Reader
}

// watchedBody notes whether a body was read and closed.
type watchedBody struct {
	io.Reader
	read, closed bool
}

func (w *watchedBody) Read(p []byte) (int, error) {
	w.read = true
	return w.Reader.Read(p)
}

func (w *watchedBody) Close() error {
	w.closed = true
	return nil
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.start.IsZero() {
		f.start = time.Now()
	}
	f.at = append(f.at, time.Since(f.start))
	s := f.steps[min(len(f.at), len(f.steps))-1]
	if s.err != nil {
		return nil, s.err
	}
	if s.status == 0 {
		s.status = 200
	}
	h := http.Header{"Content-Type": {"application/json"}}
	for name, value := range s.header {
		h.Set(name, value)
	}
	body := &watchedBody{Reader: strings.NewReader(s.body)}
	if s.reader != nil {
		body.Reader = s.reader(r.Context())
	}
	f.left = append(f.left, body)
	return &http.Response{StatusCode: s.status, Header: h, Body: body, Request: r}, nil
}

func ok() step { return step{body: okReply[model.ProtocolChat].body} }

func status(n int, header ...string) step {
	s := step{status: n, header: map[string]string{}, body: `{"error":{"message":"no"}}`}
	for i := 0; i < len(header); i += 2 {
		s.header[header[i]] = header[i+1]
	}
	return s
}

// timed makes one call on the fake clock.
func timed(t *testing.T, f *fake, p model.Params, check func(r *model.Result, err error), change ...func(*model.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := tryGateway(f, relay(model.ProtocolChat, "m"), change...)
		if err != nil {
			t.Fatal(err)
		}
		check(g.Call(t.Context(), "story", p, nil))
	})
}

func wantSends(t *testing.T, f *fake, at ...time.Duration) {
	t.Helper()
	if len(f.at) != len(at) {
		t.Fatalf("%d sends at %v, want %d", len(f.at), f.at, len(at))
	}
	for i, d := range at {
		if f.at[i] != d {
			t.Errorf("send %d at %s, want %s", i+1, f.at[i], d)
		}
	}
}

func fine(t *testing.T) func(*model.Result, error) {
	t.Helper()
	return func(_ *model.Result, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
}

func failsWith(t *testing.T, code string, httpStatus int) func(*model.Result, error) {
	t.Helper()
	return func(_ *model.Result, err error) {
		t.Helper()
		if e := fails(t, err, code); e.StatusCode != httpStatus {
			t.Errorf("status %d, want %d", e.StatusCode, httpStatus)
		}
	}
}

const ms = time.Millisecond

var threeSlots = strings.ReplaceAll(`[covel.story]
provider = "one"
model = "m"
baseUrl = "https://one.example"
fallback = "second"
[covel.second]
provider = "two"
model = "m"
baseUrl = "https://two.example"
fallback = "third"
[covel.third]
provider = "three"
model = "m"
baseUrl = "https://three.example"
`, "\t", "")

// trickle streams Chat payloads, each at its time; then it is silent until the
// call ends.
func trickle(at ...time.Duration) step {
	return step{reader: func(ctx context.Context) io.Reader {
		r, w := io.Pipe()
		go func() {
			start := time.Now()
			for _, d := range at {
				select {
				case <-ctx.Done():
				case <-time.After(d - time.Since(start)):
					_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n")
				}
			}
			<-ctx.Done()
			_ = w.CloseWithError(context.Cause(ctx))
		}()
		return r
	}}
}

var retryCases = cases{
	"M-090": func(t *testing.T) {
		f := &fake{steps: []step{status(429), ok()}}
		timed(t, f, says(user("u")), fine(t))
		wantSends(t, f, 0, 500*ms)
		if f.left[0].read || !f.left[0].closed {
			t.Errorf("the first body: read %v, closed %v", f.left[0].read, f.left[0].closed)
		}
		f = &fake{steps: []step{status(500), status(500), ok()}}
		timed(t, f, says(user("u")), fine(t))
		wantSends(t, f, 0, 500*ms, 1500*ms)
		f = &fake{steps: []step{status(500)}}
		timed(t, f, says(user("u")), failsWith(t, model.CodeProvider, 500))
		wantSends(t, f, 0, 500*ms, 1500*ms, 3500*ms)
	},
	"M-091": func(t *testing.T) {
		f := &fake{steps: []step{{err: syscall.ECONNREFUSED}, {err: syscall.ECONNRESET}, ok()}}
		timed(t, f, says(user("u")), fine(t))
		wantSends(t, f, 0, 500*ms, 1500*ms)
		f = &fake{steps: []step{{err: syscall.ECONNREFUSED}}}
		timed(t, f, says(user("u")), failsWith(t, model.CodeProvider, 0))
		wantSends(t, f, 0, 500*ms, 1500*ms, 3500*ms)
	},
	"M-092": func(t *testing.T) {
		for _, s := range []step{status(400), {err: errors.New("the moon is in the way")}} {
			f := &fake{steps: []step{s}}
			timed(t, f, says(user("u")), failsWith(t, model.CodeProvider, s.status))
			wantSends(t, f, 0)
		}
	},
	"M-093": func(t *testing.T) {
		for value, second := range map[string]time.Duration{
			"0": 0, "Wed, 21 Oct 1998 07:28:00 GMT": 0, "0.5": 500 * ms, "soon": 500 * ms, "2": 2 * time.Second,
		} {
			f := &fake{steps: []step{status(429, "Retry-After", value), ok()}}
			timed(t, f, says(user("u")), fine(t))
			wantSends(t, f, 0, second)
		}
		f := &fake{steps: []step{status(429, "Retry-After", "7", "retry-after-ms", "10.2"), ok()}}
		timed(t, f, says(user("u")), fine(t))
		wantSends(t, f, 0, 11*ms)
	},
	"M-094": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{steps: []step{status(500)}}
			g, err := tryGateway(f, relay(model.ProtocolChat, "m"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			defer cancel()
			start := time.Now()
			_, err = g.Call(ctx, "story", says(user("u")), nil)
			if err == nil || time.Since(start) != 100*ms {
				t.Errorf("%v after %s", err, time.Since(start))
			}
			wantSends(t, f, 0)
		})
	},
	"M-095": func(t *testing.T) {
		f := &fake{steps: []step{status(429)}}
		timed(t, f, says(user("u")), failsWith(t, model.CodeRateLimited, 429), func(c *model.Config) { c.NoRetry = true })
		wantSends(t, f, 0)
	},
	"M-096": func(t *testing.T) {
		f := &fake{steps: []step{status(429, "Retry-After", "120")}}
		p := says(user("u"))
		p.Limits.Timeout = 50 * ms
		timed(t, f, p, func(_ *model.Result, err error) {
			fails(t, err, model.CodeRateLimited)
			if passed := time.Since(f.start); passed != 0 {
				t.Errorf("it took %s", passed)
			}
		})
		wantSends(t, f, 0)
	},
	"M-097": func(t *testing.T) {
		for first, end := range map[time.Duration]time.Duration{100 * time.Second: 220 * time.Second} {
			synctest.Test(t, func(t *testing.T) { streamUntil(t, end, first) })
		}
		synctest.Test(t, func(t *testing.T) { // output again and again, the last at 1,790 s
			var at []time.Duration
			for d := 100 * time.Second; d < 1790*time.Second; d += 100 * time.Second {
				at = append(at, d)
			}
			streamUntil(t, 1800*time.Second, append(at, 1790*time.Second)...)
		})
	},
	"M-098": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{steps: []step{status(500)}}
			g, err := tryGateway(f, threeSlots)
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.Call(t.Context(), "story", says(user("u")), nil)
			e := fails(t, err, model.CodeBudgetExceeded)
			var cause *model.Error
			if e.Detail("reason") != "attempts" || !errors.As(e.Err, &cause) || cause.StatusCode != 500 || len(f.at) != 8 {
				t.Errorf("reason %q, cause %v, %d sends", e.Detail("reason"), e.Err, len(f.at))
			}
		})
	},
	"M-099": func(t *testing.T) {
		p := says(user("u"))
		p.Limits.MaxAttempts = new(int)
		_, err := replied(t, relay(model.ProtocolChat, "m"), p, okReply[model.ProtocolChat])
		fails(t, err, model.CodeConfig, "maxAttempts", "0")
		p = says(user("u"))
		p.Limits.Timeout = -1
		_, err = replied(t, relay(model.ProtocolChat, "m"), p, okReply[model.ProtocolChat])
		fails(t, err, model.CodeConfig, "timeout", "-1")
	},
	"M-142": func(t *testing.T) {
		p := says(user("u"))
		p.MaxOutputTokens = model.ResponseReserve(0, 0)
		want(t, "chat", body(t, relay(model.ProtocolChat, "m"), p)["max_tokens"], `16384`)
		want(t, "responses", body(t, responsesSlot("m"), p)["max_output_tokens"], `16384`)
		p.Metadata = override("maxOutputTokens", 2000)
		want(t, "explicit", body(t, relay(model.ProtocolChat, "m"), p)["max_tokens"], `2000`)
		p = says(user("u"))
		p.ResponseSchema = []byte(`{"type":"object"}`)
		absent(t, objectBody(t, relay(model.ProtocolChat, "m"), p, `{}`), "max_tokens", "max_completion_tokens")
	},
}

// streamUntil wants a stream with output at the given times to end with the
// budget's deadline.
func streamUntil(t *testing.T, end time.Duration, at ...time.Duration) {
	t.Helper()
	f := &fake{steps: []step{trickle(at...)}}
	g, err := tryGateway(f, relay(model.ProtocolChat, "m"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = g.Call(t.Context(), "story", says(user("u")), func(model.Delta) {})
	e := fails(t, err, model.CodeBudgetExceeded)
	if e.Detail("reason") != "deadline" || time.Since(start) != end {
		t.Errorf("reason %q after %s, want %s", e.Detail("reason"), time.Since(start), end)
	}
}
