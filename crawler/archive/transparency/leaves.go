package transparency

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/tlog"
)

// leafTile is the leaves of a tile, or those behind the last full one.
type leafTile struct {
	first  int64    // index
	leaves [][]byte // nil where one is lost
	lost   []lostLeaf
	// sound reports whether all leaves are there, and are those that were logged.
	sound bool
}

// lostLeaf is a leaf that its entry does not lead to.
type lostLeaf struct {
	index  int64
	why    string // ends a sentence that begins with the leaf
	mended bool   // the parity of the tile had it
}

// leafTile reads the leaves of a tile. One that is lost comes back from the parity of the tile.
func (t Txn) leafTile(s state, n int64) (tile leafTile, err error) {
	tile.first = n * tileWidth
	width := int(min(tileWidth, s.size-tile.first))
	if width <= 0 {
		return tile, fmt.Errorf("%w: it has no leaf %d", ErrDamaged, tile.first)
	}
	entries := make([][]byte, width)
	err = t.Scan(space, []byte{tableLeaf}, leafKey(tile.first), func(k, val []byte) (bool, error) {
		at := readIndex(k[1:]) - tile.first
		if len(k) == 1+indexLen && at < int64(width) {
			entries[at] = bytes.Clone(val)
		}
		return at < int64(width), nil
	})
	if err != nil {
		return tile, err
	}
	tile.leaves = make([][]byte, width)
	for i, entry := range entries {
		raw, err := []byte(nil), error(&lostError{"is missing"})
		if entry != nil {
			raw, err = t.leaf(entry)
		}
		if lost, ok := errors.AsType[*lostError](err); ok {
			tile.lost = append(tile.lost, lostLeaf{index: tile.first + int64(i), why: lost.why})
			continue
		}
		if err != nil {
			return tile, err
		}
		tile.leaves[i] = raw
	}
	want, known, err := t.rootOf(s, n)
	if err != nil {
		return tile, err
	}
	switch len(tile.lost) {
	case 0:
		tile.sound = !known || tile.root() == want
	case 1:
		err = t.mendTile(s, n, &tile, want, known)
	}
	return tile, err
}

// rootOf returns the root of the leaves of a tile as it was when they were logged.
func (t Txn) rootOf(s state, n int64) (root tlog.Hash, known bool, err error) {
	if s.size < (n+1)*tileWidth {
		if s.open.size == 0 {
			return root, false, nil
		}
		return s.open.root(), true, nil
	}
	_, err = t.Read(space, hashKey(1, n), func(raw []byte) error {
		copy(root[:], raw) // one that is damaged is not the root of the leaves
		return nil
	})
	return root, true, err
}

func (tile leafTile) root() tlog.Hash {
	var g growing
	for _, raw := range tile.leaves {
		_ = g.add(tlog.RecordHash(raw), func(int, int64, tlog.Hash) error { return nil }) // returns the error of the function
	}
	return g.root()
}

