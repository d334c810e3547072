package index

// Distinct returns the exact number of distinct values of the component after the first n of a range's tuples.
func (s *State) Distinct(r Range, n int) (int, error) {
	parts, err := s.parts(r, n)
	if err != nil {
		return 0, err
	}
	stored, err := s.union(parts, distinctOf{r, n, true})
	if err != nil {
		return 0, err
	}
	d := int(stored)
	// If the overlay affects a value's group, the group may be new or empty now.
	t := s.Overlay.toggles(r)
	for t.ok {
		group := prefixRange(r.Layout, t.at, n+1)
		before, err := s.storedIn(group)
		if err != nil {
			return 0, err
		}
		after := before + s.Overlay.Net(group)
		switch {
		case before == 0 && after > 0:
			d++
		case before > 0 && after == 0:
			d--
		}
		t.seek(group.To)
	}
	return d, nil
}

// aboutDistinct estimates the number of distinct values of the component after the range's prefix. It adds those of the
// overlay.
func (s *State) aboutDistinct(r Range, prefix int) (float64, error) {
	if prefix > 2 { // then every row is distinct, except for graphs
		n, err := s.Count(r)
		return float64(n), err
	}
	parts, err := s.parts(r, prefix)
	if err != nil {
		return 0, err
	}
	d, err := s.union(parts, distinctOf{r, prefix, false})
	if err != nil {
		return 0, err
	}
	for _, run := range s.Overlay.runs {
		d += run.aboutDistinct(r, prefix)
	}
	return d, nil
}

// aboutDistinct extrapolates from at most a thousand rows.
func (r *Run) aboutDistinct(g Range, prefix int) float64 {
	const sample = 1000
	rows := g.clip(r.in(g.Layout).rows)
	d, prev := 0, Tuple{}
	for i, q := range rows[:min(len(rows), sample)] {
		t := g.Layout.Tuple(q)
		if i == 0 || differAt(prev, t) <= prefix {
			d++
		}
		prev = t
	}
	if len(rows) > sample {
		return float64(d) * float64(len(rows)) / sample
	}
	return float64(d)
}

// part is what a tier has of a range: a number of distinct values.
type part struct {
	*tier
	values uint64
}

// parts returns the tiers that have rows in a range, with their numbers of distinct values after the first n
// components.
func (s *State) parts(r Range, n int) (parts []part, err error) {
	for _, t := range s.Base.all() {
		c, err := s.counts(t, r)
		if err != nil {
			return nil, err
		}
		if c.rows > 0 {
			parts = append(parts, part{t, c.starts[n]})
		}
	}
	return parts, nil
}

// union returns the number of distinct values in several tiers together. Values of different tiers may be the same, so
// it looks for those of one in those before it: for all, or, in an estimate, for some if there are many.
func (s *State) union(parts []part, of distinctOf) (float64, error) {
	if len(parts) == 0 {
		return 0, nil
	}
	d := float64(parts[0].values)
	if len(parts) == 1 {
		return d, nil
	}
	if d, ok := s.Base.distinct.get(of); ok {
		return d, nil
	}
	quiet := *s
	quiet.bulk = of.exact
	for i, p := range parts[1:] {
		find := quiet.missing
		if !of.exact && quiet.many(p, of) {
			find = quiet.sampleMissing
		}
		n, err := find(p, parts[:i+1], of)
		if err != nil {
			return 0, err
		}
		d += n
	}
	s.Base.distinct.put(of, d)
	return d, nil
}

// The most values and blocks that an estimate looks at one by one, and how many it looks at instead if there are more.
const (
	fewValues    = 16
	fewBlocks    = 4
	sampleValues = 16
)

func (s *State) many(p part, of distinctOf) bool {
	from, to := p.levels[of.r.Layout].blocks(of.r)
	return p.values > fewValues && to-from > fewBlocks
}

// missing returns the number of p's values that none of the others has.
func (s *State) missing(p part, others []part, of distinctOf) (d float64, err error) {
	l := of.r.Layout
	walk := func(t *tier) *walker {
		w := &walker{layout: l}
		if b := s.blockSource(t, of.r); b != nil {
			w.src = b
		}
		return w
	}
	in := make([]*walker, len(others))
	for i, o := range others {
		in[i] = walk(o.tier)
	}
	w := walk(p.tier)
	at, ok, err := w.seek(of.r.From)
	for ok && err == nil {
		group := prefixRange(l, at, of.n+1)
		known := false
		for _, o := range in {
			if known, err = o.has(group); err != nil || known {
				break
			}
		}
		if err != nil {
			break
		}
		if !known {
			d++
		}
		at, ok, err = w.seek(group.To)
	}
	return d, err
}

// sampleMissing estimates what missing counts from values at the ends of blocks.
func (s *State) sampleMissing(p part, others []part, of distinctOf) (float64, error) {
	l := &p.levels[of.r.Layout]
	from, to := l.blocks(of.r)
	missing := 0
	for i := range sampleValues {
		f := l.fences[from+i*(to-from)/sampleValues]
		at := f.first
		if at.Less(of.r.From) {
			at = f.last
		}
		group := prefixRange(of.r.Layout, at, of.n+1)
		known := uint64(0)
		for _, o := range others {
			c, err := s.counts(o.tier, group)
			if err != nil {
				return 0, err
			}
			known += c.rows
		}
		if known == 0 {
			missing++
		}
	}
	return float64(p.values) * float64(missing) / sampleValues, nil
}
