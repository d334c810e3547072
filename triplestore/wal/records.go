package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// ErrOther means that a log does not have the record that a position names, or a record that does not follow the last
// one: the two logs have different histories.
var ErrOther = errors.New("the log has another history")

// Record is a record and the checksum that chains it to all records before it.
type Record struct {
	Number uint64
	Sum    uint32
	Body   []byte
}

// Position is a place in a log: behind a record.
type Position struct {
	Log    [16]byte // id of the log
	Number uint64   // of the record; 0 before the first one
	Sum    uint32   // checksum of the record; 0 if the log was begun behind it (see Reset)
}

// Durable returns the position behind the last durable record. The channel is closed when there may be more, and when
// the log is reset or closed.
func (l *Log) Durable() (at Position, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more == nil {
		l.more = make(chan struct{})
		if l.closed {
			close(l.more)
		}
	}
	return Position{Log: l.id, Number: l.durable, Sum: l.durableSum}, l.more
}

// noteDurable records that everything appended so far is durable. The caller holds l.mu.
func (l *Log) noteDurable() {
	l.durable, l.durableSum = l.next-1, l.last
	l.wakeReaders()
}

func (l *Log) wakeReaders() {
	if l.more != nil && !l.closed {
		close(l.more)
		l.more = nil
	}
}

// Cursor reads durable records in order, while the log grows. It must not be used concurrently.
type Cursor struct {
	l     *Log
	id    [16]byte
	after uint64  // number of the last record read
	r     *reader // nil before the first call of Next and between segments
	first uint64  // of the segment that r reads
}

// From returns a cursor behind a position. If at.Log is not zero, the log must have its record with the same checksum:
// if not, or if the record is not durable yet, the error is ErrOther. If the log begins behind the record, it is
// ErrGap. The caller closes the cursor.
func (l *Log) From(at Position) (*Cursor, error) {
	l.mu.Lock()
	id, durable, first := l.id, l.durable, l.next
	if len(l.segments) > 0 {
		first = l.segments[0].first
	}
	l.mu.Unlock()
	c := &Cursor{l: l, id: id, after: at.Number}
	switch {
	case at.Log != [16]byte{} && at.Log != id:
		return nil, fmt.Errorf("wal: read after %d: %w: its id differs", at.Number, ErrOther)
	case at.Number > durable:
		return nil, fmt.Errorf("wal: read after %d: %w: it ends with record %d", at.Number, ErrOther, durable)
	case at.Number+1 < first:
		return nil, fmt.Errorf("wal: read after %d: %w", at.Number, ErrGap)
	}
	if at.Log == [16]byte{} {
		return c, nil
	}
	sum, err := l.SumOf(at.Number)
	if err == nil && sum != at.Sum {
		err = fmt.Errorf("wal: read after %d: %w: the checksum of that record differs", at.Number, ErrOther)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// SumOf returns the checksum of a record, which must be durable. It also knows that of the record before the first one.
func (l *Log) SumOf(number uint64) (sum uint32, err error) {
	l.mu.Lock()
	durable, durableSum := l.durable, l.durableSum
	l.mu.Unlock()
	if number == durable {
		return durableSum, nil
	}
	c := &Cursor{l: l, id: l.ID(), after: number}
	defer c.Close()
	if err := c.open(); err != nil {
		return 0, fmt.Errorf("wal: checksum of record %d: %w", number, err)
	}
	return c.r.last, nil
}

// Next returns the next durable record. ok is false if there is none yet. The body is valid until the next call. The
// error is ErrGap if the record was trimmed, ErrOther after a Reset, and ErrDamaged for a record that differs from its
// checksum.
func (c *Cursor) Next() (r Record, ok bool, err error) {
	for {
		limit, ended, err := c.limit()
		if err != nil {
			return r, false, fmt.Errorf("wal: read record %d: %w", c.after+1, err)
		}
		if limit == 0 {
			return r, false, nil
		}
		if c.r == nil {
			if err := c.open(); err != nil {
				return r, false, fmt.Errorf("wal: read record %d: %w", c.after+1, err)
			}
		}
		if c.r.at >= limit {
			if !ended {
				return r, false, nil
			}
			c.Close() // go on with the next segment
			continue
		}
		c.r.extend(limit)
		if err := c.r.next(); err != nil {
			return r, false, fmt.Errorf("wal: read record %d: %w", c.after+1, notEnd(err, c.after+1))
		}
		c.after++
		return Record{Number: c.after, Sum: c.r.chain, Body: c.r.body}, true, nil
	}
}

// limit returns the length of the durable records in the segment of the next record, or 0 if that record is not durable
// yet. ended reports whether the segment takes no more records.
func (c *Cursor) limit() (limit int64, ended bool, err error) {
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id != c.id {
		return 0, false, ErrOther
	}
	if c.after >= l.durable {
		return 0, false, nil
	}
	for i := len(l.segments) - 1; i >= 0; i-- {
		if c.r != nil && l.segments[i].first != c.first || c.r == nil && l.segments[i].first > c.after+1 {
			continue
		}
		if i+1 < len(l.segments) {
			return l.segments[i].size, true, nil
		}
		return l.synced, false, nil
	}
	if c.r != nil { // trimmed while it was read
		return c.r.end, true, nil
	}
	return 0, false, ErrGap
}

// open opens the segment that has the next record, and reads up to it.
func (c *Cursor) open() error {
	l := c.l
	l.mu.Lock()
	i := len(l.segments) - 1
	for i >= 0 && l.segments[i].first > c.after+1 {
		i--
	}
	if i < 0 || l.id != c.id {
		l.mu.Unlock()
		return ErrGap
	}
	s := l.segments[i]
	if i == len(l.segments)-1 {
		s.size = l.synced
	}
	l.mu.Unlock()
	r, err := l.openSegment(s, c.id)
	if err != nil {
		if missing, _ := l.fs.Stat(filepath.Join(l.dir, s.name)); missing == nil {
			return ErrGap // trimmed meanwhile
		}
		return err
	}
	r.end = s.size
	for r.number <= c.after {
		if err := r.next(); err != nil {
			r.f.Close()
			return notEnd(err, r.number)
		}
	}
	c.r, c.first = r, s.first
	return nil
}

// Close closes the file that is being read.
func (c *Cursor) Close() {
	if c.r != nil {
		c.r.f.Close()
		c.r = nil
	}
}

// extend lets the reader read up to another end of the segment.
func (r *reader) extend(end int64) {
	if end == r.end {
		return
	}
	r.end, r.left = end, end-r.at
	r.r.Reset(io.NewSectionReader(r.f, r.at, r.left))
}

func notEnd(err error, number uint64) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: missing record %d", ErrDamaged, number)
	}
	return err
}

