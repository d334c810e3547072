package content

import (
	"cmp"
	"context"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Refresh updates the Layout and DeflateSize of Refs whose segments were cut since Put or Stat returned them. It leaves
// Refs without a family alone. Sizes that it had to compute are saved for the next time.
func (s *Store) Refresh(ctx context.Context, refs []*Ref) error {
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
		if !found { // collected or forgotten: opening it will fail
			continue
		}
		recorded := f.layout
		if err := s.refreshSize(snap, &f); err != nil {
			return err
		}
		r.Layout, r.DeflateSize = f.layout, f.deflateSize
		if f.layout != recorded {
			fresh = append(fresh, f)
		}
	}
	return s.saveSizes(ctx, fresh)
}

// staleRefs returns the Refs whose families were cut since, in one pass over the few families that were ever cut.
func staleRefs(snap *kv.Snapshot, refs []*Ref) (stale []*Ref, err error) {
	order := slices.Clone(refs)
	slices.SortFunc(order, func(a, b *Ref) int { return cmp.Compare(a.Family, b.Family) })
	families, err := snap.Cursor(refsSpace)
	if err != nil {
		return nil, err
	}
	defer families.Close()
	var family, last uint64 // the next family that was cut, and its last cut
	for _, r := range order {
		if r.Family == 0 {
			continue
		}
		if r.Family > family {
			family, last = ^uint64(0), 0
			_, err := families.Seek(numKey(keyFamily, r.Family), func(key, val []byte) error {
				num, ok := keyNumber(key)
				if !ok || key[0] != keyFamily { // no more families
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

// saveSizes writes computed sizes into the files' records, unless those are newer. Failure does no harm.
func (s *Store) saveSizes(ctx context.Context, files []fileRecord) error {
	for some := range slices.Chunk(files, sizesPerTxn) {
		err := s.db.Update(ctx, func(tx *kv.Txn) error {
			for _, f := range some {
				if err := saveSize(tx, f); err != nil {
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

func saveSize(tx *kv.Txn, f fileRecord) error {
	now, found, err := readRuns(tx, f.sha)
	if err != nil || !found || now.layout >= f.layout {
		return err
	}
	now.layout, now.deflateSize = f.layout, f.deflateSize
	return tx.Set(filesSpace, f.sha[:], now.encode(encodeRuns(now.runs)[0]))
}
