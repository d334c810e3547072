package content

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Collected is what GC did.
type Collected struct {
	Files    int
	RawBytes int64 // of the files
	Compacted
}

// GC drops the files for which live returns false, and then compacts. It calls live for every file, in no particular
// order. live must return true for every file that a record names. Files that Put returned within the last hour are
// spared, so a Put and the commit that names its file may be separate.
func (s *Store) GC(ctx context.Context, live func(sha [32]byte) bool) (c Collected, err error) {
	if err := s.writable(); err != nil {
		return c, err
	}
	dead, err := s.deadFiles(ctx, live)
	if err != nil {
		return c, fmt.Errorf("content: gc: %w", err)
	}
	for _, sha := range dead {
		size, gone, err := s.collect(ctx, sha)
		if err != nil {
			return c, fmt.Errorf("content: gc: %w", err)
		}
		if gone {
			c.Files++
			c.RawBytes += size
		}
	}
	c.Compacted, err = s.Compact(ctx)
	return c, err
}

// Forget drops a damaged file, even if records name it, so that it can be put again.
func (s *Store) Forget(ctx context.Context, sha [32]byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	s.mu.Lock()
	s.recent.forget(sha)
	s.mu.Unlock()
	_, _, err := s.collect(ctx, sha)
	return err
}

func (s *Store) deadFiles(ctx context.Context, live func([32]byte) bool) (dead []Digest, err error) {
	if s.isClosed() {
		return nil, ErrClosed
	}
	snap := s.db.Snapshot()
	defer snap.Close()
	err = eachFile(snap, nil, func(sha Digest) error {
		if !live(sha) && !s.spared(sha) {
			dead = append(dead, sha)
		}
		return context.Cause(ctx)
	})
	return dead, err
}

func (s *Store) spared(sha Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.has(sha, time.Now())
}

// collect drops one file and the segments that only it uses.
func (s *Store) collect(ctx context.Context, sha Digest) (size int64, gone bool, err error) {
	unlock, err := s.files.lock(ctx, sha)
	if err != nil {
		return 0, false, err
	}
	defer unlock()
	if s.spared(sha) {
		return 0, false, nil
	}
	f, found, err := func() (fileRecord, bool, error) {
		snap := s.db.Snapshot()
		defer snap.Close()
		return readRuns(snap, sha)
	}()
	if err != nil && !errors.Is(err, ErrDamaged) || !found {
		return 0, false, err
	}
	leave, err := s.family.lock(ctx, f.family)
	if err != nil {
		return 0, false, err
	}
	defer leave()
	err = s.db.Update(ctx, func(tx *kv.Txn) error { return s.drop(tx, f) })
	return f.size, err == nil, err
}

func (s *Store) drop(tx *kv.Txn, f fileRecord) error {
	own := make(reached)
	if err := own.follow(tx, f.runs); err != nil {
		return err
	}
	others := make(reached)
	err := eachFile(tx, &f.family, func(sha Digest) error {
		if sha == f.sha {
			return nil
		}
		other, found, err := readRuns(tx, sha)
		if err != nil || !found {
			return err
		}
		return others.follow(tx, other.runs)
	})
	if err != nil {
		return err
	}
	packs := make(packDeltas)
	for num, set := range own {
		if err := dropSegments(tx, num, set&^others[num], packs); err != nil {
			return err
		}
	}
	if err := packs.commit(tx); err != nil {
		return err
	}
	if err := addTotals(tx, -1, -f.size); err != nil {
		return err
	}
	for i := range f.pages {
		if err := tx.Delete(filesSpace, pageKey(f.sha, i)); err != nil {
			return err
		}
	}
	if err := tx.Delete(refsSpace, memberKey(f.family, f.sha)); err != nil {
		return err
	}
	return tx.Delete(filesSpace, f.sha[:])
}

// dropSegments drops some segments of an extent, and the extent if nothing is left of it.
func dropSegments(tx *kv.Txn, num uint64, set uint64, packs packDeltas) error {
	if set == 0 {
		return nil
	}
	x, err := readExtent(tx, num)
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	if err != nil {
		return err
	}
	left := false
	for i := range x.segments {
		g := &x.segments[i]
		if set&(1<<i) != 0 {
			if g.pack != 0 && g.cut == 0 {
				packs.remove(g)
			}
			g.pack, g.offset, g.cut, g.parts = 0, 0, 0, 0
		}
		left = left || g.pack != 0 || g.cut != 0
	}
	if !left {
		return tx.Delete(refsSpace, numKey(keyExtent, num))
	}
	return setExtents(tx, []*extent{x})
}

// reached is a set of segments: by extent, one bit for each segment.
type reached map[uint64]uint64

// follow adds the segments of runs, and the pieces of those that are cut. It skips damaged records.
func (r reached) follow(tx getter, runs []run) error {
	for _, run := range runs {
		for i := run.first; i < run.first+run.n; i++ {
			if err := r.add(tx, run.extent, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r reached) add(tx getter, num uint64, i int) error {
	if r[num]&(1<<i) != 0 {
		return nil
	}
	r[num] |= 1 << i
	x, err := readExtent(tx, num)
	if errors.Is(err, ErrDamaged) || (err == nil && i >= len(x.segments)) {
		return nil
	}
	if err != nil {
		return err
	}
	if x.segments[i].cut == 0 {
		return nil
	}
	parts, err := readExtent(tx, x.segments[i].parts)
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	if err != nil {
		return err
	}
	for k := range parts.segments {
		if err := r.add(tx, parts.num, k); err != nil {
			return err
		}
	}
	return nil
}
