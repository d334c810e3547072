package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/term"
)

func apply(t testing.TB, e *sparql.Engine, store *naive.Store, text string) (sparql.Updated, error) {
	t.Helper()
	return e.Update(context.Background(), storeOf(store), text, sparql.UpdateOptions{Base: "http://example.org/"})
}

func state(t testing.TB, store *naive.Store) []term.Quad {
	t.Helper()
	quads, err := quadsOf(store.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	return quads
}

func TestLaterOperationsSeeEarlierOnes(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	for about, c := range map[string]struct{ before, text, after string }{
		"insert, then copy what was inserted": {
			"<a> <p> 1 .", "INSERT DATA { <b> <p> 2 } ; INSERT { ?s <q> ?o } WHERE { ?s <p> ?o }",
			"<a> <p> 1 . <b> <p> 2 . <a> <q> 1 . <b> <q> 2 ."},
		"delete, then find nothing": {
			"<a> <p> 1 .", "DELETE DATA { <a> <p> 1 } ; INSERT { <found> <p> ?s } WHERE { ?s <p> 1 }", ""},
		"delete and insert again": {
			"<a> <p> 1 .", "DELETE DATA { <a> <p> 1 } ; INSERT DATA { <a> <p> 1 } ; INSERT { ?s <q> 1 } WHERE { ?s <p> 1 }",
			"<a> <p> 1 . <a> <q> 1 ."},
		"insert and delete again": {
			"", "INSERT DATA { <a> <p> 1 } ; DELETE WHERE { ?s <p> ?o } ; INSERT { <left> <p> ?s } WHERE { ?s ?p ?o }", ""},
		"into a graph, then move it": {
			"", "INSERT DATA { GRAPH <g> { <a> <p> 1 } } ; MOVE <g> TO <h> ; INSERT { ?g <has> ?s } WHERE { GRAPH ?g { ?s ?p ?o } }",
			"GRAPH <h> { <a> <p> 1 } <h> <has> <a> ."},
		"copy over a graph that was filled before": {
			"", "INSERT DATA { GRAPH <g> { <a> <p> 1 } GRAPH <h> { <b> <p> 2 } } ; COPY <g> TO <h> ; CLEAR GRAPH <g>",
			"GRAPH <h> { <a> <p> 1 }"},
		"clear, then list graphs": {
			"GRAPH <g> { <a> <p> 1 }", "CLEAR GRAPH <g> ; INSERT { ?g <is> <there> } WHERE { GRAPH ?g { ?s ?p ?o } }", ""},
		"swap two values with one operation": {
			"<a> <p> 1 . <b> <p> 2 .",
			"DELETE { ?x <p> ?v . ?y <p> ?w } INSERT { ?x <p> ?w . ?y <p> ?v } WHERE { ?x <p> ?v . ?y <p> ?w FILTER (?v < ?w) }",
			"<a> <p> 2 . <b> <p> 1 ."},
		"WITH is the default graph of the pattern and of the templates": {
			"GRAPH <g> { <a> <p> 1 } <b> <p> 2 .", "WITH <g> DELETE { ?s <p> ?o } INSERT { ?s <q> ?o } WHERE { ?s <p> ?o }",
			"GRAPH <g> { <a> <q> 1 } <b> <p> 2 ."},
		"WITH a graph that is not there": {
			"<b> <p> 2 .", "WITH <none> INSERT { ?s <q> ?o } WHERE { ?s <p> ?o }", "<b> <p> 2 ."},
		"WITH leaves the named graphs": {
			"GRAPH <g> { <a> <p> 1 } GRAPH <h> { <a> <q> 2 }",
			"WITH <g> INSERT { ?s <r> ?v } WHERE { ?s <p> ?o . GRAPH <h> { ?s <q> ?v } }",
			"GRAPH <g> { <a> <p> 1 ; <r> 2 } GRAPH <h> { <a> <q> 2 }"},
		"USING beats WITH": {
			"GRAPH <g> { <a> <p> 1 } GRAPH <h> { <b> <p> 2 }", "WITH <g> INSERT { ?s <q> ?o } USING <h> WHERE { ?s <p> ?o }",
			"GRAPH <g> { <a> <p> 1 . <b> <q> 2 } GRAPH <h> { <b> <p> 2 }"},
		"what would not be a triple is left out": {
			"<a> <p> 1 .", "INSERT { ?o <q> ?s . ?s ?o <x> . ?s <q> ?unbound . ?s <ok> ?o } WHERE { ?s <p> ?o }", "<a> <p> 1 ; <ok> 1 ."},
	} {
		store := naive.New()
		for _, half := range []string{c.before, c.after} {
			if _, err := apply(t, e, naive.New(), "INSERT DATA { "+half+" }"); err != nil {
				t.Fatalf("%s: %v", about, err)
			}
		}
		if _, err := apply(t, e, store, "INSERT DATA { "+c.before+" }"); err != nil {
			t.Fatal(err)
		}
		if _, err := apply(t, e, store, c.text); err != nil {
			t.Errorf("%s: %v", about, err)
			continue
		}
		want := naive.New()
		apply(t, e, want, "INSERT DATA { "+c.after+" }")
		if got, want := state(t, store), state(t, want); !conformance.Isomorphic(got, want) {
			t.Errorf("%s: %s\n got\n%s\nwant\n%s", about, c.text, show(got), show(want))
		}
	}
}

func TestAnUpdateIsAppliedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	for text, want := range map[string]error{
		"INSERT DATA { <b> <p> 2 } ; CREATE GRAPH <g>":                                             sparql.ErrGraphExists,
		"CLEAR ALL ; COPY <nowhere> TO <g>":                                                        sparql.ErrNoGraph,
		"DROP ALL ; LOAD <http://example.org/data.ttl>":                                            sparql.ErrForbidden,
		"DROP ALL ; LOAD <file:///etc/passwd>":                                                     sparql.ErrForbidden,
		"CLEAR DEFAULT ; INSERT { ?s ?p ?o } WHERE { SERVICE <http://example.org/> { ?s ?p ?o } }": sparql.ErrForbidden,
	} {
		store := naive.New(term.Quad{S: keyOf("<a>"), P: keyOf("<p>"), O: keyOf("1")},
			term.Quad{S: keyOf("<a>"), P: keyOf("<p>"), O: keyOf("1"), G: term.IRI("http://example.org/g")})
		before := state(t, store)
		_, err := apply(t, e, store, text)
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
		if after := state(t, store); !conformance.Isomorphic(before, after) {
			t.Errorf("%s: failed and changed the store to\n%s", text, show(after))
		}
	}
	for _, silent := range []string{
		"CREATE SILENT GRAPH <g>", "COPY SILENT <nowhere> TO <g>", "LOAD SILENT <http://example.org/data.ttl>", "DROP GRAPH <nowhere>",
		"CLEAR SILENT GRAPH <nowhere>",
	} {
		store := naive.New(term.Quad{S: keyOf("<a>"), P: keyOf("<p>"), O: keyOf("1"), G: term.IRI("http://example.org/g")})
		if _, err := apply(t, e, store, silent); err != nil || len(state(t, store)) != 1 {
			t.Errorf("%s: got %v and %d quads", silent, err, len(state(t, store)))
		}
	}
}

