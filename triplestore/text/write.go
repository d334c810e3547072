package text

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// writeSegment merges segments into a new one. A document that several have is taken from the first.
func writeSegment(ctx context.Context, number uint64, r segments.Reader, sources []source, to *segments.Writer) (*segment, error) {
	w := &segmentWriter{s: &segment{number: number}, to: to}
	places := w.number(sources)
	langs := map[string]bool{}
	for e, err := range w.merged(r, sources, places) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if rest, ok := strings.CutPrefix(e.term, "\x01"); ok {
			lang, _, _ := strings.Cut(rest, ":")
			langs[lang] = true
		}
		if err := w.add(e); err != nil {
			return nil, err
		}
	}
	if err := w.finish(); err != nil {
		return nil, err
	}
	for l := range langs {
		w.s.langs = append(w.s.langs, l)
	}
	slices.Sort(w.s.langs)
	return w.s, nil
}

type segmentWriter struct {
	s      *segment
	to     *segments.Writer
	block  []byte
	prev   string
	piece  uint64
	blocks uint64
}

const dropped = ^uint32(0) // the place of a document that another segment has too

// number numbers the documents of all sources in the order of their ids. It returns the new number of each.
func (w *segmentWriter) number(sources []source) [][]uint32 {
	type place struct {
		id     term.ID
		source int
		doc    uint32
	}
	var all []place
	places := make([][]uint32, len(sources))
	for i, s := range sources {
		d := s.documents()
		places[i] = make([]uint32, len(d.ids))
		for doc, id := range d.ids {
			all = append(all, place{id, i, uint32(doc)})
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.source, b.source))
	})
	d := &w.s.docs
	for _, p := range all {
		if n := len(d.ids); n > 0 && d.ids[n-1] == p.id {
			places[p.source][p.doc] = dropped
			continue
		}
		places[p.source][p.doc] = uint32(len(d.ids))
		size := sources[p.source].documents().sizes[p.doc]
		d.ids, d.sizes = append(d.ids, p.id), append(d.sizes, size)
		d.total += uint64(size)
	}
	return places
}

// posting is a document and the part of a slice that its positions are.
type posting struct {
	doc      uint32
	from, to int
}

// merged iterates over the terms of all sources, in order, with their postings renumbered. An entry is valid until the
// next one.
func (w *segmentWriter) merged(r segments.Reader, sources []source, places [][]uint32) iter.Seq2[termEntry, error] {
	if g, ok := sources[0].(*growing); ok && len(sources) == 1 && ascending(places[0]) {
		return g.each(r, "")
	}
	return func(yield func(termEntry, error) bool) {
		type cursor struct {
			next func() (termEntry, error, bool)
			e    termEntry
			ok   bool
		}
		cursors := make([]cursor, len(sources))
		for i, s := range sources {
			next, stop := iter.Pull2(s.each(r, ""))
			defer stop()
			cursors[i].next = next
		}
		advance := func(c *cursor) (err error) {
			c.e, err, c.ok = c.next()
			return err
		}
		for i := range cursors {
			if err := advance(&cursors[i]); err != nil {
				yield(termEntry{}, err)
				return
			}
		}
		var list []posting // of one term, as the next two
		var positions []uint32
		var buf []byte
		for {
			least, some := "", false
			for _, c := range cursors {
				if c.ok && (!some || c.e.term < least) {
					least, some = c.e.term, true
				}
			}
			if !some {
				return
			}
			list, positions = list[:0], positions[:0]
			for i := range cursors {
				c := &cursors[i]
				if !c.ok || c.e.term != least {
					continue
				}
				sound := readPostings(c.e.list.b, uint32(len(places[i])), func(doc uint32, at []uint32) {
					if to := places[i][doc]; to != dropped {
						list = append(list, posting{to, len(positions), len(positions) + len(at)})
						positions = append(positions, at...)
					}
				})
				err := error(nil)
				if !sound {
					err = w.s.damaged("postings that are merged into it")
				}
				if err == nil {
					err = advance(c)
				}
				if err != nil {
					yield(termEntry{}, err)
					return
				}
			}
			if len(list) == 0 {
				continue
			}
			byDoc := func(a, b posting) int { return cmp.Compare(a.doc, b.doc) }
			if !slices.IsSortedFunc(list, byDoc) {
				slices.SortFunc(list, byDoc)
			}
			out := postingWriter{b: buf[:0]}
			for _, p := range list {
				out.add(p.doc, positions[p.from:p.to])
			}
			buf = out.b
			if !yield(termEntry{least, postingList{out.b, out.docs}}, nil) {
				return
			}
		}
	}
}

