//go:build !linux

package kv

// readOnlyDisk is not implemented here.
func readOnlyDisk(string) bool { return false }
