// This file is the conformance kit of quad stores: tests that every store must pass, and random operations whose
// results are compared with those of the naive store. It runs on the naive store, too.

package triplestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/term"
)

// kitTxn is a write transaction of a store under test.
type kitTxn interface {
	Insert(term.Quad) error
	Delete(term.Quad) error
	ClearGraph(term.Key) error
}

// kitStore is a store under test.
type kitStore struct {
	Update   func(context.Context, func(kitTxn) error) error
	Snapshot func() (d term.Dataset, release func())
	// Shake, if not nil, is called occasionally between operations. It may merge, reopen or compact: anything that must
	// not change the content.
	Shake func(rnd *rand.Rand)
}

// runKit runs the kit. open returns a new, empty store.
func runKit(t *testing.T, open func(testing.TB) kitStore) {
	t.Run("an empty store has nothing", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		d, release := s.Snapshot()
		defer release()
		checkDataset(t, nil, d)
		if err := d.Keys([]term.ID{term.Make(term.TagIRI, 1)}, make([]term.Key, 1)); err == nil {
			t.Error("an unknown id became a term")
		}
	})
	t.Run("quads come and go", func(t *testing.T) { t.Parallel(); comeAndGo(t, open(t)) })
	t.Run("a failed transaction changes nothing", func(t *testing.T) { t.Parallel(); failed(t, open(t)) })
	t.Run("a snapshot does not change", func(t *testing.T) { t.Parallel(); isolated(t, open(t)) })
	t.Run("what is not RDF is refused", func(t *testing.T) { t.Parallel(); refused(t, open(t)) })
	t.Run("odd terms come back as they were", func(t *testing.T) { t.Parallel(); oddTerms(t, open(t)) })
	t.Run("random operations agree with the naive store", func(t *testing.T) {
		t.Parallel()
		runRandom(t, open, kitSeed(t), 60)
	})
}

var _ term.Dataset = (*naive.Dataset)(nil)

func TestTheNaiveStoreIsAStore(t *testing.T) {
	t.Parallel()
	runKit(t, func(testing.TB) kitStore {
		s := naive.New()
		return kitStore{
			Update: func(ctx context.Context, f func(kitTxn) error) error {
				return s.Update(ctx, func(tx *naive.Txn) error { return f(tx) })
			},
			Snapshot: func() (term.Dataset, func()) { return s.Snapshot(), func() {} },
		}
	})
}

func q(s, p, o, g string) term.Quad {
	quad := term.Quad{S: term.IRI("http://e/" + s), P: term.IRI("http://e/" + p), O: term.String(o)}
	if g != "" {
		quad.G = term.IRI("http://e/" + g)
	}
	return quad
}

