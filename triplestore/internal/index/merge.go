package index

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Mode says what Merge does with the rows it is given.
type Mode byte

const (
	Turn Mode = iota // what exists goes, what does not exist comes
	Add              // what does not exist comes
)

// Merger rewrites blocks. The new blocks stand beside the old ones, which nobody but the caller deletes: a state that
// uses the old ones stays readable, and nothing has happened until the caller makes the new root known.
type Merger struct {
	DB     *kv.DB
	Reader Reader
	Cache  *Cache
	NextID *atomic.Uint64 // numbers for blocks and pages

	Added func(rows []term.IDQuad) error // called with what has really been added, in GSPO order, if Mode is Add
}

// Merged is the outcome of a merge.
type Merged struct {
	Base     *Base
	Root     []byte   // for OpenBase
	Obsolete [][]byte // keys that Base does not use any more, in kv.SpaceTripleIndex
	Fresh    [][]byte // keys that were written
}

// Delete removes keys of the index.
func Delete(db *kv.DB, keys [][]byte) error {
	b := db.Batch()
	for _, k := range keys {
		if err := b.Delete(kv.SpaceTripleIndex, k); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Merge makes a new base of an old one and rows, which are asked for layout by layout (for the last four layouts only
// quads of named graphs). Layouts are merged side by side, so rows must be ready for concurrent calls. If it fails, what
// it has written so far is deleted again.
func (m *Merger) Merge(ctx context.Context, base *Base, mode Mode, rows func(Layout) (Rows, error)) (*Merged, error) {
	out := &Merged{Base: &Base{}}
	var mu sync.Mutex // guards out.Obsolete, out.Fresh
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	for l := Layout(0); l < Layouts; l++ {
		g.Go(func() error {
			in, err := rows(l)
			if err != nil {
				return err
			}
			lm := &levelMerge{ctx: ctx, m: m, l: l, old: &base.levels[l], mode: mode, batch: m.DB.Batch(), codec: new(codec)}
			if l == GSPO && mode == Add {
				lm.added = m.Added
			}
			err = lm.run(in)
			mu.Lock()
			defer mu.Unlock()
			out.Obsolete = append(out.Obsolete, lm.obsolete...)
			out.Fresh = append(out.Fresh, lm.fresh...)
			out.Base.levels[l] = lm.new
			return err
		})
	}
	if err := g.Wait(); err != nil {
		Delete(m.DB, out.Fresh) // if that fails too, the next opening does it
		return nil, err
	}
	out.Root = out.Base.encodeRoot()
	return out, nil
}

// levelMerge merges one layout.
type levelMerge struct {
	ctx   context.Context
	m     *Merger
	l     Layout
	old   *level
	mode  Mode
	batch *kv.Batch
	codec *codec
	added func([]term.IDQuad) error

	in   Rows
	rows []term.IDQuad // the rest of the current batch of in

	i      int           // old blocks before this one have their place in new
	buf    []term.IDQuad // rows waiting to become blocks
	new    level
	origin []int32 // for each new fence the old one it is equal to, or -1
	own    []counts

	scratch         []term.IDQuad
	news            []term.IDQuad
	obsolete, fresh [][]byte
}

func (m *levelMerge) run(in Rows) error {
	m.in = in
	if err := m.fill(); err != nil {
		return err
	}
	for len(m.rows) > 0 {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if err := m.step(); err != nil {
			return err
		}
	}
	if err := m.flush(); err != nil {
		return err
	}
	m.retain(len(m.old.fences))
	if err := m.paginate(); err != nil {
		return err
	}
	return m.batch.Flush()
}

// fill fetches rows if there are none left.
func (m *levelMerge) fill() error {
	if len(m.rows) > 0 {
		return nil
	}
	rows, err := m.in.Next()
	m.rows = rows
	return err
}

// step takes in the next row and all others that belong to the same old block, or between the same two.
func (m *levelMerge) step() error {
	fences := m.old.fences
	t := m.l.Tuple(m.rows[0])
	k := m.old.reach(m.i, t)
	if k == len(fences) || t.Less(fences[k].first) {
		k-- // between blocks: at the end of the one before
	}
	if k < m.i { // that one has its place already
		var to *Tuple
		if m.i < len(fences) {
			to = &fences[m.i].first
		}
		_, err := m.blend(nil, to)
		return err
	}
	if k > m.i {
		if err := m.flush(); err != nil {
			return err
		}
		m.retain(k)
	}
	if m.i > k { // flush took block k along
		return nil
	}
	old, err := m.read(k)
	if err != nil {
		return err
	}
	var to *Tuple
	if k+1 < len(fences) {
		to = &fences[k+1].first
	}
	clean := len(m.buf) == 0
	changed, err := m.blend(old, to)
	if err != nil {
		return err
	}
	if !changed && clean {
		m.buf = m.buf[:0]
		m.retain(k + 1)
		return nil
	}
	m.replaced(k)
	return nil
}

func (m *levelMerge) read(k int) ([]term.IDQuad, error) {
	id := m.old.fences[k].id
	if rows, ok := m.m.Cache.blocks.Get(id); ok {
		return rows, nil
	}
	rows, err := readBlock(m.m.Reader, m.codec, m.l, id, m.scratch)
	if err == nil {
		m.scratch = rows
	}
	return rows, err
}

// replaced notes that the next old block's rows are in buf.
func (m *levelMerge) replaced(k int) {
	m.obsolete = append(m.obsolete, blockKey(m.old.fences[k].id))
	m.i = k + 1
}

// blend puts the rows of an old block and the incoming rows before to (nil: all) into buf, in order.
func (m *levelMerge) blend(old []term.IDQuad, to *Tuple) (changed bool, err error) {
	m.news = m.news[:0]
	for len(m.rows) > 0 {
		q := m.rows[0]
		t := m.l.Tuple(q)
		if to != nil && !t.Less(*to) {
			break
		}
		if len(old) == 0 {
			if err := m.takeIn(to); err != nil {
				return true, err
			}
			changed = true
			continue
		}
		n := gallop(m.l, old, t)
		m.buf = append(m.buf, old[:n]...)
		old = old[n:]
		switch {
		case len(old) == 0 || old[0] != q:
			m.buf = append(m.buf, q)
			changed = true
			if m.added != nil {
				m.news = append(m.news, q)
			}
		case m.mode == Turn:
			old = old[1:]
			changed = true
		}
		m.rows = m.rows[1:]
		if err := m.fill(); err != nil {
			return changed, err
		}
		if len(m.buf) >= 2*BlockRows && changed {
			if err := m.emitFull(); err != nil {
				return changed, err
			}
		}
	}
	m.buf = append(m.buf, old...)
	if err := m.tellNews(); err != nil {
		return changed, err
	}
	return changed, nil
}

// takeIn appends the incoming rows before to: there are no old ones among them.
func (m *levelMerge) takeIn(to *Tuple) error {
	n := len(m.rows)
	if to != nil {
		n = gallop(m.l, m.rows, *to)
	}
	if m.added != nil {
		if err := m.tellNews(); err != nil {
			return err
		}
		if err := m.added(m.rows[:n]); err != nil {
			return err
		}
	}
	for n > 0 {
		k := min(n, max(1, 2*BlockRows-len(m.buf)))
		m.buf = append(m.buf, m.rows[:k]...)
		m.rows = m.rows[k:]
		n -= k
		if err := m.emitFull(); err != nil {
			return err
		}
	}
	return m.fill()
}

func (m *levelMerge) tellNews() error {
	if len(m.news) == 0 {
		return nil
	}
	err := m.added(m.news)
	m.news = m.news[:0]
	return err
}
