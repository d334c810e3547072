package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"odarchive/triplestore/kv"
)

// Compacted is what Compact did.
type Compacted struct {
	Packs int   // dropped
	Freed int64 // bytes on disk
}

// Compact frees the space of cut and collected segments: for every closed pack with more waste than Options.Waste, it
// appends what is still needed to the current pack, and drops the old one. Readers are not disturbed. Compact is quick
// if there is nothing to do.
func (s *Store) Compact(ctx context.Context) (c Compacted, err error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	if err := errors.Join(s.writable(), s.mayDrop()); err != nil {
		return c, err
	}
	if err := s.closeWasteful(); err != nil {
		return c, err
	}
	wasteful, err := s.wasteful(s.tail.lowestWritten())
	if err != nil {
		return c, err
	}
	for _, num := range wasteful {
		if err := s.rewriteInto(ctx, num, &c); err != nil {
			return c, fmt.Errorf("content: compact: %w", err)
		}
	}
	return c, nil
}

// rewriteInto rewrites a pack if there is room for that, and counts it.
func (s *Store) rewriteInto(ctx context.Context, num uint64, c *Compacted) error {
	if err := s.room(); err != nil {
		return err
	}
	freed, err := s.rewrite(ctx, num)
	if err != nil {
		return fmt.Errorf("pack %s: %w", s.packs.nameOf(num), err)
	}
	c.Packs++
	c.Freed += freed
	return nil
}

// closeWasteful closes the current pack if it is worth rewriting.
func (s *Store) closeWasteful() error {
	num := s.tail.current()
	if num == 0 {
		return nil
	}
	p, _, err := s.packRecord(num)
	if err != nil || p.end == 0 {
		return err
	}
	if wasteful, err := s.isWasteful(num, p); err != nil || !wasteful {
		return err
	}
	return s.tail.closeCurrent()
}

// wasteful returns the packs with numbers lower than before that are worth rewriting.
func (s *Store) wasteful(before uint64) (list []uint64, err error) {
	for _, num := range s.packs.numbers() {
		if num >= before {
			break
		}
		p, _, err := s.packRecord(num)
		if err != nil {
			return nil, err
		}
		if yes, err := s.isWasteful(num, p); err != nil {
			return nil, err
		} else if yes && !s.kept(num) {
			list = append(list, num)
		}
	}
	return list, nil
}

// rewrite copies what is needed from a closed pack to the current one, and drops the closed pack.
func (s *Store) rewrite(ctx context.Context, num uint64) (freed int64, err error) {
	h, err := s.packs.acquire(num)
	if err != nil {
		return 0, err
	}
	defer s.packs.release(h)
	info, err := h.f.Stat()
	if err != nil {
		return 0, err
	}
	r, free := s.soundReader(num, h)
	defer free()
	m := &mover{s: s, pack: num, lastDroppable: s.lastDroppable(), records: make(packDeltas)}
	defer m.leave()
	w := &walker{r: r, end: info.Size(), limit: m.nextSegment}
	err = w.walk(func(seg found) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return m.move(ctx, seg)
	})
	if err == nil {
		err = m.commit(ctx)
	}
	if err != nil {
		return 0, err
	}
	if err := s.dropPack(ctx, num); err != nil {
		return 0, err
	}
	return info.Size() - m.moved, nil
}

// mover copies segments from one pack to the end of the current one.
type mover struct {
	appender
	s             *Store
	pack          uint64
	lastDroppable uint64 // the last cut whose original is no longer needed
	moves         []move
	records       packDeltas // the file and cut records that were copied
	bytes         int64
	moved         int64
	entered       func()  // ends that what was appended may be committed; nil if nothing was
	last          *extent // the result of the last look-up
	offsets       []int64 // of the needed segments in the pack; read after damage
}

type move struct {
	extent   uint64
	index    int
	from     int64
	to       place
	original bool // of a cut: it is dropped
}

const (
	movesPerTxn = 1000
	bytesPerTxn = 8 << 20
)

// move copies a segment that is still needed, and plans the change of its record.
func (m *mover) move(ctx context.Context, seg found) error {
	if seg.wrong != "" {
		return m.checkUnneeded(seg)
	}
	if seg.mark != segmentMark {
		return m.moveRecord(ctx, seg)
	}
	x, err := m.extent(seg.extent)
	if err != nil {
		return err
	}
	if x == nil || seg.index >= len(x.segments) {
		return nil
	}
	g := &x.segments[seg.index]
	if g.pack != m.pack || g.offset != seg.offset { // a failed Put left it, or it was moved
		return nil
	}
	mv := move{extent: x.num, index: seg.index, from: seg.offset}
	if g.cut != 0 && g.cut <= m.lastDroppable {
		mv.original = true
	} else {
		if mv.to, err = m.append(seg); err != nil {
			return err
		}
		m.bytes += int64(len(seg.bytes))
	}
	m.moves = append(m.moves, mv)
	if len(m.moves) >= movesPerTxn || m.bytes >= bytesPerTxn {
		return m.commit(ctx)
	}
	return nil
}

