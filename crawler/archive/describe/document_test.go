package describe

import (
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/document"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func TestWhatAFileSaysOfItselfIsDescribed(t *testing.T) {
	t.Parallel()
	d := &document.Document{
		Title: "Air", Creator: "ZAMG", Languages: []string{"de-AT"}, Created: "2024-01-31", Modified: "2024-02-01T10:00:00Z", Pages: 3,
		Tables: 2, Conforms: "https://example.org/standard",
		Dimensions: []document.Dimension{{Name: "time", Size: 24}}, Attributes: []document.Attribute{{Name: "institution", Value: "ZAMG"}},
		Variables: []document.Variable{{Name: "t2m", Title: "temperature", Unit: "K", Datatype: "float", Dimensions: []string{"time"}}},
		Omitted:   7,
	}
	in := &inspect.Inside{Document: d, Members: []inspect.Member{{Path: "a.nc", Size: -1, Document: d}}}
	count := map[string]int{}
	german := 0
	for _, q := range Inside(mint, version(), in) {
		count[q.P.Value()]++
		if q.O == term.IRI(languageIRI+"de") {
			german++
		}
	}
	for predicate, want := range map[string]int{
		vocab.DCTLanguage: 2, vocab.DCTCreator: 2, vocab.DCTCreated: 2, vocab.DCTModified: 2, vocab.DCTConformsTo: 2,
		vocab.SchemaNumberOfPages: 2,
		vocab.ArcTableCount:       2, vocab.ArcFactsOmitted: 2,
		vocab.ArcDimension: 4, vocab.SchemaVariableMeasured: 2, vocab.SchemaAdditionalProperty: 2, vocab.SchemaUnitText: 2,
	} {
		if count[predicate] != want {
			t.Errorf("%s: %d statements, want %d", predicate, count[predicate], want)
		}
	}
	if german != 2 || count[vocab.DCTTitle] != 2+2 { // of the version, the path of the member, and both variables
		t.Errorf("%d titles, %d languages", count[vocab.DCTTitle], german)
	}
}

func TestFactsBeyondTheRoomAreCounted(t *testing.T) {
	t.Parallel()
	d := &document.Document{Title: "x"}
	for range 300 {
		d.Attributes = append(d.Attributes, document.Attribute{Name: "n", Value: "v"})
	}
	in := &inspect.Inside{}
	for range 100 {
		in.Members = append(in.Members, inspect.Member{Path: "m", Size: 1, Document: d})
	}
	nodes := 0
	for _, q := range Inside(mint, version(), in) {
		if q.P.Value() == vocab.SchemaAdditionalProperty {
			nodes++
		}
	}
	if nodes != maxNodes {
		t.Errorf("%d attributes are described, want %d", nodes, maxNodes)
	}
}
