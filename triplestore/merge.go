package triplestore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
)

var errGiveUp = errors.New("interrupted by a large commit")

// mergeAt returns the number of changed quads that start a merge. It is larger for large stores, where a merge touches
// more blocks.
func (s *Store) mergeAt(st *state) int {
	if s.opts.MergeAt > 0 {
		return s.opts.MergeAt
	}
	return min(max(defaultMergeAt, int(st.base.Rows()/64)), 4*defaultMergeAt)
}

func (s *Store) due(st *state, factor int) bool {
	return st.overlay.Len() >= factor*s.mergeAt(st) || st.dict.Recent.Bytes() >= int64(factor)*mergeTermBytes
}

func (s *Store) mergeIfDue(st *state) {
	if s.due(st, 1) {
		s.wakeBackground()
	}
}

func (s *Store) wakeBackground() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// background merges and tidies up whenever wake says so, until ctx ends.
func (s *Store) background(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.mergedMu.Lock()
			close(s.merged) // releases waiting commits
			s.mergedMu.Unlock()
			return
		case <-s.wake:
		}
		err := s.tidyNow(ctx)
		if err == nil && s.due(s.current.Load(), 1) {
			err = s.merge(ctx)
			s.literals.wake() // before the log is trimmed further
			s.places.wake()
		}
		if err == nil {
			err = s.reclaim(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, errGiveUp) {
			s.opts.Log.Error("cannot merge commits into blocks or reclaim space; commits are kept in the log", "error", err)
		}
		s.mergedMu.Lock()
		close(s.merged)
		s.merged = make(chan struct{})
		s.mergedMu.Unlock()
	}
}

// waitForMerge delays a commit while merging is far behind.
func (s *Store) waitForMerge(ctx context.Context) error {
	if !s.due(s.current.Load(), stallFactor) {
		return nil
	}
	s.mergedMu.Lock()
	merged := s.merged
	s.mergedMu.Unlock()
	s.mergeIfDue(s.current.Load())
	select {
	case <-merged: // or failed, which must not stop writers
		return nil
	case <-ctx.Done():
		return fmt.Errorf("triplestore: waiting for a merge: %w", context.Cause(ctx))
	}
}

// Merge moves everything committed before the call from the log into blocks. It happens by itself when needed.
func (s *Store) Merge(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := s.merge(ctx); err != nil {
		return fmt.Errorf("triplestore: merge: %w", err)
	}
	return nil
}

// merge writes the overlay and the recent terms of the current state into new blocks and then replaces the root in one
// small transaction. Commits continue meanwhile.
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
	if err := w.apply(ctx, flat); err != nil {
		return errors.Join(err, w.abandon())
	}
	if err := w.prepare(); err != nil {
		return errors.Join(err, w.abandon())
	}
	installed, err := s.replaceRoot(ctx, func(next *state) {
		next.base = w.merged.Base
		next.overlay = next.overlay.Less(st.overlay)
		next.dict = w.built.View.WithRecent(next.dict.Recent.From(w.built.View.Flushed()))
		if next.overlay.Len() > 0 { // otherwise the named graphs are the same as before
			next.graphs = new(graphList)
		}
		next.root = w.root(next.root, st.position, st.logBytes)
	})
	if err != nil {
		return errors.Join(err, w.abandon())
	}
	return s.tidy(ctx, installed)
}

// fold moves all quads in blocks into one tier.
func (s *Store) fold(ctx context.Context) error {
	ctx, end, err := s.beginMerge(ctx)
	defer end()
	if err != nil {
		return err
	}
	sn := s.Snapshot()
	defer sn.Release()
	if sn.state.base.Tiers() < 2 {
		return nil
	}
	w := &blockWriter{s: s, sn: sn}
	err = w.merge(func(m *index.Merger, b *index.Base) (*index.Merged, error) { return m.Fold(ctx, b) })
	if err == nil {
		err = w.prepare()
	}
	if err != nil {
		return errors.Join(err, w.abandon())
	}
	installed, err := s.replaceRoot(ctx, func(next *state) {
		next.base = w.merged.Base
		next.root = w.root(next.root, next.root.merged, next.root.logBytes)
	})
	if err != nil {
		return errors.Join(err, w.abandon())
	}
	return s.tidy(ctx, installed)
}

