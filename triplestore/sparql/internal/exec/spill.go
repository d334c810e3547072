package exec

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"odarchive/triplestore/term"
)

// Spill is the disk space that the queries of an engine may use for rows that do not fit into memory. Its methods may
// be called concurrently. A nil Spill has no space.
type Spill struct {
	dir   string
	limit int64
	used  atomic.Int64
}

// NewSpill returns a Spill of limit bytes in a directory, which is made when it is needed.
func NewSpill(dir string, limit int64) *Spill { return &Spill{dir: dir, limit: limit} }

// Used returns how many bytes the files have now.
func (s *Spill) Used() int64 { return s.used.Load() }

// spilled is a temporary file of records. It is first written, then read from its start. Its name is removed at once,
// so it disappears with the query or the process.
type spilled struct {
	space *Spill
	f     *os.File
	w     *bufio.Writer
	r     *bufio.Reader
	size  int64 // counted against space
	ids   []byte
}

// tempError is what a query that cannot use its temporary files ends with. It wraps ErrTemp.
func tempError(err error) error {
	return fmt.Errorf("exec: the query needs more memory than its limit, and its %w cannot be used: %w", ErrTemp, withoutPath(err))
}

// withoutPath leaves out where the server keeps its files.
func withoutPath(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// spillBuffer is the size of the buffer of a spilled.
const spillBuffer = 16 << 10

func (q *query) spill() (*spilled, error) {
	s := q.opts.Spill
	f, err := s.create()
	if err != nil {
		return nil, tempError(err)
	}
	return &spilled{space: s, f: f, w: bufio.NewWriterSize(f, spillBuffer)}, nil
}

// canSpill reports whether err is lack of memory that a file can help with.
func (q *query) canSpill(err error) bool {
	return q.opts.Spill != nil && errors.Is(err, ErrMemory)
}

func (f *spilled) write(b []byte) error {
	f.size += int64(len(b))
	if f.space.used.Add(int64(len(b))) > f.space.limit {
		return &LimitError{Limit: ErrMemory, Value: f.space.limit, Disk: true}
	}
	if _, err := f.w.Write(b); err != nil {
		return tempError(err)
	}
	return nil
}

// writeIDs writes ids, 8 bytes each.
func (f *spilled) writeIDs(ids ...term.ID) error {
	f.ids = f.ids[:0]
	for _, id := range ids {
		f.ids = binary.LittleEndian.AppendUint64(f.ids, uint64(id))
	}
	return f.write(f.ids)
}

// writeText writes a text after its length.
func (f *spilled) writeText(s string) error {
	f.ids = append(binary.AppendUvarint(f.ids[:0], uint64(len(s))), s...)
	return f.write(f.ids)
}

// rewind ends writing and starts reading.
func (f *spilled) rewind() error {
	err := f.w.Flush()
	if err == nil {
		_, err = f.f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return tempError(err)
	}
	f.w, f.r = nil, bufio.NewReaderSize(f.f, spillBuffer)
	return nil
}

// readIDs reads as many ids as ids has room for. It returns io.EOF at the end.
func (f *spilled) readIDs(ids []term.ID) error {
	n := 8 * len(ids)
	if cap(f.ids) < n {
		f.ids = make([]byte, n)
	}
	buf := f.ids[:n]
	if _, err := io.ReadFull(f.r, buf); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return tempError(err)
	}
	for i := range ids {
		ids[i] = term.ID(binary.LittleEndian.Uint64(buf[8*i:]))
	}
	return nil
}

// readText reads what writeText wrote.
func (f *spilled) readText() (string, error) {
	n, err := binary.ReadUvarint(f.r)
	if err != nil {
		return "", tempError(err)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(f.r, b); err != nil {
		return "", tempError(err)
	}
	return string(b), nil
}

// close removes the file. It may be called twice, and on nil.
func (f *spilled) close() {
	if f == nil || f.f == nil {
		return
	}
	f.f.Close() // nothing of it is needed any more
	f.f, f.w, f.r = nil, nil, nil
	f.space.used.Add(-f.size)
}

// partitions are rows in files, divided by a hash of some of their columns, so that equal rows are in one file.
type partitions struct {
	q     *query
	files [partitionCount]*spilled
}

// partitionCount is how many times as many rows as fit into memory can be partitioned.
const partitionCount = 64

// file returns the file for rows whose keys have a hash of idSet.
func (p *partitions) file(hash uint64) (*spilled, error) {
	i := (hash ^ hash>>32) * hashFactor >> (64 - 6) // other bits than those by which a set of one part places its rows
	if p.files[i] == nil {
		f, err := p.q.spill()
		if err != nil {
			return nil, err
		}
		p.files[i] = f
	}
	return p.files[i], nil
}

func (p *partitions) close() {
	if p != nil {
		for _, f := range p.files {
			f.close()
		}
	}
}

// spillReader is an operator that returns the rows of a file.
type spillReader struct {
	q    *query
	file *spilled
	row  []term.ID
	out  batch
}

func (q *query) readSpilled(f *spilled, width int) (*spillReader, error) {
	r := &spillReader{q: q, file: f, row: make([]term.ID, width)}
	r.out.cols = newCols(width, q.opts.BatchSize)
	return r, f.rewind()
}

func (r *spillReader) next() (*batch, error) {
	if err := r.q.check(); err != nil {
		return nil, err
	}
	if r.file.f == nil {
		return nil, nil
	}
	for r.out.n = 0; r.out.n < r.q.opts.BatchSize; r.out.n++ {
		err := r.file.readIDs(r.row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for c, id := range r.row {
			r.out.cols[c][r.out.n] = id
		}
	}
	if r.out.n == 0 {
		return nil, nil
	}
	return &r.out, nil
}

func (r *spillReader) close() { r.file.close() }
