//go:build !linux

package store

// born returns 0: a directory is known by its path and the name of its machine.
func born(string) int64 { return 0 }
