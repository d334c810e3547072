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

// Mode determines what Merge does with rows.
type Mode byte

const (
	Invert Mode = iota // remove rows that exist, add rows that do not
	Add                // add rows that do not exist
)

// Merger rewrites blocks. It keeps the old blocks: a state that uses them remains readable, and nothing has changed
// until the caller commits the new root.
type Merger struct {
	DB     *kv.DB
	Reader Reader
	Cache  *Cache
	NextID *atomic.Uint64 // assigns the numbers of blocks and pages

	Added func(rows []term.IDQuad) error // called with the rows actually added, in GSPO order; only used in mode Add
}

// Merged is the result of a merge.
type Merged struct {
	Base     *Base
	Root     []byte   // see OpenBase
	Obsolete [][]byte // keys in kv.SpaceTripleIndex that Base no longer uses
	Fresh    [][]byte // keys written
}

// Merge returns a new base made of an old one and rows. It calls rows for each layout; the last four layouts must have
// only quads of named graphs. Layouts are merged concurrently, so rows must support concurrent calls. If Merge fails,
// it deletes what it has written.
func (m *Merger) Merge(ctx context.Context, base *Base, mode Mode, rows func(Layout) (Rows, error)) (*Merged, error) {
	out := &Merged{Base: &Base{}}
	var mu sync.Mutex // guards out
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
		m.DB.DeleteKeys(kv.SpaceTripleIndex, out.Fresh) // if this fails too, the next Open does it
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

	i      int           // old blocks before this one are in new or replaced
	buf    []term.IDQuad // rows waiting to become blocks
	new    level
	origin []int32 // for each new fence the equal old one, or -1
	own    []counts

	scratch         []term.IDQuad
	unreported      []term.IDQuad
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

// fill reads the next rows if none are left.
func (m *levelMerge) fill() error {
	if len(m.rows) > 0 {
		return nil
	}
	rows, err := m.in.Next()
	m.rows = rows
	return err
}

// step merges the next row, and all others that belong to the same old block or between the same two.
func (m *levelMerge) step() error {
	fences := m.old.fences
	t := m.l.Tuple(m.rows[0])
	k := m.old.reach(m.i, t)
	if k == len(fences) || t.Less(fences[k].first) {
		k-- // between two blocks: append to the first
	}
	if k < m.i { // that block is done
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
	if m.i > k { // flush merged block k too
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

// replaced records that the rows of old block k are in buf.
func (m *levelMerge) replaced(k int) {
	m.obsolete = append(m.obsolete, blockKey(m.old.fences[k].id))
	m.i = k + 1
}

// blend appends the rows of an old block and the new rows before to (all if nil) to buf, in order.
func (m *levelMerge) blend(old []term.IDQuad, to *Tuple) (changed bool, err error) {
	m.unreported = m.unreported[:0]
	for len(m.rows) > 0 {
		q := m.rows[0]
		t := m.l.Tuple(q)
		if to != nil && !t.Less(*to) {
			break
		}
		if len(old) == 0 {
			if err := m.appendNew(to); err != nil {
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
				m.unreported = append(m.unreported, q)
			}
		case m.mode == Invert:
			old = old[1:]
			changed = true
		}
		m.rows = m.rows[1:]
		if err := m.fill(); err != nil {
			return changed, err
		}
		if len(m.buf) >= 2*blockRows && changed {
			if err := m.emitFull(); err != nil {
				return changed, err
			}
		}
	}
	m.buf = append(m.buf, old...)
	if err := m.reportAdded(); err != nil {
		return changed, err
	}
	return changed, nil
}

// appendNew appends the new rows before to. There are no old rows among them.
func (m *levelMerge) appendNew(to *Tuple) error {
	n := len(m.rows)
	if to != nil {
		n = gallop(m.l, m.rows, *to)
	}
	if m.added != nil {
		if err := m.reportAdded(); err != nil {
			return err
		}
		if err := m.added(m.rows[:n]); err != nil {
			return err
		}
	}
	for n > 0 {
		k := min(n, max(1, 2*blockRows-len(m.buf)))
		m.buf = append(m.buf, m.rows[:k]...)
		m.rows = m.rows[k:]
		n -= k
		if err := m.emitFull(); err != nil {
			return err
		}
	}
	return m.fill()
}

func (m *levelMerge) reportAdded() error {
	if len(m.unreported) == 0 {
		return nil
	}
	err := m.added(m.unreported)
	m.unreported = m.unreported[:0]
	return err
}
