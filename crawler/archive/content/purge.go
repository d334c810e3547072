package content

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Purged is what Purge did.
type Purged struct {
	Files int // that were stored
	Compacted
}

// Purge drops files, even if they are recent or records name them, and rewrites every pack that may hold bytes which
// only they used: their segments, originals of cut segments, and what failed or interrupted Puts have left. When it
// returns without an error, no pack and no parity has such bytes, also none in the bucket. Segments that other files
// share stay.
//
// The caller must see to it that the files are not put again. After an error or a crash, Purge must be repeated with
// the same files, which is not an error although they are no longer stored. It reads the records of all segments, and
// waits for Puts that are in progress. progress, if not nil, is called with the number of packs that are rewritten and
// the number of all that must be. A reader of a purged file that is open may still read it, or fail with ErrDamaged.
func (s *Store) Purge(ctx context.Context, files []Digest, progress func(done, total int)) (p Purged, err error) {
	if err := errors.Join(s.writable(), s.mayDrop()); err != nil {
		return p, err
	}
	for _, sha := range files {
		s.mu.Lock()
		s.recent.forget(sha)
		s.mu.Unlock()
		_, gone, err := s.collect(ctx, sha)
		if err != nil {
			return p, fmt.Errorf("content: purge %s: %w", sha, err)
		}
		if gone {
			p.Files++
		}
	}
	p.Compacted, err = s.rewriteUnknown(ctx, progress)
	if err == nil {
		err = s.flushDeleted(ctx)
	}
	if err != nil {
		return p, fmt.Errorf("content: purge: %w", err)
	}
	return p, nil
}

// rewriteUnknown rewrites the packs with bytes that no record of the database explains. A damaged pack does not keep it
// from rewriting the others.
func (s *Store) rewriteUnknown(ctx context.Context, progress func(done, total int)) (c Compacted, err error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	if err := s.tail.finish(ctx); err != nil {
		return c, err
	}
	list, err := s.unknownIn(ctx, s.tail.lowestWritten())
	if err != nil {
		return c, err
	}
	var damaged []error
	for i, num := range list {
		if progress != nil {
			progress(i, len(list))
		}
		err := s.rewriteInto(ctx, num, &c)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return c, err
		}
		damaged = append(damaged, err)
	}
	if progress != nil {
		progress(len(list), len(list))
	}
	return c, errors.Join(damaged...)
}

// finish closes the current pack, and waits until no Put in progress has written to it or to a lower one.
func (w *writer) finish(ctx context.Context) error {
	w.mu.Lock()
	last := uint64(0)
	if w.p != nil {
		last = w.p.num
	}
	w.mu.Unlock()
	if err := w.closeCurrent(); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond) // nothing tells the end of a Put, and this is rare
	defer tick.Stop()
	for {
		if w.open.lowestInUse() > last {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// unknownIn returns the packs with numbers lower than before that are longer than what records place in them.
func (s *Store) unknownIn(ctx context.Context, before uint64) (list []uint64, err error) {
	known := make(map[uint64]int64) // bytes of each pack
	err = s.db.View(func(tx *kv.Txn) error {
		return eachExtent(tx, func(x *extent) error {
			for i := range x.segments {
				if g := &x.segments[i]; g.pack != 0 {
					known[g.pack] += segmentHead + int64(g.deflated)
				}
			}
			return context.Cause(ctx)
		})
	})
	if err != nil {
		return nil, err
	}
	for _, num := range s.packs.numbers() {
		if num >= before {
			break
		}
		p, _, err := s.packRecord(num)
		if err != nil {
			return nil, err
		}
		h, err := s.packs.acquire(num)
		if err != nil {
			return nil, err
		}
		info, err := h.f.Stat()
		s.packs.release(h)
		if err != nil {
			return nil, err
		}
		if info.Size() > packHead+p.records+known[num] {
			list = append(list, num)
		}
	}
	return list, nil
}
