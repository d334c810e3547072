package triplestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"odarchive/triplestore/internal/dict"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/term"
)

// QuadReader returns quads one by one and io.EOF after the last. rdfio.Reader implements it.
type QuadReader interface {
	Read() (term.Quad, error)
}

// Loaded is the result of a Load.
type Loaded struct {
	Read  uint64 // quads read
	Added uint64 // quads that the store did not have
}

// Load adds all quads of r as one commit. If reading or anything else fails, the store is unchanged. Other writers wait
// until Load returns; readers see the state before it.
//
// Load reads quads in chunks. It writes the new terms of a chunk at once, in order, sorts its quads in each layout, and
// finally merges all chunks into the blocks. Two or more chunks wait in temporary files. Their memory is bounded by
// Options.LoadMemory for inputs of any length; what the database needs to write blocks comes on top
// (kv.Options.MemTable).
func (s *Store) Load(ctx context.Context, r QuadReader) (Loaded, error) {
	return s.load(ctx, r)
}

// LoadAside is Load for quads that come in slowly, and beside other writers: they wait only after r has ended. Until
// then its quads are in a temporary file.
func (s *Store) LoadAside(ctx context.Context, r QuadReader) (Loaded, error) {
	if s.closed.Load() {
		return Loaded{}, ErrClosed
	}
	aside := &quadSpool{dir: s.opts.TempDir}
	defer aside.close()
	if err := s.setAside(ctx, r, aside); err != nil {
		return Loaded{}, fmt.Errorf("triplestore: load: %w", err)
	}
	return s.load(ctx, aside)
}

// setAside writes all quads of r to a temporary file. It fails before they fill the disk.
func (s *Store) setAside(ctx context.Context, r QuadReader, aside *quadSpool) error {
	for {
		if aside.n%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := s.db.Room(); err != nil {
				return err
			}
		}
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return aside.rewind()
		}
		if err == nil {
			err = checkQuad(q)
		}
		if err == nil {
			err = aside.add(q)
		}
		if err != nil {
			return err
		}
	}
}

func (s *Store) load(ctx context.Context, r QuadReader) (Loaded, error) {
	var n Loaded
	err := s.bulk(ctx, "load", func(w *blockWriter, parts *partWriter) error {
		l := &loader{s: s, w: w, in: r}
		defer l.close()
		if err := l.read(ctx); err != nil {
			return err
		}
		if err := w.addTerms(ctx, w.sn.state.terms, nil); err != nil { // no terms are left; this ends the last run
			return err
		}
		added := func(rows []term.IDQuad) error {
			l.n.Added += uint64(len(rows))
			return parts.add(rows, 1)
		}
		err := w.merge(func(m *index.Merger, b *index.Base) (*index.Merged, error) {
			return m.Add(ctx, b, l.n.Read, l.rows, added)
		})
		n = l.n
		return err
	})
	if err != nil {
		return Loaded{}, err
	}
	return n, nil
}

// loader turns quads into sorted rows.
type loader struct {
	s    *Store
	w    *blockWriter
	in   QuadReader
	n    Loaded
	full int // maximum quads in a chunk

	only   *index.Sorter // the only chunk so far; nil from the second on
	spills []*index.Spill
	dir    string
	chunks int
}

const (
	maxKeyShare = 4   // a chunk's terms take at most 1/maxKeyShare of the memory
	quadMemory  = 256 // bytes per quad of a chunk: two chunks in progress, their terms, sorting
)

// chunk is a number of quads whose components are indexes into the chunk's own terms.
type chunk struct {
	quads []index.Numbered
	keys  []term.Key // keys[0] is "", which stands for the default graph
	ids   map[term.Key]uint32
	bytes int64
}

// newChunk returns an empty chunk with room for numbers of quads and of terms.
func newChunk(quads, terms int) *chunk {
	return &chunk{quads: make([]index.Numbered, 0, quads), keys: make([]term.Key, 1, terms+1), ids: make(map[term.Key]uint32, terms)}
}

func (c *chunk) number(k term.Key) uint32 {
	if k == "" {
		return 0
	}
	if n, ok := c.ids[k]; ok {
		return n
	}
	n := uint32(len(c.keys))
	c.ids[k] = n
	c.keys = append(c.keys, k)
	c.bytes += int64(len(k)) + 64
	return n
}

// begin prepares for sorted chunks.
func (l *loader) begin() (err error) {
	l.full = int(min(max(l.s.opts.LoadMemory/quadMemory, 1<<10), 1<<20))
	l.spills = make([]*index.Spill, index.Layouts)
	l.dir, err = os.MkdirTemp(l.s.opts.TempDir, tempPrefix)
	return err
}

