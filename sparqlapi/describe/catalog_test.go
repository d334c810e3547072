package describe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/sparqlapi/describe/internal/shacl"
	"odarchive/triplestore/term"
)

// saidOf is what a portal says of the dataset with a number, of which half has IRIs where the other half has words.
func saidOf(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf(`<http://portal.example/d/%d> dct:title "Trees"@en ; dct:description "All trees of the city."@en , "Alle Bäume."@de ; dcat:keyword "trees"@en , "city" ;
  dcat:theme <http://publications.europa.eu/resource/authority/data-theme/ENVI> ; dct:publisher <http://city.example/> ; dcat:contactPoint <http://city.example/desk> ; dct:issued "2020-01-02" ;
  dct:accrualPeriodicity <http://publications.europa.eu/resource/authority/frequency/MONTHLY> ; dct:license <https://creativecommons.org/licenses/by/4.0/> ; dct:language <http://publications.europa.eu/resource/authority/language/DEU> ;
  dct:temporal [ dcat:startDate "2019-01-01T00:00:00Z" ; dcat:endDate "never" ] ; dct:spatial <http://places.example/city> ; dct:conformsTo <http://standards.example/1> ; dct:accessRights <http://publications.europa.eu/resource/authority/access-right/PUBLIC> .
<http://city.example/> foaf:name "City" . <http://city.example/desk> vcard:fn "Desk" ; vcard:hasEmail <mailto:desk@city.example> ; vcard:hasURL <http://city.example/ask> .
`, i)
	}
	return fmt.Sprintf(`<http://portal.example/d/%d> dct:description "Nothing in particular" ; dcat:theme "envi" , "gardens" ; dct:publisher "The city <of> trees" ; dcat:contactPoint [ vcard:fn "Desk" ; vcard:hasEmail "no address, sorry" ] ;
  dct:accrualPeriodicity "weekly" ; dct:license "free as air" ; dct:spatial [ rdfs:label "The city" ] ; dct:language "German" ; dct:temporal [ dcat:startDate "always" ] ; dct:publisher <javascript:alert(1)> ; dct:conformsTo <urn:x> .
`, i)
}

// What portals say reaches the catalog, and leaves it valid, whatever it is. With ODARCHIVE_DCATAP, the shapes of
// DCAT-AP's recommended properties must find nothing missing where the portal said everything.
func TestTheCatalogSaysWhatPortalsSay(t *testing.T) {
	t.Parallel()
	const n = 20
	var b strings.Builder
	b.WriteString(`@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
`)
	for i := range n {
		b.WriteString(saidOf(i))
	}
	said := turtle(t, b.String())
	for i := range said {
		said[i].G = term.IRI("http://archive.example/graph/http://portal.example/")
	}
	quads := read(t, get(handlers(t, newArchive(n), said...).Catalog, "/catalog.ttl", ""))
	for _, set := range [][]term.Quad{turtle(t, dcatAP), officialShapes(t)} {
		results, faults := shacl.Validate(set, quads)
		for _, r := range results {
			if r.Severity == "Violation" {
				t.Fatal(r)
			}
		}
		for _, f := range faults {
			t.Errorf("shapes: %s", f)
		}
	}
	count := map[string]int{}
	for _, q := range quads {
		p := q.P.Value()
		count[p[strings.LastIndexAny(p, "/#")+1:]]++
		if strings.Contains(q.O.Value(), "javascript:") && q.O.Kind() == term.KindIRI {
			t.Errorf("%v", q)
		}
	}
	for predicate, want := range map[string]int{"keyword": 2*n/2 + n/2, "theme": n, "contactPoint": n, "license": 2 * n,
		"accrualPeriodicity": n / 2, "hasEmail": 1, "temporal": n / 2, "spatial": n, "publisher": n + 1, "description": n + n/2 + 2*n + 1,
		"provenance": n} {
		if got := count[predicate]; got < want {
			t.Errorf("%d %s, want %d", got, predicate, want)
		}
	}
	recommended := officialShapes(t, "shapes_recommended.ttl")
	if recommended == nil {
		return
	}
	results, _ := shacl.Validate(recommended, quads)
	missing := map[string]int{}
	for _, r := range results {
		if r.Severity != "Violation" {
			missing[r.Path.Value()]++
		}
	}
	var lines []string
	for p, n := range missing {
		lines = append(lines, fmt.Sprintf("%s %d", p, n))
	}
	slices.Sort(lines)
	t.Logf("recommended, but missing: %v", lines)
}
