package dcat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
	"odarchive/triplestore/term"
)

// site returns the source of a site that serves documents by path and query.
func site(documents map[string]string) Source {
	return Source{URL: "http://c.example/catalog",
		HTTP: &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := documents[strings.TrimPrefix(r.URL.RequestURI(), "/")]
			if !ok {
				http.NotFound(w, r)
				return
			}
			for {
				header, rest, ok := strings.Cut(body, "\n")
				name, value, isHeader := strings.Cut(header, "::")
				if !ok || !isHeader {
					break
				}
				w.Header().Set(strings.TrimSpace(name), strings.TrimSpace(value))
				body = rest
			}
			fmt.Fprint(w, body)
		})}}
}

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix hydra: <http://www.w3.org/ns/hydra/core#> .
@prefix ldp: <http://www.w3.org/ns/ldp#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix adms: <http://www.w3.org/ns/adms#> .
@prefix : <http://c.example/d/> .
`

func harvested(t *testing.T, s Source) *portaltest.Notes {
	t.Helper()
	n, err := portaltest.Harvest(t, s, "")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestACatalogOfOneDocumentIsNotReadAgainWhileItIsTheSame(t *testing.T) {
	t.Parallel()
	one := prefixes + `<> a dcat:Catalog ; dcat:dataset :1 . :1 a dcat:Dataset ; dct:title "One" .`
	documents := map[string]string{"catalog": "Content-Type:: text/turtle\nETag:: \"1\"\n" + one}
	s := site(documents)
	first := harvested(t, s)
	again, err := portaltest.Harvest(t, s, first.NextMark)
	if err != nil || !again.Same || len(again.Portals) != 0 || again.NextMark != first.NextMark {
		t.Fatalf("%v, the same %v, %d portals, next %q", err, again.Same, len(again.Portals), again.NextMark)
	}
	s.Now = func() time.Time { return time.Now().Add(harvest.WholeAfter) }
	if later, err := portaltest.Harvest(t, s, first.NextMark); err != nil || later.Same || len(later.Datasets) != 1 {
		t.Fatalf("a week later: %v, the same %v, %d datasets", err, later.Same, len(later.Datasets))
	}
	documents["catalog"] = "Content-Type:: text/turtle\nETag:: \"2\"\n" + one + ` <> hydra:next <more> .`
	documents["more"] = prefixes + `:2 a dcat:Dataset ; dct:title "Two" .`
	if changed, err := portaltest.Harvest(t, s, first.NextMark); err != nil || changed.Same || len(changed.Datasets) != 2 ||
		changed.NextMark != "" {
		t.Fatalf("of two pages: %v, the same %v, %d datasets, next %q", err, changed.Same, len(changed.Datasets), changed.NextMark)
	}
}

func urls(n *portaltest.Notes) []string {
	var all []string
	for _, d := range n.Datasets {
		for _, seed := range d.Seeds(harvest.Portal{}) {
			all = append(all, seed.URL)
		}
	}
	return all
}

func wants(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestPagesAreFollowedInAllTheirWordings(t *testing.T) {
	t.Parallel()
	dataset := func(n int) string {
		return fmt.Sprintf("<http://c.example/> a dcat:Catalog ; dcat:dataset :%d . :%d a dcat:Dataset ; dct:title \"%d\" .\n", n, n, n)
	}
	for about, first := range map[string]string{
		"hydra:nextPage as a literal": dataset(1) +
			`<http://c.example/catalog?page=1> a hydra:PagedCollection ; hydra:nextPage "http://c.example/catalog?page=2" .`,
		"hydra:nextPage as an IRI": dataset(1) + `<http://c.example/catalog> hydra:nextPage <http://c.example/catalog?page=2> .`,
		"hydra:next of a view": dataset(1) +
			`<http://c.example/> hydra:view <?page=1> . <?page=1> a hydra:PartialCollectionView ; hydra:first <?page=1> ; hydra:next ` +
			`<?page=2> .`,
		"ldp:nextPage": dataset(1) + `<?page=1> a ldp:Page ; ldp:nextPage <?page=2> .`,
	} {
		n := harvested(t, site(map[string]string{"catalog": prefixes + first, "catalog?page=2": prefixes + dataset(2)}))
		wants(t, about, n.IRIs(), "http://c.example/d/1", "http://c.example/d/2")
	}
	n := harvested(t, site(map[string]string{
		"catalog":        "Link:: <http://www.w3.org/ns/ldp#Page>; rel=\"type\", <?page=2>; rel=\"next\"\n" + prefixes + dataset(1),
		"catalog?page=2": prefixes + dataset(2)}))
	wants(t, "Link header", n.IRIs(), "http://c.example/d/1", "http://c.example/d/2")
	wants(t, "marks", n.Marks, "http://c.example/ http://c.example/catalog?page=2")
	if len(n.Portals) != 1 || !n.Whole {
		t.Errorf("%d portals, whole %v", len(n.Portals), n.Whole)
	}
}

