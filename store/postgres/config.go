package postgres

import (
	"errors"
	"time"
)

// Config says which database to open and how.
type Config struct {
	// MaxConns is the most connections of the pool, the listening one apart.
	// Defaults to 16.
	MaxConns int
	// Now stamps rows whose caller gave no time. Defaults to time.Now.
	Now func() time.Time
	// ReadOnly refuses every transaction. Defaults to false.
	ReadOnly bool
	// URL is a postgres:// URL; pgx reads its parameters. Defaults to none:
	// give one.
	URL string
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.URL == "":
		return c, errors.New("postgres.Config.URL is empty; give a postgres:// URL")
	case c.MaxConns < 0:
		return c, errors.New("postgres.Config.MaxConns is negative; use 1 or more")
	}
	if c.MaxConns == 0 {
		c.MaxConns = 16
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}
