// Package spool holds bytes on their way from the network to the archive: written once, hashed while they are written,
// then read as often as need be, and removed.
//
// Small files stay in memory, larger ones go to temporary files; how much of either is in use at a time is bounded. A
// file belongs to whoever created it until Remove. Nothing here survives the process: New clears what a former one left.
package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

// ErrFull is returned by Write where the spool's total on disk would be exceeded, or the disk has no room.
var ErrFull = errors.New("the spool is full")

// diskError makes ErrFull of what a full disk or quota gives.
func diskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("spool: %w: %w", ErrFull, err)
	}
	return fmt.Errorf("spool: %w", err)
}

// Options of a spool. The zero value keeps 256 KiB of each file in memory and takes at most 8 GiB of disk.
type Options struct {
	MemoryPerFile int   // bytes of one file held in memory before it moves to disk
	Memory        int64 // bytes of all files held in memory; beyond it files move to disk at once
	Disk          int64 // bytes of all files on disk
	Reserve       int64 // bytes of the disk that stay free; 0 = 704 MiB, or 11/32 of a small disk, negative = none
}

const (
	defaultMemoryPerFile = 256 << 10
	defaultMemory        = 64 << 20
	defaultDisk          = 8 << 30
	defaultReserve       = 704 << 20 // less than what a crawl begins with (Room), more than what packs and database want
)

func (o Options) withDefaults() Options {
	if o.MemoryPerFile <= 0 {
		o.MemoryPerFile = defaultMemoryPerFile
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Reserve == 0 {
		o.Reserve = defaultReserve
	}
	if o.Disk <= 0 {
		o.Disk = defaultDisk
	}
	return o
}

// reserved returns ErrFull if the disk has no more room than what stays free.
func (s *Spool) reserved() error {
	if s.opts.Reserve < 0 {
		return nil
	}
	n, total, err := free(s.dir)
	if least := min(s.opts.Reserve, total/32*11); err == nil && n < least {
		return fmt.Errorf("spool: %w: the disk has %d MiB left, and %d MiB stay free", ErrFull, n>>20, least>>20)
	}
	return nil // where the free space is not known, a write that fails will tell
}

// Spool is a directory of files on their way. Its methods may be called concurrently.
type Spool struct {
	dir    string
	opts   Options
	memory atomic.Int64
	disk   atomic.Int64
}

const prefix = "spool-"

// New opens a spool in a directory, which it makes where it is missing and clears of files a former process left. Two
// processes must not share one.
func New(dir string, opts Options) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return nil, fmt.Errorf("spool: clear: %w", err)
		}
	}
	return &Spool{dir: dir, opts: opts.withDefaults()}, nil
}

// Usage in bytes of all files that are not removed yet.
func (s *Spool) Usage() (memory, disk int64) { return s.memory.Load(), s.disk.Load() }
