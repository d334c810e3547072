package index

import (
	"slices"

	"odarchive/triplestore/term"
)

// Change is a quad that a commit added (Sign +1) or removed (Sign -1). It was absent before, or present.
type Change struct {
	Quad term.IDQuad
	Sign int8
}

// Run is an immutable set of changed quads, sorted in every layout. Whether a quad exists is the blocks' answer, turned
// around once for each run that holds it: a quad cannot be added twice without having been removed in between, so two
// changes of the same quad undo each other and the runs of an overlay may be merged in any way.
type Run struct {
	rows [Layouts][]term.IDQuad
	sums [Layouts][]int32 // sums[l][i] = signs of rows[l][:i] added up
}

// NewRun sorts changes; a quad must occur at most once.
func NewRun(changes []Change) *Run {
	r := &Run{}
	named := 0
	for _, c := range changes {
		if c.Quad.G != term.DefaultGraph {
			named++
		}
	}
	type row struct {
		Tuple
		sign int8
	}
	sorted := make([]row, 0, len(changes))
	for l := Layout(0); l < Layouts; l++ {
		if l == SPOG && named == 0 {
			break
		}
		sorted = sorted[:0]
		for _, c := range changes {
			if l.Holds(c.Quad.G) {
				sorted = append(sorted, row{l.Tuple(c.Quad), c.Sign})
			}
		}
		slices.SortFunc(sorted, func(a, b row) int { return a.Compare(b.Tuple) })
		rows := make([]term.IDQuad, len(sorted))
		sums := make([]int32, len(sorted)+1)
		for i, c := range sorted {
			rows[i] = l.Quad(c.Tuple)
			sums[i+1] = sums[i] + int32(c.sign)
		}
		r.rows[l], r.sums[l] = rows, sums
	}
	return r
}

// Len is the number of changed quads.
func (r *Run) Len() int { return len(r.rows[GSPO]) }

// Net is the number of quads added less those removed within a range.
func (r *Run) Net(g Range) int {
	rows := r.rows[g.Layout]
	if len(rows) == 0 {
		return 0
	}
	from := search(g.Layout, rows, g.From)
	to := len(rows)
	if !g.open() {
		to = from + search(g.Layout, rows[from:], g.To)
	}
	return int(r.sums[g.Layout][to] - r.sums[g.Layout][from])
}

// Changes calls f with every change in GSPO order.
func (r *Run) Changes(f func(Change)) {
	for i, q := range r.rows[GSPO] {
		f(Change{q, int8(r.sums[GSPO][i+1] - r.sums[GSPO][i])})
	}
}

// has reports whether the run changes q.
func (r *Run) has(q term.IDQuad) bool {
	rows := r.rows[GSPO]
	t := GSPO.Tuple(q)
	i := search(GSPO, rows, t)
	return i < len(rows) && rows[i] == q
}

// mergeRuns makes one run of two; changes that undo each other vanish.
func mergeRuns(a, b *Run) *Run {
	m := &Run{}
	for l := Layout(0); l < Layouts; l++ {
		ra, rb := a.rows[l], b.rows[l]
		if len(ra)+len(rb) == 0 {
			continue
		}
		rows := make([]term.IDQuad, 0, len(ra)+len(rb))
		sums := make([]int32, 1, len(ra)+len(rb)+1)
		sum := int32(0)
		i, j := 0, 0
		for i < len(ra) || j < len(rb) {
			c := 0
			switch {
			case i == len(ra):
				c = 1
			case j == len(rb):
				c = -1
			default:
				c = l.Tuple(ra[i]).Compare(l.Tuple(rb[j]))
			}
			switch {
			case c < 0:
				rows = append(rows, ra[i])
				sum += a.sums[l][i+1] - a.sums[l][i]
				sums = append(sums, sum)
				i++
			case c > 0:
				rows = append(rows, rb[j])
				sum += b.sums[l][j+1] - b.sums[l][j]
				sums = append(sums, sum)
				j++
			default:
				i++
				j++
			}
		}
		m.rows[l], m.sums[l] = rows, sums
	}
	return m
}

// Less takes a run's changes out of the overlay: of blocks into which they have been merged, what is left holds. A quad
// that only the run has was turned back by a later commit, so now it is the other way round than those blocks say.
func (o Overlay) Less(r *Run) Overlay {
	flipped := &Run{}
	for l, rows := range r.rows {
		flipped.rows[l] = rows
		flipped.sums[l] = make([]int32, len(r.sums[l]))
		for i, sum := range r.sums[l] {
			flipped.sums[l][i] = -sum
		}
	}
	left := mergeRuns(o.Flat(), flipped)
	if left.Len() == 0 {
		return Overlay{}
	}
	return Overlay{[]*Run{left}}
}

// Overlay is an immutable list of runs, oldest first: what has been committed since the blocks were last rewritten.
// The zero value is empty.
type Overlay struct{ runs []*Run }

// With gives the overlay with one more run. Runs of similar length are merged, so that there are never more than
// about log2 of the number of quads.
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

// Len is the number of changed quads (of which some may undo each other).
func (o Overlay) Len() int {
	n := 0
	for _, r := range o.runs {
		n += r.Len()
	}
	return n
}

// Flat is the overlay as a single run.
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

// Net is Run.Net over all runs.
func (o Overlay) Net(g Range) int {
	n := 0
	for _, r := range o.runs {
		n += r.Net(g)
	}
	return n
}

// Total is the number of quads added less those removed.
func (o Overlay) Total() int { return o.Net(Range{Layout: GSPO}) }

// Turned reports whether the overlay turns the blocks' answer about q around.
func (o Overlay) Turned(q term.IDQuad) bool {
	turned := false
	for _, r := range o.runs {
		turned = turned != r.has(q)
	}
	return turned
}

// toggles walks the quads of a range that an overlay turns around, in order.
type toggles struct {
	r    Range
	runs [][]term.IDQuad // what is left of each run
	cur  term.IDQuad
	at   Tuple // cur in the layout
	ok   bool
}

func (o Overlay) toggles(r Range) *toggles {
	t := &toggles{r: r}
	for _, run := range o.runs {
		if rows := r.clip(run.rows[r.Layout]); len(rows) > 0 {
			t.runs = append(t.runs, rows)
		}
	}
	t.next()
	return t
}

// next goes on to the next quad that an odd number of runs holds.
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

// seek drops everything before a tuple.
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
