package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// setupTimeout limits the start of the server and the making of a database.
const setupTimeout = 60 * time.Second

// shared is the one server of this test binary.
var shared struct {
	sync.Mutex
	started bool
	server  *server
	url     string
	err     error
}

// Main runs the tests and stops the server; call it from TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest: stop server:", err)
		}
	}
	return code
}

// Database makes an empty database and gives its URL.
func Database(t testing.TB) string {
	t.Helper()
	base, err := serverURL()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no PostgreSQL for tests: %v", err)
		}
		t.Skipf("no PostgreSQL for tests: %v; install it or set COVEL_TEST_DATABASE_URL", err)
	}
	name := "covel_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := run(base, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		t.Fatalf("make database: %v", err)
	}
	t.Cleanup(func() {
		if err := run(base, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop database: %v", err)
		}
	})
	return withDatabase(base, name)
}

func serverURL() (string, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.started {
		return shared.url, shared.err
	}
	shared.started = true
	if given := os.Getenv("COVEL_TEST_DATABASE_URL"); given != "" {
		shared.url = given
		return shared.url, nil
	}
	shared.server, shared.err = start()
	if shared.err == nil {
		shared.url = shared.server.url
	}
	return shared.url, shared.err
}

func run(base, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

func withDatabase(base, name string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Path = "/" + name
	return u.String()
}
