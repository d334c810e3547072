package sparql

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix : <http://d.example/> .
`

func source(h http.Handler) Source {
	return Source{Endpoint: Endpoint{URL: "http://e.example/sparql", HTTP: &portaltest.Web{Handler: h}}}
}

func harvested(t *testing.T, s Source) *portaltest.Notes {
	t.Helper()
	n, err := portaltest.Harvest(t, s, "")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// listing returns a catalog of datasets with distributions.
func listing(catalog string, datasets, distributions int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s> a dcat:Catalog ; dct:title \"C\" .\n", catalog)
	for i := range datasets {
		fmt.Fprintf(&b, "<%s> dcat:dataset :%04d . :%04d a dcat:Dataset ; dct:title \"%d\" ; dct:publisher [ dct:title \"P\" ] .\n",
			catalog, i, i, i)
		for j := range distributions {
			fmt.Fprintf(&b,
				":%04d dcat:distribution [ dcat:accessURL <http://d.example/%04d/%d.csv> ; dct:format [ dct:title \"CSV\" ] ] .\n", i, i, j)
		}
	}
	return b.String()
}

func TestCatalogsAreFoundWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for about, document := range map[string]string{
		"default graph":     listing("http://c.example/", 3, 2),
		"named graph":       "<http://g.example/> { " + listing("http://c.example/", 3, 2) + " }",
		"without a catalog": strings.ReplaceAll(listing("http://c.example/", 3, 2), "dcat:dataset", "dct:relation"),
		"graph, no catalogue": "<http://g.example/> { " +
			strings.ReplaceAll(strings.ReplaceAll(listing("http://c.example/", 3, 2), "dcat:dataset", "dct:relation"), "dcat:Catalog",
				"dct:Collection") + " }",
	} {
		n := harvested(t, source(portaltest.NewEndpoint(t, prefixes+document)))
		if len(n.Datasets) != 3 || len(n.Portals) != 1 || !n.Whole || len(n.Datasets[0].Distributions) != 2 {
			t.Errorf("%s: %d datasets, %d portals", about, len(n.Datasets), len(n.Portals))
			continue
		}
		if d := n.Datasets[2]; d.IRI != "http://d.example/0002" || d.Distributions[0].Format != "CSV" {
			t.Errorf("%s: %+v", about, d)
		}
	}
}

func TestDatasetsOutsideCatalogsAreHarvestedToo(t *testing.T) {
	t.Parallel()
	const loose = `:loose a dcat:Dataset ; dct:title "Loose" . [] a dcat:Catalog ; dcat:dataset :blank . :blank a dcat:Dataset .
<http://untyped.example/> dcat:dataset :untyped . :untyped a dcat:Dataset .
`
	for about, c := range map[string]struct {
		document string
		portals  []string
	}{
		"default graph": {listing("http://c.example/", 3, 1) + loose, []string{"http://c.example/", "http://e.example/sparql"}},
		"named graph": {"<http://g.example/> { " + listing("http://c.example/", 3, 1) + loose + " }",
			[]string{"http://c.example/", "http://g.example/"}},
		"both": {
			listing("http://c.example/", 3, 1) + "<http://g.example/> { " + loose +
				`:loose dcat:distribution [ dcat:accessURL <http://d.example/x> ] }`,
			[]string{"http://c.example/", "http://g.example/"}},
	} {
		n := harvested(t, source(portaltest.NewEndpoint(t, prefixes+c.document)))
		var portals, datasets []string
		for _, p := range n.Portals {
			portals = append(portals, p.IRI)
		}
		for _, d := range n.Datasets {
			datasets = append(datasets, strings.TrimPrefix(d.IRI, "http://d.example/"))
		}
		slices.Sort(datasets)
		if !slices.Equal(portals, c.portals) || !slices.Equal(datasets, []string{"0000", "0001", "0002", "blank", "loose", "untyped"}) {
			t.Errorf("%s: datasets %v of portals %v", about, datasets, portals)
		}
	}
}

