package graphs

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// verify returns the faults, as text.
func (w *world) verify() (all []Fault) {
	w.t.Helper()
	if err := w.Verify(w.t.Context(), w.triples, func(f Fault) { all = append(all, f) }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// mend mends what verify finds, and reports if something is left.
func (w *world) mend() {
	w.t.Helper()
	for _, f := range w.verify() {
		if done, err := w.Mend(w.t.Context(), w.triples, f); err != nil || done == "" {
			w.t.Errorf("%s: %q, %v", f, done, err)
		}
	}
	if left := w.verify(); len(left) > 0 {
		w.t.Errorf("left: %v", left)
	}
}

func TestAGraphAndItsRecordMendEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var quads []term.Quad
	for i := range 30 {
		quads = append(quads, about(fmt.Sprint(i), i))
	}
	w.put("http://x.example/d", resourceA, resourceA+"_0", quads...)
	w.put("http://x.example/e", resourceB, resourceB+"_0", about("a", 1), about("b", 2))
	w.putContent(Omit("http://x.example/f", "too many"), "", "")
	want := w.all()
	if faults := w.verify(); len(faults) > 0 {
		t.Fatalf("%v", faults)
	}

	// Statements are lost, those of one graph wholly.
	err := w.triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		lost := about("7", 7)
		lost.G = term.IRI("http://archive.example/graph/http://x.example/d")
		return errors.Join(txn.Delete(lost), txn.ClearGraph(term.IRI("http://archive.example/graph/http://x.example/e")))
	})
	if err != nil {
		t.Fatal(err)
	}
	if faults := w.verify(); len(faults) != 2 || faults[0].Missing+faults[1].Missing != 3 {
		t.Errorf("%v", faults)
	}
	if w.mend(); !slices.Equal(w.all(), want) {
		t.Errorf("got %q", w.all())
	}

	// A part is damaged, so that it cannot be read.
	damage(t, w)
	if faults := w.verify(); len(faults) != 1 || faults[0].Bad == nil {
		t.Errorf("%v", faults)
	}
	if w.mend(); !slices.Equal(w.all(), want) {
		t.Errorf("got %q", w.all())
	}

	// A record says something else than its part.
	err = w.db.Update(t.Context(), func(txn *kv.Txn) error {
		ts := tables{w.Store, txn}
		id := idOf("http://x.example/e")
		r, _, err := ts.record(id)
		if err != nil {
			return err
		}
		_, parts := w.packed([]term.Quad{about("a", 1), about("c", 2)})
		return txn.Set(kv.SpaceGraphs, partKey(id, r.Digest, 0), parts[0])
	})
	if err != nil {
		t.Fatal(err)
	}
	if faults := w.verify(); len(faults) != 1 || !errors.Is(faults[0].Bad, errBad) {
		t.Errorf("%v", faults)
	}
	if w.mend(); !slices.Equal(w.all(), want) {
		t.Errorf("got %q", w.all())
	}

	// The record is damaged and the graph is another: the record follows it, and so does what is said about it.
	damage(t, w)
	extra := about("more", 1)
	err = w.triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		for _, d := range []string{"d", "e"} {
			extra.G = term.IRI("http://archive.example/graph/http://x.example/" + d)
			if err := txn.Insert(extra); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.mend()
	if n := w.put("http://x.example/d", resourceA, resourceA+"_0", quads...); n > 1 {
		t.Errorf("%d statements changed", n)
	}
}
