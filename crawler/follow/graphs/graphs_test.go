package graphs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

type world struct {
	*Store
	t       *testing.T
	db      *kv.DB
	triples *triplestore.Store
}

func newWorld(t *testing.T, owned func(*kv.Txn, string) (bool, error)) *world {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(triples.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	s, err := New(ns.Mint{Base: "http://archive.example/"}, db, owned)
	if err != nil {
		t.Fatal(err)
	}
	return &world{s, t, db, triples}
}

// put makes a graph what Put makes it, and returns the number of statements that changed.
func (w *world) put(url, resource, version string, quads ...term.Quad) int {
	w.t.Helper()
	c, err := w.Prepare(w.t.Context(), url, slices.Clone(quads))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.putContent(c, resource, version)
}

func (w *world) putContent(c *Content, resource, version string) (changed int) {
	w.t.Helper()
	err := w.triples.Update(w.t.Context(), func(txn *triplestore.Txn) (err error) {
		changed, err = w.Put(txn, c, resource, version)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return changed
}

// all returns every statement, as "graph: s p o", sorted.
func (w *world) all() []string {
	w.t.Helper()
	lines := []string{}
	err := w.triples.View(w.t.Context(), func(sn *triplestore.Snapshot) error {
		return sn.Dump(w.t.Context(), term.Pattern{}, func(q term.Quad) error {
			lines = append(lines, fmt.Sprintf("%s: %s %s %s", q.G, q.S, q.P, q.O))
			return nil
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// rows returns the number of records.
func (w *world) rows() (n int) {
	w.t.Helper()
	err := w.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceGraphs, nil, nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func about(s string, n int) term.Quad {
	return term.Quad{S: term.IRI("http://x.example/" + s), P: term.IRI("http://p.example/p"), O: term.String(fmt.Sprint(n))}
}

const resourceA, resourceB = "aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbb"

func TestAGraphChangesByWhatDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if n := w.put("http://x.example/d", resourceA, resourceA+"_0", about("a", 1), about("b", 2), about("a", 1)); n != 2 {
		t.Errorf("a new graph: %d statements changed", n)
	}
	want := w.all()
	if n := w.put("http://x.example/d", resourceA, resourceA+"_0", about("b", 2), about("a", 1)); n != 0 || !slices.Equal(w.all(), want) {
		t.Errorf("the same statements in another order: %d changed", n)
	}
	if n := w.put("http://x.example/d", resourceA, resourceA+"_1", about("b", 2), about("c", 3)); n != 2 {
		t.Errorf("one came, one went: %d changed", n)
	}
	text := strings.Join(w.all(), "\n")
	for _, s := range []string{`<http://archive.example/graph/http://x.example/d: <http://x.example/c <http://p.example/p "3`,
		"wasDerivedFrom <http://archive.example/api/v1/get/file/id/" + resourceA + "_1"} {
		if !strings.Contains(text, s) {
			t.Errorf("%q is missing in\n%s", s, text)
		}
	}
	if strings.Contains(text, "_0") || strings.Contains(text, "x.example/a ") {
		t.Errorf("what the version before said is left:\n%s", text)
	}
	if w.put("http://x.example/d", resourceA, resourceA+"_2"); len(w.all()) != 0 {
		t.Errorf("a document without statements: %q", w.all())
	}
}

func TestAGraphGoesWithTheLastResourceThatLeadsToIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.put("http://x.example/d", resourceA, resourceA+"_0", about("a", 1))
	w.put("http://x.example/d", resourceB, resourceB+"_0", about("a", 1))
	w.put("http://x.example/e", resourceA, resourceA+"_1", about("a", 1))
	if text := strings.Join(w.all(), "\n"); !strings.Contains(text, "graph/http://x.example/d: ") ||
		!strings.Contains(text, "graph/http://x.example/e: ") {
		t.Errorf("one resource still leads to d:\n%s", text)
	}
	w.put("http://x.example/e", resourceB, resourceB+"_1", about("a", 1))
	if text := strings.Join(w.all(), "\n"); strings.Contains(text, "http://x.example/d") {
		t.Errorf("none leads to d:\n%s", text)
	}
}

func TestBlankNodesKeepTheirLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	with := func(label string) []term.Quad {
		b := term.Blank(label)
		return []term.Quad{{S: term.IRI("http://x.example/s"), P: term.IRI("http://p.example/at"), O: b},
			{S: b, P: term.IRI("http://p.example/lat"), O: term.String("1")}}
	}
	w.put("http://x.example/d", resourceA, resourceA+"_0", with("n1")...)
	if n := w.put("http://x.example/d", resourceA, resourceA+"_1", with("other")...); n != 0 {
		t.Errorf("another label: %d statements changed", n)
	}
	w.put("http://x.example/e", resourceB, resourceB+"_0", with("n1")...)
	if n := len(slices.Compact(w.all())); n != 4+6 {
		t.Errorf("blank nodes of two graphs are shared: %q", w.all())
	}
}

func TestWhatIsTooLargeIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.put("http://x.example/d", resourceA, resourceA+"_0", about("a", 1))
	w.putContent(Omit("http://x.example/d", "too many"), resourceA, resourceA+"_1")
	all := w.all()
	if len(all) != 1 || !strings.Contains(all[0], "graphOmitted \"too many") || !strings.Contains(all[0], "_1") {
		t.Errorf("%q", all)
	}
	long := term.Quad{S: term.IRI("http://x.example/s"), P: term.IRI("http://p.example/p"), O: term.String(strings.Repeat("x", maxTerm))}
	if n := w.put("http://x.example/d", resourceA, resourceA+"_2", long, about("b", 1)); n != 1 {
		t.Errorf("a long literal: %d statements changed", n)
	}
}

func TestGraphsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *kv.Txn, iri string) (bool, error) { return iri == "http://portal.example/", nil })
	w.put("http://portal.example/", resourceA, resourceA+"_0", about("a", 1))
	if text := strings.Join(w.all(), "\n"); !strings.Contains(text, "<http://archive.example/graph/http://portal.example/#content: ") ||
		strings.Contains(text, "portal.example/: ") {
		t.Errorf("got\n%s", text)
	}
}

func TestAGraphGivesWayToAPortal(t *testing.T) {
	t.Parallel()
	taken := false
	w := newWorld(t, func(*kv.Txn, string) (bool, error) { return taken, nil })
	clear := func() {
		t.Helper()
		err := w.triples.Update(t.Context(), func(txn *triplestore.Txn) error { return w.Clear(txn, "http://portal.example/") })
		if err != nil {
			t.Fatal(err)
		}
	}
	w.put("http://portal.example/", resourceA, resourceA+"_0", about("a", 1))
	if taken = true; len(w.all()) != 4 {
		t.Fatalf("%q", w.all())
	}
	if clear(); len(w.all()) != 0 {
		t.Errorf("left: %q", w.all())
	}
	w.put("http://portal.example/", resourceA, resourceA+"_1", about("a", 2))
	want := w.all()
	if clear(); !slices.Equal(w.all(), want) || !strings.Contains(strings.Join(want, ""), "#content") {
		t.Errorf("got %q, want %q", w.all(), want)
	}
}

// TestManyContentsInTurn compares graphs with what was put last, with large and damaged contents among them.
func TestManyContentsInTurn(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, nil)
		last := map[string][]term.Quad{}
		for range 30 {
			url := fmt.Sprint("http://x.example/", r.IntN(3))
			var quads []term.Quad
			size := []int{0, 3, 50}[r.IntN(3)]
			for range size {
				quads = append(quads, about(fmt.Sprint(r.IntN(20)), r.IntN(4)))
			}
			if r.IntN(10) == 0 { // in several parts
				for i := range 1200 {
					q := about(fmt.Sprint("big", i), r.IntN(100))
					b := make([]byte, 700)
					for j := range b {
						b[j] = byte('a' + r.IntN(26))
					}
					q.O = term.String(string(b))
					quads = append(quads, q)
				}
			}
			if r.IntN(8) == 0 {
				damage(t, w)
			}
			w.put(url, fmt.Sprintf("%024x", len(url)+int(url[len(url)-1])), "", quads...)
			slices.SortFunc(quads, compare)
			last[url] = slices.Compact(quads)
			for url, quads := range last {
				var want, got []string
				prefix := "<http://archive.example/graph/" + url + ": "
				for _, q := range quads {
					want = append(want, fmt.Sprintf("%s%s %s %s", prefix, q.S, q.P, q.O))
				}
				for _, line := range w.all() {
					if strings.HasPrefix(line, prefix) {
						got = append(got, line)
					}
				}
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: %s has %d statements, want %d", seed, url, len(got), len(want))
				}
			}
		}
	}
}