func TestNothingIsLostToAnEndpointThatCutsItsAnswers(t *testing.T) {
	t.Parallel()
	const datasets, distributions = 110, 9
	for _, e := range []*portaltest.Endpoint{{}, {MaxRows: 1000}, {MaxRows: 700, Honest: true}, {MaxRows: 40, Honest: true}} {
		endpoint := portaltest.NewEndpoint(t, prefixes+listing("http://c.example/", datasets, distributions))
		endpoint.MaxRows, endpoint.Honest = e.MaxRows, e.Honest
		n := harvested(t, source(endpoint))
		seeds := map[string]bool{}
		for _, d := range n.Datasets {
			for _, seed := range d.Seeds(harvest.Portal{}) {
				seeds[seed.URL] = true
			}
		}
		if len(n.Datasets) != datasets || len(seeds) != datasets*distributions {
			t.Errorf("at most %d rows: %d datasets, %d files, %d queries", e.MaxRows, len(n.Datasets), len(seeds), len(endpoint.Queries))
		}
	}
}

// virtuoso refuses what Virtuoso refuses: ORDER BY with more rows to sort than it returns (its error SR353).
func virtuoso(t *testing.T, e *portaltest.Endpoint) http.Handler {
	bounds := regexp.MustCompile(`(LIMIT|OFFSET) (\d+)`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := 0
		for _, m := range bounds.FindAllStringSubmatch(r.FormValue("query"), -1) {
			n, _ := strconv.Atoi(m[2])
			sum += n
		}
		if strings.Contains(r.FormValue("query"), "ORDER BY") && sum > 10_000 {
			t.Errorf("a query that sorts %d rows: %.300s", sum, r.FormValue("query"))
			http.Error(w, "Virtuoso 22023 Error SR353: Sorted TOP clause specifies more rows to sort", http.StatusInternalServerError)
			return
		}
		e.ServeHTTP(w, r)
	})
}

func TestADatasetWithMoreDistributionsThanAnAnswerHoldsComesWhole(t *testing.T) {
	t.Parallel()
	const distributions = 3_000
	text := prefixes + `<http://c.example/> a dcat:Catalog ; dcat:dataset :huge , :small . :small a dcat:Dataset ; dct:title "Small" .
:huge a dcat:Dataset ; dct:title "Huge" ; dct:publisher [ dct:title "City" ] ; dcat:keyword "a", "b"@en, "b"@de, "" .` + "\n"
	for i := range distributions {
		text += fmt.Sprintf(":huge dcat:distribution :r%d . :r%d a dcat:Distribution ; dcat:accessURL <http://d.example/f%d.csv> .\n", i, i,
			i)
	}
	endpoint := portaltest.NewEndpoint(t, text)
	for _, rows := range []int{2_500, 1_337} {
		endpoint.MaxRows, endpoint.Honest = rows, true
		n := harvested(t, source(virtuoso(t, endpoint)))
		seeds := map[string]bool{}
		for _, seed := range n.Datasets[0].Seeds(harvest.Portal{}) {
			seeds[seed.URL] = true
		}
		if len(n.Datasets) != 2 || len(seeds) != distributions || len(n.Skipped) > 0 {
			t.Errorf("at most %d rows: %d datasets, %d files, skipped %q", rows, len(n.Datasets), len(seeds), n.Skipped)
		}
		// 3 about each distribution, type, title, 4 keywords, publisher and its name, and the catalog's two
		if got := len(n.Datasets[0].Statements); got < 3*distributions+8 {
			t.Errorf("at most %d rows: %d statements", rows, got)
		}
	}
}

