package index

import (
	"slices"
	"sync"
	"sync/atomic"

	"odarchive/triplestore/term"
)

// Change is a quad that a commit added (Sign +1) or removed (Sign -1). The quad was absent or present before.
type Change struct {
	Quad term.IDQuad
	Sign int8
}

// Run is an immutable set of changed quads. A quad exists if the blocks have it, inverted once for each run that has
// it. A quad cannot be added twice without a removal in between, so two changes of the same quad cancel out, and the
// runs of an overlay may be merged in any order.
//
// A run is created in GSPO order. Other layouts are sorted when first read. While an archive is being filled and nobody
// reads, a commit's quads are thus sorted only once, and again for all layouts when they are merged into blocks.
type Run struct {
	made   [Layouts]atomic.Pointer[signed] // GSPO is set on creation, except for an empty run
	mu     sync.Mutex                      // guards sorter; held while a layout is sorted
	sorter *Sorter                         // of a large run that has only additions
}

// signed are changes sorted in a layout.
type signed struct {
	rows []term.IDQuad
	sums []int32 // sums[i] is the sum of the signs of rows[:i]
}

func (s *signed) sign(i int) int32 { return s.sums[i+1] - s.sums[i] }

var noRows = &signed{sums: []int32{0}}

// NewRun returns a run of the changes. A quad must occur at most once.
func NewRun(changes []Change) *Run {
	r := &Run{}
	r.made[GSPO].Store(sortSigned(GSPO, changes))
	return r
}

func sortSigned(l Layout, changes []Change) *signed {
	type row struct {
		Tuple
		sign int8
	}
	sorted := make([]row, len(changes))
	for i, c := range changes {
		sorted[i] = row{l.Tuple(c.Quad), c.Sign}
	}
	slices.SortFunc(sorted, func(a, b row) int { return a.Compare(b.Tuple) })
	s := &signed{make([]term.IDQuad, len(sorted)), make([]int32, len(sorted)+1)}
	for i, c := range sorted {
		s.rows[i] = l.Quad(c.Tuple)
		s.sums[i+1] = s.sums[i] + int32(c.sign)
	}
	return s
}

