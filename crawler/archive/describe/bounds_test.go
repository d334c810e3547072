package describe

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
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
		p := strings.TrimPrefix(q.P.Value(), arc.NS)
		count[p+" "+q.O.Value()]++
		if q.O.Kind() == term.KindIRI && strings.HasSuffix(p, "hasPart") {
			count["members"]++
		}
	}
	if count["columns 3000"] != 1 || count["columnsOmitted 1000"] != 1 || count["membersOmitted 107"] != 1 || count["tablesOmitted 2002"] != 1 || count["members"] != 2000 {
		t.Errorf("omitted: %d %d %d %d, %d members", count["columns 3000"], count["columnsOmitted 1000"], count["membersOmitted 107"], count["tablesOmitted 2002"], count["members"])
	}
	if len(quads) > 200_000 {
		t.Errorf("%d statements about one version", len(quads))
	}
}

func TestLongPathsAreDescribedWithFewerColumns(t *testing.T) {
	t.Parallel()
	in := &inspect.Inside{}
	for i := range 100 {
		in.Members = append(in.Members, inspect.Member{Path: fmt.Sprintf("%d%s", i, strings.Repeat("/"+strings.Repeat("ü", 100), 20)), Tables: widths(50)})
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
	g.text(arc.Why, strings.Repeat("é", maxText))
	if n := len(g.quads[0].O); n > maxText+10 {
		t.Errorf("a literal of %d bytes", n)
	}
}
