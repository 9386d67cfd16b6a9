package transport

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Limits of what is read (spec 04 §5.3), in bytes.
const (
	MaxErrorBody = 1 << 20
	MaxReply     = 64 << 20
	MaxEvent     = 16 << 20
)

// ErrTooLarge says that a reply or one event is over its limit.
var ErrTooLarge = errors.New("the reply is too large")

// Budget counts and bounds the sends of a logical call.
type Budget interface {
	// Take consumes an attempt right before bytes leave; an error says why none is left.
	Take() error
	// Left says why nothing more may be sent, nil while an attempt is left.
	Left() error
	// Deadline is the time at which the call ends as things stand.
	Deadline() time.Time
}

// Call is what one request needs on its way and what is kept of it. The fields
// of the first group are set before it is sent; the others are read after the
// library returned. One goroutine uses it at a time.
type Call struct {
	Body   []byte
	Budget Budget
	// Event hears of each event of a streamed reply; nil reads the whole reply.
	// Its error ends the stream. What it returns is handed to the library.
	Event  func(Event) (forward []byte, err error)
	Header http.Header // takes the place of the library's headers of these names
	URL    string

	// Blocked is why the budget forbade a re-send that was due.
	Blocked error
	// Failure is the error with which the chain ended, nil after any answer.
	Failure     error
	Reply       []byte // the whole reply, or an error's body
	ReplyHeader http.Header
	Sends       []Send
	Status      int
	Truncated   bool // an error's body was over 1 MiB
}

// Send is one send of the request.
type Send struct {
	Err    error
	Status int
	Wait   time.Duration // before it
}

type callKey struct{}

// WithCall puts a call into a request's context.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom gives the call of a context, nil when there is none.
func CallFrom(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Clock is the time source of retry waits.
type Clock interface {
	Now() time.Time
	// After sends once after d; stop ends the wait early.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// Config assembles a chain.
type Config struct {
	// Base carries the requests: the guarded connection, or a test's. Required.
	Base http.RoundTripper
	// Clock times the waits. Required.
	Clock Clock
	// Jitter gives the backoff factor, from 0.75 to 1.25. Required.
	Jitter func() float64
	// NoRetry sends each request once. Defaults to false.
	NoRetry bool
}

// New gives the chain of layers 1 to 3 over the base.
func New(c Config) http.RoundTripper {
	return &recorder{next: &normaliser{next: &retrier{config: c}}}
}

// Client gives an HTTP client over a chain. It follows no redirect and has no
// time limit of its own: the budget's context ends calls.
func Client(chain http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     chain,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
