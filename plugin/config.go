package plugin

import (
	"go.uber.org/zap"
	"io/fs"
)

// Config says where packages come from.
type Config struct {
	// Beside is a set that was loaded before: its packages are taken over
	// without reading them again, but for those of an id that is read now.
	// Defaults to none.
	Beside *Generation
	// Bundled holds one directory per embedded package. Defaults to none.
	Bundled fs.FS
	// Handlers are the binary's Go handlers, looked up by go: references.
	// Defaults to none.
	Handlers Handlers
	// HostVersion is this program's version, compared with each package's covel
	// range. Defaults to "1.0.0".
	HostVersion string
	// Logger tells which packages replace embedded ones. Defaults to silence.
	Logger *zap.Logger
	// Packages are single package directories that stand in for embedded or
	// user packages of their id, as covel check does. Defaults to none.
	Packages []string
	// Strict also reports what only covel check reports: prose lints, unknown
	// template paths and unknown translations. Defaults to false.
	Strict bool
	// UserDir holds one directory per user package. Defaults to none.
	UserDir string
}

func (c Config) withDefaults() Config {
	if c.HostVersion == "" {
		c.HostVersion = "1.0.0"
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return c
}
