package triplestore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// sweepAt is the minimum number of removed quads that starts an automatic sweep.
const sweepAt = 50_000

// Sweep removes the terms that neither a quad nor the change log uses from the dictionary and returns their number.
// Their ids are not reused, so older snapshots stay valid. Writers wait while Sweep finds the unused terms, about one
// second per million terms; the terms' text is deleted while writers continue. The store sweeps by itself after large
// removals.
//
// With the default limit of the change log, the terms that only the log uses count against it: a log that would keep
// the terms of large removals is trimmed first, oldest commits before others.
func (s *Store) Sweep(ctx context.Context) (terms uint64, err error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	if terms, err = s.forgetTerms(ctx); err == nil {
		err = s.hollow(ctx)
	}
	if err != nil {
		return terms, fmt.Errorf("triplestore: sweep: %w", err)
	}
	return terms, nil
}

// Compact merges commits into blocks, folds all blocks into one tier, and reclaims all unused space. It reads and
// writes the whole database; commits continue for most of the time.
func (s *Store) Compact(ctx context.Context) error {
	if _, err := s.Sweep(ctx); err != nil {
		return err
	}
	if err := s.foldAll(ctx); err != nil {
		return fmt.Errorf("triplestore: compact: %w", err)
	}
	return s.db.Compact()
}

// foldAll folds all blocks into one tier, unless large commits interrupt it too often.
func (s *Store) foldAll(ctx context.Context) error {
	for range foldTries {
		err := s.fold(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errGiveUp) {
			return err
		}
	}
	s.literals.forget()
	s.places.forget()
	return nil
}

// foldTries is how often Compact tries to fold while large commits interrupt it. Tiers that remain are no fault.
const foldTries = 3

// forgetTerms replaces the root by one whose dictionary does not find unused terms. It keeps commits out meanwhile,
// since a commit might use one of them again.
func (s *Store) forgetTerms(ctx context.Context) (forgotten uint64, err error) {
	if err := s.gate.Acquire(ctx, gateUnits); err != nil {
		return 0, err
	}
	defer s.gate.Release(gateUnits)
	if err := s.merge(ctx); err != nil {
		return 0, err
	}
	s.merging.Lock()
	defer s.merging.Unlock()
	used, err := s.markIndex(ctx)
	if err != nil {
		return 0, err
	}
	sn := s.Snapshot()
	defer sn.Release()
	st := sn.state
	if err := sn.markLog(ctx, used); err != nil {
		return 0, err
	}
	if forgotten = st.dict.Unused(used); forgotten == 0 && st.root.removed == 0 {
		return 0, nil
	}
	w := &blockWriter{s: s, sn: sn}
	if forgotten > 0 {
		w.built, err = st.dict.Sweep(ctx, s.db, sn.kv, used, func() uint64 { return s.nextID.Add(1) })
		if err != nil {
			return 0, errors.Join(err, s.db.DeleteKeys(kv.SpaceDict, w.built.Fresh))
		}
	}
	if err := w.prepare(); err != nil {
		return 0, errors.Join(err, w.abandon())
	}
	var next state
	err = s.db.Update(ctx, func(kt *kv.Txn) error {
		next = *st
		if w.built != nil {
			next.dict = w.built.View.WithRecent(st.dict.Recent)
		}
		next.root = w.root(st.root, st.root.merged, st.root.logBytes)
		next.root.removed = 0
		return s.install(kt, &next)
	})
	if err != nil {
		return 0, errors.Join(err, w.abandon())
	}
	return forgotten, s.tidy(ctx, &next)
}

