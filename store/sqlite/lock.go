package sqlite

import (
	"errors"
	"os"
	"syscall"

	"github.com/covel-engine/covel/store"
)

// engineLock is held by the one engine that may write a file. The kernel frees
// it when the process dies, so nothing is left stale after a crash.
type engineLock struct{ file *os.File }

func lockEngine(path string) (*engineLock, error) {
	const op = "open database"
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, &store.Error{Code: store.CodeUnreadable, Op: op, ID: path, Err: err}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another engine has this file open; stop it, or open the file read-only")
			return nil, &store.Error{Code: store.CodeInUse, Op: op, ID: path, Err: err}
		}
		return nil, &store.Error{Code: store.CodeUnreadable, Op: op, ID: name, Err: err}
	}
	return &engineLock{f}, nil
}

// release keeps the lock file: removing it would let two engines lock two
// files of one name.
func (l *engineLock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
