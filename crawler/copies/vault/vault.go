// Package vault keeps a copy of an archive in an object store, a second or less behind, from which the archive can be
// restored as it was at any moment of the last days. It also decides which process may write the archive.
//
// A vault is a prefix of a bucket with the records of the database's log (triplestore/wal), state files of the database
// (triplestore/kv), and packs (crawler/archive/content). The bytes that a record names are in the bucket before the
// record is. So whatever part of the log is there can be restored, wherever the copying stopped.
//
//   - A Writer appends records to the log in the bucket. There is one at a time: Take begins an epoch with an object,
//     the fence, in the place where the writer before would put its next one. From then on, that writer's Append fails
//     with ErrFenced, whatever it was doing and however long it was stopped. No clocks are compared for that.
//   - A Keeper copies an archive while it is in use: log, packs, state files; it merges small objects, and deletes what
//     is older than it has to keep.
//   - Open reads what a vault contains, as a History. Its Restore makes a data directory of it, and Verify reads and
//     checks everything.
//
// What is lost if the archive's machine is: without Options.Wait, what was committed since the last Append, at most
// Options.Every and the time of one upload while the object store can be reached. With Options.Wait, a commit is
// acknowledged when it is in the bucket, and nothing that was acknowledged is lost.
//
// FORMAT.md describes the objects. The key of the transparency log is not in a vault.
package vault

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors that callers decide on.
var (
	ErrFenced   = errors.New("another process has become the writer of this archive")
	ErrNotOwner = errors.New("the backup is written by another directory")
	ErrInUse    = errors.New("another process writes the archive with this backup")
	ErrBroken   = errors.New("the backup is damaged")
	ErrNewer    = errors.New("the backup was written by a newer program")
	ErrNoMoment = errors.New("the backup does not have that moment")
	ErrNoVault  = errors.New("there is no backup")
	ErrExists   = errors.New("it exists already")
	ErrBehind   = errors.New("the archive's directory does not continue its backup")
	// ErrParted means that a replica has write sets of a writer that was replaced before they were in the vault.
	ErrParted = errors.New(
		"the replica has write sets of a former writer that the backup lacks: let it follow the present writer, which drops them")
	// ErrOtherArchive means that the vault is that of another archive.
	ErrOtherArchive = errors.New("the backup is that of another archive")
	// ErrUnknownWriter means that the vault has had a writer, and that what says which one is lost.
	ErrUnknownWriter = errors.New(
		"the backup has lost what says which directory writes it; if no other directory does, start this one with --promote")
	// ErrForgotten is an ErrUnknownWriter: the vault names another directory, and does not know the epoch in which the
	// one that asks wrote it.
	ErrForgotten = fmt.Errorf(
		"%w; if another one does, let this one forget the backup ('odarchive backup --detach') and follow that one (--follow)",
		ErrUnknownWriter)
	// ErrNotThere means that a vault which this directory has written is not in its place any more.
	ErrNotThere = errors.New("the backup that this directory has written is not there")
)

// MustNotWrite reports whether an error says that the archive in a directory must not be written, since that in the
// vault is another one, or is written by another process. Another attempt would not mend it.
func MustNotWrite(err error) bool {
	return errors.Is(err, ErrFenced) || errors.Is(err, ErrInUse) || errors.Is(err, ErrNotOwner) || errors.Is(err, ErrBehind) ||
		errors.Is(err, ErrUnknownWriter) || errors.Is(err, ErrOtherArchive)
}

// Holder identifies a data directory, so that two copies of an archive are told apart.
type Holder string

// NewHolder returns a random identity.
func NewHolder() Holder {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return Holder(hex.EncodeToString(b[:]))
}

// Keys of objects. FORMAT.md describes them.
const (
	archiveKey   = "archive.json"
	writerKey    = "writer.json"
	tailDir      = "tail/"
	logDir       = "log/"
	snapshotsDir = "snapshots/"
	packsDir     = "packs/"
	openDir      = "open/"
	droppedDir   = "dropped/"
	filesDir     = "files/"
	damagedDir   = "damaged/" // objects that could not be read, under their former keys

	damagedSuffix = ".damaged"
)

func tailKey(seq uint64) string { return fmt.Sprintf("%s%016d", tailDir, seq) }

func parseTailKey(key string) (seq uint64, ok bool) {
	text, ok := strings.CutPrefix(key, tailDir)
	if !ok || len(text) != 16 {
		return 0, false
	}
	seq, err := strconv.ParseUint(text, 10, 64)
	return seq, err == nil
}

// milli is a time as a vault stores it: milliseconds since 1970.
type milli int64

func milliOf(t time.Time) milli { return milli(t.UnixMilli()) }

func (m milli) time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// span is the name of an object with consecutive records.
type span struct {
	epoch       uint64
	first, last uint64 // numbers of records
	from, to    milli  // their times
	sum         uint32 // checksum of the last record
	before      uint32 // of the one before the first, if sound
	sound       bool   // the object was read with the tail
	clipped     bool   // it has records after the last one that count no more
	level       int    // how often it was merged; 0 for an object of the tail
	key         string
	size        int64
	batch       *batch // what is in the object, if the tailCache has kept it
}

