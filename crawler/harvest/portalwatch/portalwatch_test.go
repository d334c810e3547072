package portalwatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/triplestore/term"
)

// The document has the shape that the code of github.com/sebneu/portalwatch writes: portal_to_ttl.py makes the
// registry, where the types of portals are; fetch.py and converter/ make a graph a week, which states of a portal its
// datasets and who fetched them. The portal old.example was not fetched in the last week. The portal k.example
// publishes DCAT itself (CKANDCAT): its catalog has a type, and its name another end than in the registry. The portal
// x.example has never had a dataset, as all of the kind XMLDCAT. The irregular distributions are those that the
// original archive's query lost or duplicated.
const watch = `
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix odpw: <http://data.wu.ac.at/ns/odpw#> . @prefix dqv: <http://www.w3.org/ns/dqv#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix : <http://p.example/d/> .
@prefix prov: <http://www.w3.org/ns/prov#> . @prefix act: <https://data.wu.ac.at/portalwatch/portal/> . @prefix q: <https://data.wu.ac.at/portalwatch/quality#> .
<https://data.wu.ac.at/portalwatch/ld> {
<http://p.example/> a dcat:Catalog ; odpw:identifier "p" ; odpw:iso "AT" ; odpw:software odpw:CKAN ; odpw:active true ; dct:title "P" ; foaf:homepage <http://p.example/> .
<http://q.example/> a dcat:Catalog ; odpw:identifier "q" ; odpw:iso "AT" ; odpw:software odpw:Socrata ; odpw:active true ; dct:title "q.example" .
<http://k.example> a dcat:Catalog ; odpw:identifier "k" ; odpw:iso "GB" ; odpw:software odpw:CKANDCAT ; odpw:active true ; dct:title "k.example" .
<http://old.example/> a dcat:Catalog ; odpw:identifier "old" ; odpw:iso "DE" ; odpw:software odpw:CKAN ; odpw:active true ; dct:title "old.example" .
<http://x.example/> a dcat:Catalog ; odpw:identifier "x" ; odpw:iso "ES" ; odpw:software odpw:XMLDCAT ; odpw:active true ; dct:title "x.example" .
}
<https://data.wu.ac.at/portalwatch/ld/1801> {
<http://p.example/> odpw:wasFetchedBy act:p\/1801 ; dcat:dataset :gone . act:p\/1801 odpw:snapshot 1801 ; odpw:fetched <http://p.example/> . :gone a dcat:Dataset .
<http://old.example/> odpw:wasFetchedBy act:old\/1801 ; dcat:dataset <http://old.example/1> . act:old\/1801 odpw:snapshot 1801 ; odpw:fetched <http://old.example/> .
<http://old.example/1> a dcat:Dataset ; dcat:distribution [ dcat:accessURL <http://f.example/old.csv> ] .
}
<https://data.wu.ac.at/portalwatch/ld/1802> {
<http://p.example/> odpw:wasFetchedBy act:p\/1802 ; dcat:dataset :1, :2, :3 . act:p\/1802 odpw:snapshot 1802 ; odpw:fetched <http://p.example/> .
<http://q.example/> odpw:wasFetchedBy act:q\/1802 ; dcat:dataset <http://q.example/1> . act:q\/1802 odpw:snapshot 1802 ; odpw:fetched <http://q.example/> .
<http://k.example> odpw:wasFetchedBy act:k\/1802 . act:k\/1802 odpw:snapshot 1802 ; odpw:fetched <http://k.example> .
<http://x.example/> odpw:wasFetchedBy act:x\/1802 . act:x\/1802 odpw:snapshot 1802 ; odpw:fetched <http://x.example/> .
<http://k.example/> a dcat:Catalog ; dct:title "K" ; dcat:dataset <http://k.example/1> .
<http://k.example/1> a dcat:Dataset ; dcat:distribution <http://k.example/1/r> . <http://k.example/1/r> dcat:accessURL <http://f.example/k.csv> .
:1 a dcat:Dataset ; dct:title "One" ; dct:publisher [ a foaf:Organization ; foaf:name "City" ] ; dcat:keyword "a" ;
  dcat:distribution [ dct:title "r" ; dcat:accessURL <http://f.example/regular.csv> ; dct:format [ rdfs:label "CSV" ; rdf:value "text/csv" ] ; dcat:byteSize "12" ] ,
    [ dcat:accessURL "http://f.example/literal.csv" ] ,
    [ dcat:downloadURL <http://f.example/download.csv> ; dcat:accessURL <http://f.example/access> ; dct:format "CSV" ] ,
    [ dct:accessURL <http://f.example/wrong.csv> ] ,
    [ dcat:accessURL <http://f.example/two-titles.csv> ; dct:title "a", "b" ; dct:format [ rdfs:label "x" ], [ rdfs:label "y" ] ] ,
    [ dct:title "no address" ] .
:1 dqv:hasQualityMeasurement _:access , _:contact . act:p\/1802 prov:generated _:access , _:contact .
_:access a dqv:QualityMeasurement , prov:Entity ; dqv:computedOn :1 ; dqv:isMeasurementOf q:Access ; dqv:value 0.5e0 ; prov:wasGeneratedBy act:p\/1802 ; prov:wasDerivedFrom :1 .
_:contact a dqv:QualityMeasurement , prov:Entity ; dqv:computedOn :1 ; dqv:isMeasurementOf q:Contact ; dqv:value 1.0e0 ; prov:wasGeneratedBy act:p\/1802 ; prov:wasDerivedFrom :1 .
:3 dct:title "Three" ; dcat:distribution <http://f.example/named> . <http://f.example/named> dcat:accessURL <http://f.example/3.csv> .
<http://q.example/1> a dcat:Dataset ; dcat:distribution [ dcat:accessURL <http://f.example/q.csv> ] .
[] a dcat:Catalog ; dcat:dataset <http://nobody.example/1> .
<http://nobody.example/1> a dcat:Dataset ; dcat:distribution [ dcat:accessURL <http://f.example/nobody.csv> ] .
}
`

