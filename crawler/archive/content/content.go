// Package content keeps the bytes of every version of every file: stored small, never changed, never recompressed.
//
// A file is a sequence of segments. A segment is up to 64 KiB of the file as raw deflate blocks that end on a byte, kept
// in a pack: an append-only file of at most Options.MaxPack bytes that does not change once it is closed. Segments behind
// one another, and then the two bytes 03 00, are a complete deflate stream: a zip entry (method 8) or the body of an HTTP
// answer (gzip) as they stand. Their lengths and the file's CRC-32 are known beforehand.
//
// Put stores a file once, however many versions and addresses it has (SHA-256). Where it is told which file came before at
// the same address, it finds what both have in common, to the byte, and refers to the old segments for it. Where the
// common part ends inside a segment, that segment is cut: its pieces are deflated anew and appended, and its record names
// them from then on. Files that share segments in this way are a family.
//
// What the package promises: when Put returns, the file survives a power failure. What is read has been compared with its
// checksum, or is ErrDamaged. Nothing is overwritten in place, but by the same bytes; Compact and GC copy what is still needed and drop the pack.
// A pack is never cut off below what is sound by its own checksums.
//
// A closed pack has parity beside it (Reed-Solomon, 6.25 %): readers get damaged bytes from there, and Scrub and Mend make
// the pack whole again. Packs say for themselves which files they hold: Salvage lists and extracts them without a
// database. A failed fsync, or a write that failed and cannot be taken back, stops all writes of the database.
//
// The records (files, extents of segments, packs) live in kv; FORMAT.md describes them and the packs. The package does not
// know addresses, versions or media types.
package content

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// What a caller may want to decide on.
var (
	ErrNotFound = errors.New("no such file in the content store")
	ErrDamaged  = errors.New("damaged content")                                           // always a *DamageError
	ErrDiskFull = fmt.Errorf("the disk that holds the packs is full: %w", kv.ErrDiskFull) // nothing was stored
	ErrDigest   = errors.New("the bytes differ from the digests given for them")
	ErrClosed   = errors.New("the content store is closed")
	ErrNewer    = errors.New("the content store was written by a newer program")
)

// Digest is the SHA-256 of a file's bytes, its name here.
type Digest [32]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Ref is a stored file. The deflate size is that of the file's segments; a complete deflate stream has two bytes more
// (Tail). It changes when a later version cuts a segment: Layout numbers these states, and Deflated still gives the
// bytes of an earlier one while a Hold is open.
type Ref struct {
	SHA256      [32]byte
	MD5         [16]byte
	CRC32       uint32 // IEEE, of the raw bytes
	Size        int64  // raw bytes
	DeflateSize int64
	Layout      uint64
	Family      uint64 // of files that share segments; 0 where that is not known
}

// Tail ends the deflate stream that a file's segments begin: an empty final block.
const Tail = "\x03\x00"

// Options of a store. The zero value is good.
type Options struct {
	MaxPack  int64   // bytes of a pack at most; 0 = 64 MiB
	Level    int     // deflate level 1-9; 0 = 1
	MinFree  int64   // bytes of free disk below which Put refuses; 0 = 640 MiB, or 5/16 of a small disk, negative = no limit
	Waste    float64 // share of dead bytes from which Compact rewrites a pack; 0 = 0.2
	NoSync   bool    // do not fsync: survives a kill of the process, not of the machine; for tests and benchmarks
	NoParity bool    // write no parity beside closed packs
	FS       disk.FS // holds the packs; nil = disk.OS
	// LabelOf returns the label (PutOptions.Label) of a file that was stored before packs described their files. Scrub asks
	// for it once. nil, or an empty answer: they get none.
	LabelOf  func(ctx context.Context, sha [32]byte) []byte
	Logger   *slog.Logger
	inMemory int64         // files up to this size are held in memory while they are put
	pause    time.Duration // shortest time from the beginning of one round of Scrub to that of the next; 0 = an hour
}

// defaultLevel takes well under half the time of level 6, for packs that are 2 % larger; BENCHMARKS.md has the figures.
const defaultLevel = 1

// defaultMinFree is more than the database wants to stay free, so that a failed Put can still be recorded.
const defaultMinFree = 640 << 20

