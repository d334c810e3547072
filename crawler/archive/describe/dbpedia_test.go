package describe

import (
	"slices"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Figure 5 of the ODArchive paper gives columns classes of DBpedia: rdfs:range dbpedia:Place, dbpedia:PopulatedPlace.
func TestAColumnOfCitiesHasTheClassesOfThePaperToo(t *testing.T) {
	t.Parallel()
	for class, want := range map[string][]string{
		"http://schema.org/City": {"http://schema.org/City", "http://dbpedia.org/ontology/City",
			"http://dbpedia.org/ontology/PopulatedPlace", "http://dbpedia.org/ontology/Place"},
		"http://schema.org/URL": {"http://schema.org/URL"},
		"":                      nil,
	} {
		var g graph
		g.column(csvprofile.Column{Name: "a", Class: class})
		var got []string
		for _, q := range g.quads {
			if q.P == term.IRI(vocab.RDFSRange) {
				got = append(got, q.O.Value())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", class, got, want)
		}
	}
}
