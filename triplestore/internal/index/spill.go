package index

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"odarchive/triplestore/term"
)

// Spill stores sorted runs of one layout in temporary files, one file each, and returns them merged. The files are
// sequences of blocks in the index's format, each preceded by its length (uint32). A Spill must not be used
// concurrently.
type Spill struct {
	layout Layout
	codec  codec
	files  []*os.File
}

// NewSpill returns an empty Spill.
func NewSpill(l Layout) *Spill { return &Spill{layout: l} }

// Add writes a run to a new file.
func (s *Spill) Add(path string, rows []term.IDQuad) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	w := bufio.NewWriterSize(f, 256<<10)
	var size [4]byte
	for n := 0; len(rows) > 0; rows = rows[n:] {
		n = min(len(rows), blockRows)
		b := s.codec.encode(s.layout, uint64(len(s.files)), rows[:n])
		binary.LittleEndian.PutUint32(size[:], uint32(len(b)))
		w.Write(size[:])
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Close closes and deletes the files.
func (s *Spill) Close() {
	for _, f := range s.files {
		f.Close()
		os.Remove(f.Name())
	}
	s.files = nil
}

// Rows returns the distinct rows of all runs, in order.
func (s *Spill) Rows() (Rows, error) {
	m := &spillMerge{layout: s.layout}
	for i, f := range s.files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		r := &spillRun{layout: s.layout, id: uint64(i + 1), r: bufio.NewReaderSize(f, 64<<10), codec: &s.codec}
		if err := r.fill(); err != nil {
			return nil, err
		}
		if len(r.rows) > 0 {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(m)
	return m, nil
}

type spillRun struct {
	layout Layout
	id     uint64
	r      *bufio.Reader
	codec  *codec
	raw    []byte
	buf    []term.IDQuad
	rows   []term.IDQuad
	at     Tuple // tuple of rows[0]
}

func (r *spillRun) fill() error {
	var size [4]byte
	if _, err := io.ReadFull(r.r, size[:]); err == io.EOF {
		r.rows = nil
		return nil
	} else if err != nil {
		return fmt.Errorf("sorted run %d of %s: %w", r.id, r.layout, err)
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if n > 64*maxBlockRows {
		return fmt.Errorf("sorted run %d of %s: %w", r.id, r.layout, errBlock)
	}
	if cap(r.raw) < n {
		r.raw = make([]byte, n)
	}
	_, err := io.ReadFull(r.r, r.raw[:n])
	if err == nil {
		r.buf, err = r.codec.decode(r.raw[:n], r.layout, r.id, r.buf)
	}
	if err != nil {
		return fmt.Errorf("sorted run %d of %s: %w", r.id, r.layout, err)
	}
	r.rows = r.buf
	r.at = r.layout.Tuple(r.rows[0])
	return nil
}

// spillMerge is a heap of runs, ordered by their next row.
type spillMerge struct {
	layout Layout
	runs   []*spillRun
	out    []term.IDQuad
	last   term.IDQuad
	begun  bool
}

func (m *spillMerge) Len() int           { return len(m.runs) }
func (m *spillMerge) Less(i, j int) bool { return m.runs[i].at.Less(m.runs[j].at) }
func (m *spillMerge) Swap(i, j int)      { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }
func (m *spillMerge) Push(any)           {}
func (m *spillMerge) Pop() any           { m.runs = m.runs[:len(m.runs)-1]; return nil }

// Next implements Rows.
func (m *spillMerge) Next() ([]term.IDQuad, error) {
	m.out = m.out[:0]
	for len(m.runs) > 0 && len(m.out) < 4*blockRows {
		r := m.runs[0]
		// The rows of this run that precede those of all others.
		n := len(r.rows)
		if len(m.runs) > 1 {
			second := m.runs[1].at
			if len(m.runs) > 2 && m.runs[2].at.Less(second) {
				second = m.runs[2].at
			}
			n = max(1, gallop(m.layout, r.rows, second))
		}
		rows := r.rows[:n]
		if m.begun && rows[0] == m.last { // only the first row can also be in another run
			rows = rows[1:]
		}
		m.out = append(m.out, rows...)
		m.last, m.begun = r.rows[n-1], true
		if r.rows = r.rows[n:]; len(r.rows) == 0 {
			if err := r.fill(); err != nil {
				return nil, err
			}
			if len(r.rows) == 0 {
				heap.Pop(m)
				// heap.Pop swaps the first with the last element before it calls Pop.
				continue
			}
		} else {
			r.at = m.layout.Tuple(r.rows[0])
		}
		heap.Fix(m, 0)
	}
	return m.out, nil
}
