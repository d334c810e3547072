package describe

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"

	"github.com/go-chi/chi/v5"
)

const (
	id   = "0123456789abcdef01234567"
	link = "http://data.example/trees.csv"
)

// small is an archive of one file.
type small struct{ title string }

func (s small) Version(_ context.Context, v string) (catalog.Version, error) {
	if v != id+"_2" {
		return catalog.Version{}, fmt.Errorf("version %s: %w", v, archive.ErrNotFound)
	}
	return catalog.Version{ID: v, URL: link, N: 2, Type: "text/csv", Size: 7, At: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC),
		FileName: "trees.csv"}, nil
}

func (s small) Latest(ctx context.Context, _ string) (catalog.Version, error) {
	return s.Version(ctx, id+"_2")
}

func (s small) Resource(_ context.Context, u string) (catalog.Resource, error) {
	if u != link && u != id {
		return catalog.Resource{}, fmt.Errorf("%s: %w", u, archive.ErrNotFound)
	}
	return catalog.Resource{ID: id, URL: link, Title: s.title, Versions: 3, Datasets: []string{"http://data.example/d"}}, nil
}

func (s small) Dataset(_ context.Context, iri string) (catalog.DatasetEntry, error) {
	if iri != "http://data.example/d" {
		return catalog.DatasetEntry{}, fmt.Errorf("%s: %w", iri, archive.ErrNotFound)
	}
	return catalog.DatasetEntry{IRI: iri, Title: "Trees", URLs: []string{link}}, nil
}

// said are statements of a portal, which says hostile things, too.
func said(_ context.Context, _ string, _ int) ([][]term.Key, error) {
	about := term.IRI("http://data.example/d")
	row := func(p string, o, name term.Key) []term.Key { return []term.Key{about, term.IRI(p), o, name} }
	return [][]term.Key{
		row("http://purl.org/dc/terms/publisher", term.IRI("http://data.example/"), term.String("City of X")),
		row("http://purl.org/dc/terms/creator", term.IRI("https://orcid.org/1"),
			term.String("Ann {Author} & \"Sons\"\nER  - \r\nTY  - BOOK")),
		row("http://purl.org/dc/terms/license", term.IRI("https://licence.example/by>; rel=\"evil"), ""),
		row("http://purl.org/dc/terms/description", term.String("100% of <trees> \x01 \\end"), ""),
		row("http://purl.org/dc/terms/identifier", term.String("doi:10.5281/zenodo.7"), ""),
		row("http://purl.org/dc/terms/language", term.IRI("http://publications.europa.eu/resource/authority/language/DEU"), ""),
		row("http://purl.org/dc/terms/issued", term.String("2020-05-01T00:00:00"), ""),
		row("http://www.w3.org/ns/dcat#keyword", term.String("a_b"), ""),
	}, nil
}

func collector() *Collector {
	return &Collector{Archive: small{"Trees, {as} @CSV"}, Select: said, Mint: ns.Mint{Base: "http://archive.example/"}}
}

func TestHostileTextsStayWithinTheirFields(t *testing.T) {
	t.Parallel()
	w, err := collector().Version(t.Context(), id+"_2")
	if err != nil {
		t.Fatal(err)
	}
	ris := string(w.RIS())
	if strings.Count(ris, "\r\nER  - ") != 1 || strings.Count(ris, "TY  - ") != 1 || strings.Contains(ris, "\x01") ||
		strings.Contains(ris, "\nTY  - BOOK") {
		t.Errorf("%q", ris)
	}
	for _, l := range strings.Split(strings.TrimSuffix(ris, "\r\n"), "\r\n") {
		if !regexp.MustCompile(`^[A-Z][A-Z0-9]  - `).MatchString(l) {
			t.Errorf("a line of RIS: %q", l)
		}
	}
	bib := string(w.BibTeX())
	depth := 0
	for i := range len(bib) { // braces balance outside of escapes
		switch {
		case i > 0 && bib[i-1] == '\\':
		case bib[i] == '{':
			depth++
		case bib[i] == '}':
			depth--
		}
	}
	if depth != 0 || strings.Count(bib, "\n@") != 0 || !strings.HasPrefix(bib, "@dataset{dataexample2026v2_01234567,\n") ||
		!strings.Contains(bib, `Ann {\textbraceleft}Author{\textbraceright} \&`) {
		t.Errorf("depth %d:\n%s", depth, bib)
	}
	for _, l := range w.Links() {
		if h := l.Header(); strings.Count(h, `rel="`) != 1 || strings.Count(h, ">") != 1 || strings.ContainsAny(h, "\r\n") {
			t.Errorf("%q", h)
		}
	}
	if robust := w.RobustLink(); !strings.Contains(robust, `data-versiondate="2026-11-21"`) ||
		!strings.Contains(robust, `data-versionurl="http://archive.example/api/v1/get/file/id/`+id+`_2"`) {
		t.Error(robust)
	}
	if w.DOI != "10.5281/zenodo.7" || w.Language != "de" || w.Publisher != "City of X" || w.Published.Year() != 2020 ||
		len(w.AuthorIRIs) != 1 {
		t.Errorf("%+v", w)
	}
}

