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

// Compacted says what Compact did.
type Compacted struct {
	Packs int   // dropped
	Freed int64 // bytes that the packs take less
}

// Compact gives the space of cut and collected segments back: of every closed pack with more waste than Options.Waste it
// appends what is still needed to the pack being written, and drops it. Readers go on undisturbed. It costs nothing
// where there is nothing to do.
func (s *Store) Compact(ctx context.Context) (c Compacted, err error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	if err := errors.Join(s.writable(), s.mayDrop()); err != nil {
		return c, err
	}
	if err := s.closeWasteful(); err != nil {
		return c, err
	}
	wasteful, err := s.wasteful(s.tail.settled())
	if err != nil {
		return c, err
	}
	for _, num := range wasteful {
		if err := s.room(); err != nil {
			return c, err
		}
		freed, err := s.rewrite(ctx, num)
		if err != nil {
			return c, fmt.Errorf("content: compact pack %s: %w", s.packs.nameOf(num), err)
		}
		c.Packs++
		c.Freed += freed
	}
	return c, nil
}

// closeWasteful closes the pack that is written if it would be rewritten were it closed.
func (s *Store) closeWasteful() error {
	num := s.tail.current()
	if num == 0 {
		return nil
	}
	var p packRecord
	err := s.db.View(func(tx *kv.Txn) (err error) {
		p, _, err = readPack(tx, num)
		return err
	})
	if err != nil || p.end == 0 {
		return err
	}
	if wasteful, err := s.isWasteful(num, p); err != nil || !wasteful {
		return err
	}
	return s.tail.roll()
}

// wasteful lists the packs below the number before that are worth rewriting.
func (s *Store) wasteful(before uint64) (list []uint64, err error) {
	for _, num := range s.packs.numbers() {
		if num >= before {
			break
		}
		var p packRecord
		err := s.db.View(func(tx *kv.Txn) (err error) {
			p, _, err = readPack(tx, num)
			return err
		})
		if err != nil {
			return nil, err
		}
		if yes, err := s.isWasteful(num, p); err != nil {
			return nil, err
		} else if yes {
			list = append(list, num)
		}
	}
	return list, nil
}

// rewrite moves what is needed out of a closed pack and drops it.
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
	m := &mover{s: s, pack: num, droppable: s.droppable(), told: make(packDeltas)}
	w := &walker{r: r, end: info.Size(), limit: m.nextSegment}
	err = w.walk(func(seg found) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return m.meet(ctx, seg)
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

// mover takes segments from one pack to the end of the one being written.
type mover struct {
	appender
	s         *Store
	pack      uint64
	droppable uint64 // cuts up to this one need their originals no more
	moves     []move
	told      packDeltas // file and cut records that were moved
	bytes     int64
	moved     int64
	last      *extent // that was looked up last
	offsets   []int64 // of everything that the records place in the pack; looked up after damage
}

type move struct {
	extent   uint64
	index    int
	from     int64
	to       place
	original bool // of a cut, dropped
}

const (
	movesAtOnce = 1000
	bytesAtOnce = 8 << 20
)

// meet decides what becomes of a segment.
func (m *mover) meet(ctx context.Context, seg found) error {
	if seg.wrong != "" {
		return m.damaged(seg)
	}
	if seg.mark != segmentMark {
		return m.meetTold(ctx, seg)
	}
	x, err := m.extent(seg.extent)
	if err != nil {
		return err
	}
	if x == nil || seg.index >= len(x.segments) {
		return nil
	}
	g := &x.segments[seg.index]
	if g.pack != m.pack || g.offset != seg.offset { // a Put that failed left it, or it has moved
		return nil
	}
	mv := move{extent: x.num, index: seg.index, from: seg.offset}
	if g.cut != 0 && g.cut <= m.droppable {
		mv.original = true
	} else {
		if mv.to, err = m.s.tail.append(&m.appender, seg.head, seg.bytes[segmentHead:]); err != nil {
			return err
		}
		m.bytes += int64(len(seg.bytes))
	}
	m.moves = append(m.moves, mv)
	if len(m.moves) >= movesAtOnce || m.bytes >= bytesAtOnce {
		return m.commit(ctx)
	}
	return nil
}

// damaged refuses to drop a pack in which something that is needed cannot be read: check and its repair come first.
func (m *mover) damaged(seg found) error {
	if _, err := m.nextSegment(seg.offset - 1); err != nil {
		return err
	}
	if _, needed := slices.BinarySearch(m.offsets, seg.offset); !needed {
		return nil
	}
	return &DamageError{Pack: m.s.packs.nameOf(m.pack), Offset: seg.offset, Why: seg.wrong}
}

// nextSegment finds in the records where the next segment begins.
func (m *mover) nextSegment(after int64) (int64, error) {
	if m.offsets == nil {
		err := m.s.placed(m.pack, func(g *segment, _ uint64, _ int) {
			if g.cut == 0 || g.cut > m.droppable {
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

// placed calls f with every segment that the records place in a pack.
func (s *Store) placed(pack uint64, f func(g *segment, extent uint64, index int)) error {
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

// commit makes what was appended durable, then points the records to it. What has changed meanwhile stays as it is.
func (m *mover) commit(ctx context.Context) error {
	if len(m.moves)+len(m.told) == 0 {
		return nil
	}
	if err := m.s.tail.sync(&m.appender); err != nil {
		return err
	}
	err := m.s.db.Update(ctx, func(tx *kv.Txn) error {
		packs := maps.Clone(m.told)
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
		clear(m.told)
		clear(m.wrote)
	}
	return err
}

// apply changes one extent.
func (m *mover) apply(tx *kv.Txn, moves []move, packs packDeltas) error {
	x, err := readExtent(tx, moves[0].extent)
	if errors.Is(err, ErrDamaged) { // GC has taken it away; a damaged record shows elsewhere
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
		default: // still readable, still waste
			packs.add(g)
			packs.remove(g)
		}
	}
	return setExtents(tx, []*extent{x})
}

// dropPack forgets a pack that no record points to any more, and deletes its file.
func (s *Store) dropPack(ctx context.Context, num uint64) error {
	err := s.db.Update(ctx, func(tx *kv.Txn) error { return tx.Delete(refsSpace, numKey(keyPack, num)) })
	if err != nil {
		return err
	}
	name := s.packs.nameOf(num)
	s.packs.remove(num)
	err = s.fs.Remove(filepath.Join(s.dir, name))
	s.parity.forget(name)
	s.mended(name, "nothing: it was not needed any more")
	return err
}

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
