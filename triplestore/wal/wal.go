// Package wal is a write-ahead log: numbered records in segment files. It is this project's own and makes no promise of
// stability to anyone else.
//
// A Log is a directory of segments. Append adds a record to the last segment, and Sync makes everything appended so far
// durable. Records are numbered from 1 without gaps. Read returns them in order, Trim removes old segments, and Verify
// compares everything with its checksums. The checksum of a record includes that of the previous one.
//
// If the machine stops, records that were appended and not synced may be torn. Open truncates the log after its last
// whole record. Since a torn record and a damaged one look alike, the log also keeps the number of the last synced
// record, the tip, in a small file of its own. If the log ends before its tip, acknowledged records are damaged or
// missing: Open reports this and truncates nothing.
//
// After a failed write or sync the log accepts nothing until it is reopened, because the content of the file is
// unknown. The exception is a write that failed because the disk was full and that could be undone.
//
// The package does not interpret records. FORMAT.md describes the files.
package wal

import (
	"cmp"
	"crypto/rand"
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

// Errors that callers may test for.
var (
	// Errors about a record or segment that cannot be read wrap ErrDamaged.
	ErrDamaged = errors.New("damaged log")
	// Errors of Append and Sync wrap ErrFailed after one of them has failed permanently.
	ErrFailed = errors.New("the log has failed")
	// Open returns ErrNewer for segments written by a newer program.
	ErrNewer = errors.New("the log was written by a newer program")
	// Read returns ErrGap if the log begins after the requested number.
	ErrGap = errors.New("the log does not reach back that far")
	// Append returns ErrTooBig for a record of more than MaxRecord bytes.
	ErrTooBig = errors.New("log record too big")
)

// MaxRecord is the maximum length of a record in bytes.
const MaxRecord = 64 << 20

// Options configure a log. The zero value is ready for use.
type Options struct {
	FS       disk.FS      // nil means disk.OS
	Segment  int64        // size in bytes after which a segment is closed; 0 means 4 MiB
	NoSync   bool         // Sync does nothing: the log survives a kill of the process, but not of the machine
	Witness  string       // path of a second tip, outside the log's directory; "" means none
	ReadOnly bool         // create, truncate and write nothing
	Chained  bool         // records come by Chain: Roll begins a segment without a change of the checksums
	Log      *slog.Logger // nil discards
}

func (o Options) withDefaults() Options {
	o.FS = cmp.Or[disk.FS](o.FS, disk.OS{})
	if o.Segment <= 0 {
		o.Segment = 4 << 20
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// Log is an open log. All methods may be called concurrently.
type Log struct {
	dir  string
	opts Options
	fs   disk.FS

	mu       sync.Mutex  // guards the fields below
	id       [16]byte    // of this log; segments with another id are not read
	segments []segment   // in order; records are appended to the last one
	file     disk.File   // of the last segment; nil if read-only or failed
	end      int64       // length of the whole records in the last segment
	synced   int64       // length of those known to be durable
	next     uint64      // number of the next record
	chain    uint32      // checksum that the next one continues: of the last record or of a segment's header
	last     uint32      // checksum of the last record
	tips     []disk.File // open tip files; those that cannot be opened are skipped
	removed  bool        // the last removal of a segment may not be durable yet
	failed   error
	buf      []byte

	durable    uint64 // number of the last record known to be durable
	durableSum uint32
	more       chan struct{} // closed when durable changes; nil if nobody waits
	closed     bool
}

// segment is a file of the log.
type segment struct {
	name  string
	first uint64 // number of its first record
	size  int64  // in bytes; for the last segment, see Log.end
}

// Found is what Open found.
type Found struct {
	First uint64 // number of the first readable record
	Next  uint64 // number after the last readable record
	Tip   uint64 // number of the last record known to be synced; 0 if unknown
	// Damage is nil, or an ErrDamaged that says what is wrong with the log. Records before Next are readable. The log
	// accepts no records until Reset.
	Damage error
	Empty  bool // there is no log; First and Next are 1
}

// Open opens the log in a directory. If there is none, Reset creates it. A damaged log can be read up to Found.Next and
// accepts records after Reset.
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
		found.Damage = fmt.Errorf("%w: it ends with record %d, but record %d was written", ErrDamaged, l.next-1, found.Tip)
		l.failed = found.Damage
		return l, found, nil
	}
	if l.end == 0 { // there is one segment, and even its header is incomplete
		found.Damage = fmt.Errorf("%w: segment %s has an incomplete header", ErrDamaged, l.segments[0].name)
		l.failed = found.Damage
		return l, found, nil
	}
	if o.ReadOnly {
		l.failed = errors.New("wal: read-only")
		return l, found, nil
	}
	if err := l.reopen(); err != nil {
		return nil, found, errors.Join(fmt.Errorf("wal: open %s: %w", dir, err), l.Close())
	}
	return l, found, nil
}

// list lists the segments.
func (l *Log) list() error {
	entries, err := l.fs.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries { // sorted by name and so by number
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

// reopen opens the last segment for appending and truncates it after its last whole record.
func (l *Log) reopen() error {
	last := &l.segments[len(l.segments)-1]
	f, err := l.fs.OpenFile(filepath.Join(l.dir, last.name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	l.file = f
	if last.size > l.end {
		l.opts.Log.Info("log truncated after its last whole record", "segment", last.name, "bytes", last.size-l.end)
		if err := f.Truncate(l.end); err != nil {
			return err
		}
		last.size = l.end
	}
	if err := l.rewrite(f); err != nil {
		return err
	}
	l.noteDurable()
	l.openTips()
	return nil
}

// rewrite makes the records durable that are not known to be, since new records will be chained to them. A sync alone
// is not enough: after a sync that failed before the process ended, the kernel considers the data it dropped as
// written, and still returns it to readers.
func (l *Log) rewrite(f disk.File) error {
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

// ID returns the random id of the log, or zero if there is no log yet. Reset changes it.
func (l *Log) ID() [16]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// Next returns the number of the next record.
func (l *Log) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// First returns the number of the first record in the log.
func (l *Log) First() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 {
		return l.next
	}
	return l.segments[0].first
}

// Size returns the size of all segments in bytes.
func (l *Log) Size() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// SizeFrom returns the approximate size of the records from a number on, in bytes.
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

// Reset deletes all records and starts a new log whose first record has the given number. The caller must not need the
// old records any more. With keep, their segments are renamed instead of deleted.
func (l *Log) Reset(first uint64, keep bool) error { return l.reset(first, keep, nil) }

// reset does the work of Reset, and of Follow with the position that the log continues from.
func (l *Log) reset(first uint64, keep bool, from *Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.ReadOnly {
		return errors.New("wal: reset: read-only")
	}
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	l.closeTips()
	if err := disk.MakeDir(l.fs, l.dir, 0o700); err != nil {
		return fmt.Errorf("wal: reset: %w", err)
	}
	if from != nil {
		l.id = from.Log
	} else if _, err := rand.Read(l.id[:]); err != nil {
		return fmt.Errorf("wal: reset: %w", err)
	}
	// Remove the tips first: without them, old segments that remain after a crash are a log that ends early, and the
	// state that the caller has saved suffices.
	for _, path := range l.tipPaths() {
		if err := l.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("wal: reset: %w", err)
		}
	}
	l.segments = nil
	if err := l.list(); err != nil { // includes segments that Open could not read
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
	l.segments, l.failed, l.next, l.chain, l.last = nil, nil, first, 0, 0
	if from != nil {
		l.last = from.Sum
	}
	if err := l.begin(from != nil); err != nil {
		l.failed = err
		return fmt.Errorf("wal: reset: %w", err)
	}
	l.noteDurable()
	l.openTips()
	l.writeTips()
	return nil
}

// begin creates a new last segment. If within is set, its first record continues the checksum of the record before it,
// as within a segment, and not that of the header.
func (l *Log) begin(within bool) error {
	name := segmentName(l.next)
	path := filepath.Join(l.dir, name)
	f, err := l.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	h := header{first: l.next, id: l.id, chain: l.last, within: within}
	head := h.encode()
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
	l.chain = h.next(head)
	return nil
}

// Close syncs the log, unless it has failed, and closes its files. It may be called twice.
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
	l.wakeReaders()
	l.closed = true
	l.closeTips()
	return err
}
