package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// rows gives *sql.Rows the Close of sqlstore.Rows; Err reports its failures.
type rows struct{ *sql.Rows }

func (r rows) Close() { _ = r.Rows.Close() }

// pool reads committed data; each statement is its own snapshot.
type pool struct {
	d  *sqlstore.Dialect
	db *sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func (p *pool) Dialect() *sqlstore.Dialect { return p.d }
func (p *pool) Code(err error) string      { return codeOf(err) }

func (p *pool) Exec(context.Context, string, ...any) (int64, error) {
	return 0, errors.New("write outside a transaction")
}

func (p *pool) Query(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	stmt, err := p.prepare(query)
	if err != nil {
		return nil, err
	}
	r, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, cause(ctx, err)
	}
	return rows{r}, nil
}

// prepare ignores the caller's context: the statement outlives the call.
func (p *pool) prepare(query string) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stmt := p.prepared[query]; stmt != nil {
		return stmt, nil
	}
	text, err := p.d.Query(query)
	if err != nil {
		return nil, err
	}
	stmt, err := p.db.PrepareContext(context.Background(), text) //nolint:contextcheck // the statement outlives this call
	if err != nil {
		return nil, err
	}
	p.prepared[query] = stmt
	return stmt, nil
}

// close finalizes the statements first: a connection with open ones lingers
// and keeps the log from being folded into the file.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, stmt := range p.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, p.db.Close())...)
}

// writer is the one connection that writes. Its holder has the queue's token.
type writer struct {
	d        *sqlstore.Dialect
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	if stmt := w.prepared[query]; stmt != nil {
		return stmt, nil
	}
	text, err := w.d.Query(query)
	if err != nil {
		return nil, err
	}
	stmt, err := w.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	w.prepared[query] = stmt
	return stmt, nil
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writer) control(text string) error {
	_, err := w.conn.ExecContext(context.Background(), text)
	return err
}

// txConn is the writer while one transaction has it. Statements check their
// context before they start and then run to their end: interrupting a write
// would make SQLite roll the whole transaction back behind our back.
type txConn struct {
	w *writer
	// broken is the first error after which SQLite may have rolled back.
	broken error
	ended  bool
}

var errEnded = errors.New("the transaction has ended; its Tx is of no more use")

func (c *txConn) Dialect() *sqlstore.Dialect { return c.w.d }
func (c *txConn) Code(err error) string      { return codeOf(err) }

func (c *txConn) ready(ctx context.Context) error {
	switch {
	case c.ended:
		return errEnded
	case c.broken != nil:
		return c.broken
	}
	return ctx.Err()
}

// note remembers errors that may have ended the transaction. A constraint
// only undoes its own statement.
func (c *txConn) note(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff != sqlite3.SQLITE_CONSTRAINT && c.broken == nil {
		c.broken = err
	}
	return err
}

func (c *txConn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := c.ready(ctx); err != nil {
		return 0, err
	}
	stmt, err := c.w.prepare(query)
	if err != nil {
		return 0, c.note(err)
	}
	res, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, c.note(err)
	}
	return res.RowsAffected()
}

func (c *txConn) Query(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	stmt, err := c.w.prepare(query)
	if err != nil {
		return nil, c.note(err)
	}
	r, err := stmt.QueryContext(context.Background(), args...)
	if err != nil {
		return nil, c.note(err)
	}
	return rows{r}, nil
}

func (c *txConn) Control(ctx context.Context, text string) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	return c.note(c.w.control(text))
}

// Lock is held already: the only writer runs one transaction at a time.
func (c *txConn) Lock(ctx context.Context, _ string) error       { return c.ready(ctx) }
func (c *txConn) LockShared(ctx context.Context, _ string) error { return c.ready(ctx) }

// cause gives the context's error for a statement that it interrupted.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	return err
}

func codeOf(err error) string {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN:
		return store.CodeUnreadable
	case sqlite3.SQLITE_READONLY:
		return store.CodeReadOnly
	case sqlite3.SQLITE_CONSTRAINT:
		return store.CodeAlreadyExists
	}
	return ""
}
