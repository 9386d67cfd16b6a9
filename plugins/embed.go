package plugins

import (
	"embed"
	"io/fs"
)

//go:embed affinity char-creator character-blueprint dice-check guide history-compaction illustrator memory narrator prompt-probe world-init
var files embed.FS

// FS gives the bundled packages, one directory each.
func FS() fs.FS { return files }
