package sqlite

import (
	"errors"
	"time"
)

// Config says which file to open and how.
type Config struct {
	// Beside opens the file beside the engine that owns it, without its lock,
	// for whole records such as a new session. Session locks of two processes
	// do not see each other, so it must never write for an execution. Defaults
	// to false.
	Beside bool
	// BusyTimeout is how long a statement waits for a lock of another process.
	// Defaults to 5 s.
	BusyTimeout time.Duration
	// InMemory keeps the database in a private temporary file that is never
	// synced and goes with Close; Path must be empty. Defaults to false.
	InMemory bool
	// Now stamps rows whose caller gave no time. Defaults to time.Now.
	Now func() time.Time
	// Path is the database file; it is made when missing, its directory is not.
	// Defaults to none: give one, or set InMemory.
	Path string
	// ReadOnly opens an existing file without the engine's lock; every
	// transaction is refused. Defaults to false.
	ReadOnly bool
	// Readers is the size of the pool that reads. Defaults to 4.
	Readers int
	// SyncEveryCommit makes each commit survive a power loss at the cost of a
	// disk flush. Without it a power loss may undo the last commits, never
	// half of one; a killed process loses nothing. Defaults to false.
	SyncEveryCommit bool
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Path == "" && !c.InMemory:
		return c, errors.New("sqlite.Config.Path is empty; name a file or set InMemory")
	case c.Path != "" && c.InMemory:
		return c, errors.New("sqlite.Config.Path and InMemory are both set; choose one")
	case c.Beside && (c.InMemory || c.ReadOnly):
		return c, errors.New("sqlite.Config.Beside makes no sense with InMemory or ReadOnly")
	case c.InMemory && c.ReadOnly:
		return c, errors.New("sqlite.Config.ReadOnly makes no sense with InMemory")
	case c.Readers < 0:
		return c, errors.New("sqlite.Config.Readers is negative; use 1 or more")
	}
	if c.BusyTimeout == 0 {
		c.BusyTimeout = 5 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Readers == 0 {
		c.Readers = 4
	}
	return c, nil
}
