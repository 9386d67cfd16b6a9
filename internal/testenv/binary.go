package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// Environment variables that name binaries built beforehand.
const (
	// BinaryVar names the covel binary to test.
	BinaryVar = "COVEL_TEST_BINARY"
	// FailpointBinaryVar names a covel binary built with the tag failpoint.
	FailpointBinaryVar = "COVEL_TEST_FAILPOINT_BINARY"
)

// build makes the binary at most once in a process.
type build struct {
	once sync.Once
	path string
	err  error
}

var plain, failpoints build

// Binary returns the path of the covel binary, built from the working tree
// unless COVEL_TEST_BINARY names one.
func Binary(t testing.TB) string {
	t.Helper()
	return plain.get(t, BinaryVar, "covel")
}

// FailpointBinary is like Binary, for the build whose processes die or pause
// where COVEL_FAILPOINT says.
func FailpointBinary(t testing.TB) string {
	t.Helper()
	return failpoints.get(t, FailpointBinaryVar, "covel-failpoint", "-tags=failpoint")
}

func (b *build) get(t testing.TB, variable, name string, flags ...string) string {
	t.Helper()
	b.once.Do(func() {
		if b.path = os.Getenv(variable); b.path != "" {
			_, b.err = os.Stat(b.path)
			return
		}
		b.path, b.err = compile(name, flags)
	})
	if b.err != nil {
		t.Fatalf("covel binary (or set %s): %v", variable, b.err)
	}
	return b.path
}

// compile builds ./cmd/covel into the cache directory. Test processes build
// one after the other; the second finds the binary up to date in about a
// second.
func compile(name string, flags []string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir(root)
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, name)
	unlock, err := lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	args := append([]string{"build", "-ldflags=-s -w", "-o", path}, flags...) // stripped links faster
	cmd := exec.Command("go", append(args, "./cmd/covel")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/covel: %w\n%s", err, out)
	}
	return path, nil
}

// moduleRoot is found from this file, because a test runs in the directory of
// its package.
func moduleRoot() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("the source path of testenv is unknown; set %s", BinaryVar)
	}
	root := filepath.Join(filepath.Dir(file), "..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return "", fmt.Errorf("the module is not at %s (built with -trimpath?); set %s: %w", root, BinaryVar, err)
	}
	return root, nil
}

// cacheDir belongs to one working tree: two checkouts do not replace each
// other's binaries.
func cacheDir(root string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "covel-test", treeName(root))
	return dir, os.MkdirAll(dir, 0o700)
}

// lock waits for the file's lock; the kernel drops it with the process.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}
