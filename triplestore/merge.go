package triplestore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
)

var errGiveUp = errors.New("a large commit goes first")

// mergeAt is the number of changed quads that start a merge. In a large store a merge touches more blocks, so it waits
// for more.
func (s *Store) mergeAt(st *state) int {
	if s.opts.MergeAt > 0 {
		return s.opts.MergeAt
	}
	return min(max(defaultMergeAt, int(st.base.Rows()/64)), 4*defaultMergeAt)
}

func (s *Store) due(st *state, factor int) bool {
	return st.overlay.Len() >= factor*s.mergeAt(st) || st.dict.Recent.Bytes() >= int64(factor)*mergeTermBytes
}

func (s *Store) mergeIfLarge(st *state) {
	if s.due(st, 1) {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// background merges whenever it is asked to.
func (s *Store) background(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.stall.Lock()
			close(s.merged) // nobody waits any more
			s.stall.Unlock()
			return
		case <-s.wake:
		}
		err := s.tidyNow(ctx)
		if err == nil && s.due(s.current.Load(), 1) {
			err = s.merge(ctx)
		}
		if err == nil {
			err = s.reclaim(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, errGiveUp) {
			s.opts.Log.Error("merging commits into blocks, or giving space back, failed; what is committed is kept", "error", err)
		}
		s.stall.Lock()
		close(s.merged)
		s.merged = make(chan struct{})
		s.stall.Unlock()
	}
}

// waitForMerge holds a commit back while merging has fallen far behind.
func (s *Store) waitForMerge(ctx context.Context) error {
	if !s.due(s.current.Load(), stallFactor) {
		return nil
	}
	s.stall.Lock()
	merged := s.merged
	s.stall.Unlock()
	s.mergeIfLarge(s.current.Load())
	select {
	case <-merged: // or failed, which must not keep anyone from writing
		return nil
	case <-ctx.Done():
		return fmt.Errorf("triplestore: waiting for a merge: %w", context.Cause(ctx))
	}
}

// Merge rewrites blocks so that they hold everything committed before the call. It happens by itself when it is due.
func (s *Store) Merge(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := s.merge(ctx); err != nil {
		return fmt.Errorf("triplestore: merge: %w", err)
	}
	return nil
}

// merge writes the current state's overlay and recent terms into blocks, beside the ones in use, and then replaces the
// root in one small transaction. Commits go on meanwhile.
func (s *Store) merge(ctx context.Context) error {
	ctx, end, err := s.beginMerge(ctx)
	defer end()
	if err != nil {
		return err
	}
	sn := s.Snapshot()
	defer sn.Release()
	st := sn.state
	if st.overlay.Len() == 0 && st.terms == st.dict.Flushed() {
		return nil
	}
	flat := st.overlay.Flat()
	w := &blockWriter{s: s, sn: sn}
	if err := w.addTerms(ctx, st.terms, nil); err != nil {
		return errors.Join(err, w.abandon())
	}
	if err := w.addRows(ctx, index.Turn, flat.Rows, nil); err != nil {
		return errors.Join(err, w.abandon())
	}
	if err := w.prepare(); err != nil {
		return errors.Join(err, w.abandon())
	}
	var installed *state
	err = s.db.Update(ctx, func(kt *kv.Txn) error {
		tip := s.getTip()
		next := *tip
		next.base = w.merged.Base
		next.overlay = tip.overlay.Less(flat)
		next.dict = w.built.View.WithRecent(tip.dict.Recent.From(w.built.View.Flushed()))
		next.graphs = new(graphList)
		if next.overlay.Len() == 0 {
			next.graphs = tip.graphs // the same quads
		}
		next.root = w.root(tip.root, st.position, st.logBytes)
		installed = &next
		return s.install(kt, &next)
	})
	if err != nil {
		return errors.Join(err, w.abandon())
	}
	return s.tidy(ctx, installed)
}

// tidy deletes what the root of a state has made obsolete; there may be a newer one by now. If it does not come to its end,
// the next one, or the next opening, goes on.
func (s *Store) tidy(ctx context.Context, st *state) error {
	if err := sweep(s.db, st.root.lists, s.unswept); err != nil {
		return err
	}
	s.unswept = slices.DeleteFunc(s.unswept, func(list uint64) bool { return slices.Contains(st.root.lists, list) })
	return s.trim(ctx, st)
}

// install writes a state's root and accepts the state. Whoever calls it may hold merging until the commit is on disk, and the
// next writer may be a large commit, which waits for merging.
func (s *Store) install(kt *kv.Txn, next *state) error {
	if err := kt.Set(kv.SpaceTripleMeta, rootKey, next.root.encode()); err != nil {
		return err
	}
	s.accept(kt, next)
	kt.CommitNow()
	return nil
}

// beginMerge takes s.merging for the background's work, which gives up when ctx ends or stopMerge is called.
func (s *Store) beginMerge(ctx context.Context) (context.Context, func(), error) {
	s.merging.Lock()
	ctx, cancel := context.WithCancelCause(ctx)
	s.cancelMu.Lock()
	defer s.cancelMu.Unlock()
	s.cancelMerge = cancel
	end := func() {
		s.cancelMu.Lock()
		s.cancelMerge = nil
		s.cancelMu.Unlock()
		cancel(nil)
		s.merging.Unlock()
	}
	// A large commit that is on its way to the disk has let go of merging. Its blocks are not in the state that readers see,
	// and a merge of that state would write others of the same numbers.
	if s.impatient > 0 || s.getTip().base != s.current.Load().base {
		cancel(errGiveUp)
	}
	return ctx, end, context.Cause(ctx)
}

// stopMerge makes a merge give up and takes s.merging.
func (s *Store) stopMerge() {
	s.cancelMu.Lock()
	s.impatient++
	if s.cancelMerge != nil {
		s.cancelMerge(errGiveUp)
	}
	s.cancelMu.Unlock()
	s.merging.Lock()
	s.cancelMu.Lock()
	s.impatient--
	s.cancelMu.Unlock()
}

// tidyLater has the background delete what a new root made obsolete.
func (s *Store) tidyLater(st *state) {
	s.tidying.Store(st)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) tidyNow(ctx context.Context) error {
	st := s.tidying.Swap(nil)
	if st == nil {
		return nil
	}
	ctx, end, err := s.beginMerge(ctx)
	defer end()
	if err != nil {
		return err // the large commit that goes first will see to it
	}
	return s.tidy(ctx, st)
}

// Limits of the change log, if no other one is set: about as long as the blocks that hold every quad, so that it never
// becomes the greater part of the store, and so that what has been dropped is not kept for its sake.
const (
	keepForQuad = 12 // bytes
	leastKeep   = 1 << 20
	mostKeep    = 1 << 30
)

// keep is how long the change log may be in a state, in bytes; negative for any length.
func (s *Store) keep(st *state) int64 {
	if s.opts.KeepChanges != 0 {
		return s.opts.KeepChanges
	}
	return min(max(leastKeep, keepForQuad*int64(st.base.Rows())), mostKeep)
}

// trim drops the oldest part of the change log if it has grown too long. The caller holds s.merging.
func (s *Store) trim(ctx context.Context, st *state) error {
	keep := s.keep(st)
	excess := st.logBytes - keep
	if keep < 0 || excess <= 0 && st.root.trimmed == 0 {
		return nil
	}
	var keys [][]byte
	var freed int64
	var removed uint64
	upTo := st.root.trimmed
	snap := s.db.Snapshot()
	defer snap.Close()
	err := snap.Scan(kv.SpaceTripleLog, nil, nil, func(key, val []byte) (bool, error) {
		position, part, ok := parseRecordKey(key)
		if !ok {
			return false, fmt.Errorf("%w: log key %x", ErrDamaged, key)
		}
		if position > st.root.merged || position > upTo && part == 0 && freed >= excess {
			return false, nil
		}
		c, _, err := decodeRecord(val)
		if err != nil {
			return false, fmt.Errorf("%w: log record %d, part %d: %w", ErrDamaged, position, part, err)
		}
		if c != nil && position > st.root.trimmed {
			removed += c.removed()
		}
		upTo = max(upTo, position)
		freed += int64(len(val))
		keys = append(keys, slices.Clone(key))
		return len(keys) < 1<<20, ctx.Err()
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	err = s.db.Update(ctx, func(kt *kv.Txn) error {
		tip := s.getTip()
		next := *tip
		r := *tip.root
		r.trimmed = max(r.trimmed, upTo)
		r.removed += removed
		r.logBytes -= freed
		next.logBytes -= freed
		next.root = &r
		return s.install(kt, &next)
	})
	if err != nil {
		return err
	}
	return deleteKeys(s.db, kv.SpaceTripleLog, keys)
}
