package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func wantCode(t *testing.T, err error, code string, parts ...string) {
	t.Helper()
	var typed *store.Error
	if !errors.As(err, &typed) || typed.Code != code {
		t.Fatalf("got error %v, want code %s", err, code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
}

// addSession writes a row, to see that a store works.
func addSession(t *testing.T, s *Store, id string) {
	t.Helper()
	err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{ID: id, WorldID: "w", Phase: session.PhasePlaying})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	t.Run("C2-100", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "covel.db")
		s := open(t, Config{Path: path})
		knows := fmt.Sprintf("knows %d", s.d.Want())
		if _, err := s.writer.conn.ExecContext(t.Context(), "INSERT INTO schema_migrations VALUES (9999, 'future', '')"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, s.Migrate(t.Context()), store.CodeSchemaNewer, "9999", knows)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{false, true} {
			_, err := Open(t.Context(), Config{Path: path, ReadOnly: readOnly})
			wantCode(t, err, store.CodeSchemaNewer, "9999", knows)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the refused file changed: %v", err)
		}
	})
	for name, make := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a foreign database": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE sessions (id TEXT)"); err != nil {
				t.Fatal(err)
			}
		},
		"a cut file": func(t *testing.T, path string) {
			s := open(t, Config{Path: path})
			addSession(t, s, "s")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 3*4096); err != nil {
				t.Fatal(err)
			}
		},
		"a damaged header": func(t *testing.T, path string) {
			s := open(t, Config{Path: path})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 100), 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "covel.db")
			make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, readOnly := range []bool{false, true} {
				_, err := Open(t.Context(), Config{Path: path, ReadOnly: readOnly})
				wantCode(t, err, store.CodeUnreadable, path)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the refused file changed: %v", err)
			}
		})
	}
	t.Run("a path that cannot be", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for _, c := range []Config{
			{Path: dir}, {Path: filepath.Join(dir, "missing", "covel.db")}, {Path: filepath.Join(dir, "missing.db"), ReadOnly: true},
		} {
			_, err := Open(t.Context(), c)
			wantCode(t, err, store.CodeUnreadable, c.Path)
		}
	})
	t.Run("a config", func(t *testing.T) {
		t.Parallel()
		for field, c := range map[string]Config{
			"Path": {}, "InMemory": {Path: "x", InMemory: true}, "ReadOnly": {InMemory: true, ReadOnly: true}, "Readers": {Path: "x", Readers: -1},
		} {
			if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("error %v does not name %s", err, field)
			}
		}
	})
}

func TestSecondEngine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "covel.db")
	s := open(t, Config{Path: path})
	addSession(t, s, "before")
	_, err := Open(t.Context(), Config{Path: path})
	wantCode(t, err, store.CodeInUse, path)

	tool, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	addSession(t, s, "after")
	for _, id := range []string{"before", "after"} {
		if _, err := tool.Session(t.Context(), id); err != nil {
			t.Errorf("the read-only opener: %v", err)
		}
	}
	err = tool.WithTx(t.Context(), func(context.Context, store.Tx) error { return nil })
	wantCode(t, err, store.CodeReadOnly)
	if err := tool.Migrate(t.Context()); err != nil {
		t.Errorf("nothing to migrate: %v", err)
	}

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Path: path})
}

func TestReadOnlyWithoutEngine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a name with ? and # and %20.db")
	s := open(t, Config{Path: path})
	addSession(t, s, "s")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the file has another name: %v", err)
	}
	tool, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	if _, err := tool.Session(t.Context(), "s"); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyCannotMigrate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "covel.db")
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tool, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	wantCode(t, tool.Migrate(t.Context()), store.CodeReadOnly)
}

func TestInMemoryLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, Config{InMemory: true})
	addSession(t, s, "s")
	dir := filepath.Dir(s.Path())
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

// A copy of the files as they are in mid-run is what a killed process leaves.
func TestCrashKeepsCommits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "covel.db")
	s := open(t, Config{Path: path})
	addSession(t, s, "committed")
	left := filepath.Join(t.TempDir(), "covel.db")
	err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.InsertSession(ctx, session.Session{ID: "open", WorldID: "w", Phase: session.PhasePlaying}); err != nil {
			return err
		}
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + suffix)
			if err != nil {
				return err
			}
			if err := os.WriteFile(left+suffix, data, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after := open(t, Config{Path: left})
	if _, err := after.Session(t.Context(), "committed"); err != nil {
		t.Errorf("the commit is lost: %v", err)
	}
	_, err = after.Session(t.Context(), "open")
	wantCode(t, err, store.CodeNotFound)
}

func TestUseAfterClose(t *testing.T) {
	t.Parallel()
	s := open(t, Config{InMemory: true})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.WithTx(t.Context(), func(context.Context, store.Tx) error { return nil }); err == nil {
		t.Error("a closed store began a transaction")
	}
	if _, err := s.Sessions(t.Context(), 1); err == nil {
		t.Error("a closed store answered")
	}
}
