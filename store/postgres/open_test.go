package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
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

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	t.Run("C2-100", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		knows := fmt.Sprintf("knows %d", s.d.Want())
		if _, err := s.pool.db.Exec(t.Context(), "INSERT INTO schema_migrations VALUES (9999, 'future', now())"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, s.Migrate(t.Context()), store.CodeSchemaNewer, "9999", knows)
		for _, readOnly := range []bool{false, true} {
			_, err := Open(t.Context(), Config{URL: s.config.URL, ReadOnly: readOnly})
			wantCode(t, err, store.CodeSchemaNewer, "9999", knows)
		}
	})
	for name, sql := range map[string]string{
		"a foreign table":            "CREATE TABLE sessions (id text)",
		"a foreign migrations table": "CREATE TABLE schema_migrations (version bigint, dirty boolean)",
		"another program's steps":    "CREATE TABLE schema_migrations (version bigint, name text, applied_at timestamptz); INSERT INTO schema_migrations VALUES (1, 'users', now())",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pgtest.Database(t)
			s, err := Open(t.Context(), Config{URL: u})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.pool.db.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
			if err := s.Migrate(t.Context()); !errors.Is(err, errForeign) {
				t.Errorf("migrate: %v", err)
			}
			_, err = Open(t.Context(), Config{URL: u})
			wantCode(t, err, store.CodeUnreadable)
		})
	}
	t.Run("no error holds a password", func(t *testing.T) {
		t.Parallel()
		for _, u := range []string{
			"postgres://u:s3cret@127.0.0.1:1/db?connect_timeout=2", "postgres://u:s3cret@127.0.0.1:port/db", "postgres://u:s3cret@[/db",
			"postgres://u:s3cret@127.0.0.1:1/db?sslmode=odd",
		} {
			_, err := Open(t.Context(), Config{URL: u})
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v", err)
			}
			var parse *pgconn.ParseConfigError
			if errors.As(err, &parse) {
				t.Error("the parser's error, which keeps the URL, can be reached")
			}
		}
	})
	t.Run("a config", func(t *testing.T) {
		t.Parallel()
		for field, c := range map[string]Config{"URL": {}, "MaxConns": {URL: "postgres://h/d", MaxConns: -1}} {
			if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("error %v does not name %s", err, field)
			}
		}
	})
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := open(t)
	tool, err := Open(t.Context(), Config{URL: s.config.URL, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	if _, err := tool.Sessions(t.Context(), 9); err != nil {
		t.Error(err)
	}
	wantCode(t, tool.WithTx(t.Context(), func(context.Context, store.Tx) error { return nil }), store.CodeReadOnly)
	if err := tool.Migrate(t.Context()); err != nil {
		t.Errorf("nothing to migrate: %v", err)
	}
}

// The schema of the search path is used, others of the database are not.
func TestOwnSchema(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.pool.db.Exec(t.Context(), "CREATE SCHEMA second"); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.config.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", "second")
	u.RawQuery = q.Encode()
	second, err := Open(t.Context(), Config{URL: u.String()})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if have, _, err := second.SchemaVersion(t.Context()); have != 0 || err != nil {
		t.Errorf("an empty schema has version %d, %v", have, err)
	}
	if err := second.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := second.Sessions(t.Context(), 9); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	u := pgtest.Database(t)
	var group sync.WaitGroup
	for range 4 {
		s, err := Open(t.Context(), Config{URL: u})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		group.Go(func() {
			if err := s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestConflictsRepeatTheFunction(t *testing.T) {
	t.Parallel()
	s := open(t)
	conflict := &pgconn.PgError{Code: stateSerializationFailure}
	t.Run("at most five times", func(t *testing.T) {
		t.Parallel()
		runs := 0
		err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			runs++
			return raise(ctx, tx, stateSerializationFailure)
		})
		if runs != 1+repeats {
			t.Errorf("ran %d times", runs)
		}
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != conflict.Code {
			t.Errorf("the driver's error is gone: %v", err)
		}
	})
	t.Run("even when the function swallows it", func(t *testing.T) {
		t.Parallel()
		runs := 0
		err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			runs++
			if runs < 3 {
				_ = tx.Savepoint(ctx, func(ctx context.Context) error { return raise(ctx, tx, stateDeadlock) })
			}
			return nil
		})
		if err != nil || runs != 3 {
			t.Errorf("ran %d times, %v", runs, err)
		}
	})
	t.Run("nothing else is repeated", func(t *testing.T) {
		t.Parallel()
		runs := 0
		err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			runs++
			return raise(ctx, tx, "22012")
		})
		if err == nil || runs != 1 {
			t.Errorf("ran %d times, %v", runs, err)
		}
	})
}

// raise makes the server report an error of a given state.
func raise(ctx context.Context, tx store.Tx, state string) error {
	conn, ok := tx.(*sqlstore.Tx).Conn.(sqlstore.TxConn)
	if !ok {
		return errors.New("the transaction has no connection of its own")
	}
	return conn.Control(ctx, "DO $$ BEGIN RAISE EXCEPTION 'planned' USING ERRCODE = '"+state+"'; END $$")
}

func TestSessionsRunInParallel(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, id := range []string{"a", "b"} {
		err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
			return tx.InsertSession(ctx, session.Session{ID: id, WorldID: "w", Phase: session.PhasePlaying})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// b's transaction runs to its end while a's is open under its lock.
	err := s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.LockSession(ctx, "a"); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() {
			done <- s.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
				if err := tx.LockSession(ctx, "b"); err != nil {
					return err
				}
				return tx.SetFence(ctx, "b", "x")
			})
		}()
		return <-done
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNotifyAcrossProcesses(t *testing.T) {
	t.Parallel()
	here := open(t)
	there, err := Open(t.Context(), Config{URL: here.config.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	ch := here.Notifier().Listen(t.Context(), "stream/1")
	other := here.Notifier().Listen(t.Context(), "stream/2")
	wait := func() {
		t.Helper()
		select {
		case <-ch:
		case <-time.After(20 * time.Second):
			t.Fatal("nothing came")
		}
	}
	wait() // the listening connection stands
	<-other
	for range 3 {
		if err := there.Notifier().Notify(t.Context(), "stream/1"); err != nil {
			t.Fatal(err)
		}
		wait()
	}
	select {
	case <-other:
		t.Error("another topic's listener woke")
	default:
	}
	// After a lost connection every listener is woken once it stands again.
	if _, err := there.pool.db.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"); err != nil {
		t.Fatal(err)
	}
	wait()
	<-other
}
