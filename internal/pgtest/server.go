package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the role that initdb makes.
const superuser = "postgres"

// server is a private PostgreSQL. A shell holds it and stops it when its own
// input ends, so it dies with this process however that ends.
type server struct {
	dir    string
	url    string
	shell  *exec.Cmd
	input  io.Closer
	exited chan error
}

func start() (_ *server, err error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	// A socket's path has about 100 bytes, so the directory is a short one.
	dir, err := os.MkdirTemp("/tmp", "covel-pg-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := command(as, dir, filepath.Join(bin, "initdb"), "-D", data, "-U", superuser, "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	s := &server{dir: dir, exited: make(chan error, 1)}
	const script = `"$0" "$@" >"$PGLOG" 2>&1 & pid=$!; read -r _; kill -INT "$pid"; wait "$pid"`
	s.shell = command(as, dir, "/bin/sh", "-c", script, filepath.Join(bin, "postgres"), "-D", data, "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
		"-c", "max_connections=300", "-c", "deadlock_timeout=100ms")
	s.shell.Env = append(s.shell.Env, "PGLOG="+filepath.Join(dir, "log"))
	if s.input, err = s.shell.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.shell.Start(); err != nil {
		return nil, err
	}
	go func() { s.exited <- s.shell.Wait() }()
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + superuser, RawQuery: url.Values{"host": {dir}}.Encode()}
	s.url = u.String()
	if err := s.await(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// await tries to connect until the server answers.
func (s *server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("server does not answer: %w: %s", err, log)
		case <-tick.C:
		}
	}
}

func (s *server) stop() error {
	if err := s.input.Close(); err != nil {
		return err
	}
	<-s.exited //nolint:errcheck // how a stopped server ended does not matter
	return os.RemoveAll(s.dir)
}

// binaries finds the newest installed server, or the one in PATH.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
				found = append(found, dir)
			}
		}
	}
	if len(found) == 0 {
		return "", errors.New("initdb is neither in PATH nor in /usr/lib/postgresql/*/bin")
	}
	return slices.Max(found), nil
}

// unprivileged gives the account that runs the server, nil for our own:
// PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("running as root, and there is no account postgres or nobody to run the server as")
}

func command(as *syscall.Credential, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return cmd
}
