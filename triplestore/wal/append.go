package wal

import (
	"errors"
	"fmt"

	"odarchive/triplestore/disk"
)

// Append adds a record and returns its number. The record is durable once a later Sync has returned nil. If the disk is
// full (see disk.IsFull), nothing is added and the log remains usable; after any other failure it is not.
func (l *Log) Append(record []byte) (number uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return 0, fmt.Errorf("wal: append: %w: %w", ErrFailed, l.failed)
	}
	if len(record) > MaxRecord {
		return 0, fmt.Errorf("wal: append: %w: %d bytes", ErrTooBig, len(record))
	}
	if l.end >= l.opts.Segment {
		if err := l.roll(false); err != nil {
			return 0, fmt.Errorf("wal: append: %w", err)
		}
	}
	if err := l.append(record); err != nil {
		return 0, err
	}
	return l.next - 1, nil
}

// append writes a record behind the last one, into the same segment.
func (l *Log) append(record []byte) error {
	var sum uint32
	l.buf, sum = appendRecord(l.buf[:0], l.chain, l.next, record)
	if _, err := l.file.WriteAt(l.buf, l.end); err != nil {
		return l.undo(err)
	}
	if cap(l.buf) > maxKept {
		l.buf = nil
	}
	l.end += int64(recordHead + len(record))
	l.segments[len(l.segments)-1].size = l.end
	l.chain, l.last = sum, sum
	l.next++
	return nil
}

// maxKept is the maximum size of a buffer kept between records.
const maxKept = 1 << 20

// undo truncates the file after a failed write if the disk was full; otherwise the log has failed.
func (l *Log) undo(cause error) error {
	if disk.IsFull(cause) {
		err := l.file.Truncate(l.end)
		if err == nil {
			return fmt.Errorf("wal: append: %w", cause)
		}
		cause = errors.Join(cause, err)
	}
	l.failed = cause
	return fmt.Errorf("wal: append: %w: %w", ErrFailed, cause)
}

// roll closes the last segment and begins a new one (see begin). If the disk is full, the log continues with the old
// segment.
func (l *Log) roll(within bool) error {
	if err := l.sync(); err != nil {
		return err
	}
	old, end, synced, chain := l.file, l.end, l.synced, l.chain
	if err := l.begin(within); err != nil {
		l.file, l.end, l.synced, l.chain = old, end, synced, chain
		if disk.IsFull(err) {
			return err // the next attempt overwrites the new file; Open ignores it
		}
		l.failed = err
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return old.Close()
}

// Roll closes the last segment and begins a new one, so that Trim can remove all records appended so far. It does
// nothing if the last segment has no records.
func (l *Log) Roll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("wal: %w: %w", ErrFailed, l.failed)
	}
	if l.end == headerSize {
		return nil
	}
	if err := l.roll(l.opts.Chained); err != nil {
		return fmt.Errorf("wal: %w", err)
	}
	return nil
}

// Sync returns nil when everything appended before the call is durable. After an error the durable state is unknown and
// the log accepts nothing more.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("wal: sync: %w: %w", ErrFailed, l.failed)
	}
	if err := l.sync(); err != nil {
		return fmt.Errorf("wal: %w", err)
	}
	l.writeTips()
	return nil
}

func (l *Log) sync() error {
	if l.synced == l.end {
		return nil
	}
	if err := l.fsync(l.file); err != nil {
		l.failed = err
		return fmt.Errorf("sync: %w: %w", ErrFailed, err)
	}
	l.synced = l.end
	l.noteDurable()
	return nil
}

func (l *Log) fsync(f disk.File) error {
	if l.opts.NoSync {
		return nil
	}
	return f.Sync()
}
