//go:build !unix

package bucket

import (
	"io/fs"
	"os"
)

// lockFile does nothing: a directory must be used by one process at a time.
func lockFile(*os.File) error { return nil }

func identity(fs.FileInfo) uint64 { return 0 }
