package world

import (
	"io/fs"

	"go.uber.org/zap"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/tokens"
)

// Config says where world packs come from.
type Config struct {
	// Bundled holds one directory per embedded world. Defaults to none.
	Bundled fs.FS
	// Estimator counts the tokens of WORLD.md for the warning lore-long.
	// Defaults to the built-in estimator.
	Estimator tokens.Estimator
	// Logger tells which worlds replace embedded ones. Defaults to silence.
	Logger *zap.Logger
	// Packages are single world directories that stand in for others of their
	// id, as covel check does. Defaults to none.
	Packages []string
	// Plugins are the loaded plugins whose schemas check a world's data.
	// Defaults to none: data is then checked when a session is created.
	Plugins *plugin.Generation
	// UserDir holds one directory per user world. Defaults to none.
	UserDir string
}

func (c Config) withDefaults() Config {
	if c.Estimator == nil {
		c.Estimator = tokens.Covel{}
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return c
}
