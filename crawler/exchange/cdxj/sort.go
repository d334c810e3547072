package cdxj

import (
	"bufio"
	"cmp"
	"container/heap"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// Sorter sorts lines. It keeps at most Memory bytes of them in memory and the rest in temporary files. The caller must
// Close it.
type Sorter struct {
	Memory int    // bytes; 0 means 256 MiB
	Temp   string // folder for temporary files, "" for the system's
	lines  []string
	size   int        // bytes of lines
	runs   []*os.File // sorted files
}

// Add adds a line without its end.
func (s *Sorter) Add(line string) error {
	s.lines = append(s.lines, line)
	if s.size += len(line) + 16; s.size < cmp.Or(s.Memory, 256<<20) {
		return nil
	}
	return s.spill()
}

// spill writes the lines in memory to a temporary file.
func (s *Sorter) spill() error {
	slices.Sort(s.lines)
	f, err := os.CreateTemp(s.Temp, "odarchive-cdxj-")
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	out := bufio.NewWriterSize(f, 1<<20)
	for _, line := range s.lines {
		out.WriteString(line)
		out.WriteByte('\n')
	}
	s.lines, s.size = nil, 0
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// WriteTo writes all lines in order. It returns the number of bytes written.
func (s *Sorter) WriteTo(w io.Writer) (n int64, err error) {
	slices.Sort(s.lines)
	out := bufio.NewWriterSize(w, 256<<10)
	write := func(line string) {
		out.WriteString(line)
		out.WriteByte('\n')
		n += int64(len(line)) + 1
	}
	var open runs
	for _, f := range s.runs {
		r := &run{in: bufio.NewReaderSize(f, 256<<10)}
		if r.next(); r.more {
			open = append(open, r)
		}
	}
	heap.Init(&open)
	rest := s.lines
	for len(open) > 0 {
		first := open[0]
		if len(rest) > 0 && rest[0] <= first.line {
			write(rest[0])
			rest = rest[1:]
			continue
		}
		write(first.line)
		if first.next(); first.more {
			heap.Fix(&open, 0)
			continue
		}
		if first.err != nil {
			return n, first.err
		}
		heap.Pop(&open)
	}
	for _, line := range rest {
		write(line)
	}
	return n, out.Flush()
}

// Close removes the temporary files.
func (s *Sorter) Close() error {
	var err error
	for _, f := range s.runs {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	s.runs = nil
	return err
}

// run is a sorted file of lines while runs are merged.
type run struct {
	in   *bufio.Reader
	line string // the next line, if more is true
	more bool
	err  error
}

// next reads the next line.
func (r *run) next() {
	line, err := r.in.ReadString('\n')
	r.line, r.more = strings.TrimSuffix(line, "\n"), err == nil
	if !errors.Is(err, io.EOF) {
		r.err = err
	}
}

// runs is a heap of runs, ordered by their next lines.
type runs []*run

func (r runs) Len() int           { return len(r) }
func (r runs) Less(i, j int) bool { return r[i].line < r[j].line }
func (r runs) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *runs) Push(x any)        { *r = append(*r, x.(*run)) }
func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
