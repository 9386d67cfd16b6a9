package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/dburl"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
)

func newPrompt(c *console, set *settings) *cobra.Command {
	return group("prompt", "See what the model saw", "  covel prompt show SESSION --turn 3\n  covel prompt prefix --html prefix.html",
		newPromptShow(c, set), newPromptPrefix(c, set))
}

// reading runs fn with a database that is only read: beside a running engine,
// without a server or a model.
func reading(ctx context.Context, url, dataDir string, fn func(store.Store) error) error {
	st, err := dburl.OpenReadOnly(ctx, url, dataDir)
	if err != nil {
		return openError(url, dataDir, err)
	}
	err = fn(st)
	if closing := st.Close(); err == nil && closing != nil {
		err = fmt.Errorf("close %s: %w", databaseName(url, dataDir), closing)
	}
	return err
}

// openError names the database, never its password.
func openError(url, dataDir string, err error) error {
	op := "open " + databaseName(url, dataDir)
	if errors.Is(err, os.ErrNotExist) {
		return turn.Errorf(op, "CONFIG_ERROR", "there is no such file; name a database that exists")
	}
	return turn.Errorf(op, "CONFIG_ERROR", "%w", err)
}

// databaseName is a database as a message may name it: a URL without user and
// password.
func databaseName(url, dataDir string) string {
	path, err := dburl.SQLitePath(url, dataDir)
	if err == nil && path != "" {
		return path
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "the database"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest
}

// databaseExists says whether the configured database stands: PostgreSQL is
// taken at its word, a file must be there.
func (s *settings) databaseExists() bool {
	path, err := dburl.SQLitePath(s.database, s.dataDir)
	if err != nil || path == "" {
		return err == nil
	}
	_, err = os.Stat(path)
	return err == nil
}
