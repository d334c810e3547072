package wal

import (
	"errors"
	"fmt"

	"odarchive/triplestore/disk"
)

// Append adds one record and returns its number. It is durable once a Sync that began later has returned nil. If the disk
// is full (disk.IsFull) nothing was added and the log goes on; after any other failed write it does not.
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
		if err := l.roll(); err != nil {
			return 0, fmt.Errorf("wal: append: %w", err)
		}
	}
	var sum uint32
	l.buf, sum = appendRecord(l.buf[:0], l.chain, l.next, record)
	if _, err := l.file.WriteAt(l.buf, l.end); err != nil {
		return 0, l.takeBack(err)
	}
	if cap(l.buf) > maxKept {
		l.buf = nil
	}
	l.end += int64(recordHead + len(record))
	l.segments[len(l.segments)-1].size = l.end
	l.chain = sum
	l.next++
	return l.next - 1, nil
}

// maxKept bounds the buffer that is kept between two records.
const maxKept = 1 << 20

// takeBack cuts off what a failed write has left, if the disk was full; else the log has failed.
func (l *Log) takeBack(cause error) error {
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

// roll closes the last segment and begins another one. If the disk is full the log goes on with the one it has.
func (l *Log) roll() error {
	if err := l.sync(); err != nil {
		return err
	}
	old, end, synced, chain := l.file, l.end, l.synced, l.chain
	if err := l.begin(); err != nil {
		l.file, l.end, l.synced, l.chain = old, end, synced, chain
		if disk.IsFull(err) {
			return err // an empty or torn file of the same name is overwritten by the next try, or left out by Open
		}
		l.failed = err
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return old.Close()
}

// Roll closes the last segment and begins another one, so that Trim can remove what was appended so far. A segment
// without records is kept.
func (l *Log) Roll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("wal: %w: %w", ErrFailed, l.failed)
	}
	if l.end == headerSize {
		return nil
	}
	if err := l.roll(); err != nil {
		return fmt.Errorf("wal: %w", err)
	}
	return nil
}

// Sync returns nil when everything appended before the call is durable. After an error nobody knows what is, and the log
// accepts nothing more.
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
	return nil
}

func (l *Log) fsync(f disk.File) error {
	if l.opts.NoSync {
		return nil
	}
	return f.Sync()
}
