package about_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"odarchive/sparqlapi/describe/about"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> .
`

// read returns what some TriG says of the dataset http://p.example/d.
func read(t *testing.T, trig string) (about.Dataset, bool) {
	t.Helper()
	in := rdfio.NewReader(strings.NewReader(prefixes+trig), rdfio.TriG(), rdfio.Options{Base: "http://p.example/"})
	var quads []term.Quad
	for {
		q, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		quads = append(quads, q)
	}
	all, err := about.Read(context.Background(), naive.New(quads...).Snapshot(), "http://p.example/d", "http://p.example/unknown",
		"http://p.example/d")
	if err != nil {
		t.Fatal(err)
	}
	d, ok := all["http://p.example/d"]
	return d, ok
}

func TestWhatAPortalSaysIsRead(t *testing.T) {
	t.Parallel()
	d, _ := read(t, `<g> {
 <d> dct:title "Trees"@en, "Bäume"@de ; dct:description "All of them." ; dcat:keyword "oak", "ash" ; dcat:theme <http://publications.europa.eu/resource/authority/data-theme/ENVI> ;
   dct:publisher [ foaf:name "City" ; foaf:mbox <mailto:a@b.example> ; foaf:homepage <http://city.example/> ] ; dcat:contactPoint [ vcard:fn "Desk" ; vcard:hasEmail "desk@city.example" ] ;
   dct:creator <http://people.example/1> ; dct:accrualPeriodicity <http://publications.europa.eu/resource/authority/frequency/MONTHLY> ; dct:issued "2020-01-02" ; dct:temporal [ dcat:startDate "2019" ] ;
   dct:spatial [ rdfs:label "Vienna" ] ; dcat:landingPage <http://p.example/d.html> ; dcat:distribution <d#1>, <http://f.example/b.csv> .
 <d#1> dcat:downloadURL <http://f.example/a.csv> ; dct:title "CSV" ; dct:format "CSV" ; dct:license <https://creativecommons.org/licenses/by-sa/4.0/deed.de> .
 <http://f.example/b.csv> dct:license <https://creativecommons.org/licenses/by-sa/4.0/deed.de> .
 <http://people.example/1> schema:name "Ada" .
}`)
	ccBySA := about.Thing{IRI: "https://creativecommons.org/licenses/by-sa/4.0/deed.de", Label: "CC BY-SA 4.0"}
	want := about.Dataset{
		IRI: "http://p.example/d", Title: d.Title, Description: []about.Text{{Value: "All of them."}},
		Keywords:  []about.Text{{Value: "ash"}, {Value: "oak"}},
		Themes:    []about.Thing{{IRI: "http://publications.europa.eu/resource/authority/data-theme/ENVI", Label: "Environment"}},
		Publisher: about.Agent{Name: "City", Mail: "a@b.example", Page: "http://city.example/"},
		Contact:   about.Agent{Name: "Desk", Mail: "desk@city.example"},
		Creators:  []about.Agent{{IRI: "http://people.example/1", Name: "Ada"}}, Licence: ccBySA,
		Frequency: about.Thing{IRI: "http://publications.europa.eu/resource/authority/frequency/MONTHLY", Label: "every month"},
		Issued:    "2020-01-02", Landing: "http://p.example/d.html", Spatial: []about.Thing{{Label: "Vienna"}},
		Temporal: []about.Period{{Start: "2019"}},
		Files: []about.File{{URLs: []string{"http://f.example/b.csv"}, Licence: ccBySA},
			{URLs: []string{"http://f.example/a.csv", "http://p.example/d#1"}, Title: "CSV", Format: about.Thing{Label: "CSV"},
				Licence: ccBySA}},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	if en, fr := about.Best(d.Title, "en").Value, about.Best(d.Title, "fr", "de").Value; len(d.Title) != 2 || en != "Trees" ||
		fr != "Bäume" {
		t.Errorf("%v: %q, %q", d.Title, en, fr)
	}
}

func TestWithdrawnStatementsAreUsedOnlyWhereThereAreNoOthers(t *testing.T) {
	t.Parallel()
	if d, _ := read(t, `<g#withdrawn> { <d> dct:title "Old" ; dct:description "Was there." } <g> { <d> dct:title "New" }`); len(
		d.Title) != 1 || d.Title[0].Value != "New" || len(d.Description) != 1 {
		t.Errorf("%+v", d)
	}
	if _, ok := read(t, `<g> { <other> dct:title "x" }`); ok {
		t.Error("an unknown dataset is known")
	}
}

// A stranger's statements are bounded, whatever they are.
func TestWhatAPortalSaysIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(
		`<g> { <d> dct:publisher <d> ; dct:license <d> ; dcat:distribution <d>, "words", 4 ; dct:temporal "always" ; dct:description "` +
			strings.Repeat("ä", 20_000) + `" ; dct:rights "` + strings.Repeat("r", 5000) + `" `)
	for i := range 3000 {
		b.WriteString(`; dcat:keyword "k` + strings.Repeat("x", i%9) + string(rune('a'+i%26)) + strings.Repeat("y", i%31) +
			`" ; dcat:distribution <f` + strings.Repeat("0", i) + `> `)
	}
	b.WriteString("} ")
	d, _ := read(t, b.String())
	if len(d.Keywords) > 60 || len(d.Files) > 200 || len(d.Description[0].Value) > 8<<10 || len(d.Rights.Label) > 500 {
		t.Errorf("%d keywords, %d files, %d bytes of description, %d of rights", len(d.Keywords), len(d.Files), len(d.Description[0].Value),
			len(d.Rights.Label))
	}
}

func TestThemesByCode(t *testing.T) {
	t.Parallel()
	if a, b := about.ThemeOf("envi"), about.ThemeOf("environment"); a != "Environment" || b != "" {
		t.Errorf("%q, %q", a, b)
	}
}

func TestNamesOfWhatPortalsNameByIRI(t *testing.T) {
	t.Parallel()
	for iri, want := range map[string]string{
		"http://publications.europa.eu/resource/authority/licence/CC_BY_4_0":    "CC BY 4.0",
		"http://publications.europa.eu/resource/authority/language/DEU":         "German",
		"http://publications.europa.eu/resource/authority/access-right/PUBLIC":  "public",
		"http://publications.europa.eu/resource/authority/data-theme/NOTHING":   "",
		"http://creativecommons.org/publicdomain/zero/1.0/":                     "CC0",
		"https://creativecommons.org/licenses/by-nc/3.0/at/":                    "CC BY-NC 3.0",
		"https://creativecommons.org/":                                          "",
		"https://www.govdata.de/dl-de/by-2-0":                                   "Data licence Germany – attribution 2.0",
		"https://licences.example/creativecommons.org/licenses/by/4.0/whatever": "",
		"": "",
	} {
		if got := about.LabelOf(iri); got != want {
			t.Errorf("%s: %q, want %q", iri, got, want)
		}
	}
}
