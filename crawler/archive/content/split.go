package content

import (
	"context"
	"slices"
)

// put is one file on its way into the store.
type put struct {
	s    *Store
	src  *source
	neu  *view
	old  *view   // the previous file, nil for none
	base *layout // its segments

	file    fileRecord
	label   []byte
	told    packDeltas // file and cut records that were written
	written *appender  // of everything
	parts   []part
	cuts    map[int]*cut // by leaf of base
	order   []int        // of the cuts, ascending
	extents []*extent    // new ones
}

// part is a stretch of the new file: either bytes that are new (leaf < 0), or bytes of a leaf of the previous file.
type part struct {
	leaf int
	a, b int64 // in the new file where leaf < 0, else in the leaf
}

// cut divides a leaf of the previous file at some places.
type cut struct {
	bounds []int // inside the leaf, ascending
	parts  *extent
}

// What it costs to cut a segment for a part of it, in deflated bytes: heads, records, and what is lost by deflating the
// pieces apart. BENCHMARKS.md says how it was found.
const cutCost = 220

// worth tells whether sharing the bytes from a to b of a leaf saves more than it costs.
func worth(l *leaf, a, b int64) bool {
	return (b-a)*int64(l.deflated) > cutCost*int64(l.raw)
}

// split decides what of the new file is taken over from the previous one.
func (p *put) split() error {
	p.cuts = make(map[int]*cut)
	if p.base == nil {
		p.fresh(0, p.src.size)
		return nil
	}
	list, err := matches(p.old, p.neu)
	if err != nil {
		return err
	}
	at := int64(0)
	for _, m := range list {
		p.fresh(at, m.at)
		p.take(m)
		at = m.at + m.n
	}
	p.fresh(at, p.src.size)
	p.order = make([]int, 0, len(p.cuts))
	for i := range p.cuts {
		p.order = append(p.order, i)
	}
	slices.Sort(p.order)
	return nil
}

// fresh notes new bytes, behind new bytes if there are any before them.
func (p *put) fresh(a, b int64) {
	if a == b {
		return
	}
	if n := len(p.parts); n > 0 && p.parts[n-1].leaf < 0 {
		p.parts[n-1].b = b
		return
	}
	p.parts = append(p.parts, part{-1, a, b})
}

// take notes bytes of the previous file, leaf by leaf. What is not worth it is new.
func (p *put) take(m match) {
	for i := p.base.at(m.old); m.n > 0; i++ {
		l := &p.base.leaves[i]
		a := m.old - l.rawAt
		n := min(m.n, int64(l.raw)-a)
		if n == int64(l.raw) || (worth(l, a, a+n) && p.cutAt(i, int(a), int(a+n))) {
			p.parts = append(p.parts, part{i, a, a + n})
		} else {
			p.fresh(m.at, m.at+n)
		}
		m.at, m.old, m.n = m.at+n, m.old+n, m.n-n
	}
}

// cutAt notes that a leaf is to be cut before the bytes a and b; false where it would be too many pieces.
func (p *put) cutAt(i, a, b int) bool {
	c := p.cuts[i]
	if c == nil {
		c = &cut{}
	}
	if len(c.bounds)+2 >= maxExtent {
		return false
	}
	for _, at := range []int{a, b} {
		if at == 0 || at == p.base.leaves[i].raw {
			continue
		}
		if k, there := slices.BinarySearch(c.bounds, at); !there {
			c.bounds = slices.Insert(c.bounds, k, at)
		}
	}
	p.cuts[i] = c
	return true
}

// write deflates what is new and the pieces of what is cut, and appends them to the pack.
func (p *put) write(ctx context.Context) (err error) {
	if err := p.split(); err != nil {
		return err
	}
	w := &segmentWriter{s: p.s, codec: p.s.codecs.get()}
	defer p.s.codecs.put(w.codec)
	defer func() {
		if err != nil { // a full disk gets its room back
			p.s.tail.takeBack(&w.appender)
		}
		p.written = &w.appender
	}()
	if p.base != nil {
		p.file.family = p.base.file.family
	} else if p.file.family, err = p.s.nums.take(); err != nil {
		return err
	}
	for _, i := range p.order {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.writePieces(w, i); err != nil {
			return err
		}
	}
	var open *extent
	for _, part := range p.parts {
		if part.leaf >= 0 {
			p.refer(part)
			continue
		}
		if open, err = p.writeFresh(ctx, w, part, open); err != nil {
			return err
		}
	}
	return p.tell(w)
}

func (p *put) newExtent() (*extent, error) {
	num, err := p.s.nums.take()
	if err != nil {
		return nil, err
	}
	x := &extent{num: num, family: p.file.family}
	p.extents = append(p.extents, x)
	return x, nil
}

func (p *put) writePieces(w *segmentWriter, i int) (err error) {
	l, c := &p.base.leaves[i], p.cuts[i]
	if c.parts, err = p.newExtent(); err != nil {
		return err
	}
	raw, err := p.old.slice(l.rawAt, l.end(), w.raw)
	if err != nil {
		return err
	}
	a := 0
	for _, b := range append(slices.Clone(c.bounds), l.raw) {
		if err := w.write(c.parts, raw[a:b]); err != nil {
			return err
		}
		a = b
	}
	return nil
}

// writeFresh writes new bytes as segments of about the same length.
func (p *put) writeFresh(ctx context.Context, w *segmentWriter, fresh part, open *extent) (*extent, error) {
	n := fresh.b - fresh.a
	count := (n + maxRaw - 1) / maxRaw
	for k := range count {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a, b := fresh.a+n*k/count, fresh.a+n*(k+1)/count
		raw, err := p.neu.slice(a, b, w.raw)
		if err != nil {
			return nil, err
		}
		if open == nil || len(open.segments) == maxExtent {
			if open, err = p.newExtent(); err != nil {
				return nil, err
			}
		}
		if err := w.write(open, raw); err != nil {
			return nil, err
		}
		last := len(open.segments) - 1
		p.name(open.num, last, 1)
		p.file.deflateSize += int64(open.segments[last].deflated)
	}
	return open, nil
}

// refer names the segments of a part of the previous file.
func (p *put) refer(part part) {
	l, c := &p.base.leaves[part.leaf], p.cuts[part.leaf]
	if c == nil {
		p.name(l.extent, l.index, 1)
		p.file.deflateSize += int64(l.deflated)
		return
	}
	at, first, n := int64(0), -1, 0
	for k, g := range c.parts.segments {
		if at >= part.a && at < part.b {
			if first < 0 {
				first = k
			}
			n++
			p.file.deflateSize += int64(g.deflated)
		}
		at += int64(g.raw)
	}
	if n == len(c.parts.segments) { // all of it: by its own name
		p.name(l.extent, l.index, 1)
		return
	}
	p.name(c.parts.num, first, n)
}

// name appends segments to the file's runs.
func (p *put) name(extent uint64, first, n int) {
	if k := len(p.file.runs); k > 0 {
		if r := &p.file.runs[k-1]; r.extent == extent && r.first+r.n == first {
			r.n += n
			return
		}
	}
	p.file.runs = append(p.file.runs, run{extent, first, n})
}

// segmentWriter deflates and appends segments, with buffers that are used again.
type segmentWriter struct {
	appender
	s     *Store
	codec *codec
	raw   []byte
}
