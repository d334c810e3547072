//go:build !linux

package ocfl

import (
	"errors"
	"os"
)

var errNoExchange = errors.New("this system cannot exchange two folders")

// exchange exchanges two folders at once, which only Linux can.
func exchange(_, _ string) error { return errNoExchange }

// syncFile makes a file durable.
func syncFile(f *os.File) error { return f.Sync() }

// syncAll does nothing: syncFile has made each file durable.
func syncAll(string) error { return nil }

// lockFile does nothing: on this system, only one process may write to a root.
func lockFile(*os.File) error { return nil }