func TestBlankNodesOfDataAreNewForEachRequest(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := naive.New()
	for range 2 {
		if _, err := apply(t, e, store, "INSERT DATA { _:x <p> [ <q> 1 ] . <s> <says> <<( <a> <b> _:x )>> }"); err != nil {
			t.Fatal(err)
		}
	}
	if got := state(t, store); len(got) != 6 {
		t.Errorf("got %d quads, want 6:\n%s", len(got), show(got))
	}
	if _, err := apply(t, e, store, "INSERT { [] <each> ?o } WHERE { ?s <q> ?o }"); err != nil {
		t.Fatal(err)
	}
	if got := state(t, store); len(got) != 8 {
		t.Errorf("got %d quads, want 8:\n%s", len(got), show(got))
	}
}

func TestUsingOfTheProtocol(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := naive.New(term.Quad{S: keyOf("<x:a>"), P: keyOf("<x:p>"), O: keyOf("1"), G: keyOf("<g:1>")})
	o := sparql.UpdateOptions{Using: []string{"g:1"}}
	if _, err := e.Update(t.Context(), storeOf(store), "INSERT { ?s <x:q> ?o } WHERE { ?s <x:p> ?o }", o); err != nil {
		t.Fatal(err)
	}
	if got := state(t, store); len(got) != 2 {
		t.Errorf("got\n%s", show(got))
	}
	for _, text := range []string{"INSERT { ?s <x:q> ?o } USING <g:1> WHERE { ?s <x:p> ?o }",
		"WITH <g:1> DELETE { ?s <x:q> ?o } WHERE { ?s <x:p> ?o }"} {
		if _, err := e.Update(t.Context(), storeOf(store), text, o); !errors.Is(err, sparql.ErrUsing) {
			t.Errorf("%s: got %v, want %v", text, err, sparql.ErrUsing)
		}
	}
}

