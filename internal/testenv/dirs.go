package testenv

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// DataDir returns a new, empty directory that is removed when the test ends.
// Its path is short and without the test's name, because sockets inside it
// must stay under 104 bytes.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "covel") //nolint:usetesting // t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the data directory: %v", err)
		}
	})
	return dir
}

// treeName tells working trees apart.
func treeName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Base(filepath.Clean(root)) + "-" + hex.EncodeToString(sum[:4])
}
