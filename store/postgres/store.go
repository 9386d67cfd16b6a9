package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

const (
	// repeats is how often a function runs again after a conflict.
	repeats = 5
	// endTimeout limits COMMIT and ROLLBACK, which a cancelled caller may not cut.
	endTimeout = 30 * time.Second
)

// Store is one PostgreSQL schema. It is safe for concurrent use.
type Store struct {
	sqlstore.Reads
	config   Config
	d        *sqlstore.Dialect
	pool     *pool
	notifier *notifier
}

var _ store.Store = (*Store)(nil)

// WithTx runs fn in one transaction, again after a serialization failure or
// deadlock, at most six times in all.
func (s *Store) WithTx(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	if s.config.ReadOnly {
		return &store.Error{Code: store.CodeReadOnly, Op: "begin transaction", Err: errors.New("the store was opened read-only")}
	}
	if err := sqlstore.RefuseNested(ctx, s); err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		again, err := s.once(ctx, fn)
		if !again || attempt == repeats {
			return err
		}
		// A random pause parts transactions that met once.
		pause := time.NewTimer(time.Duration(1+rand.IntN(5<<attempt)) * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
}

// once runs fn in one transaction and says whether a conflict undid it.
func (s *Store) once(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) (again bool, err error) {
	tx, err := s.pool.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, sqlstore.Fail(s.pool, "begin transaction", "", err)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	// After COMMIT this does nothing; it also undoes when fn panics.
	defer func() { _ = tx.Rollback(end) }()
	conn := &txConn{d: s.d, tx: tx}
	err = fn(sqlstore.MarkTx(ctx, s), sqlstore.NewTx(conn, s.config.Now))
	if conn.conflict != nil {
		if err == nil {
			err = sqlstore.Fail(s.pool, "commit", "", conn.conflict)
		}
		return true, err
	}
	if err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, sqlstore.Fail(s.pool, "commit", "", err)
	}
	err = tx.Commit(end)
	return retryable(err), sqlstore.Fail(s.pool, "commit", "", err)
}

// Notifier wakes listeners here and in every process on this database.
func (s *Store) Notifier() store.Notifier { return s.notifier }

// Close waits for open transactions and closes the pool.
func (s *Store) Close() error {
	s.notifier.close()
	s.pool.db.Close()
	return nil
}
