package kv

import (
	"context"
	"fmt"
)

// Committed returns the number of the newest write set that readers see.
func (db *DB) Committed() uint64 { return db.visible.Load() }

// BeginHistory gives the database a lineage of its own: what it has now is the state with the next number, in a state
// file, and the log begins after it. A database that was restored from a copy must not continue the history of the
// original, which goes on differently.
func (db *DB) BeginHistory(ctx context.Context) error {
	return db.alone(func() error {
		if err := db.writable(); err != nil {
			return err
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		if err := db.beginAt(db.visible.Load() + 1); err != nil {
			return fmt.Errorf("kv: begin a history: %w", err)
		}
		return context.Cause(ctx)
	})
}
