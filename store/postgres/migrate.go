package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// queryer is a pool or a transaction.
type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

var errForeign = errors.New("the schema holds another program's tables; use an empty database or schema")

// version gives the newest recorded migration, 0 for an empty schema.
func version(ctx context.Context, q queryer) (int, error) {
	// Ours has these three columns; other programs use the same table name.
	const columns = `SELECT COUNT(*), COUNT(*) FILTER (WHERE column_name IN ('version', 'name', 'applied_at'))
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'schema_migrations'`
	const taken = `SELECT COUNT(*) FROM information_schema.tables
		WHERE table_schema = current_schema() AND table_name IN ('sessions', 'turn_messages')`
	var all, ours, others, have int
	if err := q.QueryRow(ctx, columns).Scan(&all, &ours); err != nil {
		return 0, err
	}
	if all == 0 {
		if err := q.QueryRow(ctx, taken).Scan(&others); err != nil || others == 0 {
			return 0, err
		}
		return 0, errForeign
	}
	if all != 3 || ours != 3 {
		return 0, errForeign
	}
	var first string
	err := q.QueryRow(ctx, "SELECT COALESCE(MAX(version), 0), COALESCE(MAX(name) FILTER (WHERE version = 1), '') FROM schema_migrations").
		Scan(&have, &first)
	if err == nil && have > 0 && first != "init" {
		return 0, errForeign
	}
	return have, err
}

// SchemaVersion gives the database's and the program's migration numbers.
func (s *Store) SchemaVersion(ctx context.Context) (have, want int, err error) {
	have, err = version(ctx, s.pool.db)
	return have, s.d.Want(), sqlstore.Fail(s.pool, "read schema version", "schema_migrations", err)
}

// Migrate brings the schema up to this program's, one transaction a step.
// Processes that start together wait for each other.
func (s *Store) Migrate(ctx context.Context) error {
	const op = "migrate"
	if s.config.ReadOnly {
		have, want, err := s.SchemaVersion(ctx)
		if err != nil || have == want {
			return err
		}
		return &store.Error{
			Code: store.CodeReadOnly, Op: op,
			Err: fmt.Errorf("schema %d needs the migration to %d; open the database for writing once", have, want),
		}
	}
	for {
		done, err := s.step(ctx)
		if err != nil {
			return sqlstore.Fail(s.pool, op, "", err)
		}
		if done {
			return nil
		}
	}
}

// step applies the next migration and says whether none is left.
func (s *Store) step(ctx context.Context) (bool, error) {
	done := false
	err := pgx.BeginFunc(ctx, s.pool.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey("covel:migrate")); err != nil {
			return err
		}
		have, err := version(ctx, tx)
		if err != nil {
			return err
		}
		if done = have >= s.d.Want(); done {
			return s.refuseNewer(have)
		}
		m := s.d.Migrations()[have]
		if m.Version == 1 {
			const first = "CREATE TABLE IF NOT EXISTS schema_migrations (version bigint NOT NULL PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL)"
			if _, err := tx.Exec(ctx, first); err != nil {
				return err
			}
		}
		// A migration holds several statements: only the simple protocol takes them.
		if _, err := tx.Conn().PgConn().Exec(ctx, m.SQL).ReadAll(); err != nil {
			return fmt.Errorf("%04d_%s: %w", m.Version, m.Name, err)
		}
		_, err = tx.Exec(ctx, "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)",
			m.Version, m.Name, sqlstore.Instant(time.Now()))
		return err
	})
	return done, err
}