// markIndex returns the numbers of all terms in quads. It trims the change log if that keeps too many others.
func (s *Store) markIndex(ctx context.Context) (dict.Numbers, error) {
	sn := s.Snapshot()
	defer sn.Release()
	st := sn.state
	if st.overlay.Len() > 0 || st.terms != st.dict.Flushed() {
		return nil, errors.New("concurrent commits") // cannot happen: the gate keeps commits out
	}
	used := dict.NewNumbers(st.terms)
	c := sn.index.Layout(index.GSPO)
	defer c.Close()
	for {
		rows, err := c.Next()
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			break
		}
		for _, q := range rows {
			used.AddQuad(q)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if s.opts.KeepChanges != 0 { // the owner of the store has decided how much to keep
		return used, nil
	}
	last, err := sn.logOver(ctx, used, s.maxLog(st))
	if err == nil && last > 0 {
		err = s.trimLog(ctx, st, 0, last)
	}
	return used, err
}

// keepForTerm is what a term that only the change log uses counts against the log's limit, in bytes: about what it
// takes in the dictionary.
const keepForTerm = 16

// logOver returns the position up to which the change log must be trimmed so that its records, together with the terms
// that are not in used, take at most limit bytes. 0 means that it need not be trimmed.
func (sn *Snapshot) logOver(ctx context.Context, used dict.Numbers, limit int64) (uint64, error) {
	var keys [][]byte
	err := sn.kv.Scan(kv.SpaceTripleLog, nil, recordKey(sn.state.root.trimmed+1, 0), func(key, _ []byte) (bool, error) {
		keys = append(keys, slices.Clone(key))
		return true, ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	used = slices.Clone(used)
	size := int64(0)
	for _, key := range slices.Backward(keys) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		_, err := sn.kv.Read(kv.SpaceTripleLog, key, func(val []byte) error {
			size += int64(len(val))
			return eachChange(key, val, func(q term.IDQuad) { size += keepForTerm * int64(used.AddQuad(q)) })
		})
		if err != nil {
			return 0, err
		}
		if size > limit {
			last, _, _ := parseRecordKey(key)
			return last, nil
		}
	}
	return 0, nil
}

// markLog adds the numbers of all terms in the change log to used.
func (sn *Snapshot) markLog(ctx context.Context, used dict.Numbers) error {
	return sn.kv.Scan(kv.SpaceTripleLog, nil, recordKey(sn.state.root.trimmed+1, 0), func(key, val []byte) (bool, error) {
		return true, errors.Join(eachChange(key, val, func(q term.IDQuad) { used.AddQuad(q) }), ctx.Err())
	})
}

// eachChange calls f with the quads of a record of the change log, or of a part of one.
func eachChange(key, val []byte, f func(term.IDQuad)) error {
	c, _, err := decodeRecord(val)
	if err != nil {
		return fmt.Errorf("%w: log record %x: %w", ErrDamaged, key, err)
	}
	if c != nil {
		for _, ch := range c.changes {
			f(ch.Quad)
		}
	}
	return nil
}

// hollow deletes the text of forgotten terms, if any. If interrupted, the next call or the next Open continues.
func (s *Store) hollow(ctx context.Context) error {
	if !s.current.Load().dict.Swept() {
		return nil
	}
	ctx, end, err := s.beginMerge(ctx)
	defer end()
	if err != nil {
		return err
	}
	sn := s.Snapshot()
	defer sn.Release()
	if !sn.state.dict.Swept() {
		return nil
	}
	view, root, err := sn.state.dict.Hollow(ctx, s.db, sn.kv)
	if err != nil {
		return err
	}
	_, err = s.replaceRoot(ctx, func(next *state) {
		next.dict = view.WithRecent(next.dict.Recent)
		r := *next.root
		r.dict = root
		next.root = &r
	})
	return err
}

// reclaim reclaims space after large removals: that of unused terms, and that of deleted entries in the database's
// tables.
func (s *Store) reclaim(ctx context.Context) error {
	st := s.current.Load()
	var forgotten uint64
	if st.root.removed >= max(sweepAt, st.terms/2) {
		var err error
		if forgotten, err = s.Sweep(ctx); err != nil {
			return err
		}
	} else if err := s.hollow(ctx); err != nil {
		return err
	}
	if lost := s.lost.Load(); lost >= max(sweepAt, int64(st.base.Rows()/4)) || forgotten >= max(sweepAt, st.terms/4) {
		s.lost.Add(-lost)
		return s.db.Compact()
	}
	return nil
}
