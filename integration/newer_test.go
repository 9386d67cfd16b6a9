package integration_test

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite" // the driver of the file that is made to look newer
)

// pretendNewer makes a database look as if a newer program had written it.
func pretendNewer(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `insert into schema_migrations (version, name, applied_at) values (9999, 'from the future', '2026-01-01T00:00:00.000Z')`)
	must(t, err)
}
