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

// Merger rewrites blocks. It keeps the old blocks: a state that uses them remains readable, and nothing has changed
// until the caller commits the new root. If a method fails, it deletes what it has written.
type Merger struct {
	DB     *kv.DB
	Reader Reader
	Cache  *Cache
	NextID *atomic.Uint64 // assigns the numbers of blocks and pages
}

// Merged is the result of a merge.
type Merged struct {
	Base     *Base
	Root     []byte   // see OpenBase
	Obsolete [][]byte // keys in kv.SpaceTripleIndex that Base no longer uses
	Fresh    [][]byte // keys written
}

// rowsOf returns the rows of each layout; the last four layouts have only quads of named graphs. It may be called
// concurrently.
type rowsOf func(context.Context, Layout) (Rows, error)

// always returns a rowsOf that does not wait.
func always(rows func(Layout) (Rows, error)) rowsOf {
	return func(_ context.Context, l Layout) (Rows, error) { return rows(l) }
}

// merge returns a new base in which the rows of part i are inverted in tier i of an old one: removed if the tier has
// them, added if not. Parts may be nil. The last part's tier, which may be a new one, also absorbs the tiers after it.
// Layouts are merged concurrently and begun in order.
func (m *Merger) merge(ctx context.Context, base *Base, parts []rowsOf) (*Merged, error) {
	k := len(parts) - 1
	tiers := make([]*tier, len(parts))
	absorbed := &State{Base: &Base{}, Reader: m.Reader, Cache: m.Cache, bulk: true}
	if k < len(base.tiers) {
		absorbed.Base.tiers = base.tiers[k+1:]
	}
	out := &Merged{Base: &Base{}, Obsolete: absorbed.Base.keys()}
	var mu sync.Mutex // guards out and tiers
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	for i, rows := range parts {
		old := &tier{}
		if i < len(base.tiers) {
			old = base.tiers[i]
		}
		if tiers[i] = old; rows == nil && (i < k || len(absorbed.Base.tiers) == 0) {
			continue
		}
		tiers[i] = &tier{}
		for l := Layout(0); l < Layouts; l++ {
			g.Go(func() error {
				var in Rows = &sliceRows{}
				var err error
				if rows != nil {
					if in, err = rows(ctx, l); err != nil {
						return err
					}
				}
				if i == k && len(absorbed.Base.tiers) > 0 {
					in = &differing{layout: l, in: [2]Rows{in, absorbed.Layout(l)}}
				}
				lm := &levelMerge{ctx: ctx, m: m, l: l, old: &old.levels[l], batch: m.DB.Batch(), codec: new(codec)}
				err = lm.run(in)
				mu.Lock()
				defer mu.Unlock()
				out.Obsolete = append(out.Obsolete, lm.obsolete...)
				out.Fresh = append(out.Fresh, lm.fresh...)
				tiers[i].levels[l] = lm.new
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		m.DB.DeleteKeys(kv.SpaceTripleIndex, out.Fresh) // if this fails too, the next Open does it
		return nil, err
	}
	for _, t := range tiers {
		if t.rows() > 0 {
			out.Base.tiers = append(out.Base.tiers, t)
		}
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
	batch *kv.Batch
	codec *codec

	in   Rows
	rows []term.IDQuad // the rest of the current batch of in

	i      int           // old blocks before this one are in new or replaced
	buf    []term.IDQuad // rows waiting to become blocks
	new    level
	origin []int32 // for each new fence the equal old one, or -1
	own    []counts

	scratch         []term.IDQuad
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
	m.new.finish()
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
		return m.blend(nil, to)
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
	if err := m.blend(old, to); err != nil {
		return err
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
func (m *levelMerge) blend(old []term.IDQuad, to *Tuple) error {
	for len(m.rows) > 0 {
		q := m.rows[0]
		t := m.l.Tuple(q)
		if to != nil && !t.Less(*to) {
			break
		}
		if len(old) == 0 {
			if err := m.appendNew(to); err != nil {
				return err
			}
			continue
		}
		n := gallop(m.l, old, t)
		m.buf = append(m.buf, old[:n]...)
		old = old[n:]
		if len(old) == 0 || old[0] != q {
			m.buf = append(m.buf, q)
		} else {
			old = old[1:]
		}
		m.rows = m.rows[1:]
		if err := m.fill(); err != nil {
			return err
		}
		if len(m.buf) >= 2*blockRows {
			if err := m.emitFull(); err != nil {
				return err
			}
		}
	}
	m.buf = append(m.buf, old...)
	return nil
}

// appendNew appends the new rows before to. There are no old rows among them.
func (m *levelMerge) appendNew(to *Tuple) error {
	n := len(m.rows)
	if to != nil {
		n = gallop(m.l, m.rows, *to)
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
