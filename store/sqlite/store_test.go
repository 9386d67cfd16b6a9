package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/storetest"
)

func open(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Path == "" && !c.InMemory {
		c.Path = filepath.Join(t.TempDir(), "covel.db")
	}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, Config{}) })
}

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) store.Store { return open(b, Config{}) })
}
