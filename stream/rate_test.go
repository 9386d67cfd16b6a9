package stream_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/stream"
)

// slowStore keeps chunks in memory; a transaction takes a fixed time. Only
// what the hub uses is there.
type slowStore struct {
	store.Store
	takes time.Duration

	mu     sync.Mutex
	chunks []store.StreamChunk
	txs    int
}

type slowTx struct {
	store.Tx
	st *slowStore
}

func (s *slowStore) WithTx(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	time.Sleep(s.takes) // the bubble's clock
	s.mu.Lock()
	defer s.mu.Unlock()
	s.txs++
	return fn(ctx, slowTx{st: s})
}

func (t slowTx) Savepoint(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

func (t slowTx) AppendChunk(_ context.Context, c store.StreamChunk) error {
	t.st.chunks = append(t.st.chunks, c)
	return nil
}

func (s *slowStore) StreamChunks(_ context.Context, key store.StreamKey, after int64) ([]store.StreamChunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []store.StreamChunk
	for _, c := range s.chunks {
		if c.StreamKey == key && c.Seq > after {
			out = append(out, c)
		}
	}
	return out, nil
}

func (s *slowStore) Notifier() store.Notifier { return silent{} }

type silent struct{}

func (silent) Notify(context.Context, string) error           { return nil }
func (silent) Listen(context.Context, string) <-chan struct{} { return nil }

// write sends one token every 2 ms for a second.
func writeTokens(t *testing.T, s *stream.Stream, n int) {
	t.Helper()
	for range n {
		must(t, s.Write(t.Context(), model.Delta{Text: "token "}))
		time.Sleep(2 * time.Millisecond)
	}
}

func TestFirstDeltaAtOnceThenTwentyASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &slowStore{}
		hub, err := stream.NewHub(stream.Config{Store: st})
		must(t, err)
		defer hub.Close()
		s, err := hub.Open(t.Context(), narrator, 1)
		must(t, err)
		begin := time.Now()
		must(t, s.Write(t.Context(), model.Delta{Text: "first "}))
		synctest.Wait()
		chunks, _ := st.StreamChunks(t.Context(), narrator, -1)
		if len(chunks) != 1 || !chunks[0].CreatedAt.Equal(begin) {
			t.Fatalf("after the first delta there are %d chunks, want 1 at once", len(chunks))
		}
		writeTokens(t, s, 500)
		must(t, s.Close(t.Context()))
		chunks, _ = st.StreamChunks(t.Context(), narrator, -1)
		var text strings.Builder
		for i, c := range chunks {
			text.WriteString(c.Text)
			if i > 0 && i < len(chunks)-2 && c.CreatedAt.Sub(chunks[i-1].CreatedAt) < 50*time.Millisecond {
				t.Errorf("chunk %d came %v after the one before", i, c.CreatedAt.Sub(chunks[i-1].CreatedAt))
			}
		}
		if got := text.String(); got != "first "+strings.Repeat("token ", 500) {
			t.Errorf("the text has %d bytes, want every token once", len(got))
		}
		if len(chunks) > 24 {
			t.Errorf("a second of tokens made %d chunks, want at most 20 and the marks", len(chunks))
		}
	})
}

func TestSlowStoreBoundsWhatIsPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &slowStore{takes: time.Second}
		hub, err := stream.NewHub(stream.Config{Store: st, MaxPending: 60})
		must(t, err)
		defer hub.Close()
		s, err := hub.Open(t.Context(), narrator, 1)
		must(t, err)
		writeTokens(t, s, 100)
		must(t, s.Close(t.Context()))
		for i, c := range st.chunks {
			if len(c.Text) > 66 {
				t.Errorf("chunk %d holds %d bytes, more than may be pending", i, len(c.Text))
			}
		}

		s, err = hub.Open(t.Context(), narrator, 1)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		for err == nil {
			err = s.Write(ctx, model.Delta{Text: "token "})
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write that waits for room gives %v, want the context's error", err)
		}
		must(t, s.Close(t.Context()))
	})
}

func TestStreamsShareTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &slowStore{takes: 10 * time.Millisecond}
		hub, err := stream.NewHub(stream.Config{Store: st})
		must(t, err)
		defer hub.Close()
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				key := narrator
				key.TurnID = string(rune('A' + i))
				s, err := hub.Open(t.Context(), key, 1)
				if err != nil {
					t.Error(err)
					return
				}
				for range 100 {
					if err := s.Write(t.Context(), model.Delta{Text: "x"}); err != nil {
						t.Error(err)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if st.txs > 110 {
			t.Errorf("40 streams of a second took %d transactions, want them shared", st.txs)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	st := &slowStore{}
	hub, err := stream.NewHub(stream.Config{Store: st})
	if err != nil {
		b.Fatal(err)
	}
	defer hub.Close()
	s, err := hub.Open(b.Context(), narrator, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Write(b.Context(), model.Delta{Text: "token "}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
