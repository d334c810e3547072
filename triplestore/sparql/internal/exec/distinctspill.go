package exec

import (
	"container/heap"
	"errors"
	"io"

	"odarchive/triplestore/term"
)

// laterRows are the rows of a distinct that are not in its set when the set is full. They are written to partitions
// with their place in the input. When the input has ended, each partition is freed of repetitions by itself, and what
// remains is merged in the order of the input.
type laterRows struct {
	d     *distinct
	parts partitions
	n     uint64 // rows written
	outs  []*spilled
	heads laterHeads
	out   batch
}

func (l *laterRows) add(row []term.ID) error {
	f, err := l.parts.file(l.d.seen.hash(row))
	if err != nil {
		return err
	}
	l.n++
	if err := f.writeIDs(term.ID(l.n)); err != nil {
		return err
	}
	return f.writeIDs(row...)
}

// finish removes repetitions and prepares next.
func (l *laterRows) finish() error {
	width := len(l.d.row)
	for _, f := range l.parts.files {
		if f == nil {
			continue
		}
		if err := l.unique(f, width); err != nil {
			return err
		}
		f.close()
	}
	for _, f := range l.outs {
		if err := f.rewind(); err != nil {
			return err
		}
		h := &laterHead{file: f, row: make([]term.ID, width+1)}
		if more, err := h.read(); err != nil {
			return err
		} else if more {
			l.heads = append(l.heads, h)
		}
	}
	heap.Init(&l.heads)
	return nil
}

// unique copies the first occurrence of each row of a partition to a new file.
func (l *laterRows) unique(f *spilled, width int) error {
	if err := f.rewind(); err != nil {
		return err
	}
	out, err := l.d.q.spill()
	if err != nil {
		return err
	}
	l.outs = append(l.outs, out)
	set := newIDSet(width, l.d.q.budget)
	defer set.free()
	row := make([]term.ID, width+1)
	for n := 0; ; n++ {
		if n&0xfff == 0 {
			if err := l.d.q.check(); err != nil {
				return err
			}
		}
		err := f.readIDs(row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, fresh, err := set.add(row[1:])
		if err != nil {
			return err
		}
		if fresh {
			if err := out.writeIDs(row...); err != nil {
				return err
			}
		}
	}
}

func (l *laterRows) next() (*batch, error) {
	if err := l.d.q.check(); err != nil {
		return nil, err
	}
	if l.out.cols == nil {
		l.out.cols = newCols(len(l.d.row), l.d.q.opts.BatchSize)
	}
	for l.out.n = 0; l.out.n < l.d.q.opts.BatchSize && len(l.heads) > 0; l.out.n++ {
		h := l.heads[0]
		for c, id := range h.row[1:] {
			l.out.cols[c][l.out.n] = id
		}
		more, err := h.read()
		switch {
		case err != nil:
			return nil, err
		case more:
			heap.Fix(&l.heads, 0)
		default:
			heap.Remove(&l.heads, 0)
		}
	}
	if l.out.n == 0 {
		return nil, nil
	}
	return &l.out, nil
}

func (l *laterRows) close() {
	if l == nil {
		return
	}
	l.parts.close()
	for _, f := range l.outs {
		f.close()
	}
}

// laterHead is the first row of a file that has not been returned; its first value is the place in the input.
type laterHead struct {
	file *spilled
	row  []term.ID
}

func (h *laterHead) read() (more bool, err error) {
	err = h.file.readIDs(h.row)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

type laterHeads []*laterHead

func (l laterHeads) Len() int           { return len(l) }
func (l laterHeads) Less(i, j int) bool { return l[i].row[0] < l[j].row[0] }
func (l laterHeads) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *laterHeads) Push(any)          {}
func (l *laterHeads) Pop() any {
	*l = (*l)[:len(*l)-1]
	return nil
}
