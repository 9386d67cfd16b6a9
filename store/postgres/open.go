package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// Open connects to a database. It does not change the schema; call Migrate
// before use. A newer schema is SCHEMA_NEWER; a server that cannot be reached
// or holds another program's tables is UNREADABLE. No error holds a password.
func Open(ctx context.Context, config Config) (*Store, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	d, err := dialect()
	if err != nil {
		return nil, err
	}
	pc, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		// The parser's error quotes the URL, and with it perhaps a password.
		return nil, errors.New("postgres.Config.URL is not a URL that pgx can read; check its form, port and parameters")
	}
	pc.MaxConns = int32(c.MaxConns)
	if c.ReadOnly {
		pc.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}
	db, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, unreadable(err)
	}
	p := &pool{d: d, db: db}
	s := &Store{Reads: sqlstore.Reads{Conn: p}, config: c, d: d, pool: p, notifier: newNotifier(p)}
	if err := s.inspect(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) inspect(ctx context.Context) error {
	var encoding string
	if err := s.pool.db.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return unreadable(err)
	}
	if encoding != "UTF8" {
		return unreadable(fmt.Errorf("the database's encoding is %s; create it with UTF8", encoding))
	}
	have, err := version(ctx, s.pool.db)
	if err != nil {
		return unreadable(err)
	}
	return s.refuseNewer(have)
}

func unreadable(err error) error {
	var typed *store.Error
	if err == nil || errors.As(err, &typed) || errors.Is(err, context.Canceled) {
		return err
	}
	return &store.Error{Code: store.CodeUnreadable, Op: "open database", Err: err}
}

func (s *Store) refuseNewer(have int) error {
	if have <= s.d.Want() {
		return nil
	}
	return &store.Error{
		Code: store.CodeSchemaNewer, Op: "open database", Value: strconv.Itoa(have),
		Err: fmt.Errorf("the database has schema %d, this program knows %d; use a newer program", have, s.d.Want()),
	}
}
