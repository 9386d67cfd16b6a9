package sqlite

import (
	"testing"
)

// Every named statement must be one that SQLite accepts.
func TestStatementsPrepare(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.d.QueryNames() {
		if _, err := s.pool.prepare(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