// ascending reports whether documents keep their numbers.
func ascending(places []uint32) bool {
	for i, p := range places {
		if p != uint32(i) {
			return false
		}
	}
	return true
}

func (w *segmentWriter) add(e termEntry) error {
	if len(w.block) >= blockBytes {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if w.block == nil {
		w.block = []byte{segmentVersion}
		w.s.firsts = append(w.s.firsts, e.term)
		w.prev = ""
	}
	n := fields.SharedPrefix(w.prev, e.term)
	w.prev = e.term
	b := binary.AppendUvarint(w.block, uint64(n))
	b = fields.AppendText(b, e.term[n:])
	b = binary.AppendUvarint(b, uint64(e.list.docs))
	if len(e.list.b) <= inlineMax {
		b = binary.AppendUvarint(b, 0)
		b = binary.AppendUvarint(b, uint64(len(e.list.b)))
		w.block = append(b, e.list.b...)
		return nil
	}
	b = binary.AppendUvarint(b, uint64(len(e.list.b)))
	w.block = binary.AppendUvarint(b, w.piece)
	var err error
	w.piece, err = w.to.PutParts('p', w.s.number, w.piece, e.list.b)
	return err
}

func (w *segmentWriter) endBlock() error {
	if w.block == nil {
		return nil
	}
	err := w.to.Put(segments.Key('w', w.s.number, w.blocks), w.block)
	w.blocks++
	w.block = nil
	return err
}

// finish writes the last block, and the documents and fences in parts.
func (w *segmentWriter) finish() error {
	if err := w.endBlock(); err != nil {
		return err
	}
	b := []byte{segmentVersion}
	b = binary.AppendUvarint(b, uint64(len(w.s.docs.ids)))
	last := uint64(0)
	for i, id := range w.s.docs.ids {
		b = binary.AppendUvarint(b, uint64(id)-last)
		b = append(b, w.s.docs.sizes[i])
		last = uint64(id)
	}
	b = binary.AppendUvarint(b, uint64(len(w.s.firsts)))
	for _, f := range w.s.firsts {
		b = fields.AppendText(b, f)
	}
	_, err := w.to.PutParts('d', w.s.number, 0, b)
	return err
}

// openSegment reads the documents and fences of a segment with a number of bytes in all parts.
func openSegment(r segments.Reader, number, size uint64, langs []string) (*segment, error) {
	s := &segment{number: number, langs: langs}
	b, err := segments.Parts(r, 'd', number, 0, size)
	if err != nil {
		return nil, err
	}
	in := fields.Reader{B: b}
	if in.Byte() != segmentVersion {
		return nil, s.damaged("its documents")
	}
	last := uint64(0)
	for range in.Count(2) {
		last += in.Uvarint()
		s.docs.ids = append(s.docs.ids, term.ID(last))
		size := in.Byte()
		s.docs.sizes = append(s.docs.sizes, size)
		s.docs.total += uint64(size)
	}
	for range in.Count(1) {
		s.firsts = append(s.firsts, in.Text())
	}
	if in.End() != nil || !slices.IsSorted(s.firsts) || !slices.IsSorted(s.docs.ids) {
		return nil, s.damaged("its documents")
	}
	return s, nil
}

// headSize returns the length of what openSegment reads.
func (s *segment) headSize() uint64 {
	n := 1 + uvarintLen(uint64(len(s.docs.ids))) + uvarintLen(uint64(len(s.firsts)))
	last := uint64(0)
	for _, id := range s.docs.ids {
		n += uvarintLen(uint64(id)-last) + 1
		last = uint64(id)
	}
	for _, f := range s.firsts {
		n += uvarintLen(uint64(len(f))) + len(f)
	}
	return uint64(n)
}

func uvarintLen(v uint64) int { return len(binary.AppendUvarint(nil, v)) }
