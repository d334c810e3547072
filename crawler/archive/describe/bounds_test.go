package describe

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// widths returns tables with some numbers of columns.
func widths(columns ...int) (all []*csvprofile.Profile) {
	for _, n := range columns {
		all = append(all, &csvprofile.Profile{Columns: make([]csvprofile.Column, n)})
	}
	return all
}

func TestWhatIsNotDescribedIsCounted(t *testing.T) {
	t.Parallel()
	wide := widths(2500, 10)
	wide[0].Omitted = 500
	many := &inspect.Inside{Tables: wide, MembersOmitted: 7}
	for i := range 2100 {
		m := inspect.Member{Path: fmt.Sprint(i), Tables: widths(1, 1), RDF: &rdfprofile.Profile{}}
		for j := range 100 {
			m.RDF.Predicates = append(m.RDF.Predicates, rdfprofile.Count{IRI: fmt.Sprintf("http://e.example/%d", j)})
		}
		many.Members = append(many.Members, m)
	}
	quads := Inside(mint, version(), many)
	count := map[string]int{}
	for _, q := range quads {
		p := strings.TrimPrefix(q.P.Value(), vocab.ArcNS)
		count[p+" "+q.O.Value()]++
		if q.O.Kind() == term.KindIRI && strings.HasSuffix(p, "hasPart") {
			count["members"]++
		}
	}
	if count["columns 3000"] != 1 || count["columnsOmitted 1000"] != 1 || count["membersOmitted 107"] != 1 ||
		count["tablesOmitted 2002"] != 1 || count["members"] != 2000 {
		t.Errorf("omitted: %d %d %d %d, %d members", count["columns 3000"], count["columnsOmitted 1000"], count["membersOmitted 107"],
			count["tablesOmitted 2002"], count["members"])
	}
	if len(quads) > 200_000 {
		t.Errorf("%d statements about one version", len(quads))
	}
}

func TestLongPathsAreDescribedWithFewerColumns(t *testing.T) {
	t.Parallel()
	in := &inspect.Inside{}
	for i := range 100 {
		in.Members = append(in.Members,
			inspect.Member{Path: fmt.Sprintf("%d%s", i, strings.Repeat("/"+strings.Repeat("ü", 100), 20)), Tables: widths(50)})
	}
	size := 0
	for _, q := range Inside(mint, version(), in) {
		if strings.Contains(string(q.S), "#") {
			size += len(q.S)
		}
	}
	if size > 10*maxIRIBytes {
		t.Errorf("the IRIs of columns are %d bytes", size)
	}
}

func TestALongTextIsCut(t *testing.T) {
	t.Parallel()
	g := &graph{}
	g.text(vocab.ArcWhy, strings.Repeat("é", maxText))
	if n := len(g.quads[0].O); n > maxText+10 {
		t.Errorf("a literal of %d bytes", n)
	}
}

func TestATableThatWasNotReadToItsEndHasAtLeastItsRows(t *testing.T) {
	t.Parallel()
	for truncated, want := range map[bool]term.Key{false: "<" + vocab.ArcRows, true: "<" + vocab.ArcRowsAtLeast} {
		p := widths(2)
		p[0].Rows, p[0].Truncated = 7, truncated
		g := &graph{}
		g.table(place{file: "http://a.example/v", label: "v"}, p[0], 2)
		var said []term.Key
		for _, q := range g.quads {
			if q.P == "<"+vocab.ArcRows || q.P == "<"+vocab.ArcRowsAtLeast {
				said = append(said, q.P)
			}
		}
		if len(said) != 1 || said[0] != want {
			t.Errorf("truncated %v: %q", truncated, said)
		}
	}
	v := catalog.Version{ID: "v_1"}
	for part, want := range map[bool]int{false: 9, true: 6} { // kind, bytes, columns; rows if all were compared
		if got := len(Change(ns.Mint{Base: "http://a.example/"}, v,
			&diff.Summary{Kind: diff.Tables, RowsAdded: 3, Part: part})); got != want {
			t.Errorf("part %v: %d statements, want %d", part, got, want)
		}
	}
}
