package dburl

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/postgres"
	"github.com/covel-engine/covel/store/sqlite"
)

// Open opens the store of a URL. It does not change the schema.
func Open(ctx context.Context, url, dataDir string) (store.Store, error) {
	return open(ctx, url, sqlite.Config{}, dataDir)
}

// OpenBeside opens it beside the engine that owns a SQLite file; see
// sqlite.Config.Beside. PostgreSQL has no owner.
func OpenBeside(ctx context.Context, url, dataDir string) (store.Store, error) {
	return open(ctx, url, sqlite.Config{Beside: true}, dataDir)
}

// OpenReadOnly opens it for tools that look beside a running engine.
func OpenReadOnly(ctx context.Context, url, dataDir string) (store.Store, error) {
	return open(ctx, url, sqlite.Config{ReadOnly: true}, dataDir)
}

func open(ctx context.Context, url string, file sqlite.Config, dataDir string) (store.Store, error) {
	path, err := SQLitePath(url, dataDir)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return notNil(postgres.Open(ctx, postgres.Config{ReadOnly: file.ReadOnly, URL: url}))
	}
	file.Path = path
	return notNil(sqlite.Open(ctx, file))
}

// notNil keeps a nil pointer from becoming an interface that is not nil.
func notNil[S store.Store](s S, err error) (store.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// SQLitePath gives the file that a URL names, "" for PostgreSQL. Any other
// scheme is an error that names the scheme and nothing else of the URL, which
// may hold a password.
func SQLitePath(url, dataDir string) (string, error) {
	if url == "" {
		return filepath.Join(dataDir, "covel.db"), nil
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url, nil
	}
	switch strings.ToLower(scheme) {
	case "postgres", "postgresql":
		return "", nil
	case "sqlite":
		if rest == "" {
			return "", fmt.Errorf("COVEL_DATABASE_URL is sqlite:// without a path; name a file")
		}
		return rest, nil
	}
	const use = "use a path, sqlite://, postgres:// or postgresql://"
	if !isScheme(scheme) {
		return "", fmt.Errorf("COVEL_DATABASE_URL has no readable scheme before ://; %s", use)
	}
	return "", fmt.Errorf("COVEL_DATABASE_URL has the scheme %q; %s", scheme, use)
}

// isScheme says whether a text has the form of a URL's scheme, so that nothing
// else of a mangled URL is ever shown.
func isScheme(s string) bool {
	for i, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return s != ""
}