// mendTile computes the only leaf that is lost from the others and their parity.
func (t Txn) mendTile(s state, n int64, tile *leafTile, want tlog.Hash, known bool) error {
	parity, has := s.parity, s.open.size > 0
	if s.size >= (n+1)*tileWidth {
		var err error
		has, err = t.Read(space, parityKey(n), func(raw []byte) error {
			parity = [LeafLen]byte{}
			copy(parity[:], raw)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !has || !known {
		return nil
	}
	at := tile.lost[0].index - tile.first
	for _, raw := range tile.leaves {
		addParity(&parity, raw)
	}
	tile.leaves[at] = parity[:]
	tile.sound = tile.root() == want
	tile.lost[0].mended = tile.sound
	if !tile.sound {
		tile.leaves[at] = nil
	}
	return nil
}

// leavesOf returns the leaves of a tile, as many as the log has. The error is ErrDamaged unless they are those that
// were logged.
func (t Txn) leavesOf(n int64) ([][]byte, error) {
	s, err := t.state()
	if err != nil {
		return nil, err
	}
	tile, err := t.leafTile(s, n)
	switch {
	case err != nil:
		return nil, err
	case !tile.sound && len(tile.lost) > 0:
		return nil, fmt.Errorf("%w: leaf %d %s", ErrDamaged, tile.lost[0].index, tile.lost[0].why)
	case !tile.sound:
		return nil, fmt.Errorf("%w: leaves %d to %d are not those that were logged", ErrDamaged, tile.first,
			tile.first+int64(len(tile.leaves))-1)
	}
	return tile.leaves, nil
}

// leafHashes returns the hashes of the leaves of a tile.
func (t Txn) leafHashes(n int64) ([]tlog.Hash, error) {
	leaves, err := t.leavesOf(n)
	if err != nil {
		return nil, err
	}
	hashes := make([]tlog.Hash, len(leaves))
	for i, raw := range leaves {
		hashes[i] = tlog.RecordHash(raw)
	}
	return hashes, nil
}

// Leaf returns the leaf with an index.
func (t Txn) Leaf(index int64) (l Leaf, err error) {
	raw, err := t.rawLeaf(index)
	if err != nil {
		return l, err
	}
	return ParseLeaf(raw)
}

// rawLeaf returns the leaf with an index as it was logged.
func (t Txn) rawLeaf(index int64) ([]byte, error) {
	entry, ok, err := t.Get(space, leafKey(index))
	if err != nil {
		return nil, err
	}
	if ok {
		raw, err := t.leaf(entry)
		if _, lost := errors.AsType[*lostError](err); !lost {
			return raw, err
		}
	}
	leaves, err := t.leavesOf(index / tileWidth)
	if at := index % tileWidth; err == nil && at < int64(len(leaves)) {
		return leaves[at], nil
	}
	return nil, errors.Join(err, fmt.Errorf("%w: leaf %d is lost", ErrDamaged, index))
}

// Refers reports whether a leaf is stored as a reference to a version.
func (t Txn) Refers(versionID string) (bool, error) {
	list, err := t.leafIndexes(versionID)
	for _, index := range list {
		entry, _, err := t.Get(space, leafKey(index))
		if err != nil {
			return false, err
		}
		if ref, err := parseReference(entry); err == nil && ref.version() == versionID {
			return true, nil
		}
	}
	return false, err
}

// KeepWhole stores whole leaves in place of the references to a version, in the transaction that is about to remove a
// record that leads to them, or can no longer be read. Leaves that are lost stay lost.
func (t Txn) KeepWhole(versionID string) error {
	list, err := t.leafIndexes(versionID)
	if err != nil {
		return err
	}
	for _, index := range list {
		entry, ok, err := t.Get(space, leafKey(index))
		if err != nil {
			return err
		}
		if ref, err := parseReference(entry); !ok || err != nil || ref.version() != versionID {
			continue
		}
		raw, err := t.rawLeaf(index)
		if err == nil {
			err = t.Set(space, leafKey(index), raw)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	return nil
}

// Mend stores the leaves that their entries no longer lead to, and that the parity of their tiles has. It returns their
// number.
func Mend(ctx context.Context, db *kv.DB) (mended int, err error) {
	for n := int64(0); ; n++ {
		if ctx.Err() != nil {
			return mended, context.Cause(ctx)
		}
		var tile leafTile
		more := false
		err := View(db, func(t Txn) error {
			s, err := t.state()
			if more = n*tileWidth < s.size; err == nil && more {
				tile, err = t.leafTile(s, n)
			}
			return err
		})
		if err != nil || !more {
			return mended, err
		}
		for _, l := range tile.lost {
			if !l.mended {
				continue
			}
			raw := tile.leaves[l.index-tile.first] // a leaf never changes
			if err := db.Update(ctx, func(txn *kv.Txn) error { return txn.Set(space, leafKey(l.index), raw) }); err != nil {
				return mended, err
			}
			mended++
		}
	}
}