// Chain appends a record of another log, so that this log has the same history: the same id, numbers and checksums. It
// begins a segment where the other log did. If the record does not follow the last one, nothing is added and the error
// is ErrOther. Otherwise Chain is like Append.
func (l *Log) Chain(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("wal: append: %w: %w", ErrFailed, l.failed)
	}
	if r.Number != l.next || len(r.Body) > MaxRecord {
		return fmt.Errorf("wal: append: %w: record %d, of %d bytes, does not follow record %d", ErrOther, r.Number, len(r.Body), l.next-1)
	}
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHead), uint32(len(r.Body)))
	head = binary.LittleEndian.AppendUint64(append(head, 0, 0, 0, 0), r.Number)
	if recordSum(l.chain, head, r.Body) == r.Sum {
		return l.append(r.Body)
	}
	border := header{first: l.next, id: l.id, chain: l.last}.encode()
	if recordSum(binary.LittleEndian.Uint32(border[headerSize-4:]), head, r.Body) != r.Sum {
		return fmt.Errorf("wal: append: %w: the checksum of record %d does not continue that of record %d", ErrOther, r.Number, l.next-1)
	}
	if err := l.border(border); err != nil {
		return fmt.Errorf("wal: append: %w", err)
	}
	return l.append(r.Body)
}

// border begins a segment as Append does. If the last one has no records, its header is replaced.
func (l *Log) border(head []byte) error {
	if l.end != headerSize {
		return l.roll(false)
	}
	if _, err := l.file.WriteAt(head, 0); err != nil {
		l.failed = err
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	l.chain, l.synced = binary.LittleEndian.Uint32(head[headerSize-4:]), 0 // the next Sync must sync
	return nil
}

// Follow deletes all records and starts a log that continues another one behind a position, with Chain. The caller must
// not need the old records any more.
func (l *Log) Follow(at Position) error { return l.reset(at.Number+1, false, &at) }
