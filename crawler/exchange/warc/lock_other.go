//go:build !unix

package warc

import "os"

// lockFile does nothing: on this system, only one process may write to a directory.
func lockFile(*os.File) error { return nil }