// damage spoils the first part of a content.
func damage(t *testing.T, w *world) {
	t.Helper()
	err := w.db.Update(t.Context(), func(txn *kv.Txn) error {
		var k []byte
		err := txn.Scan(kv.SpaceGraphs, []byte{tableContent}, nil, func(key, _ []byte) (bool, error) {
			k = slices.Clone(key)
			return false, nil
		})
		if err != nil || k == nil {
			return err
		}
		return txn.Set(kv.SpaceGraphs, k, []byte("nonsense"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoRecordIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var large []term.Quad
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		b := make([]byte, 500)
		for j := range b {
			b[j] = byte('a' + r.IntN(26))
		}
		large = append(large, term.Quad{S: term.IRI(fmt.Sprint("http://x.example/", i)), P: term.IRI("http://p.example/p"),
			O: term.String(string(b))})
	}
	if _, err := w.Prepare(t.Context(), "http://x.example/d", slices.Clone(large[:1500])); err != nil { // as before a crash
		t.Fatal(err)
	}
	w.put("http://x.example/d", resourceA, resourceA+"_0", large...)
	parts := w.rows() - 3
	if parts < 2 || len(w.all()) != 2003 {
		t.Errorf("%d parts, %d statements", parts, len(w.all()))
	}
	w.put("http://x.example/d", resourceA, resourceA+"_1", about("a", 1))
	if n := w.rows(); n != 4 { // graph, part, and twice that the resource leads to it
		t.Errorf("%d records", n)
	}
	w.put("http://x.example/d", resourceA, resourceA+"_2")
	if n := w.rows(); n != 2 {
		t.Errorf("%d records of an empty graph", n)
	}
}

func TestFilesOfPortalsHaveGraphs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := func() (some, wanted, read bool) {
		t.Helper()
		err := w.db.View(func(txn *kv.Txn) (err error) {
			var errs [3]error
			some, errs[0] = w.AnyWanted(txn)
			wanted, errs[1] = w.Wanted(txn, []string{"http://other.example/", "http://portal.example/"})
			read, errs[2] = w.HasRead(txn, resourceA)
			return errors.Join(errs[:]...)
		})
		if err != nil {
			t.Fatal(err)
		}
		return some, wanted, read
	}
	if some, wanted, read := ask(); some || wanted || read {
		t.Errorf("at first: %v, %v, %v", some, wanted, read)
	}
	set := func(portal string) {
		t.Helper()
		if err := w.db.Update(t.Context(), func(txn *kv.Txn) error { return w.Want(txn, portal) }); err != nil {
			t.Fatal(err)
		}
	}
	set("http://third.example/")
	if some, wanted, _ := ask(); !some || wanted {
		t.Errorf("another portal: %v, %v", some, wanted)
	}
	set("http://portal.example/")
	if _, wanted, _ := ask(); !wanted {
		t.Error("the setting is not kept")
	}
	skip := func() {
		t.Helper()
		if err := w.db.Update(t.Context(), func(txn *kv.Txn) error { return w.Skip(txn, resourceA) }); err != nil {
			t.Fatal(err)
		}
	}
	skip()
	if _, _, read := ask(); !read {
		t.Error("an unreadable document would be read again and again")
	}
	w.put("http://x.example/d", resourceA, resourceA+"_1", about("a", 1)) // its next version can be read
	want := w.all()
	if skip(); len(want) != 4 || !slices.Equal(w.all(), want) {
		t.Errorf("%q, want %q", w.all(), want)
	}
	w.put("http://x.example/e", resourceA, resourceA+"_2", about("a", 1)) // it redirects elsewhere
	if text := strings.Join(w.all(), "\n"); strings.Contains(text, "x.example/d:") || len(w.all()) != 4 {
		t.Errorf("got\n%s", text)
	}
}
