package store

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Compacted is the result of Compact. JSON names are stable.
type Compacted struct {
	Before int64  `json:"before"` // bytes of the data directory
	After  int64  `json:"after"`
	Terms  uint64 `json:"terms"` // removed
	Packs  int    `json:"packs"` // rewritten
}

// Compact returns all unused space to the file system: packs, terms, tables.
func (s *Store) Compact(ctx context.Context) (done Compacted, err error) {
	if done.Before, err = dirBytes(s.Config.Data); err != nil {
		return done, err
	}
	if _, err := s.forgetVisits(ctx); err != nil {
		return done, err
	}
	packs, err := s.Content.Compact(ctx)
	if err != nil {
		return done, err
	}
	done.Packs = packs.Packs
	if _, err := s.Triples.FoldLog(ctx); err != nil {
		return done, err
	}
	if done.Terms, err = s.Triples.Sweep(ctx); err != nil {
		return done, err
	}
	if err := s.DB.Compact(); err != nil {
		return done, err
	}
	done.After, err = dirBytes(s.Config.Data)
	return done, err
}

// dirBytes returns the length of all files below a directory, except for those that the database maps for its latest
// writes, which are mostly holes. Files that disappear meanwhile do not count.
func dirBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains([]string{".mem", ".vlog", ""}, filepath.Ext(d.Name())) {
			return err
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("size of %s: %w", dir, err)
	}
	return n, nil
}
