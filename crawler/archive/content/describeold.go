package content

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"odarchive/triplestore/kv"
)

// stateUndescribed is the state of a store of format 1 whose files are being described: the digest of the last file
// that has its record.
const stateUndescribed = "untold"

// describedPerTxn is the number of files that get their records with one fsync and transaction.
const describedPerTxn = 256

// describeOld writes file and cut records for files that a program without them stored, so that they too can be
// extracted from packs alone. It continues where it was interrupted, and does nothing once it is done.
func (s *Store) describeOld(ctx context.Context) error {
	for {
		from, there, err := s.describedUpTo()
		if err != nil || !there {
			return err
		}
		some, err := s.filesAfter(from)
		if err == nil {
			err = s.describeSome(ctx, some)
		}
		if err != nil {
			return fmt.Errorf("content: describe files in packs: %w", err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func (s *Store) describedUpTo() (from []byte, there bool, err error) {
	err = s.db.View(func(tx *kv.Txn) (err error) {
		there, err = tx.Read(refsSpace, stateKey(stateUndescribed), func(val []byte) error {
			from = bytes.Clone(val)
			return nil
		})
		return err
	})
	return from, there, err
}

// filesAfter returns the next files in the order of their digests.
func (s *Store) filesAfter(from []byte) (list []Digest, err error) {
	snap := s.db.Snapshot()
	defer snap.Close()
	err = snap.Scan(filesSpace, nil, from, func(key, _ []byte) (bool, error) {
		if len(key) == len(Digest{}) && !bytes.Equal(key, from) {
			list = append(list, Digest(key))
		}
		return len(list) < describedPerTxn, nil
	})
	return list, err
}

// describeSome writes the records of some files. An empty list means that all files have theirs.
func (s *Store) describeSome(ctx context.Context, list []Digest) error {
	leave, err := s.tail.enter()
	if err != nil {
		return err
	}
	defer leave()
	w := &segmentWriter{s: s}
	records := make(packDeltas)
	for _, sha := range list {
		if err := s.describeFile(ctx, w, sha, records); err != nil {
			return err
		}
	}
	if err := s.tail.sync(&w.appender); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *kv.Txn) error {
		if err := maps.Clone(records).commit(tx); err != nil {
			return err
		}
		if len(list) == 0 {
			return tx.Delete(refsSpace, stateKey(stateUndescribed))
		}
		last := list[len(list)-1]
		return tx.Set(refsSpace, stateKey(stateUndescribed), last[:])
	})
}

// describeFile writes the record of one file, and those of the cuts in its segments.
func (s *Store) describeFile(ctx context.Context, w *segmentWriter, sha Digest, records packDeltas) error {
	p := &put{s: s, records: records, cuts: make(map[int]*cut)}
	if s.opts.LabelOf != nil {
		p.label = s.opts.LabelOf(ctx, sha)
	}
	snap := s.db.Snapshot()
	defer snap.Close()
	f, found, err := readRuns(snap, sha)
	if errors.Is(err, ErrDamaged) || err == nil && !found {
		return nil
	}
	if err != nil {
		return err
	}
	p.file = f
	reach := make(reached)
	if err := reach.follow(snap, f.runs); err != nil {
		return err
	}
	for num, set := range reach {
		x, err := readExtent(snap, num)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		for i := range x.segments {
			g := &x.segments[i]
			if set&(1<<i) == 0 || g.cut == 0 {
				continue
			}
			parts, err := readExtent(snap, g.parts)
			if err != nil {
				continue
			}
			body := cutRecord{parts: g.parts, pieces: len(parts.segments)}.encode()
			if err := p.appendRecord(w, head{mark: cutMark, extent: num, index: i}, body); err != nil {
				return err
			}
		}
	}
	return p.appendRecords(w)
}
