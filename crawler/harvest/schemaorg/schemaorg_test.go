package schemaorg

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
	"odarchive/triplestore/term"
)

const jsonLDPage = `<html><head><script type="application/ld+json">
{"@context":"https://schema.org/","@type":"Dataset","name":"Trees","description":"All of them","url":"https://city.example/trees","license":"CC-BY-4.0",
 "keywords":"trees, parks","temporalCoverage":"2010/..","spatialCoverage":{"@type":"Place","name":"Wien","geo":{"@type":"GeoShape","box":"48.1 16.2 48.3 16.6"}},
 "creator":{"@type":"Organization","name":"Magistrat","url":"https://city.example/","contactPoint":{"@type":"ContactPoint","email":"a@city.example"}},
 "includedInDataCatalog":{"@type":"DataCatalog","@id":"https://city.example/catalog","name":"City data"},"dateModified":"2026-01-02","version":1.2,
 "distribution":[{"@type":"DataDownload","encodingFormat":"text/csv","contentUrl":"/files/trees.csv","contentSize":"2.5 KB"},{"@type":"DataDownload","encodingFormat":"XLSX","contentUrl":"https://city.example/files/trees.xlsx"}]}
</script></head></html>`

const microdataPage = `<div itemscope itemtype="http://schema.org/Dataset"><h1 itemprop="name">Stops</h1><a itemprop="url" href="/stops">page</a><span itemprop="keywords">bus</span>
<div itemprop="distribution" itemscope itemtype="http://schema.org/DataDownload"><a itemprop="contentUrl" href="/files/stops.csv">CSV</a><meta itemprop="encodingFormat" content="CSV"></div></div>`

const rdfaPage = `<div vocab="http://schema.org/" typeof="Dataset" resource="https://city.example/loans"><h1 property="name">Loans</h1>
<div property="distribution" typeof="DataDownload"><a property="contentUrl" href="https://city.example/files/loans.csv">CSV</a></div></div>`

func TestDatasetsAreFoundInEveryMarkup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, page, iri, title, urls string }{
		{"JSON-LD", jsonLDPage, "https://city.example/trees", "Trees",
			"https://city.example/files/trees.csv https://city.example/files/trees.xlsx"},
		{"Microdata", microdataPage, "https://city.example/stops", "Stops", "https://city.example/files/stops.csv"},
		{"RDFa", rdfaPage, "https://city.example/loans", "Loans", "https://city.example/files/loans.csv"},
		{"all in one", jsonLDPage + microdataPage + rdfaPage + jsonLDPage, "https://city.example/trees", "Trees",
			"https://city.example/files/trees.csv https://city.example/files/trees.xlsx"},
		{"broken JSON beside", `<script type="application/ld+json">{"@type":</script>` + jsonLDPage, "https://city.example/trees", "Trees",
			"https://city.example/files/trees.csv https://city.example/files/trees.xlsx"},
	} {
		datasets, _, _ := Read("https://city.example/page", "text/html; charset=utf-8", []byte(c.page))
		if len(datasets) == 0 || datasets[0].IRI != c.iri || datasets[0].Title[0].Value != c.title || urls(datasets[0]) != c.urls {
			t.Errorf("%s: %+v", c.about, datasets)
		}
		if c.about == "all in one" && len(datasets) != 3 {
			t.Errorf("%d datasets in a page with three, one of them twice", len(datasets))
		}
	}
}

func urls(d harvest.Dataset) string {
	var all []string
	for _, s := range d.Seeds(harvest.Portal{}) {
		all = append(all, s.URL)
	}
	return strings.Join(all, " ")
}

func TestWhatSchemaOrgSaysFindsItsPlace(t *testing.T) {
	t.Parallel()
	datasets, catalogs, faults := Read("https://city.example/page", "text/html", []byte(jsonLDPage))
	if len(datasets) != 1 || len(faults) != 0 {
		t.Fatalf("%d datasets, %v", len(datasets), faults)
	}
	d := datasets[0]
	got := fmt.Sprintf("%s|%v|%v|%+v|%+v|%v|%s|%s|%v|%d %s %s", d.License, d.Keywords, d.Temporal, d.Spatial, d.Creators, d.IsPartOf,
		d.Modified, d.Version, d.LandingPage,
		d.Distributions[0].Size, d.Distributions[0].MediaType, d.Distributions[1].Format)
	want := "CC-BY-4.0|[{trees } {parks }]|[{2010 }]|[{IRI: Name:Wien Geometry: Box:[16.2 48.1 16.6 48.3]}]|[{IRI: Name:Magistrat " +
		"Email:a@city.example URL:https://city.example/ Type:Organization}]|" +
		"[https://city.example/catalog]|2026-01-02|1.2|https://city.example/trees|2500 text/csv XLSX"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(catalogs) != 2 || len(d.Statements) < 20 {
		t.Errorf("%d statements about catalogs, %d about the dataset", len(catalogs), len(d.Statements))
	}
}

// site serves documents by path.
type site map[string]string

func (s site) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if body, ok := s[req.URL.Path]; ok {
		w.WriteString(body)
	} else {
		w.WriteHeader(404)
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

type told struct {
	harvest.Sink
	datasets []harvest.Dataset
	skipped  []string
	next     string
}

func (t *told) Portal(harvest.Portal, bool) error { return nil }
func (t *told) Dataset(d harvest.Dataset) error {
	t.datasets = append(t.datasets, d)
	return nil
}
func (t *told) Quad(term.Quad) error { return nil }
func (t *told) Mark(string) error    { return nil }
func (t *told) Next(m string)        { t.next = m }
func (t *told) Skip(why string)      { t.skipped = append(t.skipped, why) }

func TestASiteIsReadByItsSitemap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := site{
			"/robots.txt": "User-agent: *\nSitemap: https://city.example/map.xml\n",
			"/map.xml": `<urlset><url><loc>https://city.example/1</loc><lastmod>1999-01-01</lastmod></url><url><loc>/2</loc></url><ur` +
				`l><loc>/gone</loc></url><url><loc>/plain</loc></url></urlset>`,
			"/1":           jsonLDPage,
			"/2":           microdataPage,
			"/plain":       "<html>nothing</html>",
			"/single.html": rdfaPage,
		}
		out := &told{}
		if err := (Source{URL: "https://city.example", HTTP: s}).Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 2 ||
			len(out.skipped) != 1 {
			t.Fatalf("%v, %d datasets, %q", err, len(out.datasets), out.skipped)
		}
		time.Sleep(24 * time.Hour)
		again := &told{}
		if err := (Source{URL: "https://city.example", HTTP: s}).Harvest(t.Context(), out.next, again); err != nil ||
			len(again.datasets) != 1 {
			t.Fatalf("%v, %d datasets; want one, the other page did not change", err, len(again.datasets))
		}
		time.Sleep(31 * 24 * time.Hour)
		whole := &told{}
		if err := (Source{URL: "https://city.example", HTTP: s}).Harvest(t.Context(), again.next, whole); err != nil ||
			len(whole.datasets) != 2 {
			t.Fatalf("%v, %d datasets after a month; want both", err, len(whole.datasets))
		}
		page := &told{}
		if err := (Source{URL: "https://city.example/single.html", HTTP: s}).Harvest(t.Context(), "", page); err != nil ||
			len(page.datasets) != 1 {
			t.Fatalf("%v, %d datasets on a single page", err, len(page.datasets))
		}
		for path, want := range map[string]string{"/plain": "has no schema.org/Dataset", "/nowhere": "404"} {
			if err := (Source{URL: "https://city.example" + path, HTTP: s}).Harvest(t.Context(), "", &told{}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		}
	})
}

func TestRealPagesAreHarvested(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, root := range []string{shared.Data(t, "rdfweb"), shared.Data(t, "portals", "ckanext-dcat", "examples", "croissant")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch filepath.Ext(path) {
			case ".html", ".xhtml", ".json", ".jsonld":
			default:
				return nil
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(filepath.Dir(root), path)
			datasets, catalogs, faults := Read("https://page.example/dir/page.html", "", body)
			if len(datasets)+len(catalogs)+len(faults) > 0 {
				fmt.Fprintf(&got, "%s: %d datasets, %d statements about catalogs, %d parts that cannot be read\n", filepath.ToSlash(name),
					len(datasets), len(catalogs), len(faults))
			}
			for _, d := range datasets {
				fmt.Fprintf(&got, "\t%s %q, %d triples\n", d.IRI, d.Title, len(d.Quads("https://page.example/")))
				sizes := map[string]int64{}
				for _, file := range d.Distributions {
					sizes[strings.TrimSpace(file.URL)] = file.Size
				}
				for _, s := range d.Seeds(harvest.Portal{}) {
					fmt.Fprintf(&got, "\t\t%s %s %d\n", s.URL, s.Format+s.MediaType, sizes[s.URL])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	portaltest.Golden(t, "real.golden", got.String())
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(jsonLDPage))
	f.Add([]byte(microdataPage + rdfaPage))
	f.Add([]byte(`{"@context":"https://schema.org/","@type":"Dataset","@id":"_:a","distribution":{"@id":"_:a"},"spatialCoverage":"x"}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		datasets, _, _ := Read("https://page.example/", "", body)
		for _, d := range datasets {
			d.Quads("https://page.example/")
		}
	})
}
