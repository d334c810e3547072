package hdt

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// WriterOptions configure a Writer. The zero value is useful.
type WriterOptions struct {
	// Base is the IRI of the file in its own header; default "urn:odarchive:hdt".
	Base string
	// TempDir is the directory for temporary files, which need about as much space as the file; default the system's.
	TempDir string
	// Memory is the approximate number of bytes of memory that a Writer uses; default 256 MiB.
	Memory int64
}

// Writer writes one HDT file. Triples may be added in any order and more than once. It is not safe for concurrent use.
// The caller must call Close, also after an error.
type Writer struct {
	opts    WriterOptions
	dir     string
	chunk   *chunk
	chunks  []*storedChunk
	triples uint64 // after Finish: those in the file
	closed  bool
}

// storedChunk is a chunk in temporary files.
type storedChunk struct {
	terms, triples, places, sorted spool
	count                          int // terms
}

func (c *storedChunk) close() {
	c.terms.close()
	c.triples.close()
	c.places.close()
	c.sorted.close()
}

// NewWriter returns a Writer.
func NewWriter(o WriterOptions) *Writer {
	o.Base = cmp.Or(o.Base, "urn:odarchive:hdt")
	o.Memory = max(cmp.Or(o.Memory, 256<<20), 1<<20)
	return &Writer{opts: o, chunk: newChunk()}
}

// Write adds a triple. If HDT cannot express the statement, because it is in a named graph or has a triple term, Write
// adds nothing and returns a *rdfio.TermError. After any other error the Writer cannot be used any more.
func (w *Writer) Write(q term.Quad) error {
	switch {
	case w.closed:
		return fmt.Errorf("hdt: write to a closed writer")
	case q.G != "":
		return &rdfio.TermError{Term: q.G, Reason: "HDT holds no named graphs"}
	case q.S.Kind() != term.KindIRI && q.S.Kind() != term.KindBlank:
		return &rdfio.TermError{Term: q.S, Reason: "a subject must be an IRI or a blank node"}
	case q.P.Kind() != term.KindIRI:
		return &rdfio.TermError{Term: q.P, Reason: "a predicate must be an IRI"}
	case q.O == "":
		return &rdfio.TermError{Term: q.O, Reason: "an object must be a term"}
	}
	if len(w.chunk.triples)&0xFFF == 0xFFF && w.chunk.memory() > w.opts.Memory/2 {
		if err := w.store(); err != nil {
			return err
		}
	}
	return w.chunk.add(q)
}

// store moves the chunk to temporary files.
func (w *Writer) store() error {
	if w.dir == "" {
		dir, err := os.MkdirTemp(w.opts.TempDir, "hdt-*")
		if err != nil {
			return fmt.Errorf("hdt: %w", err)
		}
		w.dir = dir
	}
	s := &storedChunk{count: len(w.chunk.ends)}
	s.terms.dir, s.triples.dir, s.places.dir, s.sorted.dir = w.dir, w.dir, w.dir, w.dir
	w.chunks = append(w.chunks, s)
	w.chunk.writeTerms(&s.terms, w.chunk.sorted())
	writeTriples(&s.triples, w.chunk.triples)
	w.chunk = newChunk()
	return cmp.Or(s.terms.err, s.triples.err)
}

// Finish writes the file to out and closes the Writer.
func (w *Writer) Finish(ctx context.Context, out io.Writer) error {
	if w.closed {
		return fmt.Errorf("hdt: the writer is closed")
	}
	defer w.Close()
	if err := w.finish(ctx, out); err != nil {
		return fmt.Errorf("hdt: %w", err)
	}
	return nil
}

func (w *Writer) finish(ctx context.Context, out io.Writer) error {
	check := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	m := &merger{}
	defer m.close()
	if w.dir == "" {
		dir, err := os.MkdirTemp(w.opts.TempDir, "hdt-*")
		if err != nil {
			return err
		}
		w.dir = dir
	}
	for i := range m.sections {
		m.sections[i].text.dir, m.sections[i].offsets.dir = w.dir, w.dir
	}
	b := &bitmapWriter{}
	defer b.close()
	var err error
	if len(w.chunks) == 0 {
		err = w.mergeHeld(m, b, check)
	} else {
		err = w.mergeStored(m, b, check)
	}
	if err != nil {
		return err
	}
	w.triples = b.seqZ.n
	buffered := bufio.NewWriterSize(out, 256<<10)
	if err := w.writeFile(buffered, m, b); err != nil {
		return err
	}
	return buffered.Flush()
}

