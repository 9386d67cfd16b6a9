package sqlstore

import (
	"context"
	"sync"
)

// Hub wakes the listeners of one process.
type Hub struct {
	mu     sync.Mutex
	topics map[string]map[chan struct{}]bool
}

// NewHub gives a hub without listeners.
func NewHub() *Hub { return &Hub{topics: map[string]map[chan struct{}]bool{}} }

// Wake wakes the listeners of a topic. A listener that has not taken its last
// value yet gets no second one.
func (h *Hub) Wake(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.topics[topic] {
		poke(ch)
	}
}

// WakeAll wakes every listener, after notices may have been lost.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, listeners := range h.topics {
		for ch := range listeners {
			poke(ch)
		}
	}
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Listen registers a listener until ctx ends. The channel is never closed.
func (h *Hub) Listen(ctx context.Context, topic string) <-chan struct{} {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	if h.topics[topic] == nil {
		h.topics[topic] = map[chan struct{}]bool{}
	}
	h.topics[topic][ch] = true
	h.mu.Unlock()
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.topics[topic], ch)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	})
	return ch
}
