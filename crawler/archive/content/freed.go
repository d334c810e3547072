package content

import (
	"context"
	"fmt"

	"odarchive/triplestore/kv"
)

// Freed returns how many bytes of packs only some files use, so that the disk gains about as many when all of these
// files are dropped. What they share with other files does not count. Files that are not stored are skipped.
func (s *Store) Freed(ctx context.Context, files []Digest) (bytes int64, err error) {
	families := map[uint64]map[Digest]bool{}
	for _, sha := range files {
		err := s.db.View(func(tx *kv.Txn) error {
			f, found, err := readRuns(tx, sha)
			if err != nil || !found {
				return err
			}
			if families[f.family] == nil {
				families[f.family] = map[Digest]bool{}
			}
			families[f.family][sha] = true
			return context.Cause(ctx)
		})
		if err != nil {
			return 0, fmt.Errorf("content: %s: %w", sha, err)
		}
	}
	for family, gone := range families { // files of different families share nothing
		err := s.db.View(func(tx *kv.Txn) error {
			n, err := freedOf(ctx, tx, family, gone)
			bytes += n
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("content: family %d: %w", family, err)
		}
	}
	return bytes, nil
}

// freedOf is Freed for files of one family.
func freedOf(ctx context.Context, tx *kv.Txn, family uint64, gone map[Digest]bool) (bytes int64, err error) {
	own, others := make(reached), make(reached)
	err = eachFile(tx, &family, func(sha Digest) error {
		f, found, err := readRuns(tx, sha)
		if err != nil || !found {
			return err
		}
		if gone[sha] {
			return own.follow(tx, f.runs)
		}
		if err := others.follow(tx, f.runs); err != nil {
			return err
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return 0, err
	}
	for num, set := range own {
		if set &^= others[num]; set == 0 {
			continue
		}
		x, err := readExtent(tx, num)
		if err != nil {
			return 0, err
		}
		for i := range x.segments {
			if g := &x.segments[i]; set&(1<<i) != 0 && g.pack != 0 && g.cut == 0 { // the bytes of a cut one are in its parts
				bytes += segmentHead + int64(g.deflated)
			}
		}
	}
	return bytes, nil
}
