package spatial

import (
	"cmp"
	"context"
	"slices"

	"odarchive/triplestore/internal/segments"
)

// placed is an entry and its sort key.
type placed struct {
	order
	Entry
}

func comparePlaced(a, b placed) int {
	return cmp.Or(compare(a.order, b.order), cmp.Compare(a.ID, b.ID))
}

// sorted returns entries in the order of a segment, without duplicates.
func sorted(list []Entry) []Entry {
	all := make([]placed, len(list))
	for i, e := range list {
		all[i] = placed{orderOf(&e), e}
	}
	slices.SortFunc(all, comparePlaced)
	out := make([]Entry, 0, len(list))
	for _, p := range all {
		if n := len(out); n == 0 || out[n-1].ID != p.ID {
			out = append(out, p.Entry)
		}
	}
	return out
}

// inMemory returns a segment in memory with some entries.
func inMemory(list []Entry) *segment {
	w := segmentWriter{s: &segment{mem: []Entry{}}}
	for _, e := range sorted(list) {
		w.add(e) // cannot fail in memory
	}
	w.finish()
	return w.s
}

// segmentWriter makes a segment of entries, which must be added in order.
type segmentWriter struct {
	s     *segment
	to    *segments.Writer // where the segment is stored; nil for a segment in memory
	block []Entry          // the current block
}

// add adds an entry.
func (w *segmentWriter) add(e Entry) error {
	if n := len(w.block); n >= blockEntries || n > 0 && w.block[0].Layer != e.Layer {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	w.block = append(w.block, e)
	return nil
}

func (w *segmentWriter) endBlock() error {
	if len(w.block) == 0 {
		return nil
	}
	f := fence{layer: w.block[0].Layer, n: len(w.block), first: w.s.entries, box: nothing}
	for _, e := range w.block {
		f.box = f.box.or(e.Box)
	}
	if w.to == nil {
		w.s.mem = append(w.s.mem, w.block...)
	} else if err := w.to.Put(segments.Key('b', w.s.number, uint64(len(w.s.fences))), encodeBlock(w.block)); err != nil {
		return err
	}
	w.s.fences = append(w.s.fences, f)
	w.s.entries += f.n
	w.block = w.block[:0]
	return nil
}

func (w *segmentWriter) finish() error {
	if err := w.endBlock(); err != nil {
		return err
	}
	w.s.group()
	if w.to == nil {
		return nil
	}
	_, err := w.to.PutParts('h', w.s.number, 0, w.s.head())
	return err
}

// merge writes the entries of several segments to w in order, without duplicates. It has one block of each segment in
// memory.
func merge(ctx context.Context, read segments.Reader, sources []*segment, w *segmentWriter) error {
	type cursor struct {
		s    *segment
		next int // block
		list []Entry
		at   int
		head placed
		ok   bool
	}
	advance := func(c *cursor) (err error) {
		if c.at++; c.at >= len(c.list) {
			if c.ok = c.next < len(c.s.fences); !c.ok {
				return ctx.Err()
			}
			if c.list, err = c.s.load(read, c.next, c.list[:0]); err != nil {
				return err
			}
			c.next, c.at = c.next+1, 0
		}
		e := c.list[c.at]
		c.head, c.ok = placed{orderOf(&e), e}, true
		return ctx.Err()
	}
	cursors := make([]cursor, len(sources))
	for i, s := range sources {
		cursors[i].s = s
		if err := advance(&cursors[i]); err != nil {
			return err
		}
	}
	last := placed{}
	for first := true; ; first = false {
		var least *cursor
		for i := range cursors {
			if c := &cursors[i]; c.ok && (least == nil || comparePlaced(c.head, least.head) < 0) {
				least = c
			}
		}
		if least == nil {
			return w.finish()
		}
		if e := least.head; first || e.ID != last.ID {
			last = e
			if err := w.add(e.Entry); err != nil {
				return err
			}
		}
		if err := advance(least); err != nil {
			return err
		}
	}
}
