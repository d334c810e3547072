package transparency

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// What one transaction of Convert does.
const (
	tilesPerTxn  = 64
	leavesPerTxn = 500
)

// conversion is how far Convert has come: first the parity of full tiles, then references in place of leaves.
type conversion struct {
	tiles int64  // full tiles with parity
	after string // the version that was looked at last
}

func (t Txn) conversion() (c conversion, pending bool, err error) {
	pending, err = t.Read(space, []byte{tableConverting}, func(raw []byte) error {
		r := fields.Reader{B: raw}
		c = conversion{r.Max(maxSize), r.Text()}
		if r.End() != nil {
			c = conversion{} // all steps can be done again
		}
		return nil
	})
	return c, pending, err
}

func (t Txn) setConversion(c conversion) error {
	return t.Set(space, []byte{tableConverting}, fields.AppendText(binary.AppendUvarint(nil, uint64(c.tiles)), c.after))
}

// Convert replaces the leaves of a log that an older program wrote by references, where the record of the version leads to
// the same leaf, and adds what such a log lacks. It returns the number of leaves that it replaced. If there is nothing to
// do, it reads one entry. If it was interrupted, the next call continues, and the log is whole in between. Nothing else may write
// meanwhile.
func Convert(ctx context.Context, db *kv.DB) (replaced int, err error) {
	for done := false; !done; {
		n := 0
		err := db.Update(ctx, func(txn *kv.Txn) (err error) {
			n, done, err = Txn{txn}.convertSome(ctx)
			return err
		})
		if err != nil {
			return replaced, fmt.Errorf("transparency log: convert: %w", err)
		}
		replaced += n
	}
	return replaced, nil
}

// convertSome does the next step.
func (t Txn) convertSome(ctx context.Context) (replaced int, done bool, err error) {
	s, err := t.state()
	if err != nil {
		return 0, true, ignoreDamage(err) // Check reports it
	}
	if s.old {
		return 0, false, t.beginConversion(s)
	}
	c, pending, err := t.conversion()
	if err != nil || !pending {
		return 0, true, err
	}
	if full := s.size / tileWidth; c.tiles < full {
		for end := min(full, c.tiles+tilesPerTxn); c.tiles < end; c.tiles++ {
			if err := t.addTileParity(c.tiles); err != nil {
				return 0, true, err
			}
		}
		return 0, false, t.setConversion(c)
	}
	list := make([]catalog.Version, 0, leavesPerTxn)
	err = records.Txn{Txn: t.Txn}.EachVersion(ctx, c.after, func(v catalog.Version) (bool, error) {
		if v.ID != c.after {
			list = append(list, v)
		}
		return len(list) < leavesPerTxn, nil
	})
	if err != nil {
		return 0, true, err
	}
	for _, v := range list {
		n, err := t.referInstead(v)
		if err != nil {
			return 0, true, err
		}
		replaced += n
		c.after = v.ID
	}
	if len(list) < leavesPerTxn {
		return replaced, true, t.Delete(space, []byte{tableConverting})
	}
	return replaced, false, t.setConversion(c)
}

func ignoreDamage(err error) error {
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}

// beginConversion adds the tree and the parity of the leaves behind the last full tile to the state. From then on older
// programs refuse the log. A leaf that is missing counts as one without bytes: the archive can be opened, and Check
// reports it.
func (t Txn) beginConversion(s state) error {
	now := state{size: s.size - s.size%tileWidth, skew: s.skew}
	for now.size < s.size {
		entry, _, err := t.Get(space, leafKey(now.size))
		if err != nil {
			return err
		}
		now.add(entry)
	}
	if err := t.setState(now); err != nil {
		return err
	}
	return t.setConversion(conversion{})
}

// addTileParity stores the parity of a full tile, unless a leaf is lost.
func (t Txn) addTileParity(n int64) error {
	var parity [LeafLen]byte
	for index := n * tileWidth; index < (n+1)*tileWidth; index++ {
		entry, _, err := t.Get(space, leafKey(index))
		if err != nil {
			return err
		}
		raw, err := t.leaf(entry)
		if _, lost := errors.AsType[*lostError](err); lost {
			return nil
		}
		if err != nil {
			return err
		}
		addParity(&parity, raw)
	}
	return t.Set(space, parityKey(n), parity[:])
}

// referInstead replaces the whole leaves of a version by references, where its record leads to the same.
func (t Txn) referInstead(v catalog.Version) (replaced int, err error) {
	list, err := t.leafIndexes(v.ID)
	if err != nil {
		return 0, err
	}
	for _, index := range list {
		entry, _, err := t.Get(space, leafKey(index))
		if err != nil {
			return replaced, err
		}
		if l, err := ParseLeaf(entry); err != nil || l.N != v.N || l.SHA256 != v.Digests.SHA256 {
			continue
		}
		raw, err := t.derive(v.ID, entry[1])
		if _, lost := errors.AsType[*lostError](err); lost || err == nil && string(raw) != string(entry) {
			continue
		}
		if err != nil {
			return replaced, err
		}
		ref, err := referTo(v.ID, raw)
		if err != nil {
			continue
		}
		if err := t.Set(space, leafKey(index), ref.encode()); err != nil {
			return replaced, err
		}
		replaced++
	}
	return replaced, nil
}
