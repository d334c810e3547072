package kv

import "fmt"

// StopWrites makes all later writes fail with an error that wraps ErrWritesStopped and cause. It is called after a
// failed write, whose effect on the disk is known only after reopening. Reads continue. Only the first call counts.
func (db *DB) StopWrites(cause error) {
	if db.of != nil {
		db.of.StopWrites(cause)
		return
	}
	if db.failed.CompareAndSwap(nil, &cause) {
		db.opts.Log.Error("writes stopped: a write failed, and its effect on the disk is unknown until the archive is reopened", "error", cause)
	}
}

// WritesStopped returns nil while writes are accepted, and otherwise an error that wraps ErrWritesStopped and the
// cause.
func (db *DB) WritesStopped() error {
	if db.of != nil {
		return db.of.WritesStopped()
	}
	cause := db.failed.Load()
	if cause == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWritesStopped, *cause)
}

// ReadOnly reports whether Update fails: the database was opened with Options.ReadOnly or Options.Replica.
func (db *DB) ReadOnly() bool { return db.opts.ReadOnly || db.opts.Replica }

// writable returns the reason why nothing can be written now, or nil.
func (db *DB) writable() error {
	if db.opts.ReadOnly {
		return fmt.Errorf("kv: %w", ErrReadOnly)
	}
	if db.opts.Replica {
		return fmt.Errorf("kv: %w", ErrReplica)
	}
	return db.intact()
}
