package storetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/store"
)

// patience is how long a test waits for something that must happen.
const patience = 20 * time.Second

func testNotifier(t *testing.T, st store.Store) {
	n := st.Notifier()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake := func(t *testing.T, topic string) {
		t.Helper()
		if err := n.Notify(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
	}
	wait := func(t *testing.T, ch <-chan struct{}) {
		t.Helper()
		select {
		case <-ch:
		case <-time.After(patience):
			t.Fatal("nothing came")
		}
	}
	t.Run("every listener of the topic wakes", func(t *testing.T) {
		a, b := n.Listen(ctx, "stream/1"), n.Listen(ctx, "stream/1")
		wake(t, "stream/1")
		wait(t, a)
		wait(t, b)
	})
	t.Run("notices fold and nobody blocks", func(t *testing.T) {
		ch := n.Listen(ctx, "stream/2")
		for range 50 {
			wake(t, "stream/2")
		}
		wait(t, ch)
	})
	t.Run("a long topic", func(t *testing.T) {
		topic := strings.Repeat("雾", 5000)
		ch := n.Listen(ctx, topic)
		wake(t, topic)
		wait(t, ch)
	})
	t.Run("a listener ends with its context", func(t *testing.T) {
		own, stop := context.WithCancel(t.Context())
		n.Listen(own, "stream/3")
		stop()
		wake(t, "stream/3")
	})
}

func testSchema(t *testing.T, st store.Store) {
	have, want, err := st.SchemaVersion(t.Context())
	if err != nil || have != want || want < 1 {
		t.Errorf("schema %d of %d, %v", have, want, err)
	}
	id := newSession(t, st)
	for range 2 {
		if err := st.Migrate(t.Context()); err != nil {
			t.Errorf("migrating again: %v", err)
		}
	}
	if _, err := st.Session(t.Context(), id); err != nil {
		t.Errorf("after migrating again: %v", err)
	}
}
