package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/covel-engine/covel/turn"
)

// engineLock marks a data directory as owned by this process. The file carries
// the engine's address, so that another command can connect to it. The kernel
// drops the lock with the process, so a crash leaves nothing stale.
type engineLock struct {
	file *os.File
}

// lockRecord is what the lock file holds.
type lockRecord struct {
	PID      int    `json:"pid"`
	Temporal string `json:"temporal,omitempty"`
	UI       string `json:"ui,omitempty"`
}

// lockTaken says that another process owns the directory.
type lockTaken struct{ lockRecord }

func (l *lockTaken) Error() string {
	return fmt.Sprintf("owned by process %d", l.PID)
}

func takeEngineLock(dir string) (*engineLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, turn.Errorf("open "+dir, turn.CodeUnavailable, "the data directory cannot be made: %w; use another --data", err)
	}
	path := filepath.Join(dir, "engine.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, turn.Errorf("open "+dir, turn.CodeUnavailable, "%w; use another --data", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		lock := &engineLock{file: file}
		return lock, lock.publish("", "")
	}
	defer file.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, turn.Errorf("open "+dir, turn.CodeUnavailable, "%s cannot be locked: %w", path, err)
	}
	var taken lockTaken
	if text, err := io.ReadAll(file); err == nil {
		_ = json.Unmarshal(text, &taken.lockRecord) // a half-written record has no address yet
	}
	return nil, &taken
}

// publish writes the engine's addresses into the lock file.
func (l *engineLock) publish(temporal, ui string) error {
	text, err := json.Marshal(lockRecord{PID: os.Getpid(), Temporal: temporal, UI: ui})
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("write the engine lock: %w", err)
	}
	if _, err := l.file.WriteAt(text, 0); err != nil {
		return fmt.Errorf("write the engine lock: %w", err)
	}
	return nil
}

// release gives the directory free.
func (l *engineLock) release() {
	_ = l.file.Truncate(0) // the lock itself is what counts
	_ = l.file.Close()
}
