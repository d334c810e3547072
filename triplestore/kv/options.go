package kv

import (
	"fmt"
	"log/slog"
	"strings"

	"odarchive/triplestore/disk"
)

// Options of a database. The zero value is a durable database of modest memory use.
type Options struct {
	InMemory bool  // nothing on disk; for tests
	NoSync   bool  // do not fsync commits: survives a kill of the process, not of the machine
	MemTable int64 // bytes of recent writes held in memory, at most three times; 0 = 32 MiB. A transaction holds at most 15 % of it
	MinFree  int64 // bytes of free disk below which writes are refused; 0 = 512 MiB, or a quarter of a small disk, negative = no limit
	Log      *slog.Logger
	// MustExist makes Open fail, and make nothing, if there is neither a log nor a state file nor a table.
	MustExist bool
	// ReadOnly opens the database without writing to its directory: beside a process that writes it, on a full disk, or
	// without the right to write. It shows the state at the time of opening. Every write is ErrReadOnly.
	ReadOnly bool
	// SaveAt is how many bytes the log grows at least before a state file is written; 0 = 4 MiB.
	SaveAt int64
	// FS holds the log and the snapshots; nil = disk.OS.
	FS disk.FS
	// CacheInMemory keeps Badger in memory: opening replays everything from the snapshot and the log. For tests.
	CacheInMemory bool
}

const (
	defaultMemTable = 32 << 20
	defaultMinFree  = 512 << 20
)

func (o Options) withDefaults() Options {
	if o.MemTable <= 0 {
		o.MemTable = defaultMemTable
	}
	o.MemTable = max(o.MemTable, 8<<20) // a transaction must hold the largest value
	if o.SaveAt <= 0 {
		o.SaveAt = defaultSaveAt
	}
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// badgerLog passes Badger's own messages on, its chatter as debug messages.
type badgerLog struct{ log *slog.Logger }

func (l badgerLog) Errorf(f string, args ...any)   { l.log.Error("badger", "message", text(f, args)) }
func (l badgerLog) Warningf(f string, args ...any) { l.log.Warn("badger", "message", text(f, args)) }
func (l badgerLog) Infof(string, ...any)           {}
func (l badgerLog) Debugf(string, ...any)          {}

func text(f string, args []any) string { return strings.TrimSpace(fmt.Sprintf(f, args...)) }
