package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
	"github.com/covel-engine/covel/store/storetest"
)

func tablesWith(t *testing.T, s *Store, name string) []string {
	t.Helper()
	rows, err := s.pool.db.Query(t.Context(), `SELECT table_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = $1 ORDER BY table_name COLLATE "C"`, name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	return tables
}

func count(t *testing.T, s *Store, query string, args ...any) (n int) {
	t.Helper()
	if err := s.pool.db.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDeleteSession(t *testing.T) {
	t.Parallel()
	t.Run("C2-130", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		tables := tablesWith(t, s, "session_id")
		listed := slices.Sorted(slices.Values(sqlstore.SessionTables))
		if !slices.Equal(tables, listed) {
			t.Fatalf("tables with session_id are %v, the list of deletion has %v", tables, listed)
		}
		gone, kept := storetest.Fill(t, s), storetest.Fill(t, s)
		rows := func(id string) map[string]int {
			n := map[string]int{}
			for _, table := range tables {
				n[table] = count(t, s, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE session_id = $1", table), id)
			}
			return n
		}
		before := rows(kept)
		err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.DeleteSession(ctx, gone) })
		if err != nil {
			t.Fatal(err)
		}
		for table, n := range rows(gone) {
			if n != 0 {
				t.Errorf("%d rows left in %s", n, table)
			}
		}
		after := rows(kept)
		for table, n := range before {
			if n == 0 || after[table] != n {
				t.Errorf("the other session had %d rows in %s, now %d", n, table, after[table])
			}
		}
		if n := count(t, s, "SELECT COUNT(*) FROM media_blobs"); n != 2 {
			t.Errorf("%d pictures left, want the kept session's own and the shared one", n)
		}
	})
}

// Every table with a session_id has an index that starts with it (spec 02 §13).
func TestSessionIndexes(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, table := range tablesWith(t, s, "session_id") {
		n := count(t, s, `SELECT COUNT(*) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
			WHERE i.indrelid = $1::regclass AND a.attname = 'session_id' AND i.indpred IS NULL`, table)
		if n == 0 {
			t.Errorf("%s has no index that starts with session_id", table)
		}
	}
}

func TestLockKey(t *testing.T) {
	t.Parallel()
	// The first 8 bytes of SHA-256("covel:session:demo"), as a signed number.
	s := open(t)
	want := int64(count(t, s, `SELECT ('x' || encode(substr(sha256('covel:session:demo'::bytea), 1, 8), 'hex'))::bit(64)::bigint`))
	if got := lockKey("covel:session:demo"); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// A step that fails leaves nothing of itself.
func TestMigrationIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{URL: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.pool.db.Exec(t.Context(), "CREATE TABLE outbox (id text)"); err != nil { // in the way of step 1
		t.Fatal(err)
	}
	wantCode(t, s.Migrate(t.Context()), store.CodeStoreFailed, "0001_init", "outbox")
	if n := count(t, s, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = current_schema()"); n != 1 {
		t.Errorf("%d tables are left", n)
	}
	if _, err := s.pool.db.Exec(t.Context(), "DROP TABLE outbox"); err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Errorf("once the way is free: %v", err)
	}
}
