package kv

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"odarchive/triplestore/disk"
)

// Options configure a database. The zero value is a durable database with modest memory use.
type Options struct {
	InMemory bool // keep nothing on disk; for tests
	NoSync   bool // do not fsync commits: they survive a kill of the process, but not of the machine
	// MemTable is the memory for recent writes, used up to three times; 0 means 32 MiB. A transaction may have 4.5 MiB,
	// or 15 % of it if that is more. While much is written without a pause, building tables takes up to thirty times as
	// much.
	MemTable int64
	// BlockCache is the memory for blocks that are read, in bytes; 0 means 32 MiB. A block in it is neither
	// decompressed nor verified again.
	BlockCache int64
	// free disk space below which writes fail; 0 means 512 MiB or a quarter of a small disk, negative means no limit
	MinFree int64
	Log     *slog.Logger // nil discards
	// MustExist makes Open fail, and create nothing, if there is neither a log nor a state file nor a table.
	MustExist bool
	// ReadOnly opens the database without writing to its directory: while another process writes, on a full disk, or
	// without permission to write. It shows the state at the time of opening. Every write fails with ErrReadOnly.
	ReadOnly bool
	// Replica opens the copy of another database, to which only Apply writes. The directory has a ReplicaFile.
	Replica bool
	// HoldBytes is the maximum size of the log that is kept for readers (see DB.Hold), in bytes; 0 means 256 MiB.
	HoldBytes int64
	// Acknowledge, if not nil, is called after a commit with the number of its write set, or of a later one, and
	// Update, Batch.Flush and DropSpace return when it has returned. It may be called by many goroutines at once, and
	// waits until something outside has the write set; Records returns that at once. Readers see it before that. With
	// an error the caller's write fails with ErrUnacknowledged, although it is committed here. Acknowledge may call
	// StopWrites.
	Acknowledge func(ctx context.Context, number uint64) error
	// SaveAt is the minimum growth of the log, in bytes, before a state file is written; 0 means 4 MiB.
	SaveAt int64
	// Dense compresses tables more, for several times the processor time: for a process that opens the database to
	// compact it. Badger has one encoder, so the first database of a process that writes a table decides for all of
	// them. Any other options read such tables, as fast as others.
	Dense bool
	// Bulk lets more tables wait on level 0, and levels be larger, before they are merged: for a process that writes
	// millions of entries and reads few. It rewrites each of them less often; a read looks into more tables. The next
	// process that opens the database merges what waits.
	Bulk bool
	// FS holds the log and the state files; nil means disk.OS.
	FS disk.FS
	// CacheInMemory keeps Badger in memory; opening replays the state file and the log. For tests.
	CacheInMemory bool
}

const (
	defaultMemTable   = 32 << 20
	defaultBlockCache = 32 << 20
	defaultMinFree    = 512 << 20
)

func (o Options) withDefaults() Options {
	if o.MemTable <= 0 {
		o.MemTable = defaultMemTable
	}
	o.MemTable = max(o.MemTable, 8<<20) // a transaction must hold the largest value
	if o.BlockCache <= 0 {
		o.BlockCache = defaultBlockCache
	}
	if o.HoldBytes <= 0 {
		o.HoldBytes = defaultHoldBytes
	}
	if o.SaveAt <= 0 {
		o.SaveAt = defaultSaveAt
	}
	o.FS = cmp.Or[disk.FS](o.FS, disk.OS{})
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// badgerLog passes Badger's errors and warnings on and drops the rest, also what it says of the cache of blocks each
// minute: a long list, or a compaction, reads more than any cache holds, and there is nothing that a user should do.
// Nor is there if two of its compactions want the same tables, of which one gives way.
type badgerLog struct{ log *slog.Logger }

// ofCaches are the beginnings of warnings about caches.
var ofCaches = []string{"%s might be too small.", "Cache life expectancy"}

func (l badgerLog) Errorf(f string, args ...any) { l.log.Error("badger", "message", text(f, args)) }
func (l badgerLog) Warningf(f string, args ...any) {
	if slices.ContainsFunc(ofCaches, func(begin string) bool { return strings.HasPrefix(f, begin) }) {
		return
	}
	if said := text(f, args); !strings.HasSuffix(said, "Unable to fill tables") {
		l.log.Warn("badger", "message", said)
	}
}
func (l badgerLog) Infof(string, ...any)  {}
func (l badgerLog) Debugf(string, ...any) {}

func text(f string, args []any) string { return strings.TrimSpace(fmt.Sprintf(f, args...)) }