func (s span) name() string {
	return fmt.Sprintf("%s%010d/%020d-%020d-%013d-%013d-%08x-%d", logDir, s.epoch, s.first, s.last, s.from, s.to, s.sum, s.level)
}

func parseSpan(key string, size int64) (s span, ok bool) {
	text, ok := strings.CutPrefix(key, logDir)
	if !ok {
		return s, false
	}
	epoch, name, ok := strings.Cut(text, "/")
	parts := strings.Split(name, "-")
	if !ok || len(parts) != 6 {
		return s, false
	}
	p := parser{}
	s = span{
		epoch: p.uint(epoch, 10), first: p.uint(parts[0], 10), last: p.uint(parts[1], 10), from: milli(p.uint(parts[2], 10)),
		to: milli(p.uint(parts[3], 10)), sum: uint32(p.uint(parts[4], 16)), level: int(p.uint(parts[5], 10)), key: key, size: size,
	}
	return s, !p.failed && s.first > 0 && s.last >= s.first && s.name() == key
}

// snapshot is the name of an object with a state file.
type snapshot struct {
	epoch  uint64
	number uint64
	sum    uint32 // checksum of the record of that number
	at     milli  // when that record was committed
	key    string
	size   int64
}

func (s snapshot) name() string {
	return fmt.Sprintf("%s%010d/%020d-%08x-%013d.state", snapshotsDir, s.epoch, s.number, s.sum, s.at)
}

func parseSnapshot(key string, size int64) (s snapshot, ok bool) {
	text, ok := strings.CutPrefix(key, snapshotsDir)
	text, ok2 := strings.CutSuffix(text, ".state")
	epoch, name, ok3 := strings.Cut(text, "/")
	parts := strings.Split(name, "-")
	if !ok || !ok2 || !ok3 || len(parts) != 3 {
		return s, false
	}
	p := parser{}
	s = snapshot{epoch: p.uint(epoch, 10), number: p.uint(parts[0], 10), sum: uint32(p.uint(parts[1], 16)), at: milli(p.uint(parts[2], 10)),
		key: key, size: size}
	return s, !p.failed && s.name() == key
}

// piece is the name of an object with bytes of a pack that is not, or was not yet, closed.
type piece struct {
	pack   uint64
	epoch  uint64 // of the writer that copied it
	offset int64
	length int64
	crc    uint32 // CRC-32C of the bytes
	key    string
}

func (c piece) name() string {
	return fmt.Sprintf("%s%012d/%010d-%010d-%010d-%08x", openDir, c.pack, c.offset, c.length, c.epoch, c.crc)
}

func parsePiece(key string, size int64) (c piece, ok bool) {
	text, ok := strings.CutPrefix(key, openDir)
	pack, name, ok2 := strings.Cut(text, "/")
	parts := strings.Split(name, "-")
	if !ok || !ok2 || len(parts) != 4 {
		return c, false
	}
	p := parser{}
	c = piece{pack: p.uint(pack, 10), offset: int64(p.uint(parts[0], 10)), length: int64(p.uint(parts[1], 10)), epoch: p.uint(parts[2], 10),
		crc: uint32(p.uint(parts[3], 16)), key: key}
	return c, !p.failed && c.name() == key && c.length == size
}

// wholePack is the name of an object with a closed pack.
type wholePack struct {
	epoch   uint64
	name    string
	damaged bool // it does not match its name
	key     string
	size    int64
}

func wholeKey(epoch uint64, name string, damaged bool) string {
	if damaged {
		name += damagedSuffix
	}
	return fmt.Sprintf("%s%010d/%s", packsDir, epoch, name)
}

func parseWhole(key string, size int64) (w wholePack, ok bool) {
	text, ok := strings.CutPrefix(key, packsDir)
	epoch, name, ok2 := strings.Cut(text, "/")
	p := parser{}
	w = wholePack{epoch: p.uint(epoch, 10), key: key, size: size}
	w.name, w.damaged = strings.CutSuffix(name, damagedSuffix)
	return w, ok && ok2 && !p.failed && packNumber(w.name) > 0 && strings.HasSuffix(w.name, closedSuffix)
}

const (
	closedSuffix = ".pack"
	openSuffix   = ".open"
)

// packNumber returns the number of a pack with this name, 0 if it is not one.
func packNumber(name string) uint64 {
	if len(name) < 12 || !strings.HasSuffix(name, closedSuffix) && !strings.HasSuffix(name, openSuffix) || strings.Contains(name, "/") {
		return 0
	}
	n, err := strconv.ParseUint(name[:12], 10, 48)
	if err != nil {
		return 0
	}
	return n
}

// parser parses numbers in names.
type parser struct{ failed bool }

func (p *parser) uint(text string, base int) uint64 {
	n, err := strconv.ParseUint(text, base, 63)
	p.failed = p.failed || err != nil
	return n
}
