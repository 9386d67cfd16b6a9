package dburl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/dburl"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("C2-099", func(t *testing.T) {
		t.Parallel()
		_, err := dburl.Open(t.Context(), "mysql://u:secret@h/db", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), `"mysql"`) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("C2-132", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for url, want := range map[string]string{
			"": filepath.Join(dir, "covel.db"), filepath.Join(dir, "game.db"): filepath.Join(dir, "game.db"),
			"sqlite://" + filepath.Join(dir, "other.db"): filepath.Join(dir, "other.db"),
		} {
			st, err := dburl.Open(t.Context(), url, dir)
			if err != nil {
				t.Fatalf("%q: %v", url, err)
			}
			if err := st.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(want); err != nil {
				t.Errorf("%q: %v", url, err)
			}
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		st, err := dburl.Open(t.Context(), pgtest.Database(t), "")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.Migrate(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		engine, err := dburl.Open(t.Context(), "", dir)
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		if err := engine.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := dburl.Open(t.Context(), "", dir); !errors.Is(err, &store.Error{Code: store.CodeInUse}) {
			t.Errorf("a second engine: %v", err)
		}
		tool, err := dburl.OpenReadOnly(t.Context(), "", dir)
		if err != nil {
			t.Fatal(err)
		}
		defer tool.Close()
		err = tool.WithTx(t.Context(), func(context.Context, store.Tx) error { return nil })
		if !errors.Is(err, &store.Error{Code: store.CodeReadOnly}) {
			t.Errorf("a write: %v", err)
		}
	})
}

func TestSQLitePath(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"": filepath.Join("D", "covel.db"), "game.db": "game.db", "sqlite://game.db": "game.db", "sqlite:///srv/game.db": "/srv/game.db",
		"SQLITE://x.db": "x.db", "postgres://h/d": "", "postgresql://h/d": "", "/srv/a b.db": "/srv/a b.db",
	} {
		if got, err := dburl.SQLitePath(url, "D"); err != nil || got != want {
			t.Errorf("%q gives %q, %v; want %q", url, got, err, want)
		}
	}
	for _, url := range []string{"sqlite://", "http://h", "file://x", "://x", "u:secret@h://x"} {
		_, err := dburl.SQLitePath(url, "D")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
