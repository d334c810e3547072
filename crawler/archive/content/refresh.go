package content

import (
	"context"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Settle brings what Put or Stat once said of many files up to date: the layouts and deflate sizes of those whose segments
// were cut since. Refs without a family are left alone. What had to be worked out anew is kept for the next time.
func (s *Store) Settle(ctx context.Context, refs []*Ref) error {
	snap := s.db.Snapshot()
	defer snap.Close()
	stale, err := staleRefs(snap, refs)
	if err != nil {
		return err
	}
	var fresh []fileRecord
	for i, r := range stale {
		if i%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f, found, err := readFile(snap, r.SHA256)
		if err != nil {
			return err
		}
		if !found { // collected or forgotten; whoever opens it will learn that
			continue
		}
		recorded := f.layout
		if err := s.settle(snap, &f); err != nil {
			return err
		}
		r.Layout, r.DeflateSize = f.layout, f.deflateSize
		if f.layout != recorded {
			fresh = append(fresh, f)
		}
	}
	return s.keepSizes(ctx, fresh)
}

// staleRefs are those of families that were cut since, in one pass over the few families that ever were.
func staleRefs(snap *kv.Snapshot, refs []*Ref) (stale []*Ref, err error) {
	order := slices.Clone(refs)
	slices.SortFunc(order, func(a, b *Ref) int { return int(min(max(int64(a.Family)-int64(b.Family), -1), 1)) })
	families, err := snap.Cursor(refsSpace)
	if err != nil {
		return nil, err
	}
	defer families.Close()
	var family, last uint64 // the first that was cut, of those not below the one that is looked at
	for _, r := range order {
		if r.Family == 0 {
			continue
		}
		if r.Family > family {
			family, last = ^uint64(0), 0
			_, err := families.Seek(numKey(keyFamily, r.Family), func(key, val []byte) error {
				num, ok := keyNumber(key)
				if !ok || key[0] != keyFamily { // there are no more
					return nil
				}
				d := fields.Reader{B: val}
				if family, last = num, d.Uvarint(); d.Bad() {
					return errRecord
				}
				return nil
			})
			if err != nil {
				return nil, recordError(err)
			}
		}
		if r.Family == family && r.Layout != last {
			stale = append(stale, r)
		}
	}
	return stale, nil
}

const sizesPerTxn = 500

// keepSizes writes worked-out sizes into the files' records, unless those know better by now. It is no matter whether
// it can.
func (s *Store) keepSizes(ctx context.Context, files []fileRecord) error {
	for some := range slices.Chunk(files, sizesPerTxn) {
		err := s.db.Update(ctx, func(tx *kv.Txn) error {
			for _, f := range some {
				if err := keepSize(tx, f); err != nil {
					return err
				}
			}
			return nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.log.Debug("sizes not kept", "err", err)
			return nil
		}
	}
	return nil
}

func keepSize(tx *kv.Txn, f fileRecord) error {
	now, found, err := readRuns(tx, f.sha)
	if err != nil || !found || now.layout >= f.layout {
		return err
	}
	now.layout, now.deflateSize = f.layout, f.deflateSize
	return tx.Set(filesSpace, f.sha[:], now.encode(encodeRuns(now.runs)[0]))
}
