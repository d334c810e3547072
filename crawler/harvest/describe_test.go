package harvest

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func trees() Dataset {
	return Dataset{
		IRI: "https://data.example/dataset/trees", Title: []Text{{"Bäume", "de"}, {"Trees", "en"}},
		Description: []Text{{"All trees.\x00\nEach one.", ""}},
		Keywords:    []Text{{"tree", "en"}, {" ", ""}},
		Themes:      []string{"http://publications.europa.eu/resource/authority/data-theme/ENVI", "Umwelt & Klima"},
		Identifiers: []string{"trees-1", "10.1234/trees", "https://doi.org/10.1234/trees"}, LandingPage: "https://data.example/trees",
		License: "https://creativecommons.org/licenses/by/4.0/", Rights: "free for all", AccessLevel: "public",
		Publisher: Agent{Name: "City of Trees", Type: "organization", URL: "https://city.example/", Email: "mailto:trees@city.example"},
		Creators:  []Agent{{IRI: "https://orcid.org/0000-0001", Name: "Ada", Type: "Person"}, {Name: "Bob"}},
		Contact:   Agent{Name: "Help desk", Email: "ask us"}, Frequency: "R/P1W", Issued: "2020-01-02",
		Modified: "2021-03-04 05:06:07+0100",
		Spatial: []Place{{Name: "Vienna", Geometry: `{"type":"Point","coordinates":[16,48]}`, Box: []float64{16.1, 48, 16.5, 48.25}},
			{IRI: "https://sws.geonames.org/2761367/"}},
		Temporal: []Period{{Start: "2019", End: "2020-12"}, {Start: "long ago"}, {}}, Language: []string{"de"}, Version: "2.1",
		Conforms: []string{"https://schema.example/trees"}, IsPartOf: []string{"https://data.example/series/1"},
		Extras: map[string]string{"b": "2", "a": "1"},
		Distributions: []Distribution{
			{URL: "https://data.example/trees.csv", AccessURL: "https://data.example/trees", Title: "CSV", Format: "CSV",
				MediaType: "text/csv", License: "CC BY",
				Size: 42, Checksum: "D41D8CD98F00B204E9800998ECF8427E", ChecksumAlg: "MD5", Issued: "02.01.2020", Modified: "yesterday",
				Conforms: []string{"urn:x:1"}},
			{IRI: "https://data.example/trees#wms", URL: "https://data.example/wms?a b", Title: "WMS", Service: true},
			{IRI: "no iri", URL: "on request"},
		},
	}
}

func TestDatasetsAreDescribedAsWrittenDown(t *testing.T) {
	t.Parallel()
	portal := Portal{IRI: "https://data.example/", Title: "Data", Description: "All of it", Homepage: "https://data.example/home",
		Software:  "CKAN 2.10",
		Publisher: Agent{Name: "City"}, Language: []string{"de", "http://publications.europa.eu/resource/authority/language/ENG"}}
	golden(t, "testdata/portal.ttl", portal.Quads())
	golden(t, "testdata/dataset.ttl", trees().Quads(portal.IRI))
}

func golden(t *testing.T, file string, quads []term.Quad) {
	t.Helper()
	slices.SortStableFunc(quads, func(a, b term.Quad) int { return strings.Compare(string(a.S), string(b.S)) })
	var got bytes.Buffer
	w := rdfio.NewWriter(&got, rdfio.Turtle(), vocab.Prefixes())
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s (rewrite with -update):\n%s", file, got.String())
	}
}

func TestAnUnchangedDatasetGivesTheSameStatements(t *testing.T) {
	t.Parallel()
	if a, b := trees().Quads("https://p.example/"), trees().Quads("https://p.example/"); !slices.Equal(a, b) {
		t.Error("the statements differ")
	}
}

const statementsOfASource = `
@prefix : <http://e.example/> .
:d :distribution [ :url :a ; :format [ :label "CSV" ] ] , [ :url :b ; :format [ :label "XML" ] ] .
[] :topic :d ; :next [ :next [ :topic :d ] ] .
`

func TestBlankNodesKeepTheirLabelsHoweverASourceLabelsAndOrdersThem(t *testing.T) {
	t.Parallel()
	read := func(prefix string) []term.Quad {
		var quads []term.Quad
		for q, err := range rdfio.NewReader(strings.NewReader(statementsOfASource), rdfio.Turtle(),
			rdfio.Options{BlankPrefix: prefix}).All() {
			if err != nil {
				t.Fatal(err)
			}
			quads = append(quads, q)
		}
		return quads
	}
	first, second := read("x"), read("yy")
	slices.Reverse(second)
	d := Dataset{IRI: "http://e.example/d", Statements: first, Verbatim: true}
	a := d.Quads("http://p.example/")
	d.Statements = second
	b := d.Quads("http://p.example/")
	order := func(x, y term.Quad) int {
		return strings.Compare(string(x.S+x.P+x.O), string(y.S+y.P+y.O))
	}
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	if !slices.Equal(a, b) || len(a) != len(first)+2 {
		t.Errorf("%d and %d statements:\n%q\n%q", len(a), len(b), a, b)
	}
}

func TestNothingInvalidBecomesAStatement(t *testing.T) {
	t.Parallel()
	bad := term.Quad{S: term.IRI("no iri"), P: term.IRI("http://p.example/"), O: term.String("x")}
	repaired := term.Quad{S: term.IRI("http://d.example/a b"), P: term.IRI("http://p.example/"), O: term.IRI("somewhere else")}
	d := Dataset{IRI: "http://d.example/", Statements: []term.Quad{bad, repaired, {}}, Verbatim: true}
	got := d.Quads("")
	want := term.Quad{S: term.IRI("http://d.example/a%20b"), P: term.IRI("http://p.example/"), O: term.String("somewhere else")}
	if len(got) != 2 || got[1] != want {
		t.Errorf("%q", got)
	}
	if got := (Dataset{IRI: "trees"}).Quads("http://p.example/"); got != nil {
		t.Errorf("a dataset without an IRI is described: %q", got)
	}
}