// TestATitleWithABraceThatHasNoPartnerStaysInItsField counts braces as BibTeX does, to which a backslash before one
// means nothing.
func TestATitleWithABraceThatHasNoPartnerStaysInItsField(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"a }, note = {x", "}", "{", "\\}{", "a}\n}\n@misc{evil, title={x"} {
		bib := string(Work{Title: title, Host: "data.example", IRI: "http://archive.example/x", Version: -1}.BibTeX())
		depth := 0
		for i, r := range bib {
			switch r {
			case '{':
				depth++
			case '}':
				depth--
			}
			if ends := strings.HasSuffix(bib[:i+1], "},\n") || i == len(bib)-1; depth < 0 || ends && depth > 1 || depth == 0 &&
				i > strings.Index(bib, "{") && i < len(bib)-2 {
				t.Fatalf("%q: depth %d after %s", title, depth, bib[:i+1])
			}
		}
		if depth != 0 {
			t.Errorf("%q: depth %d at the end of %s", title, depth, bib)
		}
	}
}

func TestNoTitleTurnsTheTextThatFollows(t *testing.T) {
	t.Parallel()
	w := Work{Title: line("a\u202eb\u2066c\u009b31m d\u200fe"), Host: "data.example", IRI: "http://archive.example/x", Version: -1}
	for _, name := range CitationNames() {
		text, _, _, _, err := w.Format(name)
		if err != nil || strings.ContainsAny(string(text), "\u202e\u2066\u009b") || !strings.Contains(string(text), "abc31m d\u200fe") {
			t.Errorf("%s: %v: %q", name, err, text)
		}
	}
}

func TestWhatWasNeverArchivedIsListed(t *testing.T) {
	t.Parallel()
	w := Work{Title: "Trees", Host: "city.example", URL: "http://city.example/trees.csv", IRI: "http://archive.example/f", Version: -1}
	if got, want := w.Text(),
		"city.example (n.d.). Trees [Data set]. Listed at http://city.example/trees.csv. http://archive.example/f"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	w.Archived = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	if got := w.Text(); !strings.Contains(got, "(2026)") ||
		!strings.Contains(got, "Archived from http://city.example/trees.csv on 2026-03-01") {
		t.Error(got)
	}
}

func TestCSLHasWhatStylesRead(t *testing.T) {
	t.Parallel()
	w, err := collector().Version(t.Context(), id+"_2")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := w.CSL()
	var item map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &item)
	}
	if err != nil || item["type"] != "dataset" || item["version"] != "2" || item["URL"] != w.IRI ||
		fmt.Sprint(item["issued"]) != "map[date-parts:[[2026 11 21]]]" {
		t.Errorf("%s, %v", raw, err)
	}
}

