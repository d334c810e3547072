package wal

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"odarchive/triplestore/disk"
)

// Read calls f with every record from a number on, in order, up to the last one at the time of the call. The record is
// valid only during the call of f. Read returns ErrDamaged at a damaged record, and ErrGap if from is less than First.
func (l *Log) Read(ctx context.Context, from uint64, f func(number uint64, record []byte) error) error {
	l.mu.Lock()
	segments := append([]segment(nil), l.segments...)
	id, next := l.id, l.next
	l.mu.Unlock()
	if from >= next {
		return nil
	}
	if len(segments) == 0 || segments[0].first > from {
		return fmt.Errorf("wal: read from %d: %w", from, ErrGap)
	}
	for i, s := range segments {
		upTo := next
		if i+1 < len(segments) {
			upTo = segments[i+1].first
		}
		if upTo <= from {
			continue
		}
		r, err := l.openSegment(s, id)
		if err != nil {
			return fmt.Errorf("wal: read %s: %w", s.name, err)
		}
		for err == nil && r.number < upTo {
			if err = context.Cause(ctx); err == nil {
				err = r.next()
			}
			if err == nil && r.number-1 >= from {
				err = f(r.number-1, r.body)
			}
		}
		if closeErr := r.f.Close(); err != nil || closeErr != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: missing record %d", ErrDamaged, r.number)
			}
			return fmt.Errorf("wal: read %s: %w", s.name, errors.Join(err, closeErr))
		}
	}
	return nil
}

// reader reads the records of one segment.
type reader struct {
	f      disk.File
	r      *bufio.Reader
	head   header
	chain  uint32 // checksum that the next record continues: of the last record read, or of the header
	last   uint32 // checksum of the last record read, or of the one before the segment
	number uint64 // of the next record
	at     int64  // offset of the next record
	left   int64  // bytes of the segment from at on
	end    int64  // offset where left ends; only for cursors
	body   []byte // body of the last record read
}

func (l *Log) openSegment(s segment, id [16]byte) (*reader, error) {
	f, err := l.fs.OpenFile(filepath.Join(l.dir, s.name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	r := &reader{f: f, r: bufio.NewReaderSize(f, 256<<10), left: s.size - headerSize, at: headerSize}
	b := make([]byte, headerSize)
	if _, err = io.ReadFull(r.r, b); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(err, f.Close())
	}
	if err != nil {
		b = nil
	}
	r.head, err = decodeHeader(b)
	switch {
	case err != nil:
	case r.head.first != s.first:
		err = fmt.Errorf("%w: its header names record %d as the first", ErrDamaged, r.head.first)
	case id != [16]byte{} && r.head.id != id:
		err = fmt.Errorf("%w: it belongs to another log", ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.chain, r.last = r.head.next(b), r.head.chain
	r.number = r.head.first
	return r, nil
}

// next reads a record. The error is io.EOF at the end of the segment and ErrDamaged for an incomplete or damaged
// record.
func (r *reader) next() error {
	if r.left == 0 {
		return io.EOF
	}
	var head [recordHead]byte
	if r.left < recordHead {
		return fmt.Errorf("%w: record %d at byte %d is truncated", ErrDamaged, r.number, r.at)
	}
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return r.short(err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > MaxRecord || n > r.left-recordHead || binary.LittleEndian.Uint64(head[8:]) != r.number {
		return fmt.Errorf("%w: no record %d at byte %d", ErrDamaged, r.number, r.at)
	}
	if int64(cap(r.body)) < n {
		r.body = make([]byte, n)
	}
	r.body = r.body[:n]
	if _, err := io.ReadFull(r.r, r.body); err != nil {
		return r.short(err)
	}
	sum := binary.LittleEndian.Uint32(head[4:])
	if recordSum(r.chain, head[:], r.body) != sum {
		return fmt.Errorf("%w: record %d at byte %d differs from its checksum", ErrDamaged, r.number, r.at)
	}
	r.chain, r.last = sum, sum
	r.number++
	r.at += recordHead + n
	r.left -= recordHead + n
	return nil
}

func (r *reader) short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: record %d at byte %d is truncated", ErrDamaged, r.number, r.at)
	}
	return err
}

// findEnd finds the end of the whole records in the last segment. It skips a segment with an incomplete header: either
// that segment was just being created, or the tip reveals that records are missing.
func (l *Log) findEnd() error {
	for {
		last := l.segments[len(l.segments)-1]
		r, err := l.openSegment(last, [16]byte{})
		if err == nil {
			return l.scanLast(r)
		}
		if !errors.Is(err, ErrDamaged) {
			return err
		}
		l.opts.Log.Warn("cannot read the last segment of the log", "segment", last.name, "error", err)
		if len(l.segments) == 1 {
			l.next = last.first
			return nil
		}
		l.segments = l.segments[:len(l.segments)-1]
	}
}

// scanLast reads the last segment to the end of its whole records. Those up to the tip are known to be synced.
func (l *Log) scanLast(r *reader) (err error) {
	defer func() { err = errors.Join(err, r.f.Close()) }()
	l.id = r.head.id
	tip := l.readTip()
	for err == nil {
		if err = r.next(); err == nil && r.number <= tip+1 {
			l.synced = r.at
		}
	}
	l.next, l.end, l.chain, l.last = r.number, r.at, r.chain, r.last
	if errors.Is(err, io.EOF) || errors.Is(err, ErrDamaged) { // a torn tail, unless the tip contradicts
		return nil
	}
	return err
}

// Verify reads every segment, not faster than throttle allows, and returns the damage. progress may be nil; it is
// called with the number of bytes read since the last call.
func (l *Log) Verify(ctx context.Context, throttle *disk.Throttle, progress func(n int64)) (found []disk.Damage, err error) {
	l.mu.Lock()
	segments := append([]segment(nil), l.segments...)
	id, next, end, damage := l.id, l.next, l.end, l.failed
	l.mu.Unlock()
	if errors.Is(damage, ErrDamaged) {
		return []disk.Damage{l.damage(segment{}, -1, damage)}, nil
	}
	for i, s := range segments {
		upTo := next
		if i+1 < len(segments) {
			upTo = segments[i+1].first
		} else {
			s.size = end // exclude records appended since
		}
		at, err := l.verifySegment(ctx, s, id, upTo, throttle)
		if progress != nil {
			progress(s.size)
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrDamaged) || errors.Is(err, os.ErrNotExist):
			if l.First() <= s.first { // otherwise it was trimmed meanwhile
				found = append(found, l.damage(s, at, err))
			}
		default:
			return found, fmt.Errorf("wal: verify %s: %w", s.name, err)
		}
	}
	return found, nil
}

func (l *Log) damage(s segment, at int64, err error) disk.Damage {
	return disk.Damage{File: filepath.ToSlash(filepath.Join(filepath.Base(l.dir), s.name)), Offset: at, Why: err.Error(), Found: time.Now()}
}

func (l *Log) verifySegment(ctx context.Context, s segment, id [16]byte, upTo uint64, throttle *disk.Throttle) (at int64, err error) {
	r, err := l.openSegment(s, id)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.f.Close()) }()
	for r.number < upTo {
		before := r.at
		if err := r.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: missing record %d", ErrDamaged, r.number)
			}
			return r.at, err
		}
		if err := throttle.Wait(ctx, int(r.at-before)); err != nil {
			return r.at, err
		}
	}
	if r.left > 0 {
		return r.at, fmt.Errorf("%w: extra bytes after its last record", ErrDamaged)
	}
	return 0, nil
}
