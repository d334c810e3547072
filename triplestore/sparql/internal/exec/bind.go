package exec

import (
	"cmp"
	"slices"
	"sort"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// bind looks a pattern up for the rows of its input. It sorts up to some thousand rows by the key and moves forward
// through the index, so that neighbours share blocks and long gaps are skipped.
type bind struct {
	q      *query
	node   *plan.BindJoin
	in     op
	sorted bool // the input ascends by the first key, so each batch is used as it comes
	limit  int  // rows gathered the next time
	lcols  []int
	keys   []int // columns of the input

	rows  *block  // the rows being looked up
	all   []int   // identity
	perm  []int32 // rows in key order
	at    int     // next index of perm
	inEnd bool

	order  []int // positions that are fixed, in index order
	fixed  []int // for each of order, an index into keys, or -1 for a constant
	less   func(a, b *term.IDQuad) bool
	src    *source
	pend   []term.IDQuad
	dry    bool // the index has no more quads
	last   term.IDQuad
	target term.IDQuad // of the current key
	equal  [][2]int
	graph  int // index into keys of the graph; -1

	match  *block // the quads of the last keys, in columns of the scan
	from   int    // start in match of the quads of the current key
	key    []term.ID
	hasKey bool
	mj     int // next match for the current row
	inRow  bool
	p      *pairs
	pos    []int
	ended  bool
}

const (
	firstBind = 256
	maxBind   = 8192
)

func (q *query) openBind(n *plan.BindJoin, in op, cols []int) (op, error) {
	b := &bind{q: q, node: n, in: in, lcols: cols, limit: firstBind}
	b.keys = indexes(cols, n.Keys)
	sorted := n.L.Info().Sorted
	b.sorted = len(sorted) > 0 && sorted[0] == n.Keys[0]
	b.rows = newBlock(len(cols), q.budget)
	b.all = identity(len(cols))
	for _, c := range plan.Components(n.R.Order) {
		p := n.R.Pos[c]
		k := -1
		if p.ID == 0 {
			if p.Slot < 0 {
				break
			}
			if k = index(n.Keys, p.Slot); k < 0 {
				break
			}
		}
		b.order = append(b.order, c)
		b.fixed = append(b.fixed, k)
	}
	b.less = lessIn(n.R.Order)
	b.graph = -1
	if g := n.R.Pos[3].Slot; g >= 0 {
		b.graph = index(n.Keys, g)
	}
	b.pos, b.equal = layout(n.R)
	b.match = newBlock(len(b.pos), q.budget)
	b.key = make([]term.ID, len(n.Keys))
	b.p = q.newJoinPairs(n.Kind, n.Cols, cols, n.R.Cols, plan.SetOf(cols...))
	return b, nil
}

func (b *bind) next() (*batch, error) {
	for {
		if b.ended {
			return nil, nil
		}
		if b.at >= len(b.perm) {
			if !b.p.empty() {
				return b.p.flush(b.rows.cols, b.match.cols), nil
			}
			if err := b.gather(); err != nil {
				return nil, err
			}
			if b.rows.n == 0 {
				b.ended = true
				return nil, nil
			}
		}
		row := int(b.perm[b.at])
		if !b.inRow {
			if !b.sameKey(row) {
				if b.match.n >= b.q.opts.BatchSize { // pairs refer to the matches, so they are returned first
					if !b.p.empty() {
						return b.p.flush(b.rows.cols, b.match.cols), nil
					}
					b.match.reset()
				}
				if err := b.find(row); err != nil {
					return nil, err
				}
			}
			b.inRow, b.mj = true, b.from
		}
		found := b.match.n > b.from
		switch b.node.Kind {
		case plan.Semi, plan.Anti:
			if found == (b.node.Kind == plan.Semi) {
				b.p.add(int32(row), -1)
			}
		default:
			for b.mj < b.match.n && !b.p.full() {
				b.p.add(int32(row), int32(b.mj))
				b.mj++
			}
			if b.mj < b.match.n {
				return b.p.flush(b.rows.cols, b.match.cols), nil
			}
			if !found && b.node.Kind == plan.Outer {
				b.p.add(int32(row), -1)
			}
		}
		b.inRow = false
		b.at++
		if b.p.full() {
			return b.p.flush(b.rows.cols, b.match.cols), nil
		}
	}
}

// gather reads the next rows of the input and sorts them by key.
func (b *bind) gather() error {
	b.rows.reset()
	b.perm, b.at = b.perm[:0], 0
	for !b.inEnd && b.rows.n < b.limit {
		if err := b.q.check(); err != nil {
			return err
		}
		x, err := b.in.next()
		if err != nil {
			return err
		}
		if x == nil {
			b.inEnd = true
			break
		}
		if err := b.rows.add(x, b.all); err != nil {
			return err
		}
		if b.sorted {
			break
		}
	}
	b.limit = min(b.limit*4, maxBind)
	for i := range b.rows.n {
		b.perm = append(b.perm, int32(i))
	}
	keys := make([][]term.ID, len(b.keys))
	for i, k := range b.keys {
		keys[i] = b.rows.cols[k]
	}
	compare := func(x, y int32) int {
		for _, k := range keys {
			if k[x] != k[y] {
				return cmp.Compare(k[x], k[y])
			}
		}
		return int(x) - int(y)
	}
	if !slices.IsSortedFunc(b.perm, compare) {
		slices.SortFunc(b.perm, compare)
	}
	b.hasKey = false
	b.match.reset()
	return nil
}

// sameKey reports whether a row has the key of the quads in match.
func (b *bind) sameKey(row int) bool {
	if !b.hasKey {
		return false
	}
	for i, k := range b.keys {
		if b.rows.cols[k][row] != b.key[i] {
			return false
		}
	}
	return true
}

// find gathers the quads of a row's key.
func (b *bind) find(row int) error {
	b.from = b.match.n
	b.hasKey = true
	for i, k := range b.keys {
		b.key[i] = b.rows.cols[k][row]
		if b.key[i].Tag() == term.TagLocal {
			return nil // computed: no quad contains it
		}
	}
	target := &b.target
	*target = constants(b.node.R.Pos)
	for i, c := range b.order {
		if k := b.fixed[i]; k >= 0 {
			set(target, c, b.key[k])
		}
	}
	for _, c := range [3]int{0, 1, 2} {
		if !slices.Contains(b.order, c) {
			set(target, c, 0)
		}
	}
	target.G = 0
	if b.src == nil || b.less(target, &b.last) {
		if b.src != nil {
			b.src.close()
		}
		b.src = b.q.source(b.node.R.Pos, b.node.R.Order)
		b.pend, b.dry = nil, false
	}
	b.last = *target
	if !b.dry && (len(b.pend) == 0 || b.less(&b.pend[len(b.pend)-1], target)) {
		b.src.seek(*target)
		if err := b.refill(); err != nil {
			return err
		}
	}
	if n := len(b.pend); n > 0 && b.less(&b.pend[0], target) {
		b.pend = b.pend[gallop(b.pend, target, b.less):]
		if len(b.pend) == 0 {
			if err := b.refill(); err != nil {
				return err
			}
		}
	}
	for len(b.pend) > 0 {
		n := 0
		for n < len(b.pend) && b.matches(&b.pend[n], target) {
			n++
		}
		if err := b.keep(b.pend[:n]); err != nil {
			return err
		}
		if n < len(b.pend) {
			// The quads stay, for a row with the same key in another batch of rows.
			b.pend = b.pend[n:]
			b.last = *target
			set(&b.last, b.order[len(b.order)-1], at(target, b.order[len(b.order)-1])+1)
			return nil
		}
		if err := b.refill(); err != nil {
			return err
		}
		set(&b.last, b.order[len(b.order)-1], at(target, b.order[len(b.order)-1])+1)
	}
	return nil
}

func (b *bind) refill() error {
	quads, err := b.src.next()
	b.pend, b.dry = quads, len(quads) == 0
	return err
}

// gallop returns the index of the first of ascending quads that is not before target, which is likely to be near.
func gallop(quads []term.IDQuad, target *term.IDQuad, less func(a, b *term.IDQuad) bool) int {
	step := 1
	for step < len(quads) && less(&quads[step], target) {
		step *= 2
	}
	from := step / 2
	to := min(step+1, len(quads))
	return from + sort.Search(to-from, func(i int) bool { return !less(&quads[from+i], target) })
}

func (b *bind) matches(x, target *term.IDQuad) bool {
	for _, c := range b.order {
		if at(x, c) != at(target, c) {
			return false
		}
	}
	return true
}

// keep copies quads to the block of matches.
func (b *bind) keep(quads []term.IDQuad) error {
	if len(quads) == 0 {
		return nil
	}
	if err := b.match.grow(len(quads)); err != nil {
		return err
	}
	for k := range quads {
		if !agree(&quads[k], b.equal) || b.graph >= 0 && quads[k].G != b.key[b.graph] {
			continue
		}
		for i, p := range b.pos {
			b.match.cols[i] = append(b.match.cols[i], at(&quads[k], p))
		}
		b.match.n++
	}
	return nil
}

func (b *bind) close() {
	b.ended = true
	b.in.close()
	if b.src != nil {
		b.src.close()
	}
	b.rows.free()
	b.match.free()
	b.p.free()
}
