package index

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

func inMemory(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// world is an index under test together with an obviously correct set of quads.
type world struct {
	t      *testing.T
	rnd    *rand.Rand
	db     *kv.DB
	nextID atomic.Uint64
	cache  *Cache
	base   *Base
	model  map[term.IDQuad]bool
}

func newWorld(t *testing.T) *world {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return &world{t: t, rnd: rand.New(rand.NewPCG(seed, 0)), db: inMemory(t), cache: NewCache(4 << 20), base: &Base{},
		model: map[term.IDQuad]bool{}}
}

// quad returns a random quad of a small or a large world, near a place.
func (w *world) quad(near, spread uint64) term.IDQuad {
	q := term.IDQuad{
		S: term.Make(term.TagIRI, 1+near+w.rnd.Uint64N(spread)),
		P: term.Make(term.TagIRI, 1_000_000+w.rnd.Uint64N(9)),
		O: term.Make(term.TagLiteral, 1+w.rnd.Uint64N(5000)),
		G: term.DefaultGraph,
	}
	if w.rnd.IntN(2) == 0 {
		q.G = term.Make(term.TagIRI, 2_000_000+w.rnd.Uint64N(6))
	}
	return q
}

func (w *world) state(o Overlay) (*State, func()) {
	snap := w.db.Snapshot()
	return &State{Base: w.base, Overlay: o, Reader: snap, Cache: w.cache}, snap.Close
}

// Ways to change the base.
type mode byte

const (
	invert mode = iota // Apply: remove quads that exist, add others
	add                // Add, which leaves out quads that exist
	fold               // Invert: like Apply, and all into one tier
)

// merge changes quads and compares.
func (w *world) merge(mode mode, quads []term.IDQuad) {
	w.t.Helper()
	slices.SortFunc(quads, compareIn(GSPO))
	quads = slices.Compact(quads)
	var changes []Change
	added := 0
	for _, q := range quads {
		sign := int8(1)
		if w.model[q] {
			sign = -1
		} else {
			added++
		}
		changes = append(changes, Change{q, sign})
	}
	run := NewRun(changes)
	if mode == invert {
		s, done := w.state(Overlay{}.With(run))
		w.check(s, func(q term.IDQuad) bool {
			_, turned := slices.BinarySearchFunc(quads, q, compareIn(GSPO))
			return w.model[q] != turned
		})
		done()
	}
	snap := w.db.Snapshot()
	defer snap.Close()
	told := 0
	m := &Merger{DB: w.db, Reader: snap, Cache: w.cache, NextID: &w.nextID}
	var out *Merged
	var err error
	switch mode {
	case invert:
		out, err = m.Apply(w.t.Context(), w.base, run)
	case fold:
		out, err = m.Invert(w.t.Context(), w.base, run.Rows)
	default:
		out, err = m.Add(w.t.Context(), w.base, uint64(len(quads)), run.Rows,
			func(rows []term.IDQuad) error { told += len(rows); return nil })
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if mode == add && told != added {
		w.t.Errorf("%d quads reported as added, want %d", told, added)
	}
	for _, q := range quads {
		if mode != add && w.model[q] {
			delete(w.model, q)
		} else {
			w.model[q] = true
		}
	}
	w.install(out)
}

// install makes a merge's result the base and compares.
func (w *world) install(out *Merged) {
	w.t.Helper()
	var err error
	fresh := w.db.Snapshot()
	defer fresh.Close()
	if w.base, err = OpenBase(fresh, out.Root); err != nil {
		w.t.Fatal(err)
	}
	if len(w.base.tiers) != len(out.Base.tiers) {
		w.t.Fatalf("%d tiers, %d after opening", len(out.Base.tiers), len(w.base.tiers))
	}
	for i, t := range w.base.tiers {
		for l := range t.levels {
			if a, b := t.levels[l], out.Base.tiers[i].levels[l]; a.total != b.total || !slices.Equal(a.fences, b.fences) ||
				!slices.Equal(a.pages, b.pages) {
				w.t.Fatalf("%s differs after opening: %v, %v", Layout(l), a.total, b.total)
			}
		}
	}
	if err := w.db.DeleteKeys(kv.SpaceTripleIndex, out.Obsolete); err != nil {
		w.t.Fatal(err)
	}
	s, done := w.state(Overlay{})
	defer done()
	w.check(s, func(q term.IDQuad) bool { return w.model[q] })
	if _, err := s.Verify(w.t.Context(), func([]term.IDQuad) error { return nil }); err != nil {
		w.t.Error(err)
	}
	w.noLeftovers()
}

func (w *world) foldAll() {
	w.t.Helper()
	snap := w.db.Snapshot()
	defer snap.Close()
	m := &Merger{DB: w.db, Reader: snap, Cache: w.cache, NextID: &w.nextID}
	out, err := m.Fold(w.t.Context(), w.base)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(out.Base.tiers) != 1 {
		w.t.Errorf("%d tiers after folding", len(out.Base.tiers))
	}
	w.install(out)
}

// check compares a state with the expected quads.
func (w *world) check(s *State, has func(term.IDQuad) bool) {
	w.t.Helper()
	want := map[Layout][]term.IDQuad{}
	seen := map[term.IDQuad]bool{}
	for q := range w.model {
		seen[q] = true
	}
	for _, r := range s.Overlay.runs {
		for _, q := range r.in(GSPO).rows {
			seen[q] = true
		}
	}
	for l := Layout(0); l < Layouts; l++ {
		for q := range seen {
			if l.Holds(q.G) && has(q) {
				want[l] = append(want[l], q)
			}
		}
		slices.SortFunc(want[l], compareIn(l))
		var got []term.IDQuad
		c := s.Layout(l)
		for {
			rows, err := c.Next()
			if err != nil {
				w.t.Fatal(err)
			}
			if len(rows) == 0 {
				break
			}
			got = append(got, rows...)
		}
		c.Close()
		if !slices.Equal(got, want[l]) {
			w.t.Fatalf("%s: %d rows, want %d", l, len(got), len(want[l]))
		}
		w.checkRanges(s, l, want[l])
	}
}

// checkRanges compares counts of ranges with counting.
func (w *world) checkRanges(s *State, l Layout, rows []term.IDQuad) {
	w.t.Helper()
	for range 10 {
		var at Tuple
		if len(rows) > 0 {
			at = l.Tuple(rows[w.rnd.IntN(len(rows))])
		}
		if w.rnd.IntN(3) == 0 {
			at[w.rnd.IntN(4)]++
		}
		prefix := w.rnd.IntN(4)
		r := prefixRange(l, at, prefix)
		n, distinct := 0, map[term.ID]bool{}
		sizes := map[term.ID]int{}
		for _, q := range rows {
			t := l.Tuple(q)
			if slices.Equal(t[:prefix], r.From[:prefix]) {
				n++
				distinct[t[prefix]] = true
				sizes[t[prefix]]++
			}
		}
		got, err := s.Count(r)
		if err != nil || got != n {
			w.t.Fatalf("%s prefix %d: count %d, %v, want %d", l, prefix, got, err, n)
		}
		if prefix == 3 {
			continue
		}
		d, err := s.Distinct(r, prefix)
		if err != nil || d != len(distinct) {
			w.t.Fatalf("%s prefix %d: %d distinct, %v, want %d", l, prefix, d, err, len(distinct))
		}
		err = s.Groups(r, prefix, func(id term.ID, quads int) (bool, error) {
			if sizes[id] != quads {
				w.t.Errorf("%s prefix %d: group of %d, want %d", l, prefix, quads, sizes[id])
			}
			delete(sizes, id)
			return true, nil
		})
		if err != nil || len(sizes) != 0 {
			w.t.Fatalf("%s prefix %d: %d groups not found, %v", l, prefix, len(sizes), err)
		}
	}
}

// noLeftovers compares what is stored with what the base uses.
func (w *world) noLeftovers() {
	w.t.Helper()
	want := len(w.base.keys())
	n := 0
	w.db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceTripleIndex, nil, nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	})
	if n != want {
		w.t.Errorf("%d entries are stored, %d are in use", n, want)
	}
}

