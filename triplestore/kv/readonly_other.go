//go:build !linux

package kv

// readOnlyDisk is not known elsewhere.
func readOnlyDisk(string) bool { return false }
