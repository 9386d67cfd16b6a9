package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/internal/sqlstore"
)

// applicationID marks a file as Covel's in the SQLite header ("Covl").
const applicationID = 0x436f766c

// Open opens a file. It does not change the schema; call Migrate before use.
// A newer schema is SCHEMA_NEWER, a damaged or foreign file UNREADABLE, a file
// of a running engine IN_USE.
func Open(ctx context.Context, config Config) (*Store, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	d, err := dialect()
	if err != nil {
		return nil, err
	}
	s := &Store{config: c, d: d, token: make(chan struct{}, 1), done: make(chan struct{}), notifier: newNotifier()}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	path := s.config.Path
	if s.config.InMemory {
		dir, err := os.MkdirTemp("", "covel-store-")
		if err != nil {
			return err
		}
		s.tempDir, path = dir, filepath.Join(dir, "covel.db")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.path = path
	if !s.config.ReadOnly && !s.config.Beside {
		if s.lock, err = lockEngine(path); err != nil {
			return err
		}
	}
	if err := s.inspect(ctx); err != nil {
		return err
	}
	if !s.config.ReadOnly {
		if err := s.openWriter(ctx); err != nil {
			return s.unreadable(err)
		}
	}
	db, err := sql.Open("sqlite", s.dsn("ro", "query_only(1)"))
	if err != nil {
		return s.unreadable(err)
	}
	db.SetMaxOpenConns(s.config.Readers)
	db.SetMaxIdleConns(s.config.Readers)
	s.pool = &pool{d: s.d, db: db, prepared: map[string]*sql.Stmt{}}
	s.Reads = sqlstore.Reads{Conn: s.pool}
	return s.unreadable(db.PingContext(ctx))
}

// inspect looks at an existing file without changing it.
func (s *Store) inspect(ctx context.Context) error {
	stat, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !s.config.ReadOnly:
		return nil
	case err != nil:
		return s.unreadable(err)
	case stat.Size() == 0 && !s.config.ReadOnly:
		return nil
	}
	if err := s.checkLength(stat.Size()); err != nil {
		return s.unreadable(err)
	}
	db, err := sql.Open("sqlite", s.dsn("ro", "query_only(1)"))
	if err != nil {
		return s.unreadable(err)
	}
	defer db.Close()
	var id, tables int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return s.unreadable(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master").Scan(&tables); err != nil {
		return s.unreadable(err)
	}
	if tables == 0 && id == 0 {
		return nil
	}
	if id != applicationID {
		return s.unreadable(errors.New("the file is another program's database; name another file"))
	}
	have, err := version(ctx, db)
	if err != nil {
		return s.unreadable(err)
	}
	return s.refuseNewer(have)
}

// checkLength finds a file that is shorter than its header says, which SQLite
// would only find when it misses a page. While there is a log, the file may
// rightly lag behind.
func (s *Store) checkLength(size int64) error {
	if wal, err := os.Stat(s.path + "-wal"); err == nil && wal.Size() > 0 {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	var header [100]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return fmt.Errorf("the file has no SQLite header: %w", err)
	}
	pageSize := int64(binary.BigEndian.Uint16(header[16:]))
	if pageSize == 1 {
		pageSize = 65536
	}
	pages := int64(binary.BigEndian.Uint32(header[28:]))
	if pages*pageSize > size {
		return fmt.Errorf("the file is cut: its header counts %d bytes, %d are there; bring back a copy", pages*pageSize, size)
	}
	return nil
}

func (s *Store) openWriter(ctx context.Context) error {
	sync := "NORMAL"
	switch {
	case s.config.InMemory:
		sync = "OFF"
	case s.config.SyncEveryCommit:
		sync = "FULL"
	}
	db, err := sql.Open("sqlite", s.dsn("rwc", "journal_mode(WAL)", "synchronous("+sync+")", "cache_size(-16000)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	s.writeDB = db
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = &writer{d: s.d, conn: conn, prepared: map[string]*sql.Stmt{}}
	return nil
}

func (s *Store) dsn(mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}}
	q.Add("_pragma", "busy_timeout("+strconv.FormatInt(s.config.BusyTimeout.Milliseconds(), 10)+")")
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	return "file:" + (&url.URL{Path: s.path}).EscapedPath() + "?" + q.Encode()
}

// unreadable wraps an error of opening, with the file's name.
func (s *Store) unreadable(err error) error {
	var typed *store.Error
	if err == nil || errors.As(err, &typed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &store.Error{Code: store.CodeUnreadable, Op: "open database", ID: s.path, Err: err}
}

func (s *Store) refuseNewer(have int) error {
	if have <= s.d.Want() {
		return nil
	}
	return &store.Error{
		Code: store.CodeSchemaNewer, Op: "open database", ID: s.path, Value: strconv.Itoa(have),
		Err: fmt.Errorf("the database has schema %d, this program knows %d; use a newer program", have, s.d.Want()),
	}
}
