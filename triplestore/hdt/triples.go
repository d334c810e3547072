package hdt

import (
	"bufio"
	"container/heap"
	"fmt"
	"io"
	"strconv"
)

// bitmapWriter writes sorted triples as two bitmaps and two sequences. seqY has the predicates of each subject, seqZ
// the objects of each subject and predicate. A bit in bitsY marks the last predicate of a subject, a bit in bitsZ the
// last object of a predicate.
type bitmapWriter struct {
	bitsY, bitsZ, seqY, seqZ bitWriter
	last                     triple
}

// init prepares the writer for numbers of the dictionary of m.
func (b *bitmapWriter) init(dir string, m *merger) {
	common := m.sections[sectionShared].n
	for _, w := range []*bitWriter{&b.bitsY, &b.bitsZ, &b.seqY, &b.seqZ} {
		w.out, w.bits = &spool{dir: dir}, 1
	}
	b.seqY.bits = width(m.sections[sectionPredicates].n)
	b.seqZ.bits = width(common + m.sections[sectionObjects].n)
}

// add appends a triple, unless it equals the last one.
func (b *bitmapWriter) add(t triple) {
	if t == b.last {
		return
	}
	if b.seqZ.n > 0 { // this triple determines the bits of the last one
		if t.s != b.last.s || t.p != b.last.p {
			b.bitsZ.add(1)
			b.endPredicate(t.s != b.last.s)
		} else {
			b.bitsZ.add(0)
		}
	}
	if t.s != b.last.s || t.p != b.last.p {
		b.seqY.add(uint64(t.p))
	}
	b.seqZ.add(uint64(t.o))
	b.last = t
}

// endPredicate appends the bit of a predicate. last means that it is the last one of its subject.
func (b *bitmapWriter) endPredicate(last bool) {
	if last {
		b.bitsY.add(1)
	} else {
		b.bitsY.add(0)
	}
}

// copyTo writes the bitmaps and sequences to out.
func (b *bitmapWriter) copyTo(out io.Writer) error {
	if b.seqZ.n > 0 {
		b.bitsZ.add(1)
		b.endPredicate(true)
	}
	if err := b.bitsY.copyBitmapTo(out); err != nil {
		return err
	}
	if err := b.bitsZ.copyBitmapTo(out); err != nil {
		return err
	}
	if err := b.seqY.copyTo(out); err != nil {
		return err
	}
	return b.seqZ.copyTo(out)
}

func (b *bitmapWriter) close() {
	for _, w := range []*bitWriter{&b.bitsY, &b.bitsZ, &b.seqY, &b.seqZ} {
		if w.out != nil {
			w.out.close()
		}
	}
}

// run is a source of mergeTriples: the sorted triples of a chunk.
type run struct {
	in   *bufio.Reader
	head triple // the next triple
}

// runs is a heap of runs, ordered by head.
type runs []run

func (r runs) Len() int           { return len(r) }
func (r runs) Less(i, j int) bool { return r[i].head.compare(r[j].head) < 0 }
func (r runs) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *runs) Push(x any)        { *r = append(*r, x.(run)) }
func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// mergeTriples merges the sorted triples of all chunks into b. window is the size of the buffer of each chunk.
func mergeTriples(chunks []*storedChunk, window int, b *bitmapWriter, check func() error) error {
	var all runs
	for _, c := range chunks {
		in, err := c.sorted.open()
		if err != nil {
			return err
		}
		r := run{in: bufio.NewReaderSize(in, window)}
		if r.head, err = readTriple(r.in); err == io.EOF {
			continue
		} else if err != nil {
			return err
		}
		all = append(all, r)
	}
	heap.Init(&all)
	for n := 0; len(all) > 0; n++ {
		if n&0xFFFF == 0 {
			if err := check(); err != nil {
				return err
			}
		}
		b.add(all[0].head)
		t, err := readTriple(all[0].in)
		switch {
		case err == io.EOF:
			heap.Pop(&all)
		case err != nil:
			return err
		default:
			all[0].head = t
			heap.Fix(&all, 0)
		}
	}
	return nil
}

// writeFile writes the whole file.
func (w *Writer) writeFile(out io.Writer, m *merger, b *bitmapWriter) error {
	header := w.header(m)
	parts := [][]byte{
		control{kind: controlGlobal, format: formatGlobal}.encode(),
		control{kind: controlHeader, format: formatHeader, properties: map[string]string{"length": strconv.Itoa(len(header))}}.encode(),
		header,
		control{kind: controlDictionary, format: formatDictionary, properties: map[string]string{
			"mapping": "1", "elements": utoa(m.terms())}}.encode(),
	}
	for _, p := range parts {
		if _, err := out.Write(p); err != nil {
			return err
		}
	}
	for i := range m.sections {
		if err := m.sections[i].copyTo(out); err != nil {
			return err
		}
	}
	triples := control{kind: controlTriples, format: formatTriples, properties: map[string]string{
		"order": "1", "numTriples": utoa(w.triples)}}
	if _, err := out.Write(triples.encode()); err != nil {
		return err
	}
	return b.copyTo(out)
}

// terms returns the number of strings in the dictionary.
func (m *merger) terms() (n uint64) {
	for i := range m.sections {
		n += m.sections[i].n
	}
	return n
}

// header returns the header of the file in N-Triples, with the properties of VoID and HDT that other programs read.
func (w *Writer) header(m *merger) []byte {
	const (
		rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
		voidNS  = "http://rdfs.org/ns/void#"
		hdtNS   = "http://purl.org/HDT/hdt#"
	)
	common := m.sections[sectionShared].n
	base := "<" + w.opts.Base + ">"
	var b []byte
	line := func(s, p, o string) { b = fmt.Appendf(b, "%s <%s> %s .\n", s, p, o) }
	count := func(p string, n uint64) { line(base, voidNS+p, strconv.Quote(utoa(n))) }
	line(base, rdfType, "<"+hdtNS+"Dataset>")
	line(base, rdfType, "<"+voidNS+"Dataset>")
	count("triples", w.triples)
	count("properties", m.sections[sectionPredicates].n)
	count("distinctSubjects", common+m.sections[sectionSubjects].n)
	count("distinctObjects", common+m.sections[sectionObjects].n)
	line(base, hdtNS+"formatInformation", "_:format")
	line("_:format", hdtNS+"dictionary", "_:dictionary")
	line("_:format", hdtNS+"triples", "_:triples")
	line("_:dictionary", "http://purl.org/dc/terms/format", formatDictionary)
	line("_:dictionary", hdtNS+"dictionarynumSharedSubjectObject", strconv.Quote(utoa(common)))
	line("_:triples", "http://purl.org/dc/terms/format", formatTriples)
	line("_:triples", hdtNS+"triplesnumTriples", strconv.Quote(utoa(w.triples)))
	line("_:triples", hdtNS+"triplesOrder", `"SPO"`)
	return b
}
