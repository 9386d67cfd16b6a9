package plugins

import (
	"embed"
	"io/fs"
)

//go:embed affinity dice-check narrator
var files embed.FS

// FS gives the bundled packages, one directory each.
func FS() fs.FS { return files }
