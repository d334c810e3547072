package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Trim removes the segments that have only records with numbers up to upTo. The last segment is kept.
func (l *Log) Trim(upTo uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n+1 < len(l.segments) && l.segments[n+1].first <= upTo+1 {
		n++
	}
	for _, s := range l.segments[:n] { // oldest first, so that a crash leaves no gap
		if l.removed && !l.opts.NoSync {
			if err := l.fs.SyncDir(l.dir); err != nil {
				return fmt.Errorf("wal: trim: %w", err)
			}
		}
		if err := l.fs.Remove(filepath.Join(l.dir, s.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("wal: trim: %w", err)
		}
		l.segments, l.removed = l.segments[1:], true
	}
	return nil
}