func TestPagesThatNeverEndDo(t *testing.T) {
	t.Parallel()
	page := prefixes + ":1 a dcat:Dataset ; dct:title \"a\" . <> hydra:next <http://c.example/catalog?page=%s> ."
	documents := map[string]string{"catalog": fmt.Sprintf(page, "1")}
	for i := range 20 {
		documents[fmt.Sprint("catalog?page=", i)] = fmt.Sprintf(page, fmt.Sprint(i+1))
	}
	n := harvested(t, site(documents))
	if len(n.Datasets) != 1 || len(n.Skipped) != 1 {
		t.Errorf("%d datasets, skipped %q", len(n.Datasets), n.Skipped)
	}
}

func TestIrregularDatasetsAndDistributionsAreNotLost(t *testing.T) {
	t.Parallel()
	n := harvested(t, site(map[string]string{"catalog": prefixes + `
<http://c.example/> a dcat:Catalog ; dct:title "C" ; dcat:dataset :1, [ a dcat:Dataset ; dct:identifier "nameless" ; dct:title "Nameless" ;
    dcat:distribution [ dcat:downloadURL <http://c.example/2.csv> ] ] .
:1 dct:title "One"@en ; dct:accrualPeriodicity [ rdfs:label "weekly" ] ; adms:identifier [ a adms:Identifier ; <http://www.w3.org/2004/02/skos/core#notation> "x" ] ;
    dct:publisher [ foaf:name "P" ] ; dcat:distribution
        [ dcat:accessURL "http://c.example/1.csv" ; dct:format [ rdfs:label "CSV" ] ; dcat:byteSize "12.0" ],
        [ dct:accessURL <http://c.example/1.xml> ; dcat:mediaType <https://www.iana.org/assignments/media-types/text/xml> ],
        [ dcat:accessURL <http://c.example/wms> ; dct:format "WMS" ],
        <http://c.example/1.pdf>,
        [ dcat:accessURL <http://c.example/page> ; dcat:downloadURL <http://c.example/1.zip>, <http://c.example/1b.zip> ],
        [ dcat:accessURL <http://c.example/1c.zip> ; dcat:downloadURL "see our pages" ] .
:3 dcat:distribution [ dcat:accessURL <http://c.example/3> ] .
`}))
	wants(t, "URLs", urls(n), "http://c.example/1.csv", "http://c.example/1.xml", "http://c.example/1.pdf", "http://c.example/1.zip",
		"http://c.example/1b.zip", "http://c.example/1c.zip", "http://c.example/2.csv", "http://c.example/3")
	first, second := n.Datasets[0], n.Datasets[1]
	if first.Frequency != "weekly" || first.Distributions[0].Format != "CSV" || first.Distributions[0].Size != 12 ||
		first.Distributions[1].MediaType != "text/xml" || !first.Distributions[2].Service {
		t.Errorf("%+v", first)
	}
	if !strings.HasPrefix(second.IRI, "http://c.example/#dataset-") || second.Title[0].Value != "Nameless" {
		t.Errorf("the dataset without an IRI is %+v", second)
	}
	for _, q := range second.Statements {
		if q.S.Kind() == term.KindBlank && q.P == term.IRI("http://purl.org/dc/terms/title") {
			t.Errorf("the dataset is still a blank node: %q", q)
		}
	}
	again := harvested(t, site(map[string]string{
		"catalog": prefixes + `[ a dcat:Dataset ; dct:identifier "nameless" ] . <http://c.example/> a dcat:Catalog .`}))
	wants(t, "its IRI the next time", again.IRIs(), second.IRI)
}

