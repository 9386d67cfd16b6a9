package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/covel-engine/covel/model"
)

// live gives a gateway over the real guarded connection to a local server.
func live(t *testing.T, protocol string, handler http.HandlerFunc) *model.Gateway {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	slots, err := model.ParseSlots("llm.toml", []byte(slot("relay", "m", fmt.Sprintf("baseUrl = %q", server.URL), fmt.Sprintf("protocol = %q", protocol))))
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.NewGateway(guardedConfig(slots, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// A delta reaches the caller when it was sent, not when the reply is whole: the
// server goes on only after the caller saw the first one.
func TestDeltasArriveAtOnce(t *testing.T) {
	t.Parallel()
	for _, protocol := range fuzzed {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			seen := make(chan struct{})
			s := scripts[protocol]
			g := live(t, protocol, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, sse(s.text...).body)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-seen:
				case <-r.Context().Done():
					return
				}
				_, _ = io.WriteString(w, sse(s.terminal...).body)
			})
			var once sync.Once
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			r, err := g.Call(ctx, "story", says(user("u")), func(model.Delta) { once.Do(func() { close(seen) }) })
			if err != nil || r.Text != "hey" {
				t.Errorf("%v, %+v", err, r)
			}
		})
	}
}

// A cancelled call ends within the bar of 500 ms, in the middle of a stream,
// and the server sees its connection closed.
func TestCancelCutsTheStream(t *testing.T) {
	t.Parallel()
	for _, protocol := range fuzzed {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{})
			g := live(t, protocol, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, sse(scripts[protocol].text...).body)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(gone)
			})
			ctx, cancel := context.WithCancel(t.Context())
			var cut time.Time
			_, err := g.Call(ctx, "story", says(user("u")), func(model.Delta) {
				cut = time.Now()
				cancel()
			})
			if !errors.Is(err, context.Canceled) || time.Since(cut) > 500*time.Millisecond {
				t.Errorf("%v after %s", err, time.Since(cut))
			}
			<-gone
		})
	}
}

// Many calls at once on one gateway do not mix: each gets its own reply.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	g := live(t, model.ProtocolChat, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		prompt := sent{Body: body}.json(t)
		text, _ := at(t, prompt, "messages", 0, "content").(string)
		_, _ = io.WriteString(w, sse(`{"choices":[{"delta":{"content":`+string(mustJSON("re: "+text))+`},"finish_reason":"stop"}]}`).body)
	})
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			text := fmt.Sprintf("call %d", i)
			r, err := g.Call(t.Context(), "story", says(user(text)), func(model.Delta) {})
			if err != nil || r.Text != "re: "+text {
				t.Errorf("%v, %+v", err, r)
			}
		})
	}
	wait.Wait()
}

// One gateway carries calls of every protocol at once; for the race detector.
func TestConcurrentProtocols(t *testing.T) {
	t.Parallel()
	for _, protocol := range fuzzed {
		b := newBench(t, okReply[protocol])
		g := b.gateway(relay(protocol, "m"))
		var wait sync.WaitGroup
		for range 16 {
			wait.Go(func() {
				if r, err := g.Call(t.Context(), "story", says(system("s"), user("u")), nil); err != nil || r.Text != "ok" {
					t.Errorf("%s: %v, %+v", protocol, err, r)
				}
			})
		}
		wait.Wait()
		if b.count() != 16 {
			t.Errorf("%s: %d requests", protocol, b.count())
		}
	}
}
