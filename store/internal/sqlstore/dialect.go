package sqlstore

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql queries
var files embed.FS

// Dialect is how one database spells types, parameters and values.
type Dialect struct {
	Name string
	// Types maps the words in braces of migrations to the database's types.
	Types map[string]string
	// Param begins a numbered parameter: ? or $.
	Param byte
	// Bool and Time turn Go values into arguments.
	Bool func(bool) any
	Time func(time.Time) any

	queries    map[string]string
	migrations []Migration
}

// Migration is one numbered step of the schema.
type Migration struct {
	Version int
	Name    string
	SQL     string
}

// Load reads the embedded statements and migrations for the dialect. An error
// is a fault of this program's own files.
func (d *Dialect) Load() error {
	d.queries = map[string]string{}
	for _, dir := range []string{"queries", "queries/" + d.Name} {
		if err := d.loadQueries(dir); err != nil {
			return err
		}
	}
	for _, table := range SessionTables {
		d.queries["delete_from_"+table] = d.bindings("DELETE FROM " + table + " WHERE session_id = ?1")
	}
	for _, table := range append([]snapshotTable{sessionSnapshot}, snapshotTables...) {
		read, write := table.statements()
		d.queries["snapshot_read_"+table.table] = d.bindings(read)
		d.queries["snapshot_write_"+table.table] = d.bindings(write)
	}
	return d.loadMigrations()
}

// Query gives the text of a named statement.
func (d *Dialect) Query(name string) (string, error) {
	q, ok := d.queries[name]
	if !ok {
		return "", fmt.Errorf("statement %q is in no file of store/internal/sqlstore/queries", name)
	}
	return q, nil
}

// QueryNames gives the names of all statements.
func (d *Dialect) QueryNames() []string {
	names := make([]string, 0, len(d.queries))
	for name := range d.queries {
		names = append(names, name)
	}
	return names
}

// Migrations gives the steps in order.
func (d *Dialect) Migrations() []Migration { return d.migrations }

// Want is the schema version of this program.
func (d *Dialect) Want() int { return len(d.migrations) }

func (d *Dialect) loadQueries(dir string) error {
	paths, err := fs.Glob(files, dir+"/*.sql")
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		named, err := parseQueries(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for name, sql := range named {
			if _, twice := d.queries[name]; twice {
				return fmt.Errorf("%s: statement %q stands in two files", path, name)
			}
			d.queries[name] = d.bindings(sql)
		}
	}
	return nil
}

// parseQueries splits a file at its "-- name: X" lines; other comment lines
// are dropped, so no comment reaches the database.
func parseQueries(text string) (map[string]string, error) {
	named := map[string]string{}
	name := ""
	for i, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "-- name: "); ok {
			name = strings.TrimSpace(rest)
			if _, twice := named[name]; twice || name == "" {
				return nil, fmt.Errorf("line %d: name %q is empty or used twice", i+1, name)
			}
			named[name] = ""
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "--") || strings.TrimSpace(line) == "" {
			continue
		}
		if name == "" {
			return nil, fmt.Errorf("line %d: text before the first name", i+1)
		}
		named[name] += line + "\n"
	}
	for n, sql := range named {
		sql = strings.TrimSpace(sql)
		if !strings.HasSuffix(sql, ";") || strings.Count(sql, ";") != 1 {
			return nil, fmt.Errorf("statement %q must end with its only semicolon", n)
		}
		named[n] = strings.TrimSuffix(sql, ";")
	}
	return named, nil
}

// bindings rewrites ?1 to the dialect's parameters. No statement holds a
// question mark for another purpose.
func (d *Dialect) bindings(sql string) string {
	if d.Param == '?' {
		return sql
	}
	return strings.ReplaceAll(sql, "?", string(d.Param))
}

func (d *Dialect) loadMigrations() error {
	paths, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return err
	}
	pairs := make([]string, 0, 2*len(d.Types))
	for word, typ := range d.Types {
		pairs = append(pairs, "{"+word+"}", typ)
	}
	types := strings.NewReplacer(pairs...)
	d.migrations = nil
	for i, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		base := strings.TrimSuffix(strings.TrimPrefix(path, "migrations/"), ".sql")
		number, name, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return fmt.Errorf("%s: migrations are numbered 0001, 0002, … without gaps", path)
		}
		sql := types.Replace(string(text))
		d.migrations = append(d.migrations, Migration{Version: version, Name: name, SQL: sql})
	}
	return nil
}
