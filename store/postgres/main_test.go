package postgres

import (
	"os"
	"testing"

	"github.com/covel-engine/covel/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Every named statement must be one that PostgreSQL accepts.
func TestStatementsPrepare(t *testing.T) {
	t.Parallel()
	s := open(t)
	conn, err := s.pool.db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, name := range s.d.QueryNames() {
		text, err := s.d.Query(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Conn().Prepare(t.Context(), name, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