func TestLoadFetchesOverTheNetworkOnly(t *testing.T) {
	t.Parallel()
	var asked []string
	fetch := func(_ context.Context, iri string) (sparql.Document, error) {
		asked = append(asked, iri)
		switch {
		case strings.HasSuffix(iri, ".ttl"):
			return sparql.Document{Body: io.NopCloser(strings.NewReader("<> <x:p> [ <x:q> 1 ] .")), Type: "text/turtle"}, nil
		case strings.HasSuffix(iri, ".nt"):
			return sparql.Document{Body: io.NopCloser(strings.NewReader("<x:a> <x:p> \"from its ending\" .")),
				Type: "application/octet-stream"}, nil
		case strings.HasSuffix(iri, "many"):
			return sparql.Document{Body: io.NopCloser(strings.NewReader(strings.Repeat("<x:a> <x:p> [] .\n", 100))), Type: "text/turtle"},
				nil
		case strings.HasSuffix(iri, "broken"):
			return sparql.Document{Body: io.NopCloser(strings.NewReader("<x:a> <x:p> <x:b> . <x:a> oops")), Type: "text/turtle"}, nil
		case strings.HasSuffix(iri, "html"):
			return sparql.Document{Body: io.NopCloser(strings.NewReader("<html>")), Type: "text/html"}, nil
		}
		return sparql.Document{}, errors.New("404 Not Found")
	}
	e := sparql.New(sparql.Options{Fetch: fetch, MaxLoad: 50})
	store := naive.New()
	if _, err := apply(t, e, store,
		"LOAD <http://h.example/doc.ttl> ; LOAD <http://h.example/doc.ttl> INTO GRAPH <g:1> ; LOAD <https://h.example/x.nt>"); err != nil {
		t.Fatal(err)
	}
	want := ask(t, e, store.Snapshot(),
		"ASK { <http://h.example/doc.ttl> <x:p> ?b . ?b <x:q> 1 GRAPH <g:1> { <http://h.example/doc.ttl> <x:p> ?c } <x:a> <x:p> ?l "+
			"FILTER (?b != ?c) }", sparql.QueryOptions{})
	if !*want.Boolean {
		t.Errorf("got\n%s", show(state(t, store)))
	}
	before := len(state(t, store))
	for iri, want := range map[string]error{
		"http://h.example/many": sparql.ErrTooLarge, "http://h.example/broken": sparql.ErrRemote, "http://h.example/html": sparql.ErrRemote,
		"http://h.example/gone": sparql.ErrRemote, "file:///etc/passwd": sparql.ErrForbidden, "ftp://h.example/x.ttl": sparql.ErrForbidden,
		"data:text/turtle,": sparql.ErrForbidden,
	} {
		if _, err := apply(t, e, store, "LOAD <"+iri+">"); !errors.Is(err, want) {
			t.Errorf("LOAD <%s>: got %v, want %v", iri, err, want)
		}
		if _, err := apply(t, e, store, "LOAD SILENT <"+iri+">"); err != nil {
			t.Errorf("LOAD SILENT <%s>: %v", iri, err)
		}
	}
	if after := len(state(t, store)); after != before {
		t.Errorf("failed loads left %d quads", after-before)
	}
	if slices.ContainsFunc(asked, func(iri string) bool { return !strings.HasPrefix(iri, "http") }) {
		t.Errorf("asked for %q", asked)
	}
}