func TestMergesOfAllKindsAgreeWithASet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	some := func(n int, near, spread uint64) (quads []term.IDQuad) {
		for range n {
			quads = append(quads, w.quad(near, spread))
		}
		return quads
	}
	existing := func(keep func(term.IDQuad) bool) (quads []term.IDQuad) {
		for q := range w.model {
			if keep(q) {
				quads = append(quads, q)
			}
		}
		return quads
	}
	w.merge(add, some(15_000, 10_000, 4000))
	w.merge(add, some(3000, 10_000, 4000))    // everywhere
	w.merge(invert, some(3000, 10_000, 4000)) // everywhere
	w.merge(add, some(2500, 20_000, 300))     // at the end
	w.merge(add, some(2500, 1, 300))          // at the beginning
	w.merge(invert, some(1, 12_000, 1))       // a single one
	w.merge(add, existing(func(term.IDQuad) bool { return true })[:100])
	w.merge(invert, existing(func(q term.IDQuad) bool { return q.S.Payload() > 11_000 && q.S.Payload() < 13_000 })) // a hole
	g := term.Make(term.TagIRI, 2_000_003)
	w.merge(invert, existing(func(q term.IDQuad) bool { return q.G == g })) // a graph
	w.merge(invert, existing(func(q term.IDQuad) bool { return w.rnd.IntN(20) > 0 }))
	w.merge(invert, some(200, 10_000, 4000))
	w.merge(invert, existing(func(term.IDQuad) bool { return true }))
	w.merge(add, some(1, 1, 1))
}

