//go:build !unix

package crawl

import "os"

// lockFile opens a file. Systems without flock do not let another process remove it while it is open.
func lockFile(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) }