// TestAnOverlayIsTheDatasetWithTheChanges compares requests of many operations with the same operations sent one by
// one: the later ones read an overlay in the first case, the store itself in the second.
func TestAnOverlayIsTheDatasetWithTheChanges(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	for seed := range uint64(150) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 11))}
		data := g.data()
		var ops []string
		for range 2 + g.IntN(5) {
			ops = append(ops, g.update())
		}
		together, apart := naive.New(data...), naive.New(data...)
		if _, err := apply(t, e, together, strings.Join(ops, " ; ")); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, strings.Join(ops, " ; "), err)
		}
		for _, op := range ops {
			if _, err := apply(t, e, apart, op); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op, err)
			}
		}
		if got, want := state(t, together), state(t, apart); !conformance.Isomorphic(got, want) {
			t.Errorf("seed %d: %s\n got\n%s\nwant\n%s\nfrom\n%s", seed, strings.Join(ops, " ;\n"), show(got), show(want), show(data))
		}
	}
}

func (g *generator) update() string {
	data := func() string {
		text := g.one(subjects) + " " + g.one(predicates) + " " + g.one(append(append([]string{}, subjects...), literals...))
		if g.chance(40) {
			return "GRAPH " + g.one(graphNames) + " { " + text + " }"
		}
		return text
	}
	graph := func() string { return g.one(append([]string{"DEFAULT"}, graphNames...)) }
	switch g.IntN(9) {
	case 0, 1:
		return "INSERT DATA { " + data() + " }"
	case 2:
		return "DELETE DATA { " + data() + " }"
	case 3:
		return "DELETE WHERE { ?s " + g.one(predicates) + " ?o }"
	case 4:
		return "DELETE { ?a ?b ?c } INSERT { ?c ?b ?a . ?a <x:new> ?c } WHERE { ?a ?b ?c FILTER (" + g.expr(1) + ") }"
	case 5:
		return "INSERT { GRAPH " + g.one(graphNames) + " { ?a <x:sum> ?n } } WHERE { SELECT ?a (COUNT(*) AS ?n) { ?a " + g.one(predicates) +
			" ?b } GROUP BY ?a }"
	case 6:
		return g.one([]string{"ADD SILENT ", "COPY SILENT ", "MOVE SILENT "}) + graph() + " TO " + graph()
	case 7:
		return fmt.Sprintf("CLEAR SILENT %s", g.one([]string{"DEFAULT", "GRAPH <g:1>", "NAMED", "GRAPH <x:a>"}))
	}
	return "WITH " + g.one(graphNames) +
		" DELETE { ?a ?b ?c } INSERT { GRAPH ?b { ?a ?b \"moved\" } } WHERE { ?a ?b ?c . GRAPH ?g { ?d ?b ?e } }"
}

