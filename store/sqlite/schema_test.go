package sqlite

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
	"github.com/covel-engine/covel/store/storetest"
)

// Every named statement must be one that SQLite accepts.
func TestStatementsPrepare(t *testing.T) {
	t.Parallel()
	s := open(t, Config{InMemory: true})
	for _, name := range s.d.QueryNames() {
		if _, err := s.pool.prepare(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tablesWith lists the tables that have a column of that name.
func tablesWith(t *testing.T, s *Store, name string) []string {
	t.Helper()
	rows, err := s.pool.db.QueryContext(t.Context(), `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.name = ? ORDER BY m.name`, name)
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
	if err := s.pool.db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDeleteSession(t *testing.T) {
	t.Parallel()
	t.Run("C2-130", func(t *testing.T) {
		t.Parallel()
		s := open(t, Config{InMemory: true})
		tables := tablesWith(t, s, "session_id")
		listed := slices.Sorted(slices.Values(sqlstore.SessionTables))
		if !slices.Equal(tables, listed) {
			t.Fatalf("tables with session_id are %v, the list of deletion has %v", tables, listed)
		}
		gone, kept := storetest.Fill(t, s), storetest.Fill(t, s)
		rows := func(id string) map[string]int {
			n := map[string]int{"sessions": count(t, s, "SELECT COUNT(*) FROM sessions WHERE id = ?", id)}
			for _, table := range tables {
				n[table] = count(t, s, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE session_id = ?", table), id)
			}
			return n
		}
		before := rows(kept)
		for table, n := range before {
			if n == 0 {
				t.Errorf("the filled session has no row in %s", table)
			}
		}
		shared := []string{"blobs", "media_assets", "media_blobs"}
		total := map[string]int{}
		for _, table := range shared {
			total[table] = count(t, s, "SELECT COUNT(*) FROM "+table)
		}
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
			if after[table] != n {
				t.Errorf("the other session had %d rows in %s, now %d", n, table, after[table])
			}
		}
		// Two texts and one picture belonged to the deleted session alone.
		for table, own := range map[string]int{"blobs": 2, "media_assets": 1, "media_blobs": 1} {
			if n := count(t, s, "SELECT COUNT(*) FROM "+table); n != total[table]-own {
				t.Errorf("%s had %d rows, now %d", table, total[table], n)
			}
		}
	})
}

// Every table with a session_id has an index that starts with it (spec 02 §13).
func TestSessionIndexes(t *testing.T) {
	t.Parallel()
	s := open(t, Config{InMemory: true})
	for _, table := range tablesWith(t, s, "session_id") {
		n := count(t, s, `SELECT COUNT(*) FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) c
			WHERE c.seqno = 0 AND c.name = 'session_id' AND l.partial = 0`, table)
		if n == 0 {
			t.Errorf("%s has no index that starts with session_id", table)
		}
	}
}

// A step that fails leaves nothing of itself.
func TestMigrationIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.writer.control("CREATE TABLE outbox (id TEXT)"); err != nil { // in the way of step 1
		t.Fatal(err)
	}
	wantCode(t, s.Migrate(t.Context()), store.CodeStoreFailed, "0001_init", "outbox")
	if n := count(t, s, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'"); n != 1 {
		t.Errorf("%d tables are left", n)
	}
	if n := count(t, s, "PRAGMA application_id"); n != 0 {
		t.Errorf("the file is marked as %x", n)
	}
	if have, _, err := s.SchemaVersion(t.Context()); have != 0 || err != nil {
		t.Errorf("schema %d, %v", have, err)
	}
	if err := s.writer.control("DROP TABLE outbox"); err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Errorf("once the way is free: %v", err)
	}
}