// checkUnneeded returns an error if a damaged place is a needed segment: check and its repair come first.
func (m *mover) checkUnneeded(seg found) error {
	if _, err := m.nextSegment(seg.offset - 1); err != nil {
		return err
	}
	if _, needed := slices.BinarySearch(m.offsets, seg.offset); !needed {
		return nil
	}
	return &DamageError{Pack: m.s.packs.nameOf(m.pack), Offset: seg.offset, Why: seg.wrong}
}

// nextSegment returns the offset of the next needed segment after an offset, according to the database.
func (m *mover) nextSegment(after int64) (int64, error) {
	if m.offsets == nil {
		err := m.s.eachSegmentIn(m.pack, func(g *segment, _ uint64, _ int) {
			if g.cut == 0 || g.cut > m.lastDroppable {
				m.offsets = append(m.offsets, g.offset)
			}
		})
		if err != nil {
			return 0, err
		}
		slices.Sort(m.offsets)
	}
	i, there := slices.BinarySearch(m.offsets, after)
	if there {
		i++
	}
	if i < len(m.offsets) {
		return m.offsets[i], nil
	}
	return anySize, nil
}

// eachSegmentIn calls f with every segment that the database places in a pack.
func (s *Store) eachSegmentIn(pack uint64, f func(g *segment, extent uint64, index int)) error {
	return s.db.View(func(tx *kv.Txn) error {
		return eachExtent(tx, func(x *extent) error {
			for i := range x.segments {
				if x.segments[i].pack == pack {
					f(&x.segments[i], x.num, i)
				}
			}
			return nil
		})
	})
}

// extent reads an extent, nil if it does not exist.
func (m *mover) extent(num uint64) (*extent, error) {
	if m.last != nil && m.last.num == num {
		return m.last, nil
	}
	m.last = nil
	err := m.s.db.View(func(tx *kv.Txn) error {
		_, err := tx.Read(refsSpace, numKey(keyExtent, num), func(val []byte) (err error) {
			m.last, err = decodeExtent(num, val)
			return err
		})
		return recordError(err)
	})
	return m.last, err
}

// commit makes what was appended durable, and then points the records to it, except those that changed meanwhile.
func (m *mover) commit(ctx context.Context) error {
	if len(m.moves)+len(m.records) == 0 {
		return nil
	}
	if err := m.s.tail.sync(&m.appender); err != nil {
		return err
	}
	err := m.s.db.Update(ctx, func(tx *kv.Txn) error {
		packs := maps.Clone(m.records)
		for moves := m.moves; len(moves) > 0; {
			n := 1
			for n < len(moves) && moves[n].extent == moves[0].extent {
				n++
			}
			if err := m.apply(tx, moves[:n], packs); err != nil {
				return err
			}
			moves = moves[n:]
		}
		return packs.commit(tx)
	})
	if err == nil {
		m.moved += m.bytes
		m.moves, m.bytes, m.last = m.moves[:0], 0, nil
		clear(m.records)
		clear(m.wrote)
		m.leave()
	}
	return err
}

// append copies a record to the current pack. Until commit, that pack is unfinished.
func (m *mover) append(rec found) (place, error) {
	if m.entered == nil {
		leave, err := m.s.tail.enter()
		if err != nil {
			return place{}, err
		}
		m.entered = leave
	}
	return m.s.tail.append(&m.appender, rec.head, rec.bytes[segmentHead:])
}

// leave says that what was appended is committed, or never will be.
func (m *mover) leave() {
	if m.entered != nil {
		m.entered()
		m.entered = nil
	}
}

// apply points the segments of one extent to their new places.
func (m *mover) apply(tx *kv.Txn, moves []move, packs packDeltas) error {
	x, err := readExtent(tx, moves[0].extent)
	if errors.Is(err, ErrDamaged) { // GC deleted it; a damaged record is reported elsewhere
		return nil
	}
	if err != nil {
		return err
	}
	for _, mv := range moves {
		g := &x.segments[mv.index]
		if g.pack != m.pack || g.offset != mv.from {
			continue
		}
		if g.cut == 0 {
			packs.remove(g)
		}
		g.pack, g.offset = mv.to.pack, mv.to.offset
		switch {
		case mv.original:
			g.pack, g.offset = 0, 0
		case g.cut == 0:
			packs.add(g)
		default: // readable while a Hold lasts, and waste
			packs.add(g)
			packs.remove(g)
		}
	}
	return setExtents(tx, []*extent{x})
}

// dropPack deletes the record and the file of a pack that no record points to.
func (s *Store) dropPack(ctx context.Context, num uint64) error {
	err := s.db.Update(ctx, func(tx *kv.Txn) error { return tx.Delete(refsSpace, numKey(keyPack, num)) })
	if err != nil {
		return err
	}
	name := s.packs.nameOf(num)
	s.packs.remove(num)
	err = s.fs.Remove(filepath.Join(s.dir, name))
	s.parity.remove(name)
	s.mended(name, "nothing: it was no longer needed")
	return err
}

// eachExtent calls f with every extent.
func eachExtent(tx *kv.Txn, f func(*extent) error) error {
	return tx.Scan(refsSpace, []byte{keyExtent}, nil, func(key, val []byte) (bool, error) {
		num, ok := keyNumber(key)
		if !ok {
			return false, &DamageError{Why: fmt.Sprintf("extent key %x", key)}
		}
		x, err := decodeExtent(num, val)
		if err != nil {
			return false, recordError(err)
		}
		return true, f(x)
	})
}