// in returns the run's changes in a layout.
func (r *Run) in(l Layout) *signed {
	if s := r.made[l].Load(); s != nil {
		return s
	}
	first := r.made[GSPO].Load()
	if first == nil || l >= SPOG && !r.anyNamed() {
		return noRows
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.made[l].Load()
	if s == nil {
		s = r.sort(l, first)
		r.made[l].Store(s)
	}
	return s
}

// manyRows is the number of rows from which on a radix sort is used.
const manyRows = 2 << 10

func (r *Run) sort(l Layout, first *signed) *signed {
	if n := len(first.rows); n >= manyRows && int(first.sums[n]) == n {
		if r.sorter == nil {
			r.sorter = NewSorter(first.rows)
		}
		rows := r.sorter.Sorted(l, nil)
		sums := make([]int32, len(rows)+1)
		for i := range sums {
			sums[i] = int32(i)
		}
		return &signed{rows, sums}
	}
	changes := make([]Change, 0, len(first.rows))
	for i, q := range first.rows {
		if l.Holds(q.G) {
			changes = append(changes, Change{q, int8(first.sign(i))})
		}
	}
	return sortSigned(l, changes)
}

// anyNamed reports whether the run changes a quad of a named graph. In GSPO order those come last.
func (r *Run) anyNamed() bool {
	s := r.made[GSPO].Load()
	return s != nil && len(s.rows) > 0 && s.rows[len(s.rows)-1].G != term.DefaultGraph
}

// Len returns the number of changed quads.
func (r *Run) Len() int { return len(r.in(GSPO).rows) }

// Net returns the number of quads added minus those removed within a range.
func (r *Run) Net(g Range) int {
	s := r.in(g.Layout)
	if len(s.rows) == 0 {
		return 0
	}
	from := search(g.Layout, s.rows, g.From)
	to := len(s.rows)
	if !g.open() {
		to = from + search(g.Layout, s.rows[from:], g.To)
	}
	return int(s.sums[to] - s.sums[from])
}

// Changes calls f with every change in GSPO order.
func (r *Run) Changes(f func(Change)) {
	s := r.in(GSPO)
	for i, q := range s.rows {
		f(Change{q, int8(s.sign(i))})
	}
}

// has reports whether the run changes q.
func (r *Run) has(q term.IDQuad) bool {
	rows := r.in(GSPO).rows
	t := GSPO.Tuple(q)
	i := search(GSPO, rows, t)
	return i < len(rows) && rows[i] == q
}

// mergeRuns merges two runs. Changes that cancel out disappear. It merges GSPO and the layouts that are sorted for the
// greater part of both runs; the others are sorted on demand.
func mergeRuns(a, b *Run) *Run {
	m := &Run{}
	for l := Layout(0); l < Layouts; l++ {
		ready := 0
		for _, r := range [2]*Run{a, b} {
			if s := r.made[l].Load(); s != nil {
				ready += len(s.rows)
			}
		}
		if l == GSPO || ready > 0 && 2*ready >= a.Len()+b.Len() {
			m.made[l].Store(mergeSigned(l, a.in(l), b.in(l)))
		}
	}
	return m
}

func mergeSigned(l Layout, a, b *signed) *signed {
	n := len(a.rows) + len(b.rows)
	m := &signed{make([]term.IDQuad, 0, n), make([]int32, 1, n+1)}
	i, j := 0, 0
	for i < len(a.rows) && j < len(b.rows) { // new terms have new numbers, so many rows of one run are in a row
		k := i + gallop(l, a.rows[i:], l.Tuple(b.rows[j]))
		m.add(a, i, k)
		if i = k; i == len(a.rows) {
			break
		}
		if a.rows[i] == b.rows[j] { // they cancel out
			i, j = i+1, j+1
			continue
		}
		k = j + gallop(l, b.rows[j:], l.Tuple(a.rows[i]))
		m.add(b, j, k)
		j = k
	}
	m.add(a, i, len(a.rows))
	m.add(b, j, len(b.rows))
	return m
}

// add appends rows of another one, which come after those of s.
func (s *signed) add(of *signed, from, to int) {
	s.rows = append(s.rows, of.rows[from:to]...)
	more := s.sums[len(s.sums)-1] - of.sums[from]
	for _, sum := range of.sums[from+1 : to+1] {
		s.sums = append(s.sums, sum+more)
	}
}

// Less returns the overlay without the changes of an earlier one, for use with blocks into which these have been
// merged. A quad that only the earlier one has was changed back by a later commit: relative to the new blocks it is
// changed.
func (o Overlay) Less(merged Overlay) Overlay {
	same := 0 // runs that nothing was merged into meanwhile, usually the longest
	for same < min(len(o.runs), len(merged.runs)) && o.runs[same] == merged.runs[same] {
		same++
	}
	now, then := Overlay{o.runs[same:]}, Overlay{merged.runs[same:]}.Flat().in(GSPO)
	if len(then.rows) == 0 {
		return Overlay{slices.Clone(now.runs)}
	}
	sums := make([]int32, len(then.sums))
	for i, sum := range then.sums {
		sums[i] = -sum
	}
	left := &Run{} // short, and seldom read in other layouts before it is merged
	left.made[GSPO].Store(mergeSigned(GSPO, now.Flat().in(GSPO), &signed{then.rows, sums}))
	if left.Len() == 0 {
		return Overlay{}
	}
	return Overlay{[]*Run{left}}
}

// Overlay is an immutable list of runs, oldest first: everything committed since the blocks were last rewritten. The
// zero value is empty.
type Overlay struct{ runs []*Run }

// With returns the overlay with another run. It merges runs of similar length, so that their number is at most about
// log2 of the number of quads.
func (o Overlay) With(r *Run) Overlay {
	if r.Len() == 0 {
		return o
	}
	runs := slices.Clone(o.runs)
	for len(runs) > 0 && runs[len(runs)-1].Len() < 2*r.Len() {
		r = mergeRuns(runs[len(runs)-1], r)
		runs = runs[:len(runs)-1]
	}
	if r.Len() > 0 {
		runs = append(runs, r)
	}
	return Overlay{runs}
}

// Len returns the number of changed quads, some of which may cancel out.
func (o Overlay) Len() int {
	n := 0
	for _, r := range o.runs {
		n += r.Len()
	}
	return n
}

// Flat returns the overlay as a single run.
func (o Overlay) Flat() *Run {
	if len(o.runs) == 0 {
		return &Run{}
	}
	r := o.runs[len(o.runs)-1]
	for i := len(o.runs) - 2; i >= 0; i-- {
		r = mergeRuns(o.runs[i], r)
	}
	return r
}

// Net is like Run.Net, over all runs.
func (o Overlay) Net(g Range) int {
	n := 0
	for _, r := range o.runs {
		n += r.Net(g)
	}
	return n
}

// Total returns the number of quads added minus those removed.
func (o Overlay) Total() int { return o.Net(Range{Layout: GSPO}) }

// inverted reports whether the overlay inverts the blocks' answer about q.
func (o Overlay) inverted(q term.IDQuad) bool {
	turned := false
	for _, r := range o.runs {
		turned = turned != r.has(q)
	}
	return turned
}

// toggles iterates over the quads of a range that an overlay inverts, in order.
type toggles struct {
	r    Range
	runs [][]term.IDQuad // the rest of each run
	cur  term.IDQuad
	at   Tuple // tuple of cur
	ok   bool
}

func (o Overlay) toggles(r Range) *toggles {
	t := &toggles{r: r}
	for _, run := range o.runs {
		if rows := r.clip(run.in(r.Layout).rows); len(rows) > 0 {
			t.runs = append(t.runs, rows)
		}
	}
	t.next()
	return t
}

// next advances to the next quad that an odd number of runs has.
func (t *toggles) next() {
	l := t.r.Layout
	for {
		t.ok = false
		odd := false
		for _, rows := range t.runs {
			if len(rows) == 0 {
				continue
			}
			at := l.Tuple(rows[0])
			switch {
			case !t.ok || at.Less(t.at):
				t.cur, t.at, t.ok, odd = rows[0], at, true, true
			case at == t.at:
				odd = !odd
			}
		}
		if !t.ok {
			return
		}
		for i, rows := range t.runs {
			if len(rows) > 0 && rows[0] == t.cur {
				t.runs[i] = rows[1:]
			}
		}
		if odd {
			return
		}
	}
}

// seek skips everything before a tuple.
func (t *toggles) seek(to Tuple) {
	if !t.ok || !t.at.Less(to) {
		return
	}
	for i, rows := range t.runs {
		if len(rows) > 0 {
			t.runs[i] = rows[gallop(t.r.Layout, rows, to):]
		}
	}
	t.next()
}