// mergeHeld fills m and b from the only chunk, which is in memory.
func (w *Writer) mergeHeld(m *merger, b *bitmapWriter, check func() error) error {
	c := w.chunk
	m.sources = []termSource{&heldTerms{c: c, order: c.sorted()}}
	places := make([]place, 0, len(c.ends))
	err := m.merge(func(_ int, p place) error {
		places = append(places, p)
		return nil
	}, check)
	if err != nil {
		return err
	}
	c.text, c.ends = nil, nil
	number := m.numbers(places)
	for i, t := range c.triples {
		if c.triples[i], err = number(t); err != nil {
			return err
		}
	}
	b.init(w.dir, m)
	for _, t := range sortTriples(c.triples) {
		b.add(t)
	}
	return nil
}

// mergeStored fills m and b from chunks in temporary files.
func (w *Writer) mergeStored(m *merger, b *bitmapWriter, check func() error) error {
	if len(w.chunk.triples) > 0 {
		if err := w.store(); err != nil {
			return err
		}
	}
	w.chunk = newChunk()
	window := int(min(max(w.opts.Memory/int64(4*len(w.chunks)), 4<<10), 256<<10))
	for _, c := range w.chunks {
		r, err := c.terms.open()
		if err != nil {
			return err
		}
		m.sources = append(m.sources, &storedTerms{in: bufio.NewReaderSize(r, window)})
	}
	var buf [9]byte
	err := m.merge(func(i int, p place) error {
		binary.LittleEndian.PutUint32(buf[:], p.node)
		binary.LittleEndian.PutUint32(buf[4:], p.predicate)
		buf[8] = p.section
		_, err := w.chunks[i].places.Write(buf[:])
		return err
	}, check)
	if err != nil {
		return err
	}
	for _, c := range w.chunks {
		if err := cmp.Or(check(), c.sort(m)); err != nil {
			return err
		}
	}
	b.init(w.dir, m)
	return mergeTriples(w.chunks, window, b, check)
}

// numbers returns a function that translates a triple of a chunk to the numbers of the dictionary. places has the
// places of the chunk's terms.
func (m *merger) numbers(places []place) func(triple) (triple, error) {
	common := uint32(m.sections[sectionShared].n)
	node := func(n uint32) uint32 {
		p := places[n]
		if p.section == sectionShared {
			return p.node
		}
		return p.node + common
	}
	return func(t triple) (triple, error) {
		if n := uint32(len(places)); t.s >= n || t.p >= n || t.o >= n {
			return t, fmt.Errorf("a temporary file has changed: term %d of %d", max(t.s, t.p, t.o), n)
		}
		return triple{node(t.s), places[t.p].predicate, node(t.o)}, nil
	}
}

// sort fills c.sorted with the chunk's triples in the numbers of the dictionary, in order.
func (c *storedChunk) sort(m *merger) error {
	in, err := c.places.open()
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, readAhead)
	places := make([]place, c.count)
	var buf [9]byte
	for i := range places {
		if _, err := io.ReadFull(r, buf[:]); err != nil {
			return err
		}
		places[i] = place{binary.LittleEndian.Uint32(buf[:]), binary.LittleEndian.Uint32(buf[4:]), buf[8]}
	}
	c.places.close()
	c.terms.close()
	if in, err = c.triples.open(); err != nil {
		return err
	}
	r.Reset(in)
	all := make([]triple, 0, c.triples.n/12)
	number := m.numbers(places)
	for {
		t, err := readTriple(r)
		if err == io.EOF {
			break
		}
		if err == nil {
			t, err = number(t)
		}
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	c.triples.close()
	writeTriples(&c.sorted, sortTriples(all))
	return c.sorted.err
}

// Triples returns, after Finish, the number of triples in the file.
func (w *Writer) Triples() uint64 { return w.triples }

// Close removes temporary files. It may be called at any time and more than once.
func (w *Writer) Close() error {
	w.closed = true
	for _, c := range w.chunks {
		c.close()
	}
	w.chunk, w.chunks = newChunk(), nil
	if w.dir == "" {
		return nil
	}
	dir := w.dir
	w.dir = ""
	return os.RemoveAll(dir)
}
