package content

import (
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/kv"
)

// Number returns the number of the pack. Packs that are made later have higher numbers.
func (p Pack) Number() uint64 { return p.num }

// PacksFrom returns the packs with numbers of at least from that hold something committed, as Packs does.
func (s *Store) PacksFrom(from uint64) ([]Pack, error) { return s.packsFrom(from) }

// Unfinished returns the lowest number of a pack in which something may still be committed. PacksFrom, called
// afterwards, returns everything that will ever be committed in packs with lower numbers. A pack with a higher number
// may be missing there although later packs are not: a big file, or several, can fill it before the first of them is
// committed. Unfinished never waits for a Put, nor for a commit.
func (s *Store) Unfinished() uint64 { return s.tail.lowestWritten() }

// ReadPack reads len(b) bytes of a pack from an offset on. Bytes that are committed never change, whether the pack is
// closed meanwhile or not. Damaged bytes of a closed pack are recovered from its parity, if possible. The error is
// ErrNotFound if the pack was dropped.
func (s *Store) ReadPack(p Pack, b []byte, offset int64) error {
	r, free, err := s.acquireSound(p.num)
	if errors.Is(err, errNoPack) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("content: pack %s: %w", p.Name, err)
	}
	defer free()
	if _, err := io.ReadFull(io.NewSectionReader(r, offset, int64(len(b))), b); err != nil {
		return fmt.Errorf("content: pack %s: %w", p.Name, err)
	}
	return nil
}

// SetKeep makes Compact and GC leave closed packs alone for which keep returns true, by their names: somebody still has
// to copy them. Purge does not ask. nil ends that.
func (s *Store) SetKeep(keep func(name string) bool) {
	if keep == nil {
		s.keep.Store(nil)
		return
	}
	s.keep.Store(&keep)
}

// kept reports whether a pack must not be dropped yet.
func (s *Store) kept(num uint64) bool {
	keep := s.keep.Load()
	return keep != nil && (*keep)(s.packs.nameOf(num))
}

// PacksOf returns the packs that a database needs, by number, with the bytes that it counts.
func PacksOf(db *kv.DB) (map[uint64]int64, error) {
	need := make(map[uint64]int64)
	err := db.View(func(tx *kv.Txn) error {
		return tx.Scan(refsSpace, []byte{keyPack}, nil, func(key, val []byte) (bool, error) {
			num, ok := keyNumber(key)
			if !ok || key[0] != keyPack {
				return false, nil
			}
			rec, err := decodePack(val)
			if err != nil {
				return false, recordError(err)
			}
			need[num] = rec.end
			return true, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	return need, nil
}
