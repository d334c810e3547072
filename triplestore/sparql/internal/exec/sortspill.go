package exec

import (
	"container/heap"
	"errors"
	"io"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// maxRuns is the number of sorted runs that are merged at a time.
const maxRuns = 64

// rowSize estimates the memory for sorting a row in bytes, with all its keys.
func (s *sorter) rowSize() int {
	n := 8*len(s.all) + 16
	for _, c := range s.slots {
		n += 64 // ids, ranks and the terms of a column
		if c < 0 {
			n += valueSize
		}
	}
	return n
}

// spillRun sorts the rows in memory and moves them to a file, as a run. Runs have the order of the input, and so have
// equal rows of a run. The sort keys are stored with the rows, since they cannot be computed again if they use RAND().
func (s *sorter) spillRun() (err error) {
	n := s.rows.n
	perm := make([]int32, n)
	for i := range perm {
		perm[i] = int32(i)
	}
	keys := make([]sortKey, len(s.node.Keys))
	defer func() {
		for _, k := range keys {
			s.q.budget.release(k.paid)
		}
	}()
	for i := range keys {
		if keys[i], err = s.key(i, perm); err != nil {
			return err
		}
	}
	order, err := s.sortedNumbers(n, func(a, b int32) int {
		for i := range keys {
			if c := keys[i].compare(a, b); c != 0 {
				return c
			}
		}
		return int(a) - int(b)
	})
	if err != nil {
		return err
	}
	if s.node.Limit >= 0 && int64(n) > s.node.Limit {
		order = order[:s.node.Limit]
	}
	f, err := s.q.spill()
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	row := make([]term.ID, len(s.rows.cols))
	for i, at := range order {
		if i&0xfff == 0 {
			if err := s.q.check(); err != nil {
				return err
			}
		}
		for c, col := range s.rows.cols {
			row[c] = col[at]
		}
		texts := make([]string, len(keys))
		for k := range keys {
			texts[k] = string(keys[k].value(at).Key())
		}
		if err := writeRun(f, row, texts); err != nil {
			return err
		}
	}
	s.rows.free()
	s.rows = newBlock(len(s.all), s.q.budget)
	s.boundSet = false
	if len(s.runs) < maxRuns {
		return nil
	}
	return s.mergeRuns()
}

func writeRun(f *spilled, row []term.ID, keys []string) error {
	if err := f.writeIDs(row...); err != nil {
		return err
	}
	for _, k := range keys {
		if err := f.writeText(k); err != nil {
			return err
		}
	}
	return nil
}

// mergeRuns turns all runs into one.
func (s *sorter) mergeRuns() error {
	m, err := s.merge()
	if err != nil {
		return err
	}
	f, err := s.q.spill()
	if err != nil {
		return err
	}
	for n := int64(0); len(m.heads) > 0 && (s.node.Limit < 0 || n < s.node.Limit); n++ {
		if n&0xfff == 0 {
			if err := s.q.check(); err != nil {
				f.close()
				return err
			}
		}
		h := m.heads[0]
		if err := writeRun(f, h.row, h.texts); err != nil {
			f.close()
			return err
		}
		if err := m.advance(); err != nil {
			f.close()
			return err
		}
	}
	for _, r := range s.runs {
		r.close()
	}
	s.runs = []*spilled{f}
	return nil
}

// runMerge returns the rows of several runs in order. It is a heap of their first rows.
type runMerge struct {
	s     *sorter
	heads []*runHead
	sent  int64
	out   batch
}

// runHead is the first row of a run that has not been returned.
type runHead struct {
	nr    int // of the run
	file  *spilled
	row   []term.ID
	texts []string
	keys  []expr.Value
}

func (s *sorter) merge() (*runMerge, error) {
	m := &runMerge{s: s}
	for i, f := range s.runs {
		if err := f.rewind(); err != nil {
			return nil, err
		}
		n := len(s.node.Keys)
		h := &runHead{nr: i, file: f, row: make([]term.ID, len(s.all)), texts: make([]string, n), keys: make([]expr.Value, n)}
		more, err := h.read()
		if err != nil {
			return nil, err
		}
		if more {
			m.heads = append(m.heads, h)
		}
	}
	heap.Init(m)
	return m, nil
}

func (h *runHead) read() (more bool, err error) {
	if err := h.file.readIDs(h.row); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	for i := range h.texts {
		if h.texts[i], err = h.file.readText(); err != nil {
			return false, err
		}
		h.keys[i] = expr.FromKey(term.Key(h.texts[i]))
	}
	return true, nil
}

func (m *runMerge) Len() int      { return len(m.heads) }
func (m *runMerge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *runMerge) Push(any)      {}
func (m *runMerge) Pop() any {
	m.heads = m.heads[:len(m.heads)-1]
	return nil
}

func (m *runMerge) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	for k := range a.keys {
		c := expr.Order(a.keys[k], b.keys[k])
		if m.s.node.Keys[k].Desc {
			c = -c
		}
		if c != 0 {
			return c < 0
		}
	}
	return a.nr < b.nr
}

// advance replaces the first row by the next one of its run.
func (m *runMerge) advance() error {
	more, err := m.heads[0].read()
	switch {
	case err != nil:
		return err
	case more:
		heap.Fix(m, 0)
	default:
		heap.Remove(m, 0)
	}
	return nil
}

func (m *runMerge) next() (*batch, error) {
	if err := m.s.q.check(); err != nil {
		return nil, err
	}
	if m.out.cols == nil {
		m.out.cols = newCols(len(m.s.all), m.s.q.opts.BatchSize)
	}
	m.out.n = 0
	for m.out.n < m.s.q.opts.BatchSize && len(m.heads) > 0 && (m.s.node.Limit < 0 || m.sent < m.s.node.Limit) {
		for c, id := range m.heads[0].row {
			m.out.cols[c][m.out.n] = id
		}
		m.out.n++
		m.sent++
		if err := m.advance(); err != nil {
			return nil, err
		}
	}
	if m.out.n == 0 {
		return nil, nil
	}
	return &m.out, nil
}

func (m *runMerge) close() {}
