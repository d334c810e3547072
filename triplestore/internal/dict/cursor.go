package dict

import (
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
)

// cursor iterates over a run's entries in order, block by block.
type cursor struct {
	rd    Reader
	run   *run
	block int     // the next one
	es    []entry // the rest of the block before
	buf   []entry
}

// cursorOf returns a cursor of entries that are in memory.
func cursorOf(es []entry) *cursor { return &cursor{run: &run{}, es: es} }

func (c *cursor) peek() (e entry, ok bool, err error) {
	if len(c.es) > 0 {
		return c.es[0], true, nil
	}
	if c.block == len(c.run.firsts) {
		return e, false, nil
	}
	if c.buf == nil {
		c.buf = make([]entry, 0, runBlock)
	}
	c.buf = c.buf[:0]
	id := blockID(c.run.id, c.block)
	found, err := c.rd.Read(kv.SpaceDict, runBlockKey(c.run.id, c.block), func(v []byte) error {
		return decodeEntries(v, id, func(e entry) bool { c.buf = append(c.buf, e); return true })
	})
	if err == nil && !found {
		err = errors.New("missing")
	}
	if err != nil {
		return e, false, fmt.Errorf("%w: block %d of run %d: %w", segments.ErrDamaged, c.block, c.run.id, err)
	}
	c.es = c.buf
	c.block++
	return c.es[0], true, nil
}

func (c *cursor) next() { c.es = c.es[1:] }

// merged returns the entries of several cursors in order, until ctx ends.
type merged struct {
	ctx  context.Context
	heap []*cursor // by their next entries, the least first
	n    int       // entries returned
}

func mergeCursors(ctx context.Context, cursors ...*cursor) (*merged, error) {
	m := &merged{ctx: ctx}
	for _, c := range cursors {
		_, ok, err := c.peek()
		if err != nil {
			return nil, err
		}
		if ok {
			m.heap = append(m.heap, c)
		}
	}
	for i := len(m.heap) / 2; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

// next returns the next entry. ok is false at the end.
func (m *merged) next() (e entry, ok bool, err error) {
	if m.n++; m.n%4096 == 0 && m.ctx.Err() != nil {
		return e, false, context.Cause(m.ctx)
	}
	if len(m.heap) == 0 {
		return e, false, context.Cause(m.ctx)
	}
	c := m.heap[0]
	e = c.es[0]
	c.next()
	if _, more, err := c.peek(); err != nil {
		return e, false, err
	} else if !more {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
	return e, true, nil
}

// down moves the cursor at index i of the heap to its place below.
func (m *merged) down(i int) {
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(m.heap); k++ {
			if compareEntries(m.heap[k].es[0], m.heap[least].es[0]) < 0 {
				least = k
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}
