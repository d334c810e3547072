// Package spool keeps files between the network and the archive. A file is written once and hashed meanwhile, then read
// any number of times, and removed.
//
// Small files stay in memory, larger ones go to temporary files. The total of both is bounded. A file belongs to its
// creator until Remove. Nothing survives the process: New deletes the files of an earlier one.
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

// ErrFull is wrapped by errors of Write if the spool's maximum on disk is reached, or the disk has no room.
var ErrFull = errors.New("the spool is full")

// diskError wraps an error of the file system, and ErrFull if the disk or a quota is full.
func diskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("spool: %w: %w", ErrFull, err)
	}
	return fmt.Errorf("spool: %w", err)
}

// Options of a Spool. The zero value uses the defaults.
type Options struct {
	MemoryPerFile int   // maximum bytes of a file in memory; default 256 KiB
	Memory        int64 // maximum bytes of all files in memory; default 64 MiB
	Disk          int64 // maximum bytes of all files on disk; default 8 GiB
	Reserve       int64 // bytes of the disk that stay free; default 704 MiB, or 11/32 of a small disk; negative for none
}

const (
	defaultMemoryPerFile = 256 << 10
	defaultMemory        = 64 << 20
	defaultDisk          = 8 << 30
	defaultReserve       = 704 << 20 // less than Room wants before a lease, more than packs and database want
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

// checkReserve returns an error that wraps ErrFull if less than the reserve is free.
func (s *Spool) checkReserve() error {
	if s.opts.Reserve < 0 {
		return nil
	}
	n, total, err := Free(s.dir)
	if reserve := min(s.opts.Reserve, total/32*11); err == nil && n < reserve {
		return fmt.Errorf("spool: %w: the disk has %d MiB left, and %d MiB stay free", ErrFull, n>>20, reserve>>20)
	}
	return nil // if the free space is not known, writes may fail
}

// Spool is a directory of spooled files. Its methods may be called concurrently.
type Spool struct {
	dir    string
	opts   Options
	memory atomic.Int64
	disk   atomic.Int64
}

const prefix = "spool-"

// New opens a spool in a directory. It creates the directory if necessary, and deletes the files of an earlier process.
// Two processes must not share a directory.
func New(dir string, opts Options) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
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

// Usage returns the bytes in memory and on disk of all files that are not removed yet.
func (s *Spool) Usage() (memory, disk int64) { return s.memory.Load(), s.disk.Load() }