func FuzzDescriptionsAreValidStatements(f *testing.F) {
	f.Add("https://d.example/1", "a title", "de", "2020-01-01")
	f.Add("http://e/ \x00", "\xff", "xx_", "R/P1W")
	f.Fuzz(func(t *testing.T, iri, text, lang, value string) {
		d := Dataset{IRI: iri, Title: []Text{{text, lang}}, Themes: []string{text}, Identifiers: []string{value}, License: value,
			Publisher: Agent{IRI: iri, Name: text, Email: value},
			Contact:   Agent{Email: text}, Frequency: value, Issued: value, Spatial: []Place{{IRI: text, Geometry: value}},
			Temporal:      []Period{{value, text}},
			Extras:        map[string]string{text: value},
			Distributions: []Distribution{{URL: value, AccessURL: text, IRI: iri, Checksum: value, ChecksumAlg: text, Service: true}},
			Statements:    []term.Quad{{S: term.IRI(iri), P: term.IRI(text), O: term.IRI(value)}}}
		var nq bytes.Buffer
		w := rdfio.NewWriter(&nq, rdfio.NQuads(), nil)
		quads := d.Quads(value)
		for _, q := range quads {
			if err := w.Write(q); err != nil {
				t.Fatalf("%q: %v", q, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range rdfio.NewReader(&nq, rdfio.NQuads(), rdfio.Options{}).All() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != len(quads) {
			t.Fatalf("%d statements of %d can be read back", n, len(quads))
		}
		d.Seeds(Portal{})
	})
}

func TestDeclaredFrequenciesBecomePeriods(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]time.Duration{
		"http://publications.europa.eu/resource/authority/frequency/ANNUAL":         365 * 24 * time.Hour,
		"http://publications.europa.eu/resource/authority/frequency/UPDATE_CONT":    time.Minute,
		"http://publications.europa.eu/resource/authority/frequency/BIWEEKLY":       14 * 24 * time.Hour,
		"http://publications.europa.eu/resource/authority/frequency/IRREG":          0,
		"http://publications.europa.eu/resource/authority/frequency/UNKNOWN":        0,
		"http://purl.org/cld/freq/daily":                                            24 * time.Hour,
		"http://purl.org/cld/freq/semiannual":                                       365 * 12 * time.Hour,
		"http://inspire.ec.europa.eu/metadata-codelist/MaintenanceFrequency/weekly": 7 * 24 * time.Hour,
		"R/P1Y": 365 * 24 * time.Hour, "R/P1W": 7 * 24 * time.Hour, "R/PT1S": time.Second, "R/P2W": 14 * 24 * time.Hour,
		"R/P0.5M": 365 * 24 * time.Hour / 24,
		"R/P3.5D": 84 * time.Hour, "P1D": 24 * time.Hour, "R/PT1H": time.Hour, "R/P10000000000Y": 0, "R/P-1D": 0, "P": 0, "R/": 0,
		"weekly": 7 * 24 * time.Hour, "Jährlich": 365 * 24 * time.Hour, " mensuelle ": 365 * 2 * time.Hour,
		"twice a year": 365 * 12 * time.Hour,
		"diario":       24 * time.Hour, "fortnightly": 14 * 24 * time.Hour, "irregular": 0, "as needed": 0, "": 0, "http://": 0,
		"R/P1Y/x": 0,
	} {
		if got := PeriodOf(declared); got.Round(time.Hour) != want.Round(time.Hour) && got != want {
			t.Errorf("%q: %v, want %v", declared, got, want)
		}
	}
}

func TestDatesAreTypedWhereTheyAreSuch(t *testing.T) {
	t.Parallel()
	const xsd = "http://www.w3.org/2001/XMLSchema#"
	for declared, want := range map[string]term.Key{
		"2020-01-02":                 term.Typed("2020-01-02", xsd+"date"),
		"2020-01-02T03:04:05.123456": term.Typed("2020-01-02T03:04:05.123456", xsd+"dateTime"),
		"2020-01-02 03:04":           term.Typed("2020-01-02T03:04:00", xsd+"dateTime"),
		"2020-01-02 03:04:05 UTC":    term.Typed("2020-01-02T03:04:05Z", xsd+"dateTime"),
		"2020-01-02T03:04:05+0100":   term.Typed("2020-01-02T03:04:05+01:00", xsd+"dateTime"), "2020": term.Typed("2020", xsd+"gYear"),
		"2020-05":    term.Typed("2020-05", xsd+"gYearMonth"),
		"31.12.2020": term.Typed("2020-12-31", xsd+"date"), "2020/1/2": term.Typed("2020-01-02", xsd+"date"),
		"01/02/2020": term.String("01/02/2020"), "2020-13-01": term.String("2020-13-01"), "31.02.2020": term.String("31.02.2020"),
		"soon": term.String("soon"),
	} {
		if got := date(declared); got != want {
			t.Errorf("%q: %q, want %q", declared, got, want)
		}
	}
}

func TestNoUserAndNoPasswordOfAnAddressIsTakenOver(t *testing.T) {
	t.Parallel()
	q, ok := valid(term.Quad{S: term.IRI("http://u:hunter2@data.example/d"), P: term.IRI("http://www.w3.org/ns/dcat#downloadURL"),
		O: term.IRI("ftp://u:hunter2@data.example/a")})
	if !ok || q.S != term.IRI("http://data.example/d") || q.O != term.IRI("ftp://u@data.example/a") {
		t.Errorf("%v %v", q, ok)
	}
}

func TestStatementsOfSourcesAreRDF(t *testing.T) {
	t.Parallel()
	for object, want := range map[term.Key]term.Key{
		term.Lang("x", "de"):                                         term.Lang("x", "de"),
		term.Lang("x", "de_AT"):                                      term.Lang("x", "de-AT"),
		term.Lang("x", "en> . <a"):                                   term.String("x"),
		term.Typed("x", "a b> <"):                                    term.String("x"),
		term.Typed("x", "relative"):                                  term.String("x"),
		term.Typed("1", "http://www.w3.org/2001/XMLSchema#integer"):  term.Typed("1", "http://www.w3.org/2001/XMLSchema#integer"),
		term.Triple(term.IRI("s s"), term.IRI("p"), term.IRI("o:o")): "",
	} {
		q, ok := valid(term.Quad{S: term.IRI("s:s"), P: term.IRI("p:p"), O: object})
		if ok != (want != "") || ok && q.O != want {
			t.Errorf("%q becomes %q, %v, want %q", object, q.O, ok, want)
		}
	}
}