func (o Options) withDefaults() Options {
	if o.MaxPack <= 0 {
		o.MaxPack = 64 << 20
	}
	o.MaxPack = max(o.MaxPack, packHead+segmentHead+maxStored)
	if o.Level < 1 || o.Level > 9 {
		o.Level = defaultLevel
	}
	if o.Waste <= 0 {
		o.Waste = 0.2
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.inMemory == 0 {
		o.inMemory = 16 << 20
	}
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.pause == 0 {
		o.pause = time.Hour
	}
	return o
}

// Store is an open content store. All methods may be called concurrently.
type Store struct {
	dir  string
	fs   disk.FS
	db   *kv.DB
	opts Options
	log  *slog.Logger

	fixity disk.Fixity
	packs  *packs  // open pack files, for reading
	parity *shelf  // parity files, and the making of them
	tail   *writer // the pack that is written
	nums   *numbers
	codecs *codecs
	files  keyed[Digest] // one Put of a file at a time
	family keyed[uint64] // one change of a family's segments at a time; taken after files
	sweep  sync.Mutex    // one Compact, GC or Mend at a time

	spooled atomic.Int64 // numbers spool files

	mu     sync.Mutex // guards the fields below
	epoch  uint64     // number of the last committed cut
	holds  map[*hold]uint64
	recent recent // given out by Put lately: GC spares them
	sizes  sizeCache
	closed bool
}

// Open opens the store whose packs lie in dir and whose records lie in db, and makes it if it is missing. It cuts off
// what a crash has left torn at the end of a pack. If the database is read-only, so is the store: nothing in dir changes.
func Open(dir string, db *kv.DB, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{dir: dir, fs: o.FS, db: db, opts: o, log: o.Logger, holds: make(map[*hold]uint64), codecs: newCodecs(o.Level)}
	s.sizes.init()
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("content: open %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) start() (err error) {
	if !s.db.ReadOnly() {
		if err := s.makeDirs(); err != nil {
			return err
		}
		if err := s.emptySpool(); err != nil {
			return err
		}
	}
	if err := checkFormat(s.db); err != nil {
		return err
	}
	if s.epoch, err = readEpoch(s.db); err != nil {
		return err
	}
	s.nums = &numbers{db: s.db}
	s.packs = newPacks(s.fs, s.dir, s.db.ReadOnly())
	if s.parity, err = newShelf(s); err != nil {
		return err
	}
	if s.tail, err = openWriter(s); err != nil {
		return err
	}
	all := s.packs.numbers()
	if len(all) > 0 && !s.db.ReadOnly() {
		if err := s.nums.atLeast(all[len(all)-1] + 1); err != nil {
			return err
		}
	}
	s.parity.start()
	return nil
}

// makeDirs makes the store's folders, durably: a pack is lost with the folder it is in.
func (s *Store) makeDirs() error {
	if _, err := s.fs.Stat(s.dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, s.fs.MkdirAll(filepath.Join(s.dir, spoolDir), 0o755))
	}
	if err := s.fs.MkdirAll(filepath.Join(s.dir, spoolDir), 0o755); err != nil || s.opts.NoSync {
		return err
	}
	return s.fs.SyncDir(filepath.Dir(s.dir))
}

// Close closes the pack that is being written, unfinished as it may be; the next Open goes on with it. Readers that
// are open must not be used any more. It may be called twice.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	err := s.tail.close()
	s.parity.stop()
	return errors.Join(err, s.packs.close())
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Stat looks a file up.
func (s *Store) Stat(sha [32]byte) (Ref, bool, error) {
	var f fileRecord
	var found bool
	err := s.db.View(func(tx *kv.Txn) (err error) {
		if f, found, err = readFile(tx, sha); err != nil || !found {
			return err
		}
		return s.settle(tx, &f)
	})
	if err != nil || !found {
		return Ref{}, false, err
	}
	return f.ref(), true, nil
}

// hold keeps what cuts have replaced since it was made.
type hold struct{ _ byte } // not empty, so that each has an address of its own

// Hold keeps every layout that is current now, or becomes so, readable until release is called: sizes given by Stat
// from now on stay good for Deflated. Release may be called twice.
func (s *Store) Hold() (release func()) {
	h := &hold{}
	s.mu.Lock()
	s.holds[h] = s.epoch
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		delete(s.holds, h)
		s.mu.Unlock()
	}
}

// droppable is the last cut whose original nobody can still ask for.
func (s *Store) droppable() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.epoch
	for _, e := range s.holds {
		oldest = min(oldest, e)
	}
	return oldest
}

// DamageError says where stored bytes are not what was written. It is ErrDamaged.
type DamageError struct {
	Pack   string // file name, "" where the record is damaged
	Offset int64  // of the segment in the pack
	File   Digest // that was being read, zero where no file was
	Why    string
}

func (e *DamageError) Error() string {
	msg := "content: damaged segment in pack " + e.Pack + fmt.Sprintf(" at byte %d: %s", e.Offset, e.Why)
	switch {
	case e.Pack == "":
		msg = "content: damaged record: " + e.Why
	case e.Offset == 0: // a segment has a head of the pack before it
		msg = "content: pack " + e.Pack + ": " + e.Why
	}
	if e.File != (Digest{}) {
		msg += " (file " + e.File.String() + ")"
	}
	return msg
}

// Unwrap makes errors.Is(err, ErrDamaged) true.
func (e *DamageError) Unwrap() error { return ErrDamaged }
