package crawler

import (
	"embed"
	"io/fs"
)

//go:embed */*/FORMAT.md */*/README.md
var documents embed.FS

// Documents returns the documents that stand beside the code below this folder: formats on disk, and how single parts
// are used. Names are relative to the folder, as "frontier/FORMAT.md".
func Documents() fs.FS { return documents }