// typed returns the document with a type for each portal in each week, which a store may have beside.
func typed(document string) string {
	return strings.NewReplacer("odpw:wasFetchedBy act:", "a dcat:Catalog ; odpw:wasFetchedBy act:").Replace(document)
}

func source(t *testing.T) Source { return sourceOf(t, watch) }

func sourceOf(t *testing.T, document string) Source {
	return Source{Endpoint: "http://w.example/sparql", HTTP: &portaltest.Web{Handler: portaltest.NewEndpoint(t, document)}}
}

func TestEachPortalIsHarvestedFromItsLatestWeekWithItsIrregularDistributions(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{"as it is written": watch, "with types in the weeks": typed(watch)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harvested(t, document)
		})
	}
}

func harvested(t *testing.T, document string) {
	n, err := portaltest.Harvest(t, sourceOf(t, document), "")
	if err != nil || !slices.Equal(n.Unread, []string{"http://p.example/d/2"}) || len(n.Skipped) != 1 {
		// it is listed, and nothing is said of it
		t.Fatal(err, n.Unread, n.Skipped)
	}
	if want := []string{"http://k.example/1", "http://p.example/d/1", "http://p.example/d/3", "http://q.example/1",
		"http://nobody.example/1", "http://old.example/1"}; !slices.Equal(n.IRIs(), want) {
		t.Errorf("datasets %q, want %q", n.IRIs(), want)
	}
	var urls []string
	for _, d := range n.Datasets {
		for _, seed := range d.Seeds(harvest.Portal{}) {
			urls = append(urls, seed.URL)
		}
	}
	slices.Sort(urls)
	var want []string
	for _, name := range []string{"3.csv", "access", "download.csv", "k.csv", "literal.csv", "nobody.csv", "old.csv", "q.csv",
		"regular.csv", "two-titles.csv", "wrong.csv"} {
		want = append(want, "http://f.example/"+name)
	}
	if !slices.Equal(urls, want) {
		t.Errorf("files %q, want %q", urls, want)
	}
	var portals []string
	for _, p := range n.Portals {
		portals = append(portals, fmt.Sprintf("%s %s, %s", p.IRI, p.Title, p.Software))
	}
	if want := []string{"http://k.example/ K, CKANDCAT", "http://p.example/ P, CKAN", "http://q.example/ q.example, Socrata",
		registry + " Portal Watch: datasets that no portal lists, ", "http://old.example/ old.example, CKAN"}; !slices.Equal(portals,
		want) {
		t.Errorf("portals %q, want %q", portals, want)
	}
	p := n.Portals[1]
	if !n.Whole || !says(p.Statements, "iso", `"AT`) || !says(p.Statements, "active", "^http://www.w3.org/2001/XMLSchema#boolean\x00true") {
		t.Errorf("portal %+v", p)
	}
	quads := n.Datasets[1].Quads(p.IRI)
	for _, metric := range []string{"Access", "Contact"} {
		if !says(quads, "isMeasurementOf", "<https://data.wu.ac.at/portalwatch/quality#"+term.Key(metric)) {
			t.Errorf("the measurement of %s is lost", metric)
		}
	}
	if !says(quads, "name", `"City`) || !says(quads, "keyword", `"a`) {
		t.Errorf("%q", quads)
	}
}

