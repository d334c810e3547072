package portalwatch

import (
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/triplestore/term"
)

// The irregular distributions are those that the original archive's query lost or duplicated.
const watch = `
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix odpw: <http://data.wu.ac.at/ns/odpw#> . @prefix dqv: <http://www.w3.org/ns/dqv#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix : <http://p.example/d/> .
<http://p.example/> a dcat:Catalog ; odpw:iso "AT" ; odpw:software odpw:CKAN ; odpw:active true .
<https://data.wu.ac.at/portalwatch/ld/1801> { <http://p.example/> a dcat:Catalog ; dct:title "old" ; dcat:dataset :gone . :gone a dcat:Dataset . }
<https://data.wu.ac.at/portalwatch/ld/1802> {
<http://p.example/> a dcat:Catalog ; dct:title "P" ; dcat:dataset :1, :2, :3 .
<http://q.example/> a dcat:Catalog ; dcat:dataset <http://q.example/1> .
:1 a dcat:Dataset ; dct:title "One" ; dct:publisher [ a foaf:Organization ; foaf:name "City" ] ; dcat:keyword "a" ;
  dcat:distribution [ dct:title "r" ; dcat:accessURL <http://f.example/regular.csv> ; dct:format [ rdfs:label "CSV" ; rdf:value "text/csv" ] ; dcat:byteSize "12" ] ,
    [ dcat:accessURL "http://f.example/literal.csv" ] ,
    [ dcat:downloadURL <http://f.example/download.csv> ; dcat:accessURL <http://f.example/access> ; dct:format "CSV" ] ,
    [ dct:accessURL <http://f.example/wrong.csv> ] ,
    [ dcat:accessURL <http://f.example/two-titles.csv> ; dct:title "a", "b" ; dct:format [ rdfs:label "x" ], [ rdfs:label "y" ] ] ,
    [ dct:title "no address" ] .
[] a dqv:QualityMeasurement ; dqv:computedOn :1 ; dqv:isMeasurementOf <https://data.wu.ac.at/portalwatch/quality#Access> ; dqv:value 0.5 .
:1 dqv:hasQualityMeasurement [ dqv:isMeasurementOf <https://data.wu.ac.at/portalwatch/quality#Contact> ; dqv:value 1.0 ] .
:3 dct:title "Three" ; dcat:distribution <http://f.example/named> . <http://f.example/named> dcat:accessURL <http://f.example/3.csv> .
<http://q.example/1> a dcat:Dataset ; dcat:distribution [ dcat:accessURL <http://f.example/q.csv> ] .
}
`

func source(t *testing.T) Source {
	return Source{Endpoint: "http://w.example/sparql", HTTP: &portaltest.Web{Handler: portaltest.NewEndpoint(t, watch)}}
}

func TestTheNewestSnapshotIsHarvestedWithItsIrregularDistributions(t *testing.T) {
	t.Parallel()
	n, err := portaltest.Harvest(t, source(t), "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"http://p.example/d/1", "http://p.example/d/2", "http://p.example/d/3", "http://q.example/1"}; !slices.Equal(n.IRIs(), slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "http://p.example/d/2" })) && !slices.Equal(n.IRIs(), want) {
		t.Errorf("datasets %q", n.IRIs())
	}
	var urls []string
	for _, d := range n.Datasets {
		for _, seed := range d.Seeds(harvest.Portal{}) {
			urls = append(urls, seed.URL)
		}
	}
	slices.Sort(urls)
	var want []string
	for _, name := range []string{"3.csv", "access", "download.csv", "literal.csv", "q.csv", "regular.csv", "two-titles.csv", "wrong.csv"} {
		want = append(want, "http://f.example/"+name)
	}
	if !slices.Equal(urls, want) {
		t.Errorf("files %q, want %q", urls, want)
	}
	p := n.Portals[0]
	if len(n.Portals) != 2 || p.Title != "P" || p.Software != "CKAN" || !n.Whole || !says(p.Statements, "iso", `"AT`) || !says(p.Statements, "active", "^http://www.w3.org/2001/XMLSchema#boolean\x00true") {
		t.Errorf("portal %+v", p)
	}
	quads := n.Datasets[0].Quads(p.IRI)
	for _, metric := range []string{"Access", "Contact"} {
		if !says(quads, "isMeasurementOf", "<https://data.wu.ac.at/portalwatch/quality#"+term.Key(metric)) {
			t.Errorf("the measurement of %s is lost", metric)
		}
	}
	if !says(quads, "name", `"City`) || !says(quads, "keyword", `"a`) {
		t.Errorf("%q", quads)
	}
}

func says(quads []term.Quad, property string, o term.Key) bool {
	return slices.ContainsFunc(quads, func(q term.Quad) bool {
		return q.O == o && strings.HasSuffix(q.P.Value(), property)
	})
}

func TestAHarvestThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	portaltest.Resumes(t, source(t))
}

func TestOnePortalOfTheListIsEnough(t *testing.T) {
	t.Parallel()
	s := source(t)
	s.Portal = "http://q.example/"
	n, err := portaltest.Harvest(t, s, "")
	if err != nil || len(n.Datasets) != 1 || len(n.Portals) != 1 {
		t.Errorf("%q, %v", n.IRIs(), err)
	}
	s.Portal = "http://unknown.example/"
	if _, err := portaltest.Harvest(t, s, ""); err == nil || !strings.Contains(err.Error(), "no portal") {
		t.Errorf("error %v", err)
	}
}

func TestAnEndpointWithoutCatalogsIsToldInASentence(t *testing.T) {
	t.Parallel()
	_, err := portaltest.Harvest(t, Source{Endpoint: "http://w.example/", HTTP: &portaltest.Web{Handler: portaltest.NewEndpoint(t, "")}}, "")
	if err == nil || !strings.Contains(err.Error(), "no graph with a dcat:Catalog") {
		t.Errorf("error %v", err)
	}
}
