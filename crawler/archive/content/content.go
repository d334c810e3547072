// Package content stores the bytes of every version of every file in little space. Stored bytes never change.
//
// A file is a sequence of segments. A segment is up to 64 KiB of the file as raw deflate blocks that end on a byte
// boundary, in a pack: an append-only file of at most Options.MaxPack bytes that never changes once it is closed. The
// segments of a file in order, and then the two bytes 03 00, are a complete deflate stream: a zip entry (method 8) or
// the body of a gzip HTTP response, without recompression. Their lengths and the file's CRC-32 are known beforehand.
//
// Put stores a file once, however many versions and addresses it has (SHA-256). If the caller names the file that came
// before at the same address, Put finds what the two have in common, to the byte, and refers to the older file's
// segments for it. Where the common part ends inside a segment, that segment is cut: its pieces are deflated again and
// appended, and its record names them from then on. Files that share segments in this way form a family.
//
// When Put returns, the file survives a power failure. What a reader returns has been compared with its checksum;
// otherwise the error is ErrDamaged. Nothing is overwritten in place except by the same bytes. Compact and GC copy what
// is still needed and drop the pack. A pack is never truncated below the end of what its own checksums confirm.
//
// A closed pack has parity beside it (Reed-Solomon, 6.25 %): readers recover damaged bytes from it, and Scrub and Mend
// make the pack whole again. Packs describe the files that they hold, so Salvage lists and extracts files without a
// database. A failed fsync, or a failed write that cannot be undone, stops all writes of the database.
//
// The records of files, extents of segments, and packs are in kv; FORMAT.md describes them and the packs. The package
// does not know addresses, versions or media types.
package content

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/tier"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// Errors that callers decide on.
var (
	ErrNotFound = errors.New("no such file in the content store")
	ErrDamaged  = errors.New("damaged content")                                           // always a *DamageError
	ErrDiskFull = fmt.Errorf("the disk that holds the packs is full: %w", kv.ErrDiskFull) // nothing was stored
	ErrDigest   = errors.New("the bytes differ from the digests given for them")
	ErrClosed   = errors.New("the content store is closed")
	ErrNewer    = errors.New("the content store was written by a newer program")
)

// Digest is the SHA-256 of a file's bytes, which names the file in the store.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Ref describes a stored file. DeflateSize is the size of the file's segments; a complete deflate stream has two bytes
// more (Tail). It changes when a later version cuts a segment: Layout numbers these states, and Deflated still reads an
// earlier one while a Hold is open.
type Ref struct {
	SHA256      [32]byte
	MD5         [16]byte
	CRC32       uint32 // IEEE, of the raw bytes
	Size        int64  // raw bytes
	DeflateSize int64
	Layout      uint64
	Family      uint64 // of files that share segments; 0 if unknown
}

// Tail completes the deflate stream of a file's segments: an empty final block.
const Tail = "\x03\x00"

// Options configure a store. The zero value is ready to use.
type Options struct {
	MaxPack  int64   // maximum size of a pack in bytes; 0 = 64 MiB
	Level    int     // deflate level 1-9; 0 = 1
	MinFree  int64   // bytes of free disk below which Put refuses; 0 = 640 MiB, or 5/16 of a small disk, negative = no limit
	Waste    float64 // share of dead bytes from which Compact rewrites a pack; 0 = 0.2
	NoSync   bool    // do not fsync: survives a kill of the process, not of the machine; for tests and benchmarks
	NoParity bool    // write no parity beside closed packs
	FS       disk.FS // holds the packs; nil = disk.OS

	Remote      bucket.Bucket // holds closed packs and their parity, of which FS is a cache; nil = none
	RemoteCache int64         // bytes of packs in FS that are in Remote, too; 0 = 10 GiB
	RemoteLimit time.Duration // of a read from Remote; 0 = 20 s
	TakeOver    bool          // take Remote from another copy of this store, which is not used any more
	Here        bool          // of a store that is read-only: all packs are in FS, also if those of the writer are in a bucket
	Detach      bool          // fetch all packs from Remote, and use it no more

	Logger *slog.Logger

	remotePause, remoteBackoff time.Duration // as in tier.Options

	inMemory int64         // Put holds files up to this size in memory; 0 = 16 MiB
	pause    time.Duration // minimum time between the starts of two rounds of Scrub; 0 = an hour
}

// defaultLevel takes less than half the time of level 6, for packs that are 2 % larger; see BENCHMARKS.md.
const defaultLevel = 1

