package index

import (
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// emitFull writes full blocks and keeps at least enough rows for another one.
func (m *levelMerge) emitFull() error {
	done := 0
	for len(m.buf)-done >= 2*blockRows {
		if err := m.emit(m.buf[done : done+blockRows]); err != nil {
			return err
		}
		done += blockRows
	}
	m.buf = append(m.buf[:0], m.buf[done:]...)
	return nil
}

// flush writes the waiting rows as one or two blocks. If they are too few, it adds the next old block.
func (m *levelMerge) flush() error {
	if n := len(m.buf); n > 0 && n < blockRows/4 && m.i < len(m.old.fences) {
		k := m.i
		rows, err := m.read(k)
		if err != nil {
			return err
		}
		if len(m.rows) > 0 && !m.l.Tuple(rows[len(rows)-1]).Less(m.l.Tuple(m.rows[0])) {
			// The next row belongs in that block, so merge with it first.
			return m.blendInto(k, rows)
		}
		m.buf = append(m.buf, rows...)
		m.replaced(k)
	}
	if err := m.emitFull(); err != nil {
		return err
	}
	n := len(m.buf)
	if n > blockRows*3/2 {
		if err := m.emit(m.buf[:n/2]); err != nil {
			return err
		}
		m.buf = append(m.buf[:0], m.buf[n/2:]...)
	}
	if len(m.buf) > 0 {
		if err := m.emit(m.buf); err != nil {
			return err
		}
	}
	m.buf = m.buf[:0]
	return nil
}

// blendInto merges the rows that belong in old block k with its rows.
func (m *levelMerge) blendInto(k int, rows []term.IDQuad) error {
	var to *Tuple
	if k+1 < len(m.old.fences) {
		to = &m.old.fences[k+1].first
	}
	if err := m.blend(rows, to); err != nil {
		return err
	}
	m.replaced(k)
	return m.flush()
}

// emit writes one block.
func (m *levelMerge) emit(rows []term.IDQuad) error {
	id := m.m.NextID.Add(1)
	if err := m.batch.Set(kv.SpaceTripleIndex, blockKey(id), m.codec.encode(m.l, id, rows)); err != nil {
		return err
	}
	m.fresh = append(m.fresh, blockKey(id))
	f := fence{first: m.l.Tuple(rows[0]), last: m.l.Tuple(rows[len(rows)-1]), id: id}
	var own counts
	own.add(m.differs(f.first))
	prev := f.first
	for _, q := range rows[1:] {
		t := m.l.Tuple(q)
		own.add(differAt(prev, t))
		prev = t
	}
	m.append(f, own, -1)
	return nil
}
