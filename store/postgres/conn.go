package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// SQLSTATE codes that the store answers in its own way.
const (
	stateUniqueViolation      = "23505"
	stateReadOnly             = "25006"
	stateSerializationFailure = "40001"
	stateDeadlock             = "40P01"
)

// pool reads committed data.
type pool struct {
	d  *sqlstore.Dialect
	db *pgxpool.Pool
}

func (p *pool) Dialect() *sqlstore.Dialect { return p.d }
func (p *pool) Code(err error) string      { return codeOf(err) }

func (p *pool) Exec(context.Context, string, ...any) (int64, error) {
	return 0, errors.New("write outside a transaction")
}

func (p *pool) Query(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	text, err := p.d.Query(query)
	if err != nil {
		return nil, err
	}
	return p.db.Query(ctx, text, args...)
}

// txConn is the connection of one open transaction.
type txConn struct {
	d  *sqlstore.Dialect
	tx pgx.Tx
	// conflict is a serialization failure or deadlock of any statement; the
	// whole function must run again even if fn went on.
	conflict error
}

func (c *txConn) Dialect() *sqlstore.Dialect { return c.d }
func (c *txConn) Code(err error) string      { return codeOf(err) }

func (c *txConn) note(err error) error {
	if retryable(err) && c.conflict == nil {
		c.conflict = err
	}
	return err
}

func (c *txConn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	text, err := c.d.Query(query)
	if err != nil {
		return 0, err
	}
	tag, err := c.tx.Exec(ctx, text, args...)
	return tag.RowsAffected(), c.note(err)
}

func (c *txConn) Query(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	text, err := c.d.Query(query)
	if err != nil {
		return nil, err
	}
	rows, err := c.tx.Query(ctx, text, args...)
	if err != nil {
		return nil, c.note(err)
	}
	return notedRows{rows, c}, nil
}

// notedRows reports errors that come while rows are read.
type notedRows struct {
	pgx.Rows
	conn *txConn
}

func (r notedRows) Err() error { return r.conn.note(r.Rows.Err()) }

func (c *txConn) Control(ctx context.Context, text string) error {
	_, err := c.tx.Exec(ctx, text)
	return c.note(err)
}

func (c *txConn) Lock(ctx context.Context, name string) error {
	_, err := c.tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey(name))
	return c.note(err)
}

func (c *txConn) LockShared(ctx context.Context, name string) error {
	_, err := c.tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared($1)", lockKey(name))
	return c.note(err)
}

// lockKey is the first 8 bytes of the name's SHA-256 (spec 02 §15.3).
func lockKey(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

func retryable(err error) bool {
	state := stateOf(err)
	return state == stateSerializationFailure || state == stateDeadlock
}

func stateOf(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

func codeOf(err error) string {
	switch stateOf(err) {
	case stateUniqueViolation:
		return store.CodeAlreadyExists
	case stateReadOnly:
		return store.CodeReadOnly
	}
	return ""
}