func TestTheMemoryLimitHoldsForChanges(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{Memory: 1 << 20})
	var data []term.Quad
	for i := range 60 {
		data = append(data, term.Quad{S: keyOf(fmt.Sprintf("<x:s%d>", i)), P: keyOf("<x:p>"), O: keyOf(fmt.Sprint(i))})
	}
	store := naive.New(data...)
	_, err := apply(t, e, store, "INSERT { ?a ?c ?f } WHERE { ?a <x:p> ?b . ?c <x:p> ?d . ?e <x:p> ?f }")
	if !errors.Is(err, sparql.ErrMemory) {
		t.Errorf("got %v, want %v", err, sparql.ErrMemory)
	}
	if n := len(state(t, store)); n != 60 {
		t.Errorf("%d quads are left", n)
	}
}

func TestAnUpdateThatTakesTooLongChangesNothing(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{Timeout: 1})
	store := naive.New(term.Quad{S: keyOf("<x:a>"), P: keyOf("<x:p>"), O: keyOf("1")})
	_, err := apply(t, e, store, "INSERT { ?a <x:q> ?b } WHERE { ?a <x:p> ?b }")
	if !errors.Is(err, sparql.ErrTimeout) {
		t.Errorf("got %v, want %v", err, sparql.ErrTimeout)
	}
	if n := len(state(t, store)); n != 1 {
		t.Errorf("%d quads are left", n)
	}
}

var _ term.Dataset = (*naive.Dataset)(nil)

// watched is a store that notices when a pattern is solved during a write transaction.
type watched struct {
	sparql.Store
	writing atomic.Bool
	scans   atomic.Int64
}

func (w *watched) View(ctx context.Context, f func(term.Dataset) error) error {
	return w.Store.View(ctx, func(ds term.Dataset) error { return f(watchedDataset{ds, w}) })
}

func (w *watched) Update(ctx context.Context, f func(sparql.Txn) error) error {
	return w.Store.Update(ctx, func(t sparql.Txn) error {
		w.writing.Store(true)
		defer w.writing.Store(false)
		return f(t)
	})
}

type watchedDataset struct {
	term.Dataset
	w *watched
}

func (d watchedDataset) Scan(p term.Pattern, o term.Order) term.Cursor {
	d.w.scans.Add(1)
	if d.w.writing.Load() {
		panic("a pattern is solved in the writer's turn")
	}
	return d.Dataset.Scan(p, o)
}

func TestPatternsAreSolvedBeforeTheWritersTurn(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, "<http://example.org/a> <http://example.org/p> 1 . GRAPH <http://example.org/g> { <x:x> <x:y> <x:z> }")
	w := &watched{Store: storeOf(store)}
	const text = `INSERT { ?s <q> ?o } WHERE { ?s <p> ?o } ; DELETE { ?s <p> ?o } WHERE { ?s <q> ?o } ; COPY <g> TO <h> ; CLEAR NAMED ; ` +
		`CREATE GRAPH <i>`
	if _, err := e.Update(t.Context(), w, text, sparql.UpdateOptions{Base: "http://example.org/"}); err != nil {
		t.Fatal(err)
	}
	if got := show(state(t, store)); w.scans.Load() == 0 || strings.Count(got, "http://example.org/q") != 1 ||
		strings.Contains(got, "x:x") {
		t.Errorf("after %d scans: %s", w.scans.Load(), got)
	}
}

func TestUpdatesOfOneEngineSeeEachOther(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, "<x:counter> <x:is> 0")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := apply(t, e, store,
					"DELETE { ?c <x:is> ?n } INSERT { ?c <x:is> ?m } WHERE { ?c <x:is> ?n BIND (?n + 1 AS ?m) }"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := ask(t, e, store.Snapshot(), "ASK { <x:counter> <x:is> 40 }", sparql.QueryOptions{}); !*got.Boolean {
		t.Errorf("an update was lost: %s", show(state(t, store)))
	}
}

// dropping is a store that implements Dropper.
type dropping struct{ sparql.Store }

func (d dropping) DropGraph(ctx context.Context, g term.Key) error {
	return d.Update(ctx, func(t sparql.Txn) error { return t.ClearGraph(g) })
}