func TestTiersTogetherAreASet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	some := func(n int) (quads []term.IDQuad) {
		for range n {
			quads = append(quads, w.quad(10_000, 3000))
		}
		return quads
	}
	existing := func(share int) (quads []term.IDQuad) {
		for q := range w.model {
			if w.rnd.IntN(100) < share {
				quads = append(quads, q)
			}
		}
		return quads
	}
	tiers := func(want int) {
		t.Helper()
		if got := w.base.Tiers(); got != want {
			t.Errorf("%d tiers, want %d", got, want)
		}
	}
	w.merge(add, some(16_000))
	tiers(1)
	w.merge(add, slices.Concat(some(2000), existing(10))) // most of what exists is left out
	tiers(2)
	w.merge(invert, some(300))
	tiers(3)
	w.merge(invert, some(100)) // absorbs the third; far from absorbing the second, too, which has 2000 or a few less
	tiers(3)
	w.merge(invert, existing(3)) // from all tiers
	w.merge(invert, existing(80))
	w.merge(add, some(5000))
	tiers(1) // absorbs all
	w.merge(add, some(900))
	w.merge(invert, some(100))
	tiers(3)
	w.merge(fold, existing(20))
	tiers(1)
	w.merge(add, some(1000))
	w.merge(invert, some(50))
	tiers(3)
	w.foldAll()
	for range 12 {
		switch w.rnd.IntN(4) {
		case 0:
			w.merge(add, slices.Concat(some(1+w.rnd.IntN(3000)), existing(1)))
		case 1:
			w.merge(invert, some(1+w.rnd.IntN(1000)))
		case 2:
			w.merge(invert, slices.Concat(existing(1), some(w.rnd.IntN(100))))
		default:
			w.merge(fold, slices.Concat(existing(1+w.rnd.IntN(50)), some(w.rnd.IntN(300))))
		}
	}
	w.merge(add, existing(100))
	w.merge(fold, existing(100))
	tiers(0)
}

func TestDistinctValuesOfTiersAreEstimated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quads := func(from, to int) (quads []term.IDQuad) {
		for s := from; s < to; s++ {
			quads = append(quads, term.IDQuad{
				S: term.Make(term.TagIRI, uint64(1+s)), P: term.Make(term.TagIRI, 1_000_000),
				O: term.Make(term.TagLiteral, uint64(1+s%50)), G: term.DefaultGraph,
			})
		}
		return quads
	}
	w.merge(add, quads(0, 100_000))
	w.merge(add, quads(100_000, 115_000))
	s, done := w.state(Overlay{})
	defer done()
	e, err := s.Estimate(term.Pattern{P: term.Make(term.TagIRI, 1_000_000), G: term.DefaultGraph})
	if err != nil || w.base.Tiers() != 2 || e.Count != 115_000 || e.Distinct[0] != 115_000 || e.Distinct[2] != 50 {
		t.Errorf("%d tiers, %+v, %v", w.base.Tiers(), e, err)
	}
}

func TestAMergeThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var quads []term.IDQuad
	for range 5000 {
		quads = append(quads, w.quad(1, 1000))
	}
	w.merge(add, quads)
	boom := errors.New("boom")
	snap := w.db.Snapshot()
	defer snap.Close()
	m := &Merger{DB: w.db, Reader: snap, Cache: w.cache, NextID: &w.nextID}
	_, err := m.Invert(t.Context(), w.base, func(l Layout) (Rows, error) { return &failing{rows: quads, l: l, err: boom}, nil })
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	w.noLeftovers()
}

type failing struct {
	rows []term.IDQuad
	l    Layout
	err  error
}

func (f *failing) Next() ([]term.IDQuad, error) {
	if f.rows == nil {
		return nil, f.err
	}
	rows := slices.DeleteFunc(slices.Clone(f.rows), func(q term.IDQuad) bool { return !f.l.Holds(q.G) })
	f.rows = nil
	slices.SortFunc(rows, compareIn(f.l))
	return slices.Compact(rows), nil
}

func TestAMissingOrDamagedBlockIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var quads []term.IDQuad
	for range 5000 {
		quads = append(quads, w.quad(1, 1000))
	}
	w.merge(add, quads)
	id := w.base.tiers[0].levels[GPOS].fences[1].id
	w.cache = NewCache(0)
	for name, spoil := range map[string]func(tx *kv.Txn, b []byte) error{
		"flipped": func(tx *kv.Txn, b []byte) error {
			b[len(b)/2] ^= 1
			return tx.Set(kv.SpaceTripleIndex, blockKey(id), b)
		},
		"missing": func(tx *kv.Txn, _ []byte) error { return tx.Delete(kv.SpaceTripleIndex, blockKey(id)) },
		"another": func(tx *kv.Txn, b []byte) error {
			other, _, err := tx.Get(kv.SpaceTripleIndex, blockKey(w.base.tiers[0].levels[GPOS].fences[0].id))
			if err != nil {
				return err
			}
			return tx.Set(kv.SpaceTripleIndex, blockKey(id), other)
		},
	} {
		var good []byte
		err := w.db.Update(t.Context(), func(tx *kv.Txn) error {
			b, _, err := tx.Get(kv.SpaceTripleIndex, blockKey(id))
			good = slices.Clone(b)
			if err != nil {
				return err
			}
			return spoil(tx, b)
		})
		if err != nil {
			t.Fatal(err)
		}
		s, done := w.state(Overlay{})
		c := s.Layout(GPOS)
		var rerr error
		for {
			var rows []term.IDQuad
			if rows, rerr = c.Next(); rerr != nil || len(rows) == 0 {
				break
			}
		}
		if !errors.Is(rerr, segments.ErrDamaged) || !strings.Contains(rerr.Error(), "of GPOS") {
			t.Errorf("%s: %v", name, rerr)
		}
		c.Close()
		done()
		w.db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTripleIndex, blockKey(id), good) })
	}
}

func TestSpilledRunsComeBackMergedAndOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, l := range []Layout{GSPO, POSG} {
		s := NewSpill(l)
		defer s.Close()
		var want []term.IDQuad
		for run := range 7 {
			var quads []term.IDQuad
			for range 1 + w.rnd.IntN(4000) {
				quads = append(quads, w.quad(1, 30))
			}
			rows := NewSorter(quads).Sorted(l, nil)
			again := slices.DeleteFunc(slices.Clone(quads), func(q term.IDQuad) bool { return !l.Holds(q.G) })
			slices.SortFunc(again, compareIn(l))
			if !slices.Equal(rows, slices.Compact(again)) {
				t.Fatalf("%s: radix and comparison sort differ", l)
			}
			want = append(want, rows...)
			if err := s.Add(t.TempDir()+"/"+string(rune('a'+run)), rows); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, compareIn(l))
		want = slices.Compact(want)
		in, err := s.Rows()
		if err != nil {
			t.Fatal(err)
		}
		var got []term.IDQuad
		for {
			rows, err := in.Next()
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				break
			}
			got = append(got, rows...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d", l, len(got), len(want))
		}
	}
}
