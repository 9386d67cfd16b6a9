package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// queryer is a *sql.DB or *sql.Conn.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version gives the newest recorded migration, 0 for a new file.
func version(ctx context.Context, q queryer) (int, error) {
	var tables, have int
	err := q.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'").Scan(&tables)
	if err != nil || tables == 0 {
		return 0, err
	}
	err = q.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations").Scan(&have)
	return have, err
}

// SchemaVersion gives the file's and the program's migration numbers.
func (s *Store) SchemaVersion(ctx context.Context) (have, want int, err error) {
	have, err = version(ctx, s.pool.db)
	return have, s.d.Want(), sqlstore.Fail(s.pool, "read schema version", "schema_migrations", err)
}

// Migrate brings the file up to this program's schema, one transaction a step.
func (s *Store) Migrate(ctx context.Context) error {
	const op = "migrate"
	if s.config.ReadOnly {
		have, want, err := s.SchemaVersion(ctx)
		if err != nil || have == want {
			return err
		}
		return &store.Error{
			Code: store.CodeReadOnly, Op: op, ID: s.path,
			Err: fmt.Errorf("schema %d needs the migration to %d; open the file for writing once", have, want),
		}
	}
	if err := sqlstore.RefuseNested(ctx, s); err != nil {
		return err
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	have, err := version(ctx, s.writer.conn)
	if err != nil {
		return sqlstore.Fail(s.pool, op, "schema_migrations", err)
	}
	if err := s.refuseNewer(have); err != nil {
		return err
	}
	for _, m := range s.d.Migrations()[have:] {
		if err := s.apply(ctx, m); err != nil {
			return sqlstore.Fail(s.pool, fmt.Sprintf("migrate to %04d_%s", m.Version, m.Name), "", err)
		}
	}
	return nil
}

func (s *Store) apply(ctx context.Context, m sqlstore.Migration) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.writer.control("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.writer.control("ROLLBACK"))
		}
	}()
	if m.Version == 1 {
		first := fmt.Sprintf("PRAGMA application_id = %d;\n", applicationID) +
			"CREATE TABLE schema_migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT;"
		if err := s.writer.control(first); err != nil {
			return err
		}
	}
	if err := s.writer.control(m.SQL); err != nil {
		return err
	}
	_, err = s.writer.conn.ExecContext(context.Background(), "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
		m.Version, m.Name, s.d.Time(sqlstore.Instant(time.Now())))
	if err != nil {
		return err
	}
	return s.writer.control("COMMIT")
}