func TestWhatCannotBeReadWholeIsSaid(t *testing.T) {
	t.Parallel()
	text := prefixes + "<http://c.example/> a dcat:Catalog ; dcat:dataset :huge . :huge a dcat:Dataset .\n"
	for i := range 300 { // labels of blank nodes are no key to continue from
		text += fmt.Sprintf(":huge dcat:distribution [ dcat:accessURL <http://d.example/f%d.csv> ] .\n", i)
	}
	endpoint := portaltest.NewEndpoint(t, text)
	endpoint.MaxRows, endpoint.Honest = 100, true
	n, err := portaltest.Harvest(t, source(endpoint), "")
	if !errors.Is(err, ErrPartly) || n.LastMark() != "" || len(n.Skipped) != 1 ||
		!strings.Contains(n.Skipped[0], "not all rows about http://d.example/huge can be read") || len(n.Datasets) != 1 {
		t.Errorf("%d datasets, skipped %q, %v", len(n.Datasets), n.Skipped, err)
	}
}

func TestAHarvestThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	endpoint := portaltest.NewEndpoint(t, prefixes+listing("http://c.example/", 7, 1)+listing("http://c2.example/", 7, 1))
	endpoint.MaxRows, endpoint.Honest = 30, true
	portaltest.Resumes(t, source(endpoint))
}

func TestAQueryListsAddresses(t *testing.T) {
	t.Parallel()
	s := source(portaltest.NewEndpoint(t, prefixes+listing("http://c.example/", 3, 2)))
	narrowed, err := s.Select(harvest.Selection{
		Query: "# files\nPREFIX dcat: <http://www.w3.org/ns/dcat#>\nSELECT ?url ?dataset WHERE { ?dataset " +
			"dcat:distribution/dcat:accessURL ?url }"})
	if err != nil {
		t.Fatal(err)
	}
	n, err := portaltest.Harvest(t, narrowed, "")
	if err != nil || len(n.Seeds) != 6 || n.Seeds[0].Dataset != "http://d.example/0000" || n.Whole {
		t.Fatalf("%+v, %v", n.Seeds, err)
	}
	rest, err := portaltest.Harvest(t, narrowed, n.Seeds[3].URL)
	if err != nil || len(rest.Seeds) != 2 {
		t.Errorf("behind the fourth: %d, %v", len(rest.Seeds), err)
	}
	if _, err := s.Select(harvest.Selection{Since: "2026-01-01"}); err == nil {
		t.Error("an endpoint was narrowed by time")
	}
}

