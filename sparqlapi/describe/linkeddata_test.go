package describe_test

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	sparqlapidescribe "odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/describe/internal/shacl"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"

	"github.com/go-chi/chi/v5"
)

var mint = ns.Mint{Base: "http://archive.example/"}

// archive has n resources with two versions each, and one more without a version.
type archive struct {
	resources []catalog.Resource
	versions  map[string][]catalog.Version
}

func newArchive(n int) *archive {
	a := &archive{versions: map[string][]catalog.Version{}}
	for i := range n {
		address := fmt.Sprintf("http://data.example/%d/höhe über.csv?x=%d", i, i)
		id := ns.ResourceID(address)
		res := catalog.Resource{ID: id, URL: address, Host: "data.example", Title: fmt.Sprint("File ", i), FileName: "f.csv",
			MediaType: "text/csv", Versions: 2,
			Sources: []catalog.Source{
				{Portal: "http://portal.example/", Dataset: fmt.Sprintf("http://portal.example/d/%d", i), DatasetTitle: "Dataset"}},
			Datasets: []string{fmt.Sprintf("http://portal.example/d/%d", i)}}
		for v := range 2 {
			data := fmt.Appendf(nil, "a,b\n%d,%d\n", i, v)
			version := catalog.Version{ID: ns.VersionID(id, v), URL: address, N: v, Size: int64(len(data)),
				Type: []string{"text/csv", "application/x-unheard-of"}[v], Charset: "utf-8", FileName: "f.csv",
				At: time.Date(2026, 11, 20, v, i%60, 0, 0, time.UTC), Activity: fmt.Sprint(id, "-", v),
				Digests: catalog.Digests{SHA256: sha256.Sum256(data), MD5: md5.Sum(data)}}
			if v > 0 {
				version.Previous = ns.VersionID(id, v-1)
			}
			a.versions[address] = append(a.versions[address], version)
		}
		a.resources = append(a.resources, res)
	}
	a.resources = append(a.resources, catalog.Resource{ID: ns.ResourceID("x"), URL: "http://data.example/announced"})
	return a
}

func (a *archive) Stats(context.Context) (catalog.Stats, error) {
	return catalog.Stats{Resources: len(a.resources), Crawled: len(a.resources) - 1, Triples: 1234}, nil
}

func (a *archive) Archived(_ context.Context, after string, f func(catalog.Resource) bool) error {
	list := slices.Clone(a.resources)
	slices.SortFunc(list, func(x, y catalog.Resource) int { return strings.Compare(x.ID, y.ID) })
	for _, r := range list {
		if r.ID > after && len(a.versions[r.URL]) > 0 && !f(r) {
			break
		}
	}
	return nil
}

func (a *archive) Versions(_ context.Context, address string) ([]catalog.Version, error) {
	return a.versions[address], nil
}

// quads returns the triples that the crawler would write.
func (a *archive) quads(t *testing.T) []term.Quad {
	t.Helper()
	var all []term.Quad
	for _, r := range a.resources {
		all = append(all, describe.Resource(r)...)
		for _, v := range a.versions[r.URL] {
			all = append(all, describe.Version(mint, v)...)
			profile, err := csvprofile.Read(t.Context(), strings.NewReader("id;name;when\n1;\"a;b\";2020-01-01\n2;c;2020-01-02\n"),
				csvprofile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, describe.Inside(mint, v, &inspect.Inside{Tables: []*csvprofile.Profile{profile}})...)
			all = append(all, describe.Activity(mint,
				catalog.Activity{ID: v.Activity, URL: v.URL, Start: v.At, End: v.At.Add(time.Second), Outcome: catalog.Archived,
					Status: 200, Version: v.ID})...)
		}
		all = append(all, describe.Activity(mint,
			catalog.Activity{ID: r.ID + "-9", URL: r.URL, Start: time.Unix(0, 0), End: time.Unix(1, 0), Outcome: catalog.NoVersion,
				ErrorClass: catalog.ErrSoft404, Why: "a page that says not found"})...)
	}
	return all
}

func handlers(t *testing.T, a *archive, said ...term.Quad) *sparqlapidescribe.LinkedData {
	store := naive.New(append(a.quads(t), said...)...)
	return sparqlapidescribe.NewLinkedData(sparqlapidescribe.LinkedOptions{Archive: a, Mint: mint,
		View: func(_ context.Context, f func(term.Dataset) error) error { return f(store.Snapshot()) }})
}

