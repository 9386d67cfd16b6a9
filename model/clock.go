package model

import "time"

// Clock is the time source of budgets and retry waits.
type Clock interface {
	Now() time.Time
	// After sends once after d; stop ends the wait early.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// systemClock is the machine's clock.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
