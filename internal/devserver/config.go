package devserver

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

// NoUI as Config.UIPort starts the server without its web UI.
const NoUI = -1

// Config says how the embedded server runs. The zero value is an in-memory
// server on free ports.
type Config struct {
	// DatabasePath is the SQLite file, usually <data>/temporal.db; its
	// directory must exist. Defaults to "", a database in memory that ends
	// with the server.
	DatabasePath string

	// FrontendPort is the port of the gRPC API. Defaults to 0, any free port.
	FrontendPort int

	// HistoryShards is the number of history shards of a new database; 1 is
	// refused, because workflows of a single shard wait for each other.
	// Defaults to 16.
	HistoryShards int

	// Logger receives the server's own log, from LogLevel up. Defaults to
	// dropping it.
	Logger *slog.Logger

	// LogLevel is the lowest level passed to Logger. Defaults to
	// slog.LevelWarn.
	LogLevel slog.Leveler

	// Namespace is created when it is missing. Defaults to "default".
	Namespace string

	// Retention is how long the histories of closed workflows are kept; a
	// database with another value is changed to it. Defaults to 30 days.
	Retention time.Duration

	// SearchAttributes are the namespace's own search attributes by name;
	// missing ones are added, none is removed. Defaults to none.
	SearchAttributes map[string]enumspb.IndexedValueType

	// UIPort is the port of the web UI, NoUI for none. Defaults to 0, any
	// free port.
	UIPort int
}

func (c Config) withDefaults() (Config, error) {
	c.HistoryShards = cmp.Or(c.HistoryShards, 16)
	c.Namespace = cmp.Or(c.Namespace, "default")
	c.Retention = cmp.Or(c.Retention, 30*24*time.Hour)
	if c.LogLevel == nil {
		c.LogLevel = slog.LevelWarn
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.FrontendPort < 0 || c.FrontendPort > 65535:
		return c, fmt.Errorf("devserver: FrontendPort is %d; give a port from 1 to 65535, or 0 for a free one", c.FrontendPort)
	case c.HistoryShards < 2 || c.HistoryShards > 1024:
		return c, fmt.Errorf("devserver: HistoryShards is %d; give a number from 2 to 1024", c.HistoryShards)
	case c.Retention < time.Hour:
		return c, fmt.Errorf("devserver: Retention is %s; give one hour or more", c.Retention)
	case c.UIPort < NoUI || c.UIPort > 65535:
		return c, fmt.Errorf("devserver: UIPort is %d; give a port from 1 to 65535, 0 for a free one, or -1 for no UI", c.UIPort)
	}
	return c, nil
}
