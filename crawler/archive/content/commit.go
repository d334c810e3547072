package content

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"

	"odarchive/triplestore/kv"
)

// write deflates raw, and appends it to the pack and to the extent.
func (w *segmentWriter) write(x *extent, raw []byte) error {
	body, err := w.codec.deflate(raw)
	if err != nil {
		return fmt.Errorf("content: deflate: %w", err)
	}
	return w.add(x, segment{raw: len(raw), deflated: len(body), crc: crc32.ChecksumIEEE(raw)}, body)
}

// add appends a segment with a deflated body to the pack and to the extent.
func (w *segmentWriter) add(x *extent, g segment, body []byte) error {
	at, err := w.s.tail.append(&w.appender, head{extent: x.num, index: len(x.segments), raw: g.raw, deflated: g.deflated, crc: g.crc}, body)
	if err != nil {
		return err
	}
	g.pack, g.offset = at.pack, at.offset
	x.segments = append(x.segments, g)
	return nil
}

func (g *segment) stored() int64 { return segmentHead + int64(g.deflated) }

// extentsPerTxn bounds the extents in one transaction. Very big files have more, which are written before the last one.
const extentsPerTxn = 512

// commit writes the file's record, its extents, the cuts, and the packs' figures, which makes the file visible.
func (p *put) commit(tx *kv.Txn, page []byte) error {
	if len(p.extents) <= extentsPerTxn {
		if err := setExtents(tx, p.extents); err != nil {
			return err
		}
	}
	packs := maps.Clone(p.records)
	for _, x := range p.extents {
		for i := range x.segments {
			packs.add(&x.segments[i])
		}
	}
	if len(p.cuts) > 0 {
		if err := p.commitCuts(tx, packs); err != nil {
			return err
		}
	}
	if p.base != nil {
		last, err := lastCut(tx, p.file.family)
		if err != nil {
			return err
		}
		p.file.layout = last
	}
	if err := packs.commit(tx); err != nil {
		return err
	}
	if err := addTotals(tx, 1, p.file.size); err != nil {
		return err
	}
	if err := tx.Set(refsSpace, memberKey(p.file.family, p.file.sha), nil); err != nil {
		return err
	}
	return tx.Set(filesSpace, p.file.sha[:], p.file.encode(page))
}

// commitAhead writes what does not fit in one transaction. Nothing refers to it until the file's record does.
func (p *put) commitAhead(ctx context.Context, pages [][]byte) error {
	for i, page := range pages[1:] {
		err := p.s.db.Update(ctx, func(tx *kv.Txn) error { return tx.Set(filesSpace, pageKey(p.file.sha, i), page) })
		if err != nil {
			return err
		}
	}
	if len(p.extents) <= extentsPerTxn {
		return nil
	}
	for rest := p.extents; len(rest) > 0; {
		n := min(len(rest), extentsPerTxn)
		if err := p.s.db.Update(ctx, func(tx *kv.Txn) error { return setExtents(tx, rest[:n]) }); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func setExtents(tx *kv.Txn, list []*extent) error {
	for _, x := range list {
		if err := tx.Set(refsSpace, numKey(keyExtent, x.num), x.encode()); err != nil {
			return err
		}
	}
	return nil
}

// commitCuts points the records of cut segments to their pieces, and updates the deflate size of the previous file.
func (p *put) commitCuts(tx *kv.Txn, packs packDeltas) error {
	epoch, err := p.s.newEpoch(tx, p.file.family)
	if err != nil {
		return err
	}
	base := p.base.file // a copy, since the transaction may fail and run again
	changed := make(map[uint64]*extent)
	for _, i := range p.order {
		l := &p.base.leaves[i]
		x := changed[l.extent]
		if x == nil {
			if x, err = readExtent(tx, l.extent); err != nil {
				return err
			}
			changed[l.extent] = x
		}
		g := &x.segments[l.index]
		if g.cut != 0 || g.pack == 0 {
			return fmt.Errorf("segment %d of extent %d changed while its family was locked", l.index, l.extent)
		}
		packs.remove(g)
		g.cut, g.parts = epoch, p.cuts[i].parts.num
		for k := range p.cuts[i].parts.segments {
			base.deflateSize += int64(p.cuts[i].parts.segments[k].deflated)
		}
		base.deflateSize -= int64(g.deflated)
	}
	for _, x := range changed {
		if err := setExtents(tx, []*extent{x}); err != nil {
			return err
		}
	}
	base.layout = epoch
	return tx.Set(filesSpace, base.sha[:], base.encode(encodeRuns(base.runs)[0]))
}

// newEpoch numbers a cut, and records it as the last one of the family.
func (s *Store) newEpoch(tx *kv.Txn, family uint64) (uint64, error) {
	epoch, err := readNumber(tx, stateKey("epoch"))
	if err != nil {
		return 0, err
	}
	epoch++
	number := binary.AppendUvarint(nil, epoch)
	if err := tx.Set(refsSpace, stateKey("epoch"), number); err != nil {
		return 0, err
	}
	tx.OnCommit(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.epoch = max(s.epoch, epoch)
	})
	return epoch, tx.Set(refsSpace, numKey(keyFamily, family), number)
}

func memberKey(family uint64, sha Digest) []byte {
	return append(numKey(keyMember, family), sha[:]...)
}

// packDeltas are the changes that a transaction makes to the packs' figures, by pack.
type packDeltas map[uint64]packRecord

func (d packDeltas) add(g *segment) {
	p := d[g.pack]
	p.live += g.stored()
	p.end = max(p.end, g.offset+g.stored())
	d[g.pack] = p
}

func (d packDeltas) remove(g *segment) {
	p := d[g.pack]
	p.live -= g.stored()
	d[g.pack] = p
}

func (d packDeltas) commit(tx *kv.Txn) error {
	for num, delta := range d {
		p, found, err := readPack(tx, num)
		if err != nil {
			return err
		}
		if !found && delta.end == 0 { // the pack was dropped meanwhile
			continue
		}
		p.end = max(p.end, delta.end)
		p.live += delta.live
		p.records += delta.records
		if err := tx.Set(refsSpace, numKey(keyPack, num), p.encode()); err != nil {
			return err
		}
	}
	return nil
}