// defaultMinFree is more than the database keeps free, so that a failed Put can still be recorded.
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
	dir      string
	fs       disk.FS
	tier     *tier.FS // fs, if closed packs are in a bucket
	followed bool     // tier is the caller's (Follow)
	db       *kv.DB
	opts     Options
	log      *slog.Logger

	fixity disk.Fixity
	packs  *packs // open pack files, for reading
	parity *parityMaker
	tail   *writer // of the current pack
	nums   *numbers
	codecs *codecs
	files  keyLocks[Digest] // held by a Put of the file
	family keyLocks[uint64] // held by a change of the family's segments; taken after files
	sweep  sync.Mutex       // held by a Compact, GC or Mend

	spooled atomic.Int64                           // numbers spool files
	keep    atomic.Pointer[func(name string) bool] // see SetKeep

	mu     sync.Mutex // guards the fields below
	epoch  uint64     // number of the last committed cut
	holds  map[*hold]uint64
	recent recent // files that Put returned lately, which GC spares
	sizes  sizeCache
	closed bool
}

// Open opens the store with its packs in dir and its records in db, and creates it if it does not exist. It truncates
// what a crash left torn at the end of a pack. If the database is read-only, so is the store: nothing in dir changes.
func Open(dir string, db *kv.DB, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{dir: dir, fs: o.FS, db: db, opts: o, log: o.Logger, holds: make(map[*hold]uint64), codecs: newCodecs(o.Level)}
	s.sizes.init()
	if err := s.start(); err != nil {
		if s.tier != nil && !s.followed {
			err = errors.Join(err, s.tier.Close())
		}
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
	if err := checkFormat(s.db, s.opts.Remote != nil || s.opts.Detach || s.opts.Here && s.db.ReadOnly() ||
		followed(s.fs) != nil); err != nil {
		return err
	}
	if err := s.openRemote(); err != nil {
		return err
	}
	if s.epoch, err = readEpoch(s.db); err != nil {
		return err
	}
	s.nums = &numbers{db: s.db}
	s.packs = newPacks(s.fs, s.dir, s.db.ReadOnly())
	if s.parity, err = newParityMaker(s); err != nil {
		return err
	}
	if s.tail, err = openWriter(s); err != nil {
		return err
	}
	all := s.packs.numbers()
	if len(all) > 0 && !s.db.ReadOnly() {
		if err := s.nums.raiseTo(all[len(all)-1] + 1); err != nil {
			return err
		}
	}
	s.parity.start()
	return nil
}

// makeDirs creates the store's folders, durably: a pack is lost with its folder.
func (s *Store) makeDirs() error {
	if _, err := s.fs.Stat(s.dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, s.fs.MkdirAll(filepath.Join(s.dir, spoolDir), 0o700))
	}
	if err := s.fs.MkdirAll(filepath.Join(s.dir, spoolDir), 0o700); err != nil || s.opts.NoSync {
		return err
	}
	return s.fs.SyncDir(filepath.Dir(s.dir))
}

// Close closes the current pack, which the next Open continues. Open readers must not be used afterwards. Close may be
// called twice.
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
	err = errors.Join(err, s.packs.close())
	if s.tier != nil && !s.followed {
		err = errors.Join(err, s.tier.Close())
	}
	return err
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Stat returns the Ref of a file; the bool reports whether it is stored.
func (s *Store) Stat(sha [32]byte) (Ref, bool, error) {
	var f fileRecord
	var found bool
	err := s.db.View(func(tx *kv.Txn) (err error) {
		if f, found, err = readFile(tx, sha); err != nil || !found {
			return err
		}
		return s.refreshSize(tx, &f)
	})
	if err != nil || !found {
		return Ref{}, false, err
	}
	return f.ref(), true, nil
}

// hold keeps the segments that cuts have replaced since it was made.
type hold struct{ _ byte } // not empty, so that each has a different address

// Hold keeps every layout that is or becomes current readable until release is called: Refs that Stat returns from now
// on stay valid for Deflated. release may be called twice.
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

// lastDroppable returns the last cut whose original no Hold keeps.
func (s *Store) lastDroppable() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.epoch
	for _, e := range s.holds {
		oldest = min(oldest, e)
	}
	return oldest
}

// DamageError reports where stored bytes are not what was written. It wraps ErrDamaged.
type DamageError struct {
	Pack   string // file name, "" if a record of the database is damaged
	Offset int64  // of the segment in the pack, 0 if the damage is not in one segment
	File   Digest // the file that was read, zero if none was
	Why    string
}

func (e *DamageError) Error() string {
	msg := "content: damaged segment in pack " + e.Pack + fmt.Sprintf(" at byte %d: %s", e.Offset, e.Why)
	switch {
	case e.Pack == "":
		msg = "content: damaged record: " + e.Why
	case e.Offset == 0: // no segment begins there: the pack's head does
		msg = "content: pack " + e.Pack + ": " + e.Why
	}
	if e.File != (Digest{}) {
		msg += " (file " + e.File.String() + ")"
	}
	return msg
}

// Unwrap makes errors.Is(err, ErrDamaged) true.
func (e *DamageError) Unwrap() error { return ErrDamaged }