func (d dropping) Clear(ctx context.Context) error {
	return errors.Join(d.DropGraph(ctx, ""), d.DropGraph(ctx, term.IRI("http://example.org/g")),
		d.DropGraph(ctx, term.IRI("http://example.org/h")))
}

func TestAnUpdateSaysHowMuchItDropped(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	for text, want := range map[string]sparql.Updated{
		"DROP GRAPH <g>":             {Deleted: 2},
		"DROP SILENT GRAPH <none>":   {},
		"CLEAR DEFAULT":              {Deleted: 1},
		"DROP NAMED":                 {Deleted: 5},
		"DROP ALL":                   {Deleted: 6},
		"CLEAR GRAPH <g> ; DROP ALL": {Deleted: 6},
		"MOVE <g> TO <h>":            {Inserted: 2, Deleted: 5},
		"COPY DEFAULT TO <g>":        {Inserted: 1, Deleted: 2},
		"INSERT DATA { <x> <p> 7 } ; CLEAR DEFAULT ; DELETE DATA { <b> <p> 9 }": {Inserted: 1, Deleted: 3},
	} {
		for _, drops := range []bool{false, true} {
			store := naive.New()
			if _, err := apply(t, e, store,
				"INSERT DATA { <a> <p> 1 GRAPH <g> { <a> <p> 1, 2 } GRAPH <h> { <a> <p> 1, 2, 3 } }"); err != nil {
				t.Fatal(err)
			}
			target := storeOf(store)
			if drops {
				target = dropping{target}
			}
			got, err := e.Update(t.Context(), target, text, sparql.UpdateOptions{Base: "http://example.org/"})
			if err != nil || got != want {
				t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
			}
		}
	}
}

// between is a store that calls f once, after an update has solved its patterns and before it writes.
type between struct {
	sparql.Store
	f func()
}

func (b *between) View(ctx context.Context, f func(term.Dataset) error) error {
	err := b.Store.View(ctx, f)
	if g := b.f; g != nil {
		b.f = nil
		g()
	}
	return err
}

// An update that has read a graph would otherwise fill it again after it has been dropped.
func TestADropWaitsForTheUpdateThatRuns(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, "GRAPH <x:g> { <x:a> <x:p> 1 }")
	drop := func(ctx context.Context) error {
		_, err := e.Update(ctx, dropping{storeOf(store)}, "DROP GRAPH <x:g>", sparql.UpdateOptions{})
		return err
	}
	target := &between{Store: storeOf(store), f: func() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := drop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a drop in the middle of an update: %v", err)
		}
	}}
	if _, err := e.Update(t.Context(), target, "WITH <x:g> DELETE { ?s <x:p> ?o } INSERT { ?s <x:q> ?o } WHERE { ?s <x:p> ?o }",
		sparql.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := drop(t.Context()); err != nil || len(state(t, store)) > 0 {
		t.Errorf("%v, left: %s", err, show(state(t, store)))
	}
}

// replacing is a store that implements Replacer.
type replacing struct {
	sparql.Store
	calls int
}