// read reads and sorts all quads. It sorts one chunk while it reads the next.
func (l *loader) read(ctx context.Context) error {
	if err := l.w.begin(); err != nil {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	full := make(chan *chunk)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(full)
		quads := min(l.full, 1<<16)
		terms := quads / 2
		for {
			c, err := l.readChunk(ctx, newChunk(quads, terms))
			if err != nil || len(c.quads) == 0 {
				return err
			}
			quads, terms = len(c.quads), len(c.keys) // the next chunk is likely to be of the same size
			select {
			case full <- c:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	g.Go(func() error {
		for c := range full {
			if err := l.add(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// readChunk reads quads into an empty chunk until it is full.
func (l *loader) readChunk(ctx context.Context, c *chunk) (*chunk, error) {
	var last term.Quad
	var at index.Numbered
	for len(c.quads) < l.full && c.bytes < l.s.opts.LoadMemory/maxKeyShare {
		if len(c.quads)%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		q, err := l.in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := checkQuad(q); err != nil {
			return nil, err
		}
		l.n.Read++
		// Consecutive quads often share subject, predicate or graph.
		if q.S != last.S {
			at[0] = c.number(q.S)
		}
		if q.P != last.P {
			at[1] = c.number(q.P)
		}
		if q.O != last.O {
			at[2] = c.number(q.O)
		}
		if q.G != last.G {
			at[3] = c.number(q.G)
		}
		last = q
		c.quads = append(c.quads, at)
	}
	return c, nil
}

// add assigns ids to a chunk's terms and sorts its quads.
func (l *loader) add(ctx context.Context, c *chunk) error {
	c.ids = nil
	ids, err := l.identify(ctx, c.keys)
	if err != nil {
		return err
	}
	sorter := index.NewNumberedSorter(c.quads, ids)
	*c = chunk{}
	return l.keep(ctx, sorter)
}

// keep adds a sorted chunk. From the second on, all are in temporary files.
func (l *loader) keep(ctx context.Context, sorter *index.Sorter) error {
	l.chunks++
	if l.chunks == 1 {
		l.only = sorter
		return nil
	}
	if l.only != nil {
		if err := l.spill(ctx, l.only, 1); err != nil {
			return err
		}
		l.only = nil
	}
	return l.spill(ctx, sorter, l.chunks)
}

// identify returns the ids of a chunk's terms and creates missing ones. keys[0] stands for the default graph.
func (l *loader) identify(ctx context.Context, keys []term.Key) ([]term.ID, error) {
	ids := make([]term.ID, len(keys))
	ids[0] = term.DefaultGraph
	snap := l.s.db.Snapshot() // includes the terms of earlier chunks
	defer snap.Close()
	if err := l.w.builder.LookupAll(ctx, snap, keys[1:], ids[1:]); err != nil {
		return nil, err
	}
	var fresh []uint32
	for i := range keys {
		if ids[i] == 0 {
			fresh = append(fresh, uint32(i))
		}
	}
	fresh = sortedKeys(keys, fresh)
	sorted := make([]term.Key, len(fresh))
	for i, n := range fresh {
		sorted[i] = keys[n]
	}
	first, err := l.w.builder.Append(ctx, sorted)
	if err != nil {
		return nil, err
	}
	for i, n := range fresh {
		ids[n] = dict.MakeID(keys[n], first+uint64(i))
	}
	return ids, l.w.builder.EndRun(ctx)
}

// spill writes a chunk's rows to temporary files.
func (l *loader) spill(ctx context.Context, sorter *index.Sorter, chunk int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2)
	for layout := range index.Layout(index.Layouts) {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			rows := sorter.Sorted(layout, nil)
			if len(rows) == 0 {
				return nil
			}
			if l.spills[layout] == nil {
				l.spills[layout] = index.NewSpill(layout)
			}
			return l.spills[layout].Add(filepath.Join(l.dir, fmt.Sprintf("%s-%d", layout, chunk)), rows)
		})
	}
	return g.Wait()
}

// rows returns all rows of a layout.
func (l *loader) rows(layout index.Layout) (index.Rows, error) {
	switch {
	case l.only != nil:
		return index.RowsOf(l.only.Sorted(layout, nil)), nil
	case l.spills[layout] != nil:
		return l.spills[layout].Rows()
	}
	return index.RowsOf(nil), nil
}

func (l *loader) close() {
	for _, s := range l.spills {
		if s != nil {
			s.Close()
		}
	}
	if l.dir != "" {
		os.RemoveAll(l.dir)
	}
}