func TestDatasetsThatAreOnlyNamedAreAskedFor(t *testing.T) {
	t.Parallel()
	n := harvested(t, site(map[string]string{
		"catalog": prefixes + "<> a ldp:BasicContainer ; ldp:contains :1, :2, :3 .",
		"d/1":     prefixes + ":1 a dcat:Dataset ; dct:title \"One\" .",
		"d/2":     prefixes + ":2 a foaf:Document .",
	}))
	wants(t, "datasets", n.IRIs(), "http://c.example/d/1")
	if len(n.Skipped) != 2 {
		t.Errorf("skipped %q", n.Skipped)
	}
}

func TestWhatIsNoCatalogIsSaidInOneSentence(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"<!DOCTYPE html><html><body>Please log in</body></html>": "web page",
		`{"error": "internal"}`:                                  "is not RDF",
		"":                                                       "is not RDF",
		`<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description>`: "not valid RDF/XML",
		prefixes + "<> a foaf:Document .":         "describes no datasets",
		`[{"@id":"http://c.example/","@type":["`:  "not valid JSON-LD",
		strings.Repeat("<http://a.example/> ", 9): "is not RDF",
	} {
		_, err := portaltest.Harvest(t, site(map[string]string{"catalog": body}), "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", body, err, want)
		}
	}
}

func TestLiesAboutTheEncodingAreSeenThrough(t *testing.T) {
	t.Parallel()
	body := "Content-Type:: application/rdf+xml; charset=utf-8\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF " +
		"xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:dct=\"http://purl.org/dc/terms/\" " +
		"xmlns:dcat=\"http://www.w3.org/ns/dcat#\">" +
		"<dcat:Dataset rdf:about=\"http://c.example/d/1\"><dct:title>Die Stadt Z\xfcrich f\xfchrt B\xfccher \xfcber " +
		"B\xe4ume</dct:title></dcat:Dataset></rdf:RDF>"
	n := harvested(t, site(map[string]string{"catalog": body}))
	if len(n.Datasets) != 1 || n.Datasets[0].Title[0].Value != "Die Stadt Zürich führt Bücher über Bäume" {
		t.Errorf("%+v", n.Datasets)
	}
}

// TestEveryRDFFileOfRealPortalsIsHarvested compares a summary of each file with a golden file.
func TestEveryRDFFileOfRealPortalsIsHarvested(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "portals")
	var got bytes.Buffer
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch ext := filepath.Ext(name); {
		case ext == ".ttl" || ext == ".rdf" || ext == ".nt" || ext == ".jsonld" || ext == ".xml" || strings.HasSuffix(name, "evian.json"):
			fmt.Fprintln(&got, filepath.ToSlash(name)+": "+yield(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "portals.golden", got.String())
}

func yield(t *testing.T, path string) string {
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]string{"catalog": string(body)}
	if context, err := os.ReadFile(filepath.Join(filepath.Dir(path), "context.jsonld")); err == nil {
		documents["uri.semic.eu-generated/DCAT-AP/releases/3.0.0/html/examples/context.jsonld"] = string(context)
	}
	n, err := portaltest.Harvest(t, site(documents), "")
	quads, seeds := 0, 0
	for _, d := range n.Datasets {
		quads += len(d.Quads("http://c.example/"))
		seeds += len(d.Seeds(harvest.Portal{}))
	}
	line := fmt.Sprintf("%d datasets, %d files, %d statements, %d skipped", len(n.Datasets), seeds, quads, len(n.Skipped))
	if err != nil {
		line += "; " + strings.ReplaceAll(err.Error(), "http://c.example/", "")
	}
	return line
}

