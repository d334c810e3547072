package archive

import (
	"fmt"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func TestAVisitKeepsWhatSeveralDatasetsOfAPortalSay(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const address, portal = "http://data.example/1.csv", "http://portal.example/"
	for i := range 3 {
		register(t, a, catalog.Seed{URL: address, Portal: portal, Dataset: fmt.Sprintf("http://portal.example/d/%d", i)})
	}
	for i := range 3 {
		visit(t, a, address, fmt.Sprintf("a,b\n1,%d\n", i), day.Add(time.Duration(i)*time.Hour))
		stored := triplesOf(t, a)
		for _, q := range []term.Quad{
			{S: term.IRI(address), P: term.IRI(vocab.ArcHasPortal), O: term.IRI(portal)},
			{S: term.IRI(portal), P: term.IRI(vocab.RDFType), O: term.IRI(vocab.DCATCatalog)},
		} {
			if !stored[q] {
				t.Errorf("after visit %d nobody says %q", i+1, q)
			}
		}
	}
}
