package index

// Count returns the exact number of quads in a range.
func (s *State) Count(r Range) (int, error) {
	n, err := s.storedIn(r)
	return n + s.Overlay.Net(r), err
}

// storedIn counts the blocks' rows in a range.
func (s *State) storedIn(r Range) (n int, err error) {
	for _, t := range s.Base.all() {
		c, err := s.counts(t, r)
		if err != nil {
			return 0, err
		}
		n += int(c.rows)
	}
	return n, nil
}

// counts returns the counts of a tier's rows in a range. The first row of the range counts as different.
func (s *State) counts(t *tier, r Range) (counts, error) {
	l := &t.levels[r.Layout]
	from, to := l.blocks(r)
	if from == to {
		return counts{}, nil
	}
	// The first and the last block may extend beyond the range.
	first, last := l.fences[from].first.Less(r.From), !r.open() && !l.fences[to-1].last.Less(r.To)
	if !first && !last {
		return l.upTo(to).minus(l.upTo(from)), nil
	}
	if c, ok := t.counted.get(r); ok {
		return c, nil
	}
	c, err := s.countEnds(l, r, from, to, first, last)
	if err == nil {
		t.counted.put(r, c)
	}
	return c, err
}

// countEnds counts a range and reads its first and last block if they extend beyond it.
func (s *State) countEnds(l *level, r Range, from, to int, first, last bool) (counts, error) {
	if from == to-1 {
		return s.countWithin(l, r, from)
	}
	c := l.upTo(to).minus(l.upTo(from))
	if first {
		part, err := s.countWithin(l, r, from)
		if err != nil {
			return c, err
		}
		c = c.minus(l.in(from)).plus(part)
	}
	if last {
		part, err := s.countWithin(l, r, to-1)
		if err != nil {
			return c, err
		}
		c = c.minus(l.in(to - 1)).plus(part)
	}
	return c, nil
}

// countWithin counts the rows of one block that are in the range.
func (s *State) countWithin(l *level, r Range, i int) (c counts, err error) {
	rows, err := s.load(r.Layout, l.fences[i].id, nil)
	if err != nil {
		return c, err
	}
	inside := r.clip(rows)
	if len(inside) == 0 {
		return c, nil
	}
	prev := r.Layout.Tuple(inside[0])
	if i > 0 && len(inside) > 0 && &inside[0] == &rows[0] {
		c.add(differAt(l.fences[i-1].last, prev))
	} else {
		c.add(0)
	}
	for _, q := range inside[1:] {
		t := r.Layout.Tuple(q)
		c.add(differAt(prev, t))
		prev = t
	}
	return c, nil
}
