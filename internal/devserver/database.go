package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"

	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	temporalsql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives/timestamp"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/schema/sqlite"
)

// starts numbers the servers of this process. The SQLite plugin pools its
// handles by connection string for the whole life of the process, so every
// start needs a string of its own to get a fresh handle.
var starts atomic.Int64

// fileConnections is the number of connections to a database file: one reads
// while the other writes.
const fileConnections = 2

// sqlConfig says how the server opens its database.
func sqlConfig(path string) *config.SQL {
	start := strconv.FormatInt(starts.Add(1), 10)
	if path == "" {
		return &config.SQL{
			ConnectAttributes: map[string]string{"cache": "private", "mode": "memory"},
			DatabaseName:      "covel-" + start,
			MaxConns:          1,
			MaxIdleConns:      1,
			PluginName:        sqliteplugin.PluginName,
		}
	}
	return &config.SQL{
		ConnectAttributes: map[string]string{
			"a_start":      start,
			"busy_timeout": "10000",
			"journal_mode": "wal",
			"mode":         "rwc",
			"synchronous":  "normal",
		},
		// Every transaction of the server writes. Begun as a reader, SQLite's
		// default, it fails when another one commits before its first write.
		// The plugin has no setting for that, so it is part of the name; the
		// plugin then adds "?" and its own parameters, of which the first,
		// a_start, becomes the value of "rest" and is dropped.
		DatabaseName: uriPath(path) + "?_txlock=immediate&rest=",
		MaxConns:     fileConnections,
		MaxIdleConns: fileConnections,
		PluginName:   sqliteplugin.PluginName,
	}
}

// uriPath escapes what has a meaning in an SQLite file URI.
func uriPath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// prepareFile makes sure that the database file has its schema and the right
// number of shards. The schema goes in whole or not at all, so a process
// killed here leaves nothing half made.
func prepareFile(ctx context.Context, path string, shards int) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("devserver: DatabasePath %s: %w; make the directory first", path, err)
	}
	db, err := sql.Open("sqlite", "file:"+uriPath(path)+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return fmt.Errorf("devserver: DatabasePath %s: %w", path, err)
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("devserver: DatabasePath %s: %w; another process may be using it", path, err)
	}
	defer func() { _ = tx.Rollback() }()

	var tables int
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'cluster_metadata_info'").Scan(&tables)
	if err != nil {
		return fmt.Errorf("devserver: DatabasePath %s: %w", path, err)
	}
	if tables == 0 {
		if err := sqlite.SetupSchemaOnDB(schemaTx{ctx: ctx, tx: tx}); err != nil {
			return fmt.Errorf("devserver: DatabasePath %s: create schema: %w", path, err)
		}
		return tx.Commit()
	}

	var data []byte
	err = tx.QueryRowContext(ctx, "SELECT data FROM cluster_metadata_info WHERE cluster_name = ?", clusterName).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // killed after the schema, before the first start
	}
	if err != nil {
		return fmt.Errorf("devserver: DatabasePath %s: read shard count: %w", path, err)
	}
	var stored persistencespb.ClusterMetadata
	if err := stored.Unmarshal(data); err != nil {
		return fmt.Errorf("devserver: DatabasePath %s: read shard count: %w", path, err)
	}
	if count := int(stored.GetHistoryShardCount()); count != shards {
		return &ShardCountError{Path: path, Stored: count, Wanted: shards}
	}
	return nil
}

// schemaTx lets the schema's statements run inside one transaction; of
// sqlplugin.AdminDB the schema uses Exec alone.
type schemaTx struct {
	sqlplugin.AdminDB
	ctx context.Context
	tx  *sql.Tx
}

func (s schemaTx) Exec(stmt string, args ...any) error {
	_, err := s.tx.ExecContext(s.ctx, stmt, args...)
	return err
}

// createNamespace adds the namespace to the database unless it stands there.
func createNamespace(cfg Config, database *config.SQL) error {
	namespace, err := sqlite.NewNamespaceConfig(clusterName, cfg.Namespace, false, cfg.SearchAttributes)
	if err != nil {
		return fmt.Errorf("devserver: SearchAttributes: %w", err)
	}
	namespace.Detail.Config.Retention = timestamp.DurationPtr(cfg.Retention)
	if err := sqlite.CreateNamespaces(database, namespace); err != nil {
		return fmt.Errorf("devserver: Namespace %q: %w", cfg.Namespace, err)
	}
	return nil
}

// closeDatabase closes the handle that the server used. The plugin's Close
// only gives the handle back to a pool that never closes anything, so the
// handle itself is taken out of the plugin's DB.
func closeDatabase(database *config.SQL) error {
	pooled, err := temporalsql.NewSQLDB(sqlplugin.DbKindMain, database, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("devserver: close database: %w", err)
	}
	handle, err := poolHandle(pooled)
	if err != nil {
		return err
	}
	if err := handle.Close(); err != nil {
		return fmt.Errorf("devserver: close database: %w", err)
	}
	return nil
}

// poolHandle reads the field db of the plugin's DB, which holds an sqlx.DB
// around the handle.
func poolHandle(pooled sqlplugin.DB) (*sql.DB, error) {
	value := reflect.ValueOf(pooled)
	for _, field := range []string{"db", "DB"} {
		if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
			break
		}
		value = value.Elem().FieldByName(field)
	}
	if !value.IsValid() || value.Type() != reflect.TypeFor[*sql.DB]() {
		return nil, fmt.Errorf("devserver: close database: %T keeps its handle in another place than .db.DB", pooled)
	}
	return (*sql.DB)(value.UnsafePointer()), nil
}
