package content

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"odarchive/triplestore/kv"
)

// untold names the state of a store of format 1 that is being told: the digest of the last file that has its record.
const untold = "untold"

// toldAtOnce is how many files get their records with one fsync and transaction.
const toldAtOnce = 256

// tellOld writes file and cut records for files that were stored before there were any, so that they can be extracted from
// packs alone, too. It goes on where it was interrupted, and does nothing once it is done.
func (s *Store) tellOld(ctx context.Context) error {
	for {
		from, there, err := s.untoldFrom()
		if err != nil || !there {
			return err
		}
		some, err := s.filesAfter(from)
		if err == nil {
			err = s.tellSome(ctx, some)
		}
		if err != nil {
			return fmt.Errorf("content: describe files in packs: %w", err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func (s *Store) untoldFrom() (from []byte, there bool, err error) {
	err = s.db.View(func(tx *kv.Txn) (err error) {
		there, err = tx.Read(refsSpace, stateKey(untold), func(val []byte) error {
			from = bytes.Clone(val)
			return nil
		})
		return err
	})
	return from, there, err
}

var errEnough = errors.New("enough")

// filesAfter lists the next files in the order of their digests.
func (s *Store) filesAfter(from []byte) (list []Digest, err error) {
	snap := s.db.Snapshot()
	defer snap.Close()
	err = snap.Scan(filesSpace, nil, from, func(key, _ []byte) (bool, error) {
		if len(key) == len(Digest{}) && !bytes.Equal(key, from) {
			list = append(list, Digest(key))
		}
		return len(list) < toldAtOnce, nil
	})
	return list, err
}

// tellSome writes the records of some files. No files means that all have theirs.
func (s *Store) tellSome(ctx context.Context, list []Digest) error {
	leave, err := s.tail.enter()
	if err != nil {
		return err
	}
	defer leave()
	w := &segmentWriter{s: s}
	told := make(packDeltas)
	for _, sha := range list {
		if err := s.tellFile(ctx, w, sha, told); err != nil {
			return err
		}
	}
	if err := s.tail.sync(&w.appender); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *kv.Txn) error {
		if err := maps.Clone(told).commit(tx); err != nil {
			return err
		}
		if len(list) == 0 {
			return tx.Delete(refsSpace, stateKey(untold))
		}
		last := list[len(list)-1]
		return tx.Set(refsSpace, stateKey(untold), last[:])
	})
}

// tellFile writes the record of one file, and those of the cuts in its segments.
func (s *Store) tellFile(ctx context.Context, w *segmentWriter, sha Digest, told packDeltas) error {
	p := &put{s: s, told: told, cuts: make(map[int]*cut)}
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
			if err := p.tellOne(w, head{mark: cutMark, extent: num, index: i}, body); err != nil {
				return err
			}
		}
	}
	return p.tell(w)
}
