//go:build !linux

package kv

// readOnlyDisk returns false: this system does not say whether a disk is mounted read-only. A reader then works on
// copies of the tables, as beside a process that writes.
func readOnlyDisk(string) bool { return false }
