package client

import (
	"fmt"
	"time"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
)

// Config configures a Client.
type Config struct {
	// Library holds the worlds that sessions are created from. Required for
	// CreateSession only.
	Library *world.Library
	// NewID gives ids of sessions and turns. Defaults to random UUIDs.
	NewID func() string
	// Now is the clock of created records. Defaults to time.Now.
	Now func() time.Time
	// Plugins is the loaded plugin set. Required for CreateSession only.
	Plugins *plugin.Generation
	// RunTimeout bounds one turn's workflow run. Defaults to 30 min.
	RunTimeout time.Duration
	// Store is where outcomes, stories and sessions are read. Required.
	Store store.Store
	// Streams fans out story deltas. Required for Stream only.
	Streams *stream.Hub
	// Temporal is the connection. Required for everything about running turns;
	// without it a client reads and creates sessions only.
	Temporal client.Client
}

// Client starts turns and reads what came of them.
type Client struct {
	cfg Config
}

// New checks the configuration.
func New(cfg Config) (*Client, error) {
	if cfg.Store == nil {
		return nil, fmt.Errorf("client.Config.Store is nil; give the game's store")
	}
	if cfg.NewID == nil {
		cfg.NewID = uuid.NewString
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.RunTimeout == 0 {
		cfg.RunTimeout = 30 * time.Minute
	}
	return &Client{cfg: cfg}, nil
}

// connected refuses an operation on running turns without a connection.
func (c *Client) connected(op string) error {
	if c.cfg.Temporal == nil {
		return turn.Errorf(op, "CONFIG_ERROR", "client.Config.Temporal is nil; give a Temporal client")
	}
	return nil
}
