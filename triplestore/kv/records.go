package kv

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"odarchive/triplestore/wal"
)

// Position is a place in the history of a database: behind a write set. Two databases at the same position have the
// same content, and all their earlier write sets are the same.
type Position = wal.Position

// Record is a committed write set as the log has it, with its number and the checksum that chains it to all write sets
// before it. FORMAT.md describes the body.
type Record = wal.Record

// Errors of Records, Apply and OpenState.
var (
	// The log no longer has the write sets behind the position: begin again with OpenState.
	ErrLogTrimmed = errors.New("the log does not reach back that far")
	// The position, or the record, belongs to another history than this database has: begin again with OpenState.
	ErrOtherHistory = errors.New("the database has another history")
)

// Position returns the position behind the last durable write set. It is zero in memory.
func (db *DB) Position() Position {
	if db.log == nil {
		return Position{}
	}
	at, _ := db.log.Durable()
	return at
}

// More returns a channel that is closed when Position changes, and when the database is closed. It is nil in memory.
func (db *DB) More() <-chan struct{} {
	if db.log == nil {
		return nil
	}
	_, more := db.log.Durable()
	return more
}

// Records returns the durable write sets behind a position in order: those of Update, Batch and DropSpace, and empty
// ones. Fill and Load begin a new history instead. With wait set, the sequence waits at the end for more; otherwise it
// ends there. A body is valid until the next record. The sequence ends after an error: ErrLogTrimmed or
// ErrOtherHistory, ErrDamaged, ErrClosed, or that of ctx.
//
// If after.Log is zero, only the number counts. Such a caller does not notice another history.
func (db *DB) Records(ctx context.Context, after Position, wait bool) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := db.eachRecord(ctx, after, wait, func(r Record) bool { return yield(r, nil) }); err != nil {
			yield(Record{}, fmt.Errorf("kv: write sets after %d: %w", after.Number, err))
		}
	}
}

func (db *DB) eachRecord(ctx context.Context, after Position, wait bool, f func(Record) bool) error {
	if db.log == nil {
		return errors.New("a database in memory keeps no log")
	}
	c, err := db.ReadFrom(after)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		_, more := db.log.Durable()
		for {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			r, ok, err := c.Next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if !f(r) {
				return nil
			}
		}
		switch {
		case !wait:
			return nil
		case db.closed.Load():
			return ErrClosed
		}
		select {
		case <-more:
		case <-ctx.Done():
		}
	}
}

// Reader reads durable write sets in order. It must not be used concurrently.
type Reader struct {
	c  *wal.Cursor
	at Position
}

// ReadFrom returns a reader behind a position; see Records. The caller closes it.
func (db *DB) ReadFrom(after Position) (*Reader, error) {
	if db.log == nil {
		return nil, errors.New("a database in memory keeps no log")
	}
	c, err := db.log.From(after)
	if err != nil {
		return nil, shipError(err)
	}
	return &Reader{c, after}, nil
}

// Next returns the next durable write set. ok is false if there is none yet. The body is valid until the next call.
func (r *Reader) Next() (rec Record, ok bool, err error) {
	if rec, ok, err = r.c.Next(); err != nil {
		return rec, false, shipError(err)
	}
	if ok {
		r.at.Number, r.at.Sum = rec.Number, rec.Sum
	}
	return rec, ok, nil
}

// Position returns the position behind the last write set that was read.
func (r *Reader) Position() Position { return r.at }

// Close closes the file that is being read. It may be called twice.
func (r *Reader) Close() { r.c.Close() }

// shipError makes an error of the log one of this package.
func shipError(err error) error {
	switch {
	case errors.Is(err, wal.ErrGap):
		return fmt.Errorf("%w: %w", ErrLogTrimmed, err)
	case errors.Is(err, wal.ErrOther):
		return fmt.Errorf("%w: %w", ErrOtherHistory, err)
	case errors.Is(err, wal.ErrDamaged):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// ErrUnacknowledged means that a write is committed here, and that Options.Acknowledge returned an error.
var ErrUnacknowledged = errors.New("the write is committed, but not known to be anywhere else")

// acknowledge waits for Options.Acknowledge, if there is one.
func (db *DB) acknowledge(ctx context.Context, number uint64) error {
	if db.opts.Acknowledge == nil {
		return nil
	}
	if err := db.opts.Acknowledge(ctx, number); err != nil {
		return &unacknowledged{fmt.Sprintf("kv: write set %d is committed in this directory, but not known to be anywhere else", number),
			err}
	}
	return nil
}

// unacknowledged is an ErrUnacknowledged that says what is certain.
type unacknowledged struct {
	text  string
	cause error
}

func (e *unacknowledged) Error() string { return e.text + ": " + e.cause.Error() }

// Is reports whether target is ErrUnacknowledged.
func (e *unacknowledged) Is(target error) bool { return target == ErrUnacknowledged }

// Unwrap returns why it was not acknowledged.
func (e *unacknowledged) Unwrap() error { return e.cause }