// TestAnotherWeekWithTheSameDatasetsChangesNothing reads the same week under the next number. Its measurements say that
// the next week's fetch made them, and its blank nodes have other labels.
func TestAnotherWeekWithTheSameDatasetsChangesNothing(t *testing.T) {
	t.Parallel()
	said := func(document string) (all []string) {
		n, err := portaltest.Harvest(t, sourceOf(t, document), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range n.Datasets {
			quads := d.Quads("http://p.example/")
			for _, q := range quads {
				all = append(all, fmt.Sprint(q))
			}
		}
		slices.Sort(all)
		return all
	}
	next := strings.NewReplacer("1802", "1803", "[] a dcat:Catalog ;", "[] dcat:x [] . [] a dcat:Catalog ;", "_:access", "_:a2",
		"_:contact", "_:a1").Replace(watch)
	if this, next := said(watch), said(next); !slices.Equal(this, next) {
		t.Errorf("this week\n%s\nthe next\n%s", strings.Join(this, "\n"), strings.Join(next, "\n"))
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
	// A new week, or one that is gone, does not make an interrupted harvest skip the rest.
	for mark, want := range map[string]int{
		registry + "/1801 http://old.example/ http://old.example/0 " + registry + "/1801": 2, // old.example, and p.example as it was
		registry + "/1802 http://p.example/ http://p.example/d/1":                         4, // 3, q.example, nobody, old.example
		registry + "/1700 http://p.example/ http://p.example/d/1 " + registry + "/1700":   6,
	} {
		if n, err := portaltest.Harvest(t, source(t), mark); err != nil || len(n.Datasets) != want {
			t.Errorf("from %s: %q, want %d: %v", mark, n.IRIs(), want, err)
		}
	}
}

func TestOnePortalOfTheListIsEnough(t *testing.T) {
	t.Parallel()
	s := source(t)
	for _, name := range []string{"http://q.example/", "http://q.example", "http://old.example/"} { // the last one of the week before
		s.Portal = name
		n, err := portaltest.Harvest(t, s, "")
		if err != nil || len(n.Datasets) != 1 || len(n.Portals) != 1 {
			t.Errorf("%s: %q, %v", name, n.IRIs(), err)
		}
	}
	for name, why := range map[string]string{"http://unknown.example/": "no week has a portal",
		"http://x.example": "no week has datasets of it"} {
		s.Portal = name
		if _, err := portaltest.Harvest(t, s, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: error %v, want %q", name, err, why)
		}
	}
}

func TestAnEndpointWithoutCatalogsIsToldInASentence(t *testing.T) {
	t.Parallel()
	_, err := portaltest.Harvest(t, Source{Endpoint: "http://w.example/", HTTP: &portaltest.Web{Handler: portaltest.NewEndpoint(t, "")}},
		"")
	if err == nil || !strings.Contains(err.Error(), "no graph in which a portal has datasets") {
		t.Errorf("error %v", err)
	}
}

// TestNoAnswerThatTimedOutLeadsToAnOlderWeekOrToFewerPortals lets each kind of query time out, as Virtuoso's do: status
// 200, X-SQL-State, and the rows found so far.
func TestNoAnswerThatTimedOutLeadsToAnOlderWeekOrToFewerPortals(t *testing.T) {
	t.Parallel()
	for about, part := range map[string]string{
		"the weeks": "GRAPH ?thing", "the portals of the newest week": "1802> { ?thing", "the registry": "<" + registry + ">",
		"a portal": "NOT IN", "the datasets of a portal": "<http://q.example/> <http://www.w3.org/ns/dcat#dataset>",
		"descriptions": "VALUES ?s { <http://p.example/d/1>",
	} {
		for _, rows := range []int{0, 1} {
			endpoint := portaltest.NewEndpoint(t, watch)
			endpoint.Late = func(query string) (int, bool) { return rows, strings.Contains(query, part) }
			n, err := portaltest.Harvest(t, Source{Endpoint: "http://w.example/sparql", HTTP: &portaltest.Web{Handler: endpoint}}, "")
			if err == nil || slices.Contains(n.IRIs(), "http://p.example/d/gone") {
				t.Errorf("%s time out with %d rows: %v, %q", about, rows, err, n.IRIs())
			}
		}
	}
}

func TestAPortalIsTheSameWithAndWithoutASlashAtItsEnd(t *testing.T) {
	t.Parallel()
	const both = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix odpw: <http://data.wu.ac.at/ns/odpw#> . @prefix : <http://d.example/d/> .
<https://data.wu.ac.at/portalwatch/ld> { <http://d.example> a dcat:Catalog ; dct:title "D" . }
<https://data.wu.ac.at/portalwatch/ld/2001> { [] odpw:snapshot 2001 . <http://d.example> dcat:dataset :1 , :removed . :1 dct:title "1" . :removed dct:title "r" .
  <http://d.example/sub/> dcat:dataset :sub . :sub dct:title "s" . }
<https://data.wu.ac.at/portalwatch/ld/2002> { [] odpw:snapshot 2002 . <http://d.example/> dcat:dataset :1 , :2 . :1 dct:title "1" . :2 dct:title "2" .
  <http://d.example> dcat:dataset :3 . :3 dct:title "3" . <http://d.example/sub> dcat:dataset :sub . :sub dct:title "s" . }
`
	for about, document := range map[string]string{"as they are": both,
		"the other way round": strings.NewReplacer("2001", "2002", "2002", "2001", ":removed", ":2", ":2", ":removed").Replace(both)} {
		n, err := portaltest.Harvest(t, sourceOf(t, document), "")
		if err != nil || len(n.Portals) != 2 || n.Portals[0].IRI != "http://d.example/" || n.Portals[1].IRI != "http://d.example/sub" ||
			n.Portals[0].Title != "D" {
			t.Fatalf("%s: %v, %+v", about, err, n.Portals)
		}
		if want := map[string]string{"as they are": "1 2 3 sub",
			"the other way round": "1 2 sub"}[about]; strings.ReplaceAll(strings.Join(n.IRIs(), " "), "http://d.example/d/", "") != want {
			t.Errorf("%s: %q, want %s", about, n.IRIs(), want)
		}
		portaltest.Resumes(t, sourceOf(t, document))
	}
}

func TestWeeksAreReadUnderEitherScheme(t *testing.T) {
	t.Parallel()
	want, err := portaltest.Harvest(t, source(t), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"http://data.wu.ac.at/portalwatch/ld", "HTTP"} {
		document := strings.ReplaceAll(watch, "<https://data.wu.ac.at/portalwatch/ld", "<http://data.wu.ac.at/portalwatch/ld")
		if to == "HTTP" { // the scheme changed between the weeks
			document = strings.ReplaceAll(watch, "<https://data.wu.ac.at/portalwatch/ld/1801", "<http://data.wu.ac.at/portalwatch/ld/1801")
		}
		n, err := portaltest.Harvest(t, sourceOf(t, document), "")
		if err != nil || !slices.Equal(n.IRIs(), want.IRIs()) || n.Portals[0].Software != "CKANDCAT" {
			t.Errorf("%q, want %q: %v", n.IRIs(), want.IRIs(), err)
		}
	}
	n, err := portaltest.Harvest(t,
		sourceOf(t, strings.ReplaceAll(watch, "<https://data.wu.ac.at/portalwatch/ld/", "<http://mirror.example/watch/")), "")
	if err != nil || len(n.Datasets) == 0 ||
		!slices.ContainsFunc(n.Skipped, func(s string) bool { return strings.Contains(s, "2 graphs") }) {
		t.Errorf("graphs that are not named as weeks: %v, %q, %q", err, n.IRIs(), n.Skipped)
	}
}

// TestAPortalThatCannotBeReadDoesNotKeepOthersFromBeingRead: the endpoint fails at all that is asked about one dataset,
// or at the list of one portal.
func TestAPortalThatCannotBeReadDoesNotKeepOthersFromBeingRead(t *testing.T) {
	t.Parallel()
	for about, part := range map[string]string{"a dataset": "<http://p.example/d/1>",
		"a list": "<http://p.example/> <http://www.w3.org/ns/dcat#dataset> ?thing"} {
		endpoint := portaltest.NewEndpoint(t, watch)
		endpoint.Late = func(query string) (int, bool) { return 0, strings.Contains(query, part) }
		whole := map[string]bool{} // by portal, as passed last
		n := &told{Notes: &portaltest.Notes{}, whole: whole}
		err := Source{Endpoint: "http://w.example/sparql", HTTP: &portaltest.Web{Handler: endpoint}}.Harvest(t.Context(), "", n)
		if err == nil || len(n.Portals) < 5 || !slices.Contains(n.IRIs(), "http://old.example/1") || n.LastMark() != "" {
			t.Errorf("%s: %v, %q, mark %q", about, err, n.IRIs(), n.LastMark())
		}
		if about == "a list" && whole["http://p.example/"] || about == "a dataset" && !slices.Contains(n.Unread, "http://p.example/d/1") ||
			!whole["http://q.example/"] {
			t.Errorf("%s: whole %v, not read %q", about, whole, n.Unread)
		}
	}
}

// told notes of each portal whether it was read whole.
type told struct {
	*portaltest.Notes
	whole map[string]bool
}

func (n *told) Portal(p harvest.Portal, whole bool) error {
	n.whole[p.IRI] = whole
	return n.Notes.Portal(p, whole)
}
