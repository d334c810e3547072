package content

import (
	"context"
	"maps"
	"slices"
)

// put is one file on its way into the store.
type put struct {
	s    *Store
	src  *source
	new  *view
	old  *view   // the previous file, nil if there is none
	base *layout // of the previous file

	file    fileRecord
	label   []byte
	records packDeltas // the file and cut records that were written
	written *appender
	parts   []part
	cuts    map[int]*cut // by leaf of base
	order   []int        // of the cuts, ascending
	extents []*extent    // the new ones
}

// part is a stretch of the new file: new bytes (leaf < 0), or bytes of a leaf of the previous file.
type part struct {
	leaf int
	a, b int64 // offsets in the new file if leaf < 0, else in the leaf
}

// cut divides a leaf of the previous file.
type cut struct {
	bounds []int // inside the leaf, ascending
	parts  *extent
}

// cutCost is what cutting a segment costs, in deflated bytes: heads, records, and the loss by deflating the pieces
// separately. BENCHMARKS.md explains the number.
const cutCost = 220

// worthSharing reports whether sharing the bytes from a to b of a leaf saves more than it costs.
func worthSharing(l *leaf, a, b int64) bool {
	return (b-a)*int64(l.deflated) > cutCost*int64(l.raw)
}

// split divides the new file into new bytes and bytes of the previous file.
func (p *put) split() error {
	p.cuts = make(map[int]*cut)
	if p.base == nil {
		p.addNew(0, p.src.size)
		return nil
	}
	list, err := matches(p.old, p.new)
	if err != nil {
		return err
	}
	at := int64(0)
	for _, m := range list {
		p.addNew(at, m.at)
		p.addMatch(m)
		at = m.at + m.n
	}
	p.addNew(at, p.src.size)
	p.order = slices.Sorted(maps.Keys(p.cuts))
	return nil
}

// addNew adds new bytes, to the last part if that is new too.
func (p *put) addNew(a, b int64) {
	if a == b {
		return
	}
	if n := len(p.parts); n > 0 && p.parts[n-1].leaf < 0 {
		p.parts[n-1].b = b
		return
	}
	p.parts = append(p.parts, part{-1, a, b})
}

// addMatch adds bytes of the previous file, leaf by leaf. Those that are not worth sharing are added as new.
func (p *put) addMatch(m match) {
	for i := p.base.at(m.old); m.n > 0; i++ {
		l := &p.base.leaves[i]
		a := m.old - l.rawAt
		n := min(m.n, int64(l.raw)-a)
		if n == int64(l.raw) || (worthSharing(l, a, a+n) && p.addCut(i, int(a), int(a+n))) {
			p.parts = append(p.parts, part{i, a, a + n})
		} else {
			p.addNew(m.at, m.at+n)
		}
		m.at, m.old, m.n = m.at+n, m.old+n, m.n-n
	}
}

// addCut plans to cut a leaf at a and b. It returns false if that makes too many pieces.
func (p *put) addCut(i, a, b int) bool {
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

// write deflates new bytes and the pieces of cut segments, and appends them to the pack.
func (p *put) write(ctx context.Context) (err error) {
	if err := p.split(); err != nil {
		return err
	}
	w := &segmentWriter{s: p.s, codec: p.s.codecs.get()}
	defer p.s.codecs.put(w.codec)
	defer func() {
		if err != nil { // give a full disk its space back
			p.s.tail.truncateLast(&w.appender)
		}
		p.written = &w.appender
	}()
	if p.base != nil {
		p.file.family = p.base.file.family
	} else if p.file.family, err = p.s.nums.allocate(); err != nil {
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
			p.addShared(part)
			continue
		}
		if open, err = p.writeFresh(ctx, w, part, open); err != nil {
			return err
		}
	}
	return p.appendRecords(w)
}

// newExtent returns a new extent of the file's family.
func (p *put) newExtent() (*extent, error) {
	num, err := p.s.nums.allocate()
	if err != nil {
		return nil, err
	}
	x := &extent{num: num, family: p.file.family}
	p.extents = append(p.extents, x)
	return x, nil
}

// writePieces writes the pieces of a cut leaf.
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

// writeFresh writes new bytes as segments of about the same length, to the extent open while it has room.
func (p *put) writeFresh(ctx context.Context, w *segmentWriter, fresh part, open *extent) (*extent, error) {
	n := fresh.b - fresh.a
	count := (n + maxRaw - 1) / maxRaw
	for k := range count {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a, b := fresh.a+n*k/count, fresh.a+n*(k+1)/count
		raw, err := p.new.slice(a, b, w.raw)
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
		p.addRun(open.num, last, 1)
		p.file.deflateSize += int64(open.segments[last].deflated)
	}
	return open, nil
}

// addShared adds the segments of a part of the previous file to the runs.
func (p *put) addShared(part part) {
	l, c := &p.base.leaves[part.leaf], p.cuts[part.leaf]
	if c == nil {
		p.addRun(l.extent, l.index, 1)
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
	if n == len(c.parts.segments) { // the whole segment
		p.addRun(l.extent, l.index, 1)
		return
	}
	p.addRun(c.parts.num, first, n)
}

// addRun adds segments to the file's runs.
func (p *put) addRun(extent uint64, first, n int) {
	if k := len(p.file.runs); k > 0 {
		if r := &p.file.runs[k-1]; r.extent == extent && r.first+r.n == first {
			r.n += n
			return
		}
	}
	p.file.runs = append(p.file.runs, run{extent, first, n})
}

// segmentWriter deflates and appends segments, reusing its buffers.
type segmentWriter struct {
	appender
	s     *Store
	codec *codec
	raw   []byte
}