func get(h func(http.ResponseWriter, *http.Request) error, address, accept string) *http.Response {
	r := httptest.NewRequest("GET", address, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	rec := httptest.NewRecorder()
	router := chi.NewRouter()
	router.Use(target.Escaped)
	for _, pattern := range []string{"/graph/*", "/ns/*", "/*"} {
		router.Get(pattern, problem.Handler(h))
	}
	router.ServeHTTP(rec, r)
	return rec.Result()
}

// read parses an answer in the syntax of its Content-Type.
func read(t *testing.T, res *http.Response) []term.Quad {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	syntax, ok := rdfio.ByMediaType(res.Header.Get("Content-Type"))
	if !ok || res.StatusCode != 200 {
		t.Fatalf("status %d, %s: %.300s", res.StatusCode, res.Header.Get("Content-Type"), body)
	}
	in := rdfio.NewReader(strings.NewReader(string(body)), syntax, rdfio.Options{})
	var quads []term.Quad
	for {
		q, err := in.Read()
		if err == io.EOF {
			return quads
		}
		if err != nil {
			t.Fatalf("%s: %v\n%.500s", syntax, err, body)
		}
		quads = append(quads, q)
	}
}

func TestADescriptionIsTheSameInEverySyntax(t *testing.T) {
	t.Parallel()
	a := newArchive(2)
	l := handlers(t, a)
	iri := mint.Version(a.versions[a.resources[0].URL][1].ID)
	address := "/describe?iri=" + url.QueryEscape(iri)
	want := len(read(t, get(l.Describe, address+"&format=nt", "")))
	if want < 12 {
		t.Fatalf("only %d statements about %s", want, iri)
	}
	for _, c := range []struct{ query, accept, mediaType string }{
		{"", "text/turtle", "text/turtle"}, {"", "", "text/turtle"}, {"", "application/ld+json", "application/ld+json"},
		{"", "application/rdf+xml, text/turtle;q=0.5", "application/rdf+xml"},
		{"&format=rdf", "text/turtle", "application/rdf+xml"}, {"&format=jsonld", "", "application/ld+json"},
		{"&format=ttl", "application/ld+json", "text/turtle"},
	} {
		res := get(l.Describe, address+c.query, c.accept)
		if got := res.Header.Get("Content-Type"); !strings.HasPrefix(got, c.mediaType) {
			t.Errorf("%q %q: %s", c.query, c.accept, got)
		}
		if n := len(read(t, res)); n != want {
			t.Errorf("%q %q: %d statements, want %d", c.query, c.accept, n, want)
		}
		if res.Header.Get("Vary") != "Accept" || len(res.Header.Values("Link")) != 4 {
			t.Errorf("%q: Vary %q, Link %q", c.query, res.Header.Get("Vary"), res.Header.Values("Link"))
		}
	}
	for address, status := range map[string]int{address + "&format=docx": 400, "/describe": 400,
		"/describe?iri=http://nowhere.example/": 404} {
		if res := get(l.Describe, address, ""); res.StatusCode != status {
			t.Errorf("%s: %d, want %d", address, res.StatusCode, status)
		}
	}
	if res := get(l.Describe, address, "image/png"); res.StatusCode != 406 {
		t.Errorf("image/png: %d", res.StatusCode)
	}
}

func TestADescriptionFollowsBlankNodesAndPointsBack(t *testing.T) {
	t.Parallel()
	a := newArchive(1)
	store := naive.New(a.quads(t)...)
	iri := mint.Version(a.versions[a.resources[0].URL][0].ID)
	out, in, err := sparqlapidescribe.Describe(t.Context(), store.Snapshot(), iri, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var checksum, pointer bool
	for _, q := range out {
		checksum = checksum || q.P == term.IRI("http://spdx.org/rdf/terms#checksumValue")
	}
	for _, q := range in {
		pointer = pointer || q.P == term.IRI("http://purl.org/dc/terms/hasVersion")
	}
	if !checksum || !pointer {
		t.Errorf("checksum %v, inverse link %v in %d and %d statements", checksum, pointer, len(out), len(in))
	}
	if out, _, err := sparqlapidescribe.Describe(t.Context(), store.Snapshot(), iri, 3); err != nil || len(out) > 3 {
		t.Errorf("a limit of 3 gave %d statements, %v", len(out), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := sparqlapidescribe.Describe(ctx, store.Snapshot(), iri, 1000); err == nil {
		t.Error("a client that left is still served")
	}
}

func TestWhatIsMintedDereferences(t *testing.T) {
	t.Parallel()
	a := newArchive(1)
	l := handlers(t, a)
	id := a.versions[a.resources[0].URL][0].Activity
	for _, address := range []string{"/activity/" + id, "/activity/" + id + ".ttl", "/activity/" + id + "?format=jsonld", "/crawler"} {
		if n := len(read(t, get(l.Minted, address, ""))); n == 0 {
			t.Errorf("nothing at %s", address)
		}
	}
	if got := get(l.Minted, "/activity/nothing", "").StatusCode; got != 404 {
		t.Errorf("an unknown fetch: %d", got)
	}
}

// The crawler's triples must conform to ns/shapes.ttl.
func TestWhatTheCrawlerSaysHasItsShapes(t *testing.T) {
	t.Parallel()
	a := newArchive(3)
	data := a.quads(t)
	results, faults := shacl.Validate(turtle(t, ns.Shapes), data)
	for _, r := range results {
		t.Error(r)
	}
	for _, f := range faults {
		t.Errorf("shapes.ttl: %s", f)
	}
	// Each of these statements violates a shape.
	v := term.IRI(mint.Version(a.versions[a.resources[0].URL][0].ID))
	for _, bad := range []term.Quad{
		{S: v, P: term.IRI("http://www.w3.org/ns/dcat#byteSize"), O: term.String("many")},
		{S: v, P: term.IRI("http://purl.org/dc/terms/isVersionOf"), O: term.IRI("http://other.example/")},
		{S: term.IRI("http://archive.example/activity/x"), P: term.IRI("https://archiver.ai.wu.ac.at/ns/csvw#outcome"),
			O: term.String("perhaps")},
		{S: term.Blank("t"), P: term.IRI("https://archiver.ai.wu.ac.at/ns/csvw#rows"), O: term.String("x")},
	} {
		if results, _ := shacl.Validate(turtle(t, ns.Shapes), append(a.quads(t), bad)); len(results) == 0 {
			t.Errorf("no shape minds %v", bad)
		}
	}
}

func turtle(t *testing.T, text string) []term.Quad {
	t.Helper()
	in := rdfio.NewReader(strings.NewReader(text), rdfio.Turtle(), rdfio.Options{Base: "http://shapes.example/"})
	var quads []term.Quad
	for {
		q, err := in.Read()
		if err == io.EOF {
			return quads
		}
		if err != nil {
			t.Fatal(err)
		}
		quads = append(quads, q)
	}
}

// The test reads the catalog as a harvester does: from page to page by hydra:next.
func TestTheCatalogIsWholeOverItsPagesAndValidDCATAP(t *testing.T) {
	t.Parallel()
	a := newArchive(150)
	l := handlers(t, a)
	shapes := turtle(t, dcatAP)
	official := officialShapes(t)
	datasets := map[term.Key]bool{}
	pages := 0
	for address := "/catalog.ttl"; address != ""; {
		quads := read(t, get(l.Catalog, address, ""))
		pages++
		address = ""
		for _, q := range quads {
			switch q.P.Value() {
			case "http://www.w3.org/ns/dcat#dataset":
				datasets[q.O] = true
			case "http://www.w3.org/ns/hydra/core#next":
				address = strings.TrimPrefix(q.O.Value(), "http://archive.example")
			}
		}
		for _, set := range [][]term.Quad{shapes, official} {
			results, faults := shacl.Validate(set, quads)
			for _, r := range results {
				if r.Severity == "Violation" {
					t.Fatalf("page %d: %v", pages, r)
				}
			}
			for _, f := range faults {
				t.Errorf("shapes: %s", f)
			}
		}
		if pages > 5 {
			t.Fatal("the pages never end")
		}
	}
	if pages != 2 || len(datasets) != 150 {
		t.Errorf("%d datasets on %d pages, want 150 on 2", len(datasets), pages)
	}
	if res := get(l.Catalog, "/catalog.ttl?after=zzz", ""); res.StatusCode != 404 {
		t.Errorf("a page that is none: %d", res.StatusCode)
	}
}

// officialShapes reads the SHACL files of DCAT-AP, and more of them, from the folder ODARCHIVE_DCATAP, if it is set.
func officialShapes(t *testing.T, more ...string) (quads []term.Quad) {
	t.Helper()
	dir := os.Getenv("ODARCHIVE_DCATAP")
	if dir == "" {
		return nil
	}
	for _, name := range append([]string{"shapes.ttl", "range.ttl"}, more...) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range turtle(t, string(raw)) { // equal blank node labels of different files are different nodes
			for _, k := range []*term.Key{&q.S, &q.O} {
				if k.Kind() == term.KindBlank {
					*k = term.Blank(name + k.Value())
				}
			}
			quads = append(quads, q)
		}
	}
	return quads
}

// dcatAP has the mandatory properties of DCAT-AP 3.0 for the classes in the catalog, and their kinds of values.
const dcatAP = `
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix spdx: <http://spdx.org/rdf/terms#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
[] sh:targetClass dcat:Catalog ;
  sh:property [ sh:path dct:title ; sh:minCount 1 ; sh:nodeKind sh:Literal ] , [ sh:path dct:description ; sh:minCount 1 ; sh:nodeKind sh:Literal ] ,
    [ sh:path dct:publisher ; sh:minCount 1 ; sh:maxCount 1 ; sh:class foaf:Agent ] , [ sh:path dcat:dataset ; sh:class dcat:Dataset ] .
[] sh:targetClass foaf:Agent ; sh:property [ sh:path foaf:name ; sh:minCount 1 ; sh:nodeKind sh:Literal ] .
[] sh:targetClass dcat:Dataset ;
  sh:property [ sh:path dct:title ; sh:minCount 1 ; sh:nodeKind sh:Literal ] , [ sh:path dct:description ; sh:minCount 1 ; sh:nodeKind sh:Literal ] ,
    [ sh:path dcat:distribution ; sh:minCount 1 ; sh:class dcat:Distribution ] , [ sh:path dct:modified ; sh:maxCount 1 ] , [ sh:path dcat:landingPage ; sh:class foaf:Document ] .
[] sh:targetClass dcat:Distribution ;
  sh:property [ sh:path dcat:accessURL ; sh:minCount 1 ; sh:nodeKind sh:IRI ] , [ sh:path dcat:byteSize ; sh:maxCount 1 ; sh:datatype xsd:nonNegativeInteger ] ,
    [ sh:path dcat:mediaType ; sh:maxCount 1 ; sh:nodeKind sh:IRI ; sh:class dct:MediaType ] , [ sh:path dct:format ; sh:maxCount 1 ; sh:class dct:MediaTypeOrExtent ] , [ sh:path spdx:checksum ; sh:maxCount 1 ; sh:class spdx:Checksum ] .
[] sh:targetClass spdx:Checksum ;
  sh:property [ sh:path spdx:algorithm ; sh:minCount 1 ; sh:maxCount 1 ; sh:class spdx:ChecksumAlgorithm ] , [ sh:path spdx:checksumValue ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:hexBinary ] .
`

func TestTheVocabularyTheShapesAndTheDatasetAreDescribed(t *testing.T) {
	t.Parallel()
	l := handlers(t, newArchive(1))
	vocabulary := l.Vocabulary(nil)
	for _, address := range []string{"/ns/csvw", "/ns/csvw.ttl", "/ns/csvw.nt", "/ns/csvw.rdf", "/ns/csvw.jsonld", "/ns/shapes.ttl"} {
		if n := len(read(t, get(vocabulary, address, ""))); n < 50 {
			t.Errorf("%s: %d statements", address, n)
		}
	}
	var triples bool
	for _, q := range read(t, get(l.VoID, "/.well-known/void", "")) {
		triples = triples || q.P == term.IRI("http://rdfs.org/ns/void#triples") && q.O.Value() == "1234"
	}
	if !triples {
		t.Error("VoID does not say how many triples there are")
	}
}

func TestAGraphLeadsToItsContentAndDocumentsHavePages(t *testing.T) {
	t.Parallel()
	a := newArchive(1)
	const graph = "http://archive.example/graph/http://portal.example/?a=b"
	base := strings.TrimSuffix(mint.Base, "/")
	iri := strings.Replace(graph, "http://archive.example", base, 1)
	store := naive.New(append(a.quads(t),
		term.Quad{S: term.IRI("http://s.example/"), P: term.IRI("http://p.example/"), O: term.IRI("http://o.example/"),
			G: term.IRI(iri)})...)
	l := sparqlapidescribe.NewLinkedData(sparqlapidescribe.LinkedOptions{Archive: a, Mint: mint,
		View: func(_ context.Context, f func(term.Dataset) error) error { return f(store.Snapshot()) },
		Page: func(http.ResponseWriter, *http.Request, string) error { return nil },
		Document: func(w http.ResponseWriter, _ *http.Request, title string, quads []term.Quad) error {
			_, err := fmt.Fprintf(w, "%s: %d statements", title, len(quads))
			return err
		}})
	path := strings.TrimPrefix(iri, base)
	for accept, want := range map[string]string{"text/turtle": "/rdf-graph-store?graph=" + url.QueryEscape(iri),
		"text/html": "/console?query="} {
		if res := get(l.Graph, path, accept); res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), want) {
			t.Errorf("%s: %d to %s", accept, res.StatusCode, res.Header.Get("Location"))
		}
	}
	if res := get(l.Graph, "/graph/http://other.example/", "text/turtle"); res.StatusCode != 404 {
		t.Errorf("an unknown graph: %d", res.StatusCode)
	}
	for address, h := range map[string]func(http.ResponseWriter, *http.Request) error{"/.well-known/void": l.VoID, "/catalog": l.Catalog,
		"/ns/shapes": l.Vocabulary(nil)} {
		res := get(h, address, "text/html,*/*;q=0.8")
		if text, err := io.ReadAll(res.Body); res.StatusCode != 200 || err != nil || !strings.Contains(string(text), " statements") {
			t.Errorf("%s: %d %s", address, res.StatusCode, text)
		}
	}
}
