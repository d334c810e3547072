package kv

import (
	"context"
	"fmt"
	"io"
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

// CheckState reads a state file and compares it with its checksums. It returns the number of the state. The error is
// ErrDamaged if the file is damaged or truncated.
func CheckState(ctx context.Context, r io.Reader) (number uint64, err error) {
	return readStateFrom(ctx, r, nil, func(_, _ []byte, _ uint64) error { return nil })
}