func insertInto(t testing.TB, s kitStore, quads ...term.Quad) {
	t.Helper()
	err := s.Update(t.Context(), func(tx kitTxn) error {
		for _, q := range quads {
			if err := tx.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func comeAndGo(t *testing.T, s kitStore) {
	a, b, c := q("a", "p", "a literal longer than seven bytes", ""), q("a", "p", "x", ""), q("a", "p", "x", "g")
	insertInto(t, s, a, b, c, a)
	want := func(quads ...term.Quad) {
		t.Helper()
		d, release := s.Snapshot()
		defer release()
		checkDataset(t, quads, d)
	}
	want(a, b, c)
	insertInto(t, s, a)
	want(a, b, c)
	err := s.Update(t.Context(), func(tx kitTxn) error {
		return errors.Join(tx.Delete(b), tx.Delete(b), tx.Insert(b), tx.Delete(a), tx.Delete(q("never", "seen", "before", "")))
	})
	if err != nil {
		t.Fatal(err)
	}
	want(b, c)
	if err := s.Update(t.Context(), func(tx kitTxn) error { return errors.Join(tx.ClearGraph(""), tx.Insert(a)) }); err != nil {
		t.Fatal(err)
	}
	want(a, c)
	if err := s.Update(t.Context(),
		func(tx kitTxn) error { return errors.Join(tx.ClearGraph(c.G), tx.ClearGraph("<http://e/none")) }); err != nil {
		t.Fatal(err)
	}
	want(a)
}

func failed(t *testing.T, s kitStore) {
	a := q("a", "p", "o", "")
	insertInto(t, s, a)
	boom := errors.New("boom")
	err := s.Update(t.Context(), func(tx kitTxn) error {
		tx.Delete(a)
		tx.Insert(q("new", "new", "a new literal", "new"))
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	insertInto(t, s, q("b", "p", "another new literal", ""))
	d, release := s.Snapshot()
	defer release()
	checkDataset(t, []term.Quad{a, q("b", "p", "another new literal", "")}, d)
}

func isolated(t *testing.T, s kitStore) {
	a, b := q("a", "p", "o", ""), q("b", "p", "o", "g")
	insertInto(t, s, a)
	d, release := s.Snapshot()
	defer release()
	insertInto(t, s, b)
	if err := s.Update(t.Context(), func(tx kitTxn) error { return tx.Delete(a) }); err != nil {
		t.Fatal(err)
	}
	checkDataset(t, []term.Quad{a}, d)
	now, releaseNow := s.Snapshot()
	defer releaseNow()
	checkDataset(t, []term.Quad{b}, now)
}

func refused(t *testing.T, s kitStore) {
	iri := term.IRI("http://e/")
	for _, quad := range []term.Quad{
		{}, {S: term.String("x"), P: iri, O: iri}, {S: iri, P: term.Blank("b"), O: iri}, {S: iri, P: iri},
		{S: term.Triple(iri, iri, iri), P: iri, O: iri},
	} {
		if err := s.Update(t.Context(), func(tx kitTxn) error { return tx.Insert(quad) }); err == nil {
			t.Errorf("%q was taken", quad)
		}
	}
}

func oddTerms(t *testing.T, s kitStore) {
	iri := term.IRI("http://e/")
	var quads []term.Quad
	for _, o := range []term.Key{
		term.String(""), term.String("\x00\x00"), term.String("\xff\xfe not UTF-8"), term.String(strings.Repeat("long ", 20_000)),
		term.Lang("x", "de"), term.Lang("x", "de-at"), "@de--rtl\x00x", term.Typed("1", "http://www.w3.org/2001/XMLSchema#integer"),
		term.Typed("01", "http://www.w3.org/2001/XMLSchema#integer"), term.Typed("", "http://dt/"), term.IRI(""), term.Blank("b"),
		term.Triple(iri, iri, term.Triple(iri, iri, term.String("x"))),
	} {
		quads = append(quads, term.Quad{S: iri, P: iri, O: o}, term.Quad{S: term.Blank("x"), P: iri, O: o, G: term.Blank("g")})
	}
	insertInto(t, s, quads...)
	d, release := s.Snapshot()
	defer release()
	checkDataset(t, quads, d)
}

// kitSeed returns $ODARCHIVE_SEED or a random seed, and logs it.
func kitSeed(t testing.TB) uint64 {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("ODARCHIVE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ODARCHIVE_SEED=%d", seed)
	return seed
}

// runRandom runs random commits on a new store and on the naive one, and compares them after each.
func runRandom(t *testing.T, open func(testing.TB) kitStore, seed uint64, commits int) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	s, model := open(t), naive.New()
	type held struct {
		d       term.Dataset
		release func()
		want    []term.Quad
	}
	var old []held
	present := map[term.Quad]bool{}
	random := func() term.Quad { return randomQuad(rnd) }
	for i := range commits {
		steps := 1 + rnd.IntN(1<<rnd.IntN(9))
		fail := rnd.IntN(8) == 0
		trial := map[term.Quad]bool{}
		for q := range present {
			trial[q] = true
		}
		seed := rnd.Uint64()
		play := func(tx kitTxn) error {
			r := rand.New(rand.NewPCG(seed, 1))
			for range steps {
				q := randomQuad(r)
				var err error
				switch n := r.IntN(100); {
				case n == 0:
					err = tx.ClearGraph(q.G)
				case n < 35:
					err = tx.Delete(q)
				default:
					err = tx.Insert(q)
				}
				if err != nil {
					return err
				}
			}
			if fail {
				return errors.New("on purpose")
			}
			return nil
		}
		err := s.Update(t.Context(), play)
		merr := model.Update(t.Context(), func(tx *naive.Txn) error { return play(tx) })
		if (err == nil) != (merr == nil) {
			t.Fatalf("commit %d: %v, the naive store says %v", i, err, merr)
		}
		if s.Shake != nil && rnd.IntN(4) == 0 {
			s.Shake(rnd)
		}
		want := quadsOf(t, model.Snapshot())
		present = map[term.Quad]bool{}
		for _, q := range want {
			present[q] = true
		}
		d, release := s.Snapshot()
		checkDataset(t, want, d)
		for range 5 {
			checkSeeks(t, rnd, d, random())
		}
		if rnd.IntN(5) == 0 && len(old) < 4 {
			old = append(old, held{d, release, want})
		} else {
			release()
		}
		if t.Failed() {
			t.Fatalf("after commit %d", i)
		}
	}
	for _, h := range old {
		checkDataset(t, h.want, h.d)
		h.release()
	}
}

// randomQuad returns a quad from a small universe, so that equal quads recur.
func randomQuad(r *rand.Rand) term.Quad {
	q := term.Quad{S: term.IRI(fmt.Sprintf("http://e/s%d", r.IntN(20))), P: term.IRI(fmt.Sprintf("http://e/p%d", r.IntN(5)))}
	if r.IntN(10) == 0 {
		q.S = term.Blank(fmt.Sprintf("b%d", r.IntN(3)))
	}
	switch r.IntN(5) {
	case 0:
		q.O = q.S
	case 1:
		q.O = term.Typed(strconv.Itoa(r.IntN(20)-10), "http://www.w3.org/2001/XMLSchema#integer")
	case 2:
		q.O = term.Lang(fmt.Sprintf("text number %d", r.IntN(10)), "en")
	case 3:
		q.O = term.IRI(fmt.Sprintf("http://e/s%d", r.IntN(20)))
	default:
		q.O = term.String(strconv.Itoa(r.IntN(30)))
	}
	if n := r.IntN(8); n < 4 {
		q.G = term.IRI(fmt.Sprintf("http://e/g%d", n))
	}
	return q
}

func quadsOf(t testing.TB, d term.Dataset) []term.Quad {
	t.Helper()
	rows := drain(t, d.Scan(term.Pattern{}, term.SPO))
	return translate(t, d, rows)
}

func translate(t testing.TB, d term.Dataset, rows []term.IDQuad) []term.Quad {
	t.Helper()
	quads := make([]term.Quad, len(rows))
	for i, r := range rows {
		ids, keys := []term.ID{r.S, r.P, r.O}, make([]term.Key, 4)
		if r.G != term.DefaultGraph {
			ids = append(ids, r.G)
		}
		if err := d.Keys(ids, keys); err != nil {
			t.Fatal(err)
		}
		quads[i] = term.Quad{S: keys[0], P: keys[1], O: keys[2], G: keys[3]}
	}
	return quads
}

func drain(t testing.TB, c term.Cursor) []term.IDQuad {
	t.Helper()
	defer c.Close()
	var all []term.IDQuad
	for {
		rows, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			return all
		}
		all = append(all, rows...)
	}
}

// checkDataset compares a dataset with the quads that it should hold, through every method.
func checkDataset(t testing.TB, want []term.Quad, d term.Dataset) {
	t.Helper()
	oracle := naive.New(want...).Snapshot()
	wantAll := sorted(want)
	for _, o := range d.Orders() {
		rows := drain(t, d.Scan(term.Pattern{}, o))
		if !slices.IsSortedFunc(rows, func(a, b term.IDQuad) int { return naive.Compare(o, a, b) }) {
			t.Errorf("%s is not sorted", o)
		}
		if got := sorted(translate(t, d, rows)); !slices.Equal(got, wantAll) {
			t.Errorf("%s holds %d quads, want %d:\n got %q\nwant %q", o, len(got), len(wantAll), got, wantAll)
			return
		}
	}
	var graphs, wantGraphs []term.Key
	collect := func(d term.Dataset, keys *[]term.Key) {
		last := term.ID(0)
		err := d.Graphs(func(g term.ID) bool {
			k := make([]term.Key, 1)
			if err := d.Keys([]term.ID{g}, k); err != nil || g <= last {
				t.Errorf("graphs: %v, %x after %x", err, uint64(g), uint64(last))
			}
			last = g
			*keys = append(*keys, k[0])
			return true
		})
		if err != nil {
			t.Error(err)
		}
		slices.Sort(*keys)
	}
	collect(d, &graphs)
	collect(oracle, &wantGraphs)
	if !slices.Equal(graphs, wantGraphs) {
		t.Errorf("graphs %q, want %q", graphs, wantGraphs)
	}
	checkPatterns(t, want, oracle, d)
}

// checkPatterns scans patterns made from some of the quads, with every choice of known components.
func checkPatterns(t testing.TB, want []term.Quad, oracle, d term.Dataset) {
	t.Helper()
	sample := want
	if len(sample) > 6 {
		sample = nil
		for i := range 6 {
			sample = append(sample, want[i*len(want)/6])
		}
	}
	sample = append(slices.Clone(sample), q("absent", "absent", "absent literal", "absent"))
	for _, quad := range sample {
		for mask := range 32 {
			p, ok := pattern(t, d, quad, mask)
			if !ok {
				continue
			}
			op, ok := pattern(t, oracle, quad, mask)
			if !ok {
				t.Errorf("%q is in the store but should not be", quad)
				continue
			}
			wanted := sorted(translate(t, oracle, drain(t, oracle.Scan(op, term.SPO))))
			for _, o := range d.Orders() {
				rows := drain(t, d.Scan(p, o))
				if !slices.IsSortedFunc(rows, func(a, b term.IDQuad) int { return naive.Compare(o, a, b) }) {
					t.Errorf("%v in %s is not sorted", p, o)
				}
				if got := sorted(translate(t, d, rows)); !slices.Equal(got, wanted) {
					t.Errorf("pattern %05b of %q in %s:\n got %q\nwant %q", mask, quad, o, got, wanted)
					return
				}
			}
			e, oe := d.Estimate(p), oracle.Estimate(op)
			if e.Exact && e.Count != oe.Count {
				t.Errorf("pattern %05b of %q: estimate %v is called exact, %v is right", mask, quad, e.Count, oe.Count)
			}
			if !e.Exact && oe.Count > 0 && e.Count <= 0 {
				t.Errorf("pattern %05b of %q: estimate %v, %v is right", mask, quad, e.Count, oe.Count)
			}
		}
	}
}

// pattern returns a pattern of the components of quad that mask selects; bits 3 and 4 select the graph.
func pattern(t testing.TB, d term.Dataset, quad term.Quad, mask int) (term.Pattern, bool) {
	var p term.Pattern
	for i, c := range []struct {
		k  term.Key
		id *term.ID
	}{{quad.S, &p.S}, {quad.P, &p.P}, {quad.O, &p.O}} {
		if mask&(1<<i) != 0 {
			id, ok, err := d.Lookup(c.k)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return p, false
			}
			*c.id = id
		}
	}
	switch mask >> 3 {
	case 0:
		p.G = term.DefaultGraph
	case 1:
		p.G = term.AnyNamed
	case 2:
		p.G = term.AnyGraph
	case 3:
		p.G = term.DefaultGraph
		if quad.G != "" {
			id, ok, err := d.Lookup(quad.G)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return p, false
			}
			p.G = id
		}
	}
	return p, true
}

// checkSeeks moves a cursor around and compares it with a scan from the beginning.
func checkSeeks(t testing.TB, rnd *rand.Rand, d term.Dataset, quad term.Quad) {
	t.Helper()
	p, ok := pattern(t, d, quad, []int{0, 1, 2, 4, 8, 16, 18, 24, 26}[rnd.IntN(9)])
	if !ok {
		return
	}
	orders := d.Orders()
	o := orders[rnd.IntN(len(orders))]
	all := drain(t, d.Scan(p, o))
	c := d.Scan(p, o)
	defer c.Close()
	at := 0 // position in the whole scan
	for range 10 {
		if rnd.IntN(2) == 0 && len(all) > 0 {
			to := all[rnd.IntN(len(all))]
			switch rnd.IntN(4) {
			case 0:
				to.G = 0
			case 1:
				to.G++
			case 2:
				to.S, to.P, to.O = to.S+term.ID(rnd.IntN(2)), to.P+term.ID(rnd.IntN(2)), to.O+term.ID(rnd.IntN(2))
			}
			c.SeekGE(to)
			for at < len(all) && naive.Compare(o, all[at], to) < 0 {
				at++
			}
		}
		rows, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 && at < len(all) || len(rows) > len(all)-at || !slices.Equal(rows, all[at:at+len(rows)]) {
			t.Errorf("%v in %s at row %d of %d: %v, want %v", p, o, at, len(all), rows, all[at:])
			return
		}
		at += len(rows)
	}
}

func sorted(quads []term.Quad) []term.Quad {
	quads = slices.Clone(quads)
	slices.SortFunc(quads, func(a, b term.Quad) int {
		return strings.Compare(string(a.G+"\n"+a.S+"\n"+a.P+"\n"+a.O), string(b.G+"\n"+b.S+"\n"+b.P+"\n"+b.O))
	})
	return slices.Compact(quads)
}