func TestOfSeveralFrequenciesTheFirstThatIsAPeriodCounts(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`"" , "as needed" , "weekly"`: "weekly",
		`<http://publications.europa.eu/resource/authority/frequency/UNKNOWN> , ` +
			`<http://publications.europa.eu/resource/authority/frequency/DAILY>`: "http://publications.europa.eu/resource/authority/frequ" +
			"ency/DAILY",
		`[ rdfs:label "irregular" ] , [ rdfs:label "now and then" , "monthly" ]`: "monthly",
		`:often . :often rdfs:label "yearly"`:                                    "yearly",
		`"as needed" , "irregular"`:                                              "as needed",
		`[ rdfs:comment "no label" ] , "as needed"`:                              "as needed",
	} {
		n := harvested(t, site(map[string]string{
			"catalog": "Content-Type:: text/turtle\n" + prefixes +
				`<> a dcat:Catalog ; dcat:dataset :1 . :1 a dcat:Dataset ; dct:title "One" ; dct:accrualPeriodicity ` + said + ` .`}))
		if len(n.Datasets) != 1 || n.Datasets[0].Frequency != want {
			t.Errorf("%s: got %q, want %q", said, n.Datasets[0].Frequency, want)
		}
	}
}

// TestDatasetsThatALaterPageDescribesAreNotRequested reads a catalog that names all its datasets on each page, which
// links the next one by a literal.
func TestDatasetsThatALaterPageDescribesAreNotRequested(t *testing.T) {
	t.Parallel()
	catalog := prefixes + "<http://c.example/> a dcat:Catalog ; dcat:dataset :1, :2, :3, :4 .\n"
	documents := map[string]string{
		"catalog": catalog +
			`:1 a dcat:Dataset ; dct:title "One" . <http://c.example/catalog> a hydra:PagedCollection ; hydra:nextPage ` +
			`"http://c.example/two" .`,
		"two": catalog +
			`:2 a dcat:Dataset ; dct:title "Two" . :3 a dcat:Dataset ; dct:title "Three" . ` +
			`<http://c.example/two> a hydra:PagedCollection .`,
		"d/4": prefixes + `:4 a dcat:Dataset ; dct:title "Four" .`,
	}
	n := harvested(t, site(documents))
	if len(n.Datasets) != 4 || len(n.Unread)+len(n.Skipped) != 0 {
		t.Errorf("%d datasets, %v unread, %v", len(n.Datasets), n.Unread, n.Skipped)
	}
	for _, mark := range n.Marks {
		if strings.Contains(mark, "two") {
			t.Errorf("a harvest that goes on at %q would not know that 4 was named", mark)
		}
	}
	delete(documents, "d/4")
	if n := harvested(t, site(documents)); len(n.Datasets) != 3 || len(n.Skipped) != 1 {
		t.Errorf("%d datasets, %v", len(n.Datasets), n.Skipped)
	}
}

func TestADeadHostOfDatasetsIsGivenUpOnce(t *testing.T) {
	t.Parallel()
	var document strings.Builder
	document.WriteString(prefixes + "<> a dcat:Catalog .\n")
	for i := range 40 {
		fmt.Fprintf(&document, "<> dcat:dataset <http://dead.example/%d>, <http://failing.example/%d> .\n", i, i)
	}
	asked := map[string]int{}
	s := Source{URL: "http://c.example/catalog", HTTP: doer(func(req *http.Request) (*http.Response, error) {
		asked[req.URL.Host]++
		answer := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/turtle"}},
			Body: io.NopCloser(strings.NewReader(document.String())), Request: req}
		switch req.URL.Host {
		case "dead.example":
			return nil, errors.New("no such host")
		case "failing.example":
			answer.StatusCode = 505 // not one that is tried again
		}
		return answer, nil
	})}
	n, err := portaltest.Harvest(t, s, "")
	if err == nil || !strings.Contains(err.Error(), "names 80 datasets, of which none could be read: no such host") {
		t.Errorf("error %v", err)
	}
	if len(n.Unread) != 80 || asked["dead.example"] > 2 || asked["failing.example"] != 20 {
		t.Errorf("%d datasets unread, requests %v", len(n.Unread), asked)
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }
