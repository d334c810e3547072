// Package wal is a write-ahead log: numbered records in segment files, each with a checksum chained to the one before.
//
// A Log is a directory of segments. Append adds one record to the last segment; Sync makes everything appended so far
// durable. Records are numbered from 1 on without gaps. Read hands them out in order, Trim removes old segments, Verify
// compares everything with its checksums.
//
// What was appended and not synced when the machine stops may be torn; Open finds the end of what is whole and cuts off
// what follows. A torn record and a damaged one look alike. So the log keeps a small file beside its segments with the
// number of the last record that was synced, the tip. If the log ends before its tip, records that were acknowledged are
// damaged or missing: Open says so and cuts nothing off.
//
// After a failed write or sync the log accepts nothing more: what the file holds then is unknown until it is opened again.
// The exception is a write that a full disk refused and that could be taken back.
//
// The package does not know what records mean. FORMAT.md describes the files.
package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"odarchive/triplestore/disk"
)

// What a caller may want to decide on.
var (
	// ErrDamaged is in the chain of every error about a record or segment that cannot be read.
	ErrDamaged = errors.New("damaged log")
	// ErrFailed is in the chain of every error of Append and Sync after one of them has failed for good.
	ErrFailed = errors.New("the log has failed")
	// ErrNewer is the error of Open for segments of a newer program.
	ErrNewer = errors.New("the log was written by a newer program")
	// ErrGap is the error of Read if the log begins after the number that was asked for.
	ErrGap = errors.New("the log does not reach back so far")
	// ErrTooBig is the error of Append for a record of more than MaxRecord bytes.
	ErrTooBig = errors.New("log record too big")
)

// MaxRecord is the most bytes a record may have.
const MaxRecord = 64 << 20

// Options of a log. The zero value is good.
type Options struct {
	FS       disk.FS // nil = disk.OS
	Segment  int64   // bytes after which a segment is closed; 0 = 4 MiB
	NoSync   bool    // Sync does nothing: the log survives a kill of the process, not of the machine
	Witness  string  // path of a second tip, outside the log's directory; "" for none
	ReadOnly bool    // nothing is created, cut off or written
	Log      *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.Segment <= 0 {
		o.Segment = 4 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Log is an open log. Read, Verify, Damages and the sizes may be called at any time; Append, Sync, Trim and Reset exclude
// one another.
type Log struct {
	dir  string
	opts Options
	fs   disk.FS

	mu       sync.Mutex  // guards the fields below
	id       [16]byte    // of this log; segments of another one are not read
	segments []segment   // in order; the last one is appended to
	file     disk.File   // of the last segment; nil if read-only or failed
	end      int64       // bytes of the last segment that hold whole records
	synced   int64       // of them, bytes that are known to be durable
	next     uint64      // number of the next record
	chain    uint32      // checksum of the last record
	tips     []disk.File // those that could be opened; the others are done without
	removed  bool        // the last removal of a segment may not be durable yet
	failed   error
	buf      []byte
}

// segment is a file of the log.
type segment struct {
	name  string
	first uint64 // number of its first record
	size  int64  // bytes; of the last one, see Log.end
}

// Found says what Open found.
type Found struct {
	First uint64 // number of the first record that can be read
	Next  uint64 // number behind the last record that can be read
	Tip   uint64 // number of the last record that is known to have been synced; 0 if that is not known
	// Damage says what is wrong with the log: nil, or an error that is ErrDamaged. Records before Next can be read. The
	// log accepts nothing before Reset.
	Damage error
	Empty  bool // there was no log; First and Next are 1 then
}

// Open opens the log in a directory. If there is none, it is only made with Reset. With damage, the log can be read up to
// Found.Next and waits for Reset.
func Open(dir string, o Options) (l *Log, found Found, err error) {
	o = o.withDefaults()
	l = &Log{dir: dir, opts: o, fs: o.FS, next: 1}
	if err := l.list(); err != nil {
		return nil, found, fmt.Errorf("wal: open %s: %w", dir, err)
	}
	if len(l.segments) == 0 {
		return l, Found{First: 1, Next: 1, Empty: true}, nil
	}
	if err := l.findEnd(); err != nil {
		return nil, found, fmt.Errorf("wal: open %s: %w", dir, err)
	}
	found = Found{First: l.segments[0].first, Next: l.next, Tip: l.readTip()}
	if found.Tip >= l.next {
		found.Damage = fmt.Errorf("%w: it ends with record %d, and record %d was written", ErrDamaged, l.next-1, found.Tip)
		l.failed = found.Damage
		return l, found, nil
	}
	if l.end == 0 { // one segment, and not even its head is whole
		found.Damage = fmt.Errorf("%w: segment %s has no whole head", ErrDamaged, l.segments[0].name)
		l.failed = found.Damage
		return l, found, nil
	}
	if o.ReadOnly {
		l.failed = errors.New("wal: opened for reading")
		return l, found, nil
	}
	if err := l.reopen(); err != nil {
		return nil, found, errors.Join(fmt.Errorf("wal: open %s: %w", dir, err), l.Close())
	}
	return l, found, nil
}

// list finds the segments.
func (l *Log) list() error {
	entries, err := l.fs.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries { // in the order of their names, which is that of their numbers
		first, ok := parseName(e.Name())
		if !ok {
			continue
		}
		info, err := l.fs.Stat(filepath.Join(l.dir, e.Name()))
		if err != nil {
			return err
		}
		l.segments = append(l.segments, segment{name: e.Name(), first: first, size: info.Size()})
	}
	return nil
}

// reopen has the last segment ready to be appended to, cut off behind its last whole record.
func (l *Log) reopen() error {
	last := &l.segments[len(l.segments)-1]
	f, err := l.fs.OpenFile(filepath.Join(l.dir, last.name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	l.file = f
	if last.size > l.end {
		l.opts.Log.Info("log cut off behind its last whole record", "segment", last.name, "bytes", last.size-l.end)
		if err := f.Truncate(l.end); err != nil {
			return err
		}
		last.size = l.end
	}
	if err := l.writeAgain(f); err != nil {
		return err
	}
	l.openTips()
	return nil
}

// writeAgain makes durable what is in the file and not known to be, since new records are about to be chained to it. To
// sync it is not enough: if a sync failed before the process ended, the kernel takes what it dropped for written and still
// shows it.
func (l *Log) writeAgain(f disk.File) error {
	b := make([]byte, min(l.end-l.synced, 1<<20))
	for at := l.synced; at < l.end && !l.opts.NoSync; at += int64(len(b)) {
		b = b[:min(l.end-at, int64(len(b)))]
		if _, err := io.ReadFull(io.NewSectionReader(f, at, int64(len(b))), b); err != nil {
			return err
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
	}
	if err := l.fsync(f); err != nil {
		return err
	}
	l.synced = l.end
	if l.opts.NoSync {
		return nil
	}
	return l.fs.SyncDir(l.dir)
}

// ID returns the random id of the log, which Reset renews; zero if there is none yet.
func (l *Log) ID() [16]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// Next returns the number that the next record gets.
func (l *Log) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// First returns the number of the first record that is kept.
func (l *Log) First() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 {
		return l.next
	}
	return l.segments[0].first
}

// Size returns the bytes of all segments.
func (l *Log) Size() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// SizeFrom returns about how many bytes the records from a number on take.
func (l *Log) SizeFrom(number uint64) (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range l.segments {
		if i+1 == len(l.segments) || l.segments[i+1].first > number {
			n += s.size
		}
	}
	return n
}

// Reset drops everything and begins a new log whose first record has a number. The caller has made sure that nobody needs
// the records of before. With keep, files of before stay beside the log under other names.
func (l *Log) Reset(first uint64, keep bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.ReadOnly {
		return errors.New("wal: reset: opened for reading")
	}
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	l.closeTips()
	if err := disk.MakeDir(l.fs, l.dir, 0o755); err != nil {
		return fmt.Errorf("wal: reset: %w", err)
	}
	if _, err := rand.Read(l.id[:]); err != nil {
		return fmt.Errorf("wal: reset: %w", err)
	}
	// The tips go first: without them, what a crash leaves of the old segments is a log that ends early, and the state that
	// the caller has saved is enough.
	for _, path := range l.tipPaths() {
		if err := l.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("wal: reset: %w", err)
		}
	}
	l.segments = nil
	if err := l.list(); err != nil { // also those that Open could not read
		return fmt.Errorf("wal: reset: %w", err)
	}
	for _, s := range l.segments {
		name := filepath.Join(l.dir, s.name)
		var err error
		if keep {
			err = l.fs.Rename(name, name+".damaged")
		} else {
			err = l.fs.Remove(name)
		}
		if err != nil {
			return fmt.Errorf("wal: reset: %w", err)
		}
	}
	l.segments, l.failed, l.next, l.chain = nil, nil, first, 0
	if err := l.begin(); err != nil {
		l.failed = err
		return fmt.Errorf("wal: reset: %w", err)
	}
	l.openTips()
	l.writeTips()
	return nil
}

// begin makes a new last segment.
func (l *Log) begin() error {
	name := segmentName(l.next)
	path := filepath.Join(l.dir, name)
	f, err := l.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	head := header{first: l.next, id: l.id, chain: l.chain}.encode()
	if _, err = f.Write(head); err == nil {
		err = l.fsync(f)
	}
	if err == nil && !l.opts.NoSync {
		err = l.fs.SyncDir(l.dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.segments = append(l.segments, segment{name: name, first: l.next, size: headerSize})
	l.file, l.end, l.synced = f, headerSize, headerSize
	l.chain = binary.LittleEndian.Uint32(head[headerSize-4:])
	return nil
}

// Close syncs, unless the log has failed, and closes the files. It may be called twice.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.file != nil {
		if l.failed == nil {
			if err = l.sync(); err == nil {
				l.writeTips()
			}
		}
		if !l.opts.NoSync {
			err = errors.Join(err, l.syncTips())
		}
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	if l.failed == nil {
		l.failed = errors.New("wal: closed")
	}
	l.closeTips()
	return err
}