// tidy deletes what the root of st made obsolete; the current root may be newer. If interrupted, the next call or the
// next Open continues.
func (s *Store) tidy(ctx context.Context, st *state) error {
	if err := deleteListed(s.db, st.root.lists, s.unswept); err != nil {
		return err
	}
	s.unswept = slices.DeleteFunc(s.unswept, func(list uint64) bool { return slices.Contains(st.root.lists, list) })
	return s.trim(ctx, st)
}

// replaceRoot installs, in a transaction of its own, what change makes of a copy of the newest state, and returns it.
// The copy shares its root with the newest state, so change must replace the root and not modify it.
func (s *Store) replaceRoot(ctx context.Context, change func(next *state)) (installed *state, err error) {
	err = s.db.Update(ctx, func(kt *kv.Txn) error {
		next := *s.getTip()
		change(&next)
		installed = &next
		return s.install(kt, &next)
	})
	return installed, err
}

// install writes a state's root and accepts the state. It commits at once, without waiting to share a commit: the
// caller may hold merging until then, and the next writer may be a large commit, which waits for merging.
func (s *Store) install(kt *kv.Txn, next *state) error {
	if err := kt.Set(kv.SpaceTripleMeta, rootKey, next.root.encode()); err != nil {
		return err
	}
	s.accept(kt, next)
	kt.CommitNow()
	return nil
}

// beginMerge locks merging for background work and returns a context that ends with ctx or when stopMerge is called.
// The caller must call the returned function, also after an error.
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
	// A large commit that is being written to disk has released merging. Readers do not see its blocks yet, and a merge
	// of the state they see would assign the same numbers again.
	if s.impatient > 0 || s.getTip().base != s.current.Load().base {
		cancel(errGiveUp)
	}
	return ctx, end, context.Cause(ctx)
}

// stopMerge makes a running merge give up and locks merging.
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

// tidyLater makes the background delete what a new root made obsolete.
func (s *Store) tidyLater(st *state) {
	s.tidying.Store(st)
	s.wakeBackground()
}

func (s *Store) tidyNow(ctx context.Context) error {
	st := s.tidying.Swap(nil)
	if st == nil {
		return nil
	}
	ctx, end, err := s.beginMerge(ctx)
	defer end()
	if err != nil {
		return err // the large commit tidies up itself
	}
	return s.tidy(ctx, st)
}

// The default limits of the change log. It may grow to about a quarter of the length of the blocks that hold every
// quad. A quad that is added once takes about four bytes in it, so it reaches back over the last half of what was ever
// added, and dropped quads are not kept long for its sake.
const (
	keepForQuad = 2 // bytes, compressed
	minKeep     = 1 << 20
	maxKeep     = 1 << 30
)

// maxLog returns the maximum size of the change log in bytes; negative means no limit.
func (s *Store) maxLog(st *state) int64 {
	if s.opts.KeepChanges != 0 {
		return s.opts.KeepChanges
	}
	return min(max(minKeep, keepForQuad*int64(st.base.Rows())), maxKeep)
}

// trim deletes the oldest part of the change log if the log is too long. The caller holds merging.
func (s *Store) trim(ctx context.Context, st *state) error {
	maxLog := s.maxLog(st)
	excess := st.logBytes - maxLog
	if maxLog < 0 || excess <= 0 && st.root.trimmed == 0 {
		return nil
	}
	return s.trimLog(ctx, st, excess, 0)
}

// trimLog deletes the oldest commits of the change log: at least excess bytes, all up to position last, and what
// earlier calls left. Of a very long log it deletes only a part. The caller holds merging.
func (s *Store) trimLog(ctx context.Context, st *state, excess int64, last uint64) error {
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
		if position > st.root.merged || position > max(upTo, last) && part == 0 && freed >= excess {
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
	_, err = s.replaceRoot(ctx, func(next *state) {
		r := *next.root
		r.trimmed = max(r.trimmed, upTo)
		r.removed += removed
		r.logBytes -= freed
		next.logBytes -= freed
		next.root = &r
	})
	if err != nil {
		return err
	}
	return s.db.DeleteKeys(kv.SpaceTripleLog, keys)
}
