package graphs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// incompressible returns statements of which Prepare writes the parts.
func incompressible(n int) (list []term.Quad) {
	for i := range n {
		number := (uint64(i) + 1) * 0x9E3779B97F4A7C15
		list = append(list, term.Quad{S: term.IRI(fmt.Sprintf("http://x.example/%x", number)), P: term.IRI("http://p.example/p"),
			O: term.String(fmt.Sprintf("%x%x", number*number, number*number*number))})
	}
	return list
}

func (w *world) purge(versions ...string) {
	w.t.Helper()
	withdrawn := map[string]bool{}
	for _, v := range versions {
		withdrawn[v] = true
	}
	err := w.Purge(w.t.Context(), withdrawn, func(f func(*triplestore.Txn) error) error { return w.triples.Update(w.t.Context(), f) })
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAPurgeRemovesTheGraphsOfVersionsWhoeverLeadsToThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.put("http://x.example/d", resourceB, resourceB+"_0", about("other", 1))
	w.put("http://x.example/d", resourceA, resourceA+"_0", about("withdrawn", 1))
	w.put("http://x.example/e", resourceA, resourceA+"_1", about("kept", 1)) // only B leads to d now
	w.purge(resourceA + "_0")
	if text := strings.Join(w.all(), "\n"); strings.Contains(text, "withdrawn") || !strings.Contains(text, "kept") {
		t.Errorf("after the purge:\n%s", text)
	}
	w.put("http://x.example/d", resourceB, resourceB+"_1", about("new", 1))
	if text := strings.Join(w.all(), "\n"); !strings.Contains(text, "new") {
		t.Errorf("a new version has no graph:\n%s", text)
	}
}

func TestAPurgeDuringAVisitCostsNoStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	large := incompressible(12_000)
	c, err := w.Prepare(t.Context(), "http://x.example/d", slices.Clone(large))
	if err != nil {
		t.Fatal(err)
	}
	before := w.rows()
	w.purge()
	if n := w.rows(); before == 0 || n != 0 {
		t.Errorf("%d parts were written, %d are left", before, n)
	}
	w.putContent(c, resourceA, resourceA+"_0")
	w.purge(resourceB + "_0")
	err = w.Verify(t.Context(), w.triples, func(f Fault) { t.Error(f) })
	if err != nil || len(w.all()) < len(large) {
		t.Errorf("%d statements, %v", len(w.all()), err)
	}
	w.purge(resourceA + "_0")
	if n := w.rows(); n != 2 || len(w.all()) != 0 { // that the resource leads to it, twice
		t.Errorf("%d records and %d statements are left", n, len(w.all()))
	}
}
