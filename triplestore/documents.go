package triplestore

import (
	"embed"
	"io/fs"
)

//go:embed FORMAT.md */FORMAT.md
var documents embed.FS

// Documents returns the documents of the formats on disk. Names are relative to the folder of this package, as
// "wal/FORMAT.md".
func Documents() fs.FS { return documents }
