package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/covel-engine/covel/store"
)

// Config holds the settings of a Hub.
type Config struct {
	// Clock dates the chunks. Defaults to time.Now.
	Clock func() time.Time
	// Interval is the least time between two writes of one stream. Defaults to
	// 50 ms, which is 20 a second.
	Interval time.Duration
	// MaxPending is how many bytes a stream holds unwritten before Write waits.
	// Defaults to 64 KiB.
	MaxPending int
	// PollInterval is how often a listener looks without having been woken, in
	// case a notification was lost. Defaults to 2 s.
	PollInterval time.Duration
	// Store keeps the chunks. It has no default.
	Store store.Store
	// WriteTimeout limits one transaction of chunks. Defaults to 10 s.
	WriteTimeout time.Duration
}

// ErrHubClosed answers every use of a Hub after Close.
var ErrHubClosed = errors.New("stream: the hub is closed")

// Hub writes and follows the streams of one process. It is safe for concurrent
// use. It runs one goroutine while streams are open and one for each followed
// turn, and none otherwise.
type Hub struct {
	config Config
	wake   chan struct{}

	mu      sync.Mutex
	closed  bool
	stop    context.CancelFunc
	ctx     context.Context // ends with the hub
	open    map[*Stream]struct{}
	writing chan struct{} // closed when the writer goroutine has ended; nil without one
	feeds   map[turnKey]*feed
	pumps   sync.WaitGroup
}

type turnKey struct{ sessionID, turnID string }

// NewHub checks the configuration and gives a Hub without goroutines.
func NewHub(config Config) (*Hub, error) {
	switch {
	case config.Store == nil:
		return nil, errors.New("stream.Config.Store is nil; give the store that keeps the chunks")
	case config.Interval < 0:
		return nil, fmt.Errorf("stream.Config.Interval is %v; use 0 for the default or more", config.Interval)
	case config.MaxPending < 0:
		return nil, fmt.Errorf("stream.Config.MaxPending is %d; use 0 for the default or more", config.MaxPending)
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	if config.Interval == 0 {
		config.Interval = 50 * time.Millisecond
	}
	if config.MaxPending == 0 {
		config.MaxPending = 64 << 10
	}
	if config.PollInterval <= 0 {
		config.PollInterval = 2 * time.Second
	}
	if config.WriteTimeout <= 0 {
		config.WriteTimeout = 10 * time.Second
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Hub{
		config: config,
		wake:   make(chan struct{}, 1),
		ctx:    ctx,
		stop:   stop,
		open:   make(map[*Stream]struct{}),
		feeds:  make(map[turnKey]*feed),
	}, nil
}

// Close ends the writer and every Follow, and waits for their goroutines.
// Text that no Stream.Close has flushed is lost; a later attempt resets it.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	writing := h.writing
	h.mu.Unlock()
	h.stop()
	h.nudge()
	if writing != nil {
		<-writing
	}
	h.pumps.Wait()
}

// nudge wakes the writer; several nudges may fold into one.
func (h *Hub) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// topic is what the writers of a turn notify and its listeners wait for.
func topic(sessionID, turnID string) string { return "stream/" + sessionID + "/" + turnID }
