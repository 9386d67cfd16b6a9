package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/covel-engine/covel/store"
)

// Conn runs named statements, on a pool of committed data or inside one
// transaction.
type Conn interface {
	Dialect() *Dialect
	// Exec gives the number of changed rows.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	// Code classifies a driver's error, "" when it has no code of its own.
	Code(err error) string
}

// TxConn is the connection of one open transaction.
type TxConn interface {
	Conn
	// Control runs a statement given as text: savepoints.
	Control(ctx context.Context, sql string) error
	// Lock holds a named lock until the transaction ends.
	Lock(ctx context.Context, name string) error
	// LockShared holds it beside other sharers; Lock of it waits for them all.
	LockShared(ctx context.Context, name string) error
}

// Rows is an open result.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Row is what a scan function reads from.
type Row interface {
	Scan(dest ...any) error
}

// Fail wraps a driver's error with operation and table; typed errors pass.
func Fail(c Conn, op, table string, err error) error {
	if err == nil {
		return nil
	}
	var typed *store.Error
	if errors.As(err, &typed) {
		return err
	}
	code := c.Code(err)
	if code == "" {
		code = store.CodeStoreFailed
	}
	return &store.Error{Code: code, Op: op, Table: table, Err: err}
}

// errNoRow says that one found nothing; callers turn it into their own answer.
var errNoRow = sql.ErrNoRows

// exec runs a statement with checked arguments.
func exec(ctx context.Context, c Conn, query string, a *args) (int64, error) {
	list, err := a.done()
	if err != nil {
		return 0, err
	}
	n, err := c.Exec(ctx, query, list...)
	return n, Fail(c, a.op, a.table, err)
}

// one scans the first row; errNoRow when there is none.
func one(ctx context.Context, c Conn, query string, a *args, scan func(Row) error) error {
	list, err := a.done()
	if err != nil {
		return err
	}
	rows, err := c.Query(ctx, query, list...)
	if err != nil {
		return Fail(c, a.op, a.table, err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return Fail(c, a.op, a.table, err)
		}
		return errNoRow
	}
	if err := scan(rows); err != nil {
		return Fail(c, a.op, a.table, err)
	}
	rows.Close()
	return Fail(c, a.op, a.table, rows.Err())
}

// many scans every row.
func many[T any](ctx context.Context, c Conn, query string, a *args, scan func(Row, *T) error) ([]T, error) {
	list, err := a.done()
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, query, list...)
	if err != nil {
		return nil, Fail(c, a.op, a.table, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var zero T
		out = append(out, zero)
		if err := scan(rows, &out[len(out)-1]); err != nil {
			return nil, Fail(c, a.op, a.table, err)
		}
	}
	return out, Fail(c, a.op, a.table, rows.Err())
}
