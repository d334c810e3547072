package kv

import "fmt"

// StopWrites makes every later write fail with ErrWritesStopped and the cause: a write that failed has left the disk in a
// state that only opening it again can tell. Reading goes on. Only the first call counts.
func (db *DB) StopWrites(cause error) {
	if db.failed.CompareAndSwap(nil, &cause) {
		db.opts.Log.Error("no more writes are accepted: a write failed, and what it left on the disk is unknown until the archive is opened again", "error", cause)
	}
}

// WritesStopped returns nil while writes are accepted, else an error that is ErrWritesStopped and holds the cause.
func (db *DB) WritesStopped() error {
	cause := db.failed.Load()
	if cause == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWritesStopped, *cause)
}

// ReadOnly reports whether the database was opened with Options.ReadOnly.
func (db *DB) ReadOnly() bool { return db.opts.ReadOnly }

// writable returns why nothing can be written now, or nil.
func (db *DB) writable() error {
	if db.opts.ReadOnly {
		return fmt.Errorf("kv: %w", ErrReadOnly)
	}
	if err := db.WritesStopped(); err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	return db.checkSpace()
}