func (r *replacing) Replace(ctx context.Context, each func(remove, insert func(term.Quad) error) error) error {
	r.calls++
	var gone, fresh []term.Quad
	err := each(func(q term.Quad) error { gone = append(gone, q); return nil },
		func(q term.Quad) error { fresh = append(fresh, q); return nil })
	if err != nil {
		return err
	}
	return r.Update(ctx, func(t sparql.Txn) error {
		for _, q := range gone {
			if err := t.Delete(q); err != nil {
				return err
			}
		}
		for _, q := range fresh {
			if err := t.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestChangesThatMemoryDoesNotHoldAreLeftToTheStore(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{Memory: 3 << 20})
	var data []term.Quad
	padding := strings.Repeat("-", 200)
	for i := range 12_000 {
		data = append(data, term.Quad{S: keyOf(fmt.Sprintf("<x:s%d%s>", i, padding)), P: keyOf("<x:p>"), O: keyOf(fmt.Sprint(i % 7))})
	}
	for _, c := range []struct {
		text              string
		deleted, inserted int64
		calls, left       int
		fails             bool
	}{
		{"DELETE WHERE { ?s <x:p> 3 . ?s ?p ?o } ; DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", 0, 0, 0, 12_000, true}, // two operations
		{"DELETE { ?s ?p ?o } INSERT { ?s ?p 8 } WHERE { ?s ?p ?o }", 12_000, 12_000, 1, 12_000, false},
		{"DELETE { ?s ?p 3 } INSERT { ?s ?p 3 } WHERE { ?s ?p ?o }", 12_000, 12_000, 1, 22_286, false},
		{"INSERT { ?s ?p 8, 9 . ?o ?p ?s } WHERE { ?s ?p ?o }", 0, 24_000, 1, 36_000, false}, // a number is no subject
		{"DELETE WHERE { <x:s5" + padding + "> ?p ?o }", 1, 0, 0, 11_999, false},
		{"DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER (?o != 3) }", 10_286, 0, 1, 1_714, false},
		{"DELETE WHERE { ?s ?p ?o }", 12_000, 0, 1, 0, false},
	} {
		naively := naive.New(data...)
		s := &replacing{Store: storeOf(naively)}
		done, err := e.Update(t.Context(), s, c.text, sparql.UpdateOptions{})
		if c.fails != errors.Is(err, sparql.ErrMemory) || !c.fails && err != nil ||
			done != (sparql.Updated{Inserted: c.inserted, Deleted: c.deleted}) || s.calls != c.calls {
			t.Errorf("%s: %+v, %d calls, %v", c.text, done, s.calls, err)
		}
		if n := len(state(t, naively)); n != c.left {
			t.Errorf("%s: %d quads are left", c.text, n)
		}
	}
}

// The contract reads the historical IRIs of a query as their dct: equivalents, wherever it names them; an update that
// finds something by them must not silently find nothing. What INSERT DATA says is kept as it is said.
func TestHistoricalNamesAreReadInValuesAndInUpdates(t *testing.T) {
	t.Parallel()
	const prefixes = "PREFIX dc: <http://purl.org/dc/elements/1.1> PREFIX dct: <http://purl.org/dc/terms/> PREFIX e: " +
		"<http://purl.org/dc/elements/1.1/> "
	e := sparql.New(sparql.Options{})
	store := filled(t, "<x:f> <http://purl.org/dc/terms/hasVersion> <x:v>")
	do := func(text string) {
		t.Helper()
		if _, err := e.Update(t.Context(), storeOf(store), prefixes+text, sparql.UpdateOptions{Dialect: true}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(pattern string, want int) {
		t.Helper()
		if got := ask(t, e, store.Snapshot(), prefixes+"SELECT * { "+pattern+" }",
			sparql.QueryOptions{Dialect: true}); len(got.Rows) != want {
			t.Errorf("%s: %d rows, want %d", pattern, len(got.Rows), want)
		}
	}
	count("VALUES ?p { dc:hasVersion UNDEF } <x:f> ?p <x:v>", 2)
	count("VALUES (?p ?x) { (e:hasVersion 1) } ?f ?p ?v", 1)
	do("INSERT { ?v <x:of> ?f } WHERE { ?f dc:hasVersion ?v }")
	count("<x:v> <x:of> <x:f>", 1)
	do("DELETE { ?f e:hasVersion ?v } INSERT { ?f dc:issued 1 } WHERE { ?f dc:hasVersion ?v }")
	count("?f dct:hasVersion ?v", 0)
	count("?f dct:issued 1", 1)
	do("DELETE WHERE { ?f dc:issued ?d }")
	count("?f dct:issued ?d", 0)
	do("INSERT DATA { <x:g> e:creator <x:me> }")
	count("?f e:creator ?d", 1)
}
