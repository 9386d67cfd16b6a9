package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// Store is one SQLite file. It is safe for concurrent use.
type Store struct {
	sqlstore.Reads
	config   Config
	d        *sqlstore.Dialect
	path     string
	tempDir  string
	lock     *engineLock
	notifier *notifier
	pool     *pool
	writeDB  *sql.DB
	writer   *writer
	// token is held by the transaction that has the writer.
	token chan struct{}

	closing sync.Once
	done    chan struct{}
	closed  error
}

var _ store.Store = (*Store)(nil)

var errClosed = errors.New("the store is closed")

// Path is the absolute name of the file.
func (s *Store) Path() string { return s.path }

// WithTx runs fn in one transaction. A panic of fn rolls back and goes on.
func (s *Store) WithTx(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	const op = "begin transaction"
	if s.config.ReadOnly {
		return &store.Error{Code: store.CodeReadOnly, Op: op, ID: s.path, Err: errors.New("the store was opened read-only")}
	}
	if err := sqlstore.RefuseNested(ctx, s); err != nil {
		return err
	}
	if err := s.acquire(ctx); err != nil {
		return sqlstore.Fail(s.pool, op, "", err)
	}
	defer s.release()
	if err := s.writer.control("BEGIN IMMEDIATE"); err != nil {
		return sqlstore.Fail(s.pool, op, "", err)
	}
	conn := &txConn{w: s.writer}
	committed := false
	defer func() {
		conn.ended = true
		if !committed {
			// An error means that SQLite has rolled back already.
			_ = s.writer.control("ROLLBACK")
		}
	}()
	if err := fn(sqlstore.MarkTx(ctx, s), sqlstore.NewTx(conn, s.config.Now)); err != nil {
		return err
	}
	if err := conn.ready(ctx); err != nil {
		return sqlstore.Fail(s.pool, "commit", "", err)
	}
	if err := s.writer.control("COMMIT"); err != nil {
		return sqlstore.Fail(s.pool, "commit", "", err)
	}
	committed = true
	return nil
}

func (s *Store) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.token <- struct{}{}:
		return nil
	case <-s.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) release() { <-s.token }

// Notifier wakes listeners of this process: the file has only one engine.
func (s *Store) Notifier() store.Notifier { return s.notifier }

// Close waits for the open transaction and frees the file.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.token <- struct{}{} // no transaction after this one
		close(s.done)
		var errs []error
		if s.pool != nil {
			errs = append(errs, s.pool.close())
		}
		if s.writer != nil {
			errs = append(errs, s.writer.close())
		}
		if s.writeDB != nil {
			errs = append(errs, s.writeDB.Close())
		}
		errs = append(errs, s.lock.release())
		if s.tempDir != "" {
			errs = append(errs, os.RemoveAll(s.tempDir))
		}
		s.closed = errors.Join(errs...)
	})
	return s.closed
}
