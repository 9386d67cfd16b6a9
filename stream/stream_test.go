package stream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/postgres"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var narrator = store.StreamKey{SessionID: "s", TurnID: "t", RuntimeID: "narrator"}

type bundle struct {
	store store.Store
	hub   *stream.Hub
}

func setup(t *testing.T, config stream.Config) *bundle {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	return setupOn(t, st, config)
}

// setupOn gives a store a session and a hub.
func setupOn(t *testing.T, st store.Store, config stream.Config) *bundle {
	t.Helper()
	must(t, st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{
			ID: "s", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US",
		})
	}))
	config.Store = st
	return &bundle{st, newHub(t, config)}
}

func newHub(t *testing.T, config stream.Config) *stream.Hub {
	t.Helper()
	hub, err := stream.NewHub(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	return hub
}

// read gives the chunks of the turn as "kind:text".
func read(t *testing.T, hub *stream.Hub, after stream.Cursor) []string {
	t.Helper()
	chunks, err := hub.Read(t.Context(), "s", "t", after)
	if err != nil {
		t.Fatal(err)
	}
	return shown(chunks)
}

func shown(chunks []stream.Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, string(c.Kind)+":"+c.Text)
	}
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("chunks are %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, hub *stream.Hub, attempt int) *stream.Stream {
	t.Helper()
	s, err := hub.Open(t.Context(), narrator, attempt)
	must(t, err)
	return s
}

func TestWriteThenRead(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{Interval: time.Hour})
	s := open(t, b.hub, 1)
	must(t, s.Write(t.Context(), model.Delta{Reasoning: "hm"}))
	must(t, s.Write(t.Context(), model.Delta{Text: "The lamp "}))
	must(t, s.Write(t.Context(), model.Delta{Text: "burns."}))
	must(t, s.Close(t.Context()))
	must(t, s.Close(t.Context()))
	got := read(t, b.hub, stream.Cursor{})
	if text := strings.Join(got, "|"); strings.Count(text, "reasoning:") != 1 || !strings.Contains(strings.ReplaceAll(text, "|text:", ""), "The lamp burns.") {
		t.Fatalf("chunks are %q", got)
	}
	if err := s.Write(t.Context(), model.Delta{Text: "late"}); !errors.Is(err, &store.Error{Code: store.CodeStreamClosed}) {
		t.Fatalf("a write after Close gives %v, want STREAM_CLOSED", err)
	}
}

func TestLaterAttemptResetsAndKeepsEarlierCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{Interval: time.Hour})
	first := open(t, b.hub, 1)
	must(t, first.Write(t.Context(), model.Delta{Text: "Step one."}))
	must(t, first.Close(t.Context()))
	lost := open(t, b.hub, 1)
	must(t, lost.Write(t.Context(), model.Delta{Text: "Step tw"}))
	waitFor(t, func() bool { return len(read(t, b.hub, stream.Cursor{})) == 2 })

	again := open(t, b.hub, 2)
	must(t, again.Write(t.Context(), model.Delta{Text: "Step two."}))
	must(t, again.Close(t.Context()))
	want(t, afterReset(read(t, b.hub, stream.Cursor{})), "text:Step one.", "text:Step two.")

	// The lost worker's late text is refused.
	must(t, lost.Write(t.Context(), model.Delta{Text: "o, but late"}))
	if err := lost.Close(t.Context()); !errors.Is(err, &store.Error{Code: store.CodeStaleAttempt}) {
		t.Fatalf("a late write gives %v, want STALE_ATTEMPT", err)
	}
	third := open(t, b.hub, 1)
	must(t, third.Write(t.Context(), model.Delta{Text: "Step three."}))
	must(t, third.Close(t.Context()))
	want(t, afterReset(read(t, b.hub, stream.Cursor{})), "text:Step one.", "text:Step two.", "text:Step three.")
}

func afterReset(chunks []string) []string {
	for i, chunk := range slices.Backward(chunks) {
		if chunk == "reset:" {
			return chunks[i+1:]
		}
	}
	return chunks
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{})
	one := open(t, b.hub, 1)
	must(t, one.Write(t.Context(), model.Delta{Text: "kept"}))
	must(t, one.Close(t.Context()))
	two := open(t, b.hub, 1)
	must(t, two.Write(t.Context(), model.Delta{Text: "draft"}))
	must(t, two.Discard(t.Context()))
	must(t, two.Close(t.Context()))
	want(t, afterReset(read(t, b.hub, stream.Cursor{})), "text:kept")
}

func TestAbandonedTextIsReset(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{})
	one := open(t, b.hub, 1)
	must(t, one.Write(t.Context(), model.Delta{Text: "kept"}))
	must(t, one.Close(t.Context()))
	two := open(t, b.hub, 1)
	must(t, two.Write(t.Context(), model.Delta{Text: "cut in mid"}))
	must(t, two.Abandon(t.Context()))
	again := open(t, b.hub, 2)
	must(t, again.Close(t.Context()))
	want(t, afterReset(read(t, b.hub, stream.Cursor{})), "text:kept")
}

func TestEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{})
	must(t, b.hub.End(t.Context(), narrator)) // nothing to end
	s := open(t, b.hub, 1)
	must(t, s.Write(t.Context(), model.Delta{Text: "x"}))
	must(t, s.Close(t.Context()))
	must(t, b.hub.End(t.Context(), narrator))
	must(t, b.hub.End(t.Context(), narrator))
	want(t, read(t, b.hub, stream.Cursor{}), "text:x", "end:")
	if _, err := b.hub.Open(t.Context(), narrator, 1); !errors.Is(err, &store.Error{Code: store.CodeStreamClosed}) {
		t.Fatalf("opening an ended stream gives %v, want STREAM_CLOSED", err)
	}
}

func TestFollowResumes(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{Interval: time.Microsecond})
	followAcross(t, b.hub, newHub(t, stream.Config{Store: b.store}))
}

// Another process learns of new chunks by LISTEN and NOTIFY, long before it
// would look by itself.
func TestFollowFromAnotherProcess(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	connect := func() store.Store {
		st, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 3})
		must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		return st
	}
	writer, reader := connect(), connect()
	must(t, writer.Migrate(t.Context()))
	b := setupOn(t, writer, stream.Config{Interval: time.Microsecond})
	followAcross(t, b.hub, newHub(t, stream.Config{Store: reader, PollInterval: time.Hour}))
}

// followAcross writes to one hub what another one's listener has seen to come,
// breaks off, and goes on from the cursor.
func followAcross(t *testing.T, writer, reader *stream.Hub) {
	t.Helper()
	s := open(t, writer, 1)
	must(t, s.Write(t.Context(), model.Delta{Text: "a"}))
	var texts strings.Builder
	var resumed stream.Cursor
	next := 'b'
	for chunk, err := range reader.Follow(t.Context(), "s", "t", stream.Cursor{}) {
		must(t, err)
		texts.WriteString(chunk.Text)
		if next == 'd' {
			resumed, err = stream.ParseCursor(chunk.Cursor.String())
			must(t, err)
			break
		}
		must(t, s.Write(t.Context(), model.Delta{Text: string(next)}))
		next++
	}
	must(t, s.Write(t.Context(), model.Delta{Text: "d"}))
	must(t, s.End(t.Context()))
	for chunk, err := range reader.Follow(t.Context(), "s", "t", resumed) {
		must(t, err)
		texts.WriteString(chunk.Text)
		if chunk.Kind == stream.KindEnd {
			break
		}
	}
	if got := texts.String(); got != "abcd" {
		t.Fatalf("text is %q, want abcd", got)
	}
}

// Many listeners share one reader of the store.
func TestManyListeners(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{Interval: time.Microsecond})
	s := open(t, b.hub, 1)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			var text strings.Builder
			for chunk, err := range b.hub.Follow(t.Context(), "s", "t", stream.Cursor{}) {
				if err != nil {
					t.Error(err)
					return
				}
				text.WriteString(chunk.Text)
				if chunk.Kind == stream.KindEnd {
					break
				}
			}
			if got := text.String(); got != strings.Repeat("x", 100) {
				t.Errorf("a listener got %q", got)
			}
		})
	}
	for range 100 {
		must(t, s.Write(t.Context(), model.Delta{Text: "x"}))
	}
	must(t, s.End(t.Context()))
	all.Wait()
}

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "narrator:0", "a%2Fb:3,narrator:12"} {
		c, err := stream.ParseCursor(text)
		must(t, err)
		if c.String() != text {
			t.Errorf("cursor %q comes back as %q", text, c.String())
		}
	}
	for _, text := range []string{"narrator", "narrator:", "narrator:-1", ":3", "a:1,a:2", "%zz:1", "a:1,"} {
		var bad *stream.CursorError
		if _, err := stream.ParseCursor(text); !errors.As(err, &bad) || bad.Text != text {
			t.Errorf("cursor %q gives %v, want a *CursorError naming it", text, err)
		}
	}
}

func TestClosedHub(t *testing.T) {
	t.Parallel()
	b := setup(t, stream.Config{})
	s := open(t, b.hub, 1)
	b.hub.Close()
	if err := s.Close(t.Context()); err != nil && !errors.Is(err, stream.ErrHubClosed) {
		t.Fatalf("closing after the hub gives %v", err)
	}
	if _, err := b.hub.Open(t.Context(), narrator, 1); !errors.Is(err, stream.ErrHubClosed) {
		t.Fatalf("opening after the hub gives %v", err)
	}
	for _, err := range b.hub.Follow(t.Context(), "s", "t", stream.Cursor{}) {
		if !errors.Is(err, stream.ErrHubClosed) {
			t.Fatalf("following a closed hub gives %v", err)
		}
	}
}

// waitFor waits for a condition; the test's deadline bounds it.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the condition did not come true")
		}
	}
}
