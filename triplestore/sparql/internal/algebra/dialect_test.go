package algebra_test

import (
	"strings"
	"testing"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/syntax"
)

func historical(t *testing.T, text string) string {
	t.Helper()
	q, err := syntax.ParseQuery(text, "", syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := algebra.Translate(q)
	if err != nil {
		t.Fatal(err)
	}
	before := algebra.SSE(a.Pattern)
	out := algebra.SSE(algebra.Historical(a).Pattern)
	if after := algebra.SSE(a.Pattern); after != before {
		t.Errorf("Historical changed its argument:\n%s\nto\n%s", before, after)
	}
	return out
}

func TestThePaperQueryIsReadWithDublinCoreTerms(t *testing.T) {
	t.Parallel()
	for _, ns := range []string{"http://purl.org/dc/elements/1.1", "http://purl.org/dc/elements/1.1/"} {
		got := historical(t, `
    PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#>
    PREFIX dcat: <http://www.w3.org/ns/dcat#>
    PREFIX dc: <`+ns+`>
    PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
    SELECT ?versionURL WHERE {
      ?datasetURL arc:hasPortal ?Portal ; dc:hasVersion ?versionURL ; dcat:mediaType ?mediaType .
      ?versionURL dc:issued ?dateVersion .
      FILTER (?Portal = <PORTAL> && ?mediaType = "text/csv" &&
              strdt(?dateVersion, xsd:dateTimeStamp) >= "2020-05-10T00:00Z"^^xsd:dateTimeStamp) }`)
		if strings.Contains(got, "purl.org/dc/elements") {
			t.Errorf("with dc: bound to %s, historical names are left:\n%s", ns, got)
		}
		for _, want := range []string{"<http://purl.org/dc/terms/hasVersion>", "<http://purl.org/dc/terms/issued>"} {
			if !strings.Contains(got, want) {
				t.Errorf("with dc: bound to %s, %s is missing:\n%s", ns, want, got)
			}
		}
	}
}

func TestHistoricalNames(t *testing.T) {
	t.Parallel()
	const e, dct = "http://purl.org/dc/elements/1.1", "http://purl.org/dc/terms/"
	for _, c := range []struct{ about, pattern, want string }{
		{"a term that is no element, with the slash", "?s <" + e + "/isVersionOf> ?o", "(bgp (triple ?s <" + dct + "isVersionOf> ?o))"},
		{"an element without the slash", "?s <" + e + "creator> ?o", "(bgp (triple ?s <" + dct + "creator> ?o))"},
		{"a real element that the archive does not write", "?s <" + e + "/creator> ?o", "(bgp (triple ?s <" + e + "/creator> ?o))"},
		{"a real element that the archive writes as a term", "?s <" + e + "/title> ?o",
			"(path ?s (alt <" + e + "/title> <" + dct + "title>) ?o)"},
		{"a name nobody knows", "?s <" + e + "/colour> ?o", "(bgp (triple ?s <" + e + "/colour> ?o))"},
		{"inside a path", "?s <" + e + "/hasVersion>* ?o", "(path ?s (path* <" + dct + "hasVersion>) ?o)"},
		{"inside a negated set", "?s !(<" + e + "/title>|^<" + e + "issued>) ?o",
			"(path ?s (notoneof <" + e + "/title> <" + dct + "title> (rev <" + dct + "issued>)) ?o)"},
		{"a constant of a filter", "?s ?p ?o FILTER (?p = <" + e + "/issued>)",
			"(filter (= ?p <" + dct + "issued>) (bgp (triple ?s ?p ?o)))"},
		{"STRDT of a time stamp", "FILTER (strdt(?d, <http://www.w3.org/2001/XMLSchema#dateTimeStamp>) = ?x)",
			"(filter (= (strdt (str ?d) <http://www.w3.org/2001/XMLSchema#dateTimeStamp>) ?x) (table unit))"},
		{"any other STRDT", "FILTER (strdt(?d, <x:y>) = ?x)", "(filter (= (strdt ?d <x:y>) ?x) (table unit))"},
	} {
		got := strings.Join(strings.Fields(historical(t, "ASK { "+c.pattern+" }")), " ")
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.about, c.pattern, got, c.want)
		}
	}
}
