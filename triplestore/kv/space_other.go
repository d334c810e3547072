//go:build !linux && !darwin && !freebsd

package kv

// checkSpace returns nil: on this system a full disk is noticed when a write fails.
func (db *DB) checkSpace() error { return nil }

// Room returns nil, like checkSpace.
func (db *DB) Room() error { return nil }

// RoomBeside returns nil, like checkSpace.
func (db *DB) RoomBeside(int64) error { return nil }

// roomFor returns nil, like checkSpace.
func (db *DB) roomFor(int64) error { return nil }

// freeSpace returns that the free space is not known.
func freeSpace(string) (int64, bool) { return 0, false }

// RoomIn returns nil, like checkSpace.
func RoomIn(string, int64, int64) error { return nil }
