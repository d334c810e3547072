//go:build !linux && !darwin && !freebsd

package kv

func (db *DB) checkSpace() error { return nil }

// freeSpace is not implemented here.
func freeSpace(string) (int64, bool) { return 0, false }
