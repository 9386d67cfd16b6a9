package worlds

import (
	"embed"
	"io/fs"
)

//go:embed lanternfall
var files embed.FS

// FS gives the bundled worlds, one directory each.
func FS() fs.FS { return files }