func TestAllStatementsOfAGraphAreTakenOver(t *testing.T) {
	t.Parallel()
	s := source(portaltest.NewEndpoint(t,
		prefixes+"<http://g.example/> { "+listing("http://c.example/", 30, 1)+" } <http://other.example/> { :x :y :z }"))
	narrowed, err := s.Select(harvest.Selection{Sets: []string{"http://g.example/"}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := portaltest.Harvest(t, narrowed, "")
	if err != nil {
		t.Fatal(err)
	}
	// 2 statements about the catalog, 30 links, and for each dataset 4 statements, 1 about its publisher, 2 about its
	// distribution, 1 about the format
	if want := 2 + 30 + 30*8; len(n.Quads) != want || n.Portals[0].IRI != "http://g.example/" {
		t.Errorf("%d statements, want %d; portal %+v", len(n.Quads), want, n.Portals)
	}
}

func TestEndpointsThatAreNoneAreToldInASentence(t *testing.T) {
	t.Parallel()
	says := func(body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
	}
	for about, c := range map[string]struct {
		h    http.Handler
		want string
	}{
		"a web page": {says("<!DOCTYPE html><html>Login"), "web page"},
		"half a JSON": {says(`{"head":{"vars":["c"]},"results":{"bindings":[{"c":{"type":"uri","val`),
			"not answer with SPARQL results"},
		"another JSON":    {says(`["x"]`), "not answer with SPARQL results"},
		"nothing":         {says(""), "not answer with SPARQL results"},
		"not found":       {http.NotFoundHandler(), "answered 404"},
		"without a store": {portaltest.NewEndpoint(t, ""), "has no DCAT datasets"},
	} {
		_, err := portaltest.Harvest(t, source(c.h), "")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q in it", about, err, c.want)
		}
	}
	if _, err := portaltest.Harvest(t, Source{Endpoint: Endpoint{URL: "nowhere"}}, ""); err == nil {
		t.Error("an address that is none was harvested")
	}
}

func TestQueriesAreSafeFromWhatStandsInIRIs(t *testing.T) {
	t.Parallel()
	w := Walk{}
	if q := w.question([]string{"http://a.example/> } DROP ALL", "http://b.example/"}); strings.Contains(q, "DROP") ||
		!strings.Contains(q, "<http://b.example/>") {
		t.Error(q)
	}
	if got := quote("a\"b\\\n"); got != `"a\"b\\\n"` {
		t.Error(got)
	}
	if !slices.Equal([]bool{IsIRI("http://a/"), IsIRI("a"), IsIRI("http://a/ b")}, []bool{true, false, false}) {
		t.Error("IsIRI")
	}
}

// TestAnAnswerThatTimedOutIsTheEndOfNothing: Virtuoso's "anytime" queries end after a time with what they have found,
// with status 200 and the header X-SQL-State: S1TAT, https://docs.openlinksw.com/virtuoso/anytimequeries/
func TestAnAnswerThatTimedOutIsTheEndOfNothing(t *testing.T) {
	t.Parallel()
	const datasets = 200
	lists, describes := "ORDER BY STR(?thing)", "VALUES ?s"
	for about, late := range map[string]func(query string) bool{
		"the list":                func(query string) bool { return strings.Contains(query, lists) },
		"the end of the list":     func(query string) bool { return strings.Contains(query, lists) && !strings.Contains(query, `> ""`) },
		"every description":       func(query string) bool { return strings.Contains(query, describes) },
		"the search for catalogs": func(query string) bool { return strings.Contains(query, "?d . ?thing a") },
		"the search for datasets": func(query string) bool { return strings.HasPrefix(query, "SELECT ?d") },
	} {
		for _, rows := range []int{0, 1, 30} {
			endpoint := portaltest.NewEndpoint(t, prefixes+listing("http://c.example/", datasets, 1))
			endpoint.Late = func(query string) (int, bool) { return rows, late(query) }
			n, err := portaltest.Harvest(t, source(endpoint), "")
			if err == nil {
				t.Errorf("%s times out with %d rows: %d datasets, %d not read, and no error", about, rows, len(n.Datasets), len(n.Unread))
			}
			odd := 0 // only now and then
			endpoint.Late = func(query string) (int, bool) {
				if late(query) {
					odd++
				}
				return rows, odd%3 == 1
			}
			if n := harvested(t, source(endpoint)); len(n.Datasets) != datasets || len(n.Unread) > 0 {
				t.Errorf("%s times out now and then with %d rows: %d datasets, not read %q", about, rows, len(n.Datasets), n.Unread)
			}
		}
	}
}

func TestADatasetThatIsListedButNotDescribedStaysAsItWas(t *testing.T) {
	t.Parallel()
	n := harvested(t, source(portaltest.NewEndpoint(t,
		prefixes+listing("http://c.example/", 3, 1)+"<http://c.example/> dcat:dataset :named .")))
	if len(n.Datasets) != 3 || !slices.Equal(n.Unread, []string{"http://d.example/named"}) || len(n.Skipped) != 1 {
		t.Errorf("%d datasets, not read %q, %q", len(n.Datasets), n.Unread, n.Skipped)
	}
	// An endpoint that returns few rows and does not say so.
	for _, most := range []int{7, 40, 100} {
		endpoint := portaltest.NewEndpoint(t, prefixes+listing("http://c.example/", 20, 5))
		endpoint.MaxRows = most
		n := harvested(t, source(endpoint))
		seeds := map[string]bool{}
		for _, d := range n.Datasets {
			for _, seed := range d.Seeds(harvest.Portal{}) {
				seeds[seed.URL] = true
			}
		}
		if len(n.Datasets) != 20 || len(n.Unread) > 0 || most > 20 && len(seeds) != 100 {
			t.Errorf("at most %d rows: %d datasets, %d files, not read %q, %q", most, len(n.Datasets), len(seeds), n.Unread, n.Skipped)
		}
	}
}
