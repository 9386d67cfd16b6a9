package transport_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServerDelay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ms, after string
		delay     time.Duration
		ok        bool
	}{
		{"", "", 0, false},
		{"", "0", 0, true},
		{"", "7", 7 * time.Second, true},
		{"", "0.5", 0, false},
		{"", "soon", 0, false},
		{"", "-1", 0, false},
		{"", "+1", 0, false},
		{"", "Fri, 01 May 2026 12:00:30 GMT", 30 * time.Second, true},
		{"", "Fri, 01 May 2026 11:00:00 GMT", 0, true},
		{"", "99999999999999999999999999", math.MaxInt64, true},
		{"250", "9", 250 * time.Millisecond, true},
		{"10.2", "", 11 * time.Millisecond, true},
		{"0", "9", 0, true},
		{"-5", "9", 9 * time.Second, true},
		{"1e3", "9", 9 * time.Second, true},
		{"NaN", "", 0, false},
		{"99999999999999999999999999", "", math.MaxInt64, true},
	} {
		h := http.Header{}
		if c.ms != "" {
			h.Set("Retry-After-Ms", c.ms)
		}
		if c.after != "" {
			h.Set("Retry-After", c.after)
		}
		if delay, ok := transport.ServerDelay(h, now); delay != c.delay || ok != c.ok {
			t.Errorf("ms %q, after %q: %v %v, want %v %v", c.ms, c.after, delay, ok, c.delay, c.ok)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, factor := rapid.IntRange(0, 2).Draw(t, "n"), rapid.Float64Range(0.75, 1.25).Draw(t, "factor")
		d := transport.Backoff(n, factor)
		base := 500 * time.Millisecond << n
		if d < base*3/4 || d > base*5/4 || d > 8*time.Second || d%time.Millisecond != 0 {
			t.Fatalf("%v", d)
		}
	})
	if d := transport.Backoff(6, 1); d != 8*time.Second {
		t.Error(d)
	}
}

func TestLinkFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		link bool
	}{
		{syscall.ECONNREFUSED, true}, {syscall.ECONNRESET, true}, {syscall.EPIPE, true}, {io.EOF, true}, {io.ErrUnexpectedEOF, true},
		{&net.DNSError{Err: "try again", IsTemporary: true}, true}, {&net.DNSError{Err: "no such host", IsNotFound: true}, false},
		{&net.DNSError{Err: "slow", IsTemporary: true, IsTimeout: true}, false}, {os.ErrDeadlineExceeded, false}, {context.Canceled, false}, {nil, false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("send: %w", err)
		}
		if got := transport.LinkFailure(err); got != c.link {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