// dataciteRules are the rules of the DataCite Metadata Schema 4.6 that this metadata can break: the order of elements
// does not matter (xs:all), mandatory ones are there once, and words are of the controlled lists.
func TestDataCiteMetadataKeepsTheRulesOfTheSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*Collector{"rich": collector(),
		"poor": {Archive: small{""}, Mint: ns.Mint{Base: "http://archive.example/"}}} {
		w, err := c.Version(t.Context(), id+"_2")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := w.DataCiteXML("10.5072/" + w.ID)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		text := map[string]string{}
		d := xml.NewDecoder(bytes.NewReader(raw))
		var path []string
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, raw)
			}
			switch tok := tok.(type) {
			case xml.StartElement:
				if tok.Name.Space != "http://datacite.org/schema/kernel-4" {
					t.Errorf("%s: element %v", name, tok.Name)
				}
				path = append(path, tok.Name.Local)
				seen[strings.Join(path, "/")]++
				for _, a := range tok.Attr {
					words := map[string][]string{
						"resourceTypeGeneral": {"Dataset"}, "dateType": {"Issued", "Collected"},
						"descriptionType":       {"Abstract", "TechnicalInfo"},
						"relationType":          {"IsVersionOf", "IsPartOf", "IsDerivedFrom", "IsIdenticalTo"},
						"relatedIdentifierType": {"URL", "DOI"}, "identifierType": {"DOI", "URL"},
					}[a.Name.Local]
					if words != nil && !slices.Contains(words, a.Value) {
						t.Errorf("%s: %s is %q", name, a.Name.Local, a.Value)
					}
				}
			case xml.EndElement:
				path = path[:len(path)-1]
			case xml.CharData:
				text[strings.Join(path, "/")] += strings.TrimSpace(string(tok))
			}
		}
		for _, must := range []string{"resource/identifier", "resource/creators", "resource/titles", "resource/publisher",
			"resource/publicationYear", "resource/resourceType"} {
			if seen[must] != 1 {
				t.Errorf("%s: %d of %s", name, seen[must], must)
			}
		}
		for _, must := range []string{"resource/creators/creator/creatorName", "resource/titles/title", "resource/publisher"} {
			if text[must] == "" {
				t.Errorf("%s: %s is empty", name, must)
			}
		}
		if !regexp.MustCompile(`^\d{4}$`).MatchString(text["resource/publicationYear"]) || text["resource/identifier"] != "10.5072/"+w.ID {
			t.Errorf("%s: year %q, identifier %q", name, text["resource/publicationYear"], text["resource/identifier"])
		}
		for _, once := range []string{"subjects", "dates", "language", "alternateIdentifiers", "relatedIdentifiers", "sizes", "formats",
			"version", "rightsList", "descriptions"} {
			if n := seen["resource/"+once]; n > 1 {
				t.Errorf("%s: %d of %s", name, n, once)
			}
			delete(seen, "resource/"+once)
		}
		if name == "poor" && seen["resource/subjects"] > 0 {
			t.Error("an empty list")
		}
		raw, err = w.DataCite("10.5072/" + w.ID)
		var j struct {
			DOI             string
			PublicationYear int
			Types           struct{ ResourceTypeGeneral string }
			SchemaVersion   string
			Creators        []struct{ Name string }
			Titles          []struct{ Title string }
			Publisher       struct{ Name string }
			URL             string
		}
		if err == nil {
			err = json.Unmarshal(raw, &j)
		}
		if err != nil || j.DOI != "10.5072/"+w.ID || j.PublicationYear != 2026 || j.Types.ResourceTypeGeneral != "Dataset" ||
			len(j.Creators) == 0 || j.Creators[0].Name == "" || j.Titles[0].Title == "" || j.Publisher.Name == "" || j.URL != w.IRI ||
			j.SchemaVersion != dataciteSchema {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
	for _, prefix := range []string{"10.5072", "10.5072.1"} {
		if !IsDOIPrefix(prefix) {
			t.Errorf("%s is no prefix", prefix)
		}
	}
	if IsDOIPrefix("10.5072/x") || IsDOIPrefix("11.5072") {
		t.Error("a prefix")
	}
}

func TestCitationsAreNegotiatedAndARKsResolved(t *testing.T) {
	t.Parallel()
	api := &CitationAPI{collector()}
	for accept, want := range map[string]string{
		"application/x-bibtex": "bibtex", "application/vnd.citationstyles.csl+json;q=0.5, application/x-research-info-systems": "ris",
		"*/*": "", "": "", "text/html": "", "application/json": "",
		"text/html,application/x-bibtex;q=0.5": "", "application/linkset+json": "linkset", "text/plain": "",
		"application/vnd.datacite.datacite+xml": "datacite-xml", "application/x-bibtex;q=0": "",
		"text/x-bibliography; style=apa": "citation",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		if got := api.Wanted(r); got != want {
			t.Errorf("%q asks for %q, want %q", accept, got, want)
		}
	}
	router := chi.NewRouter()
	router.Use(problem.Use(problem.Options{Table: problem.Table{{Err: archive.ErrNotFound, Status: 404, Title: "Not in the archive"}}}))
	router.Get("/v/{id}", problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		return api.Version(w, r, r.PathValue("id"), api.Wanted(r))
	}))
	router.Get("/dataset", problem.Handler(func(w http.ResponseWriter, r *http.Request) error { return api.Dataset(w, r, api.Wanted(r)) }))
	get := func(path string, status int) *httptest.ResponseRecorder {
		t.Helper()
		rec := httptest.NewRecorder()
		router.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if rec.Code != status {
			t.Errorf("%s: %d, want %d: %s", path, rec.Code, status, rec.Body)
		}
		return rec
	}
	if bib := get("/v/"+id+"_2?format=bibtex", 200); bib.Header().Get("Content-Type") != "application/x-bibtex; charset=utf-8" ||
		!slices.Equal(relations(t, bib.Header()["Link"]), []string{"cite-as", "describes", "license", "linkset"}) {
		t.Errorf("%v", bib.Header())
	}
	get("/v/"+id+"_7?format=bibtex", 404)
	for _, address := range []string{link, "http://data.example/d"} {
		for _, format := range append(CitationNames(), "linkset") {
			if body := get("/dataset?url="+address+"&format="+format, 200).Body.String(); !strings.Contains(body, "rees") &&
				format != "linkset" {
				t.Errorf("%s as %s: %s", address, format, body)
			}
		}
	}
	get("/dataset?url=http://nowhere.example/&format=ris", 404)
	var set struct{ Linkset []map[string]any }
	if err := json.Unmarshal(get("/v/"+id+"_2?format=linkset", 200).Body.Bytes(), &set); err != nil || set.Linkset[0]["cite-as"] == nil ||
		set.Linkset[0]["item"] == nil || set.Linkset[0]["license"] == nil {
		t.Errorf("%+v, %v", set, err)
	}
}
