package portals

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

// dataverseFake is an installation with n datasets.
type dataverseFake struct {
	n     int
	own   string // a dataset's own description; "" means status 403
	asked []string
}

func (f *dataverseFake) source() portalapi.Harvester {
	return NewDataverse(portalapi.Source{URL: "https://dv.example/", HTTP: &portaltest.Web{Handler: f}, Rows: 3,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *dataverseFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	switch r.URL.Path {
	case "/api/info/version":
		fmt.Fprint(w, `{"status":"OK","data":{"version":"6.2"}}`)
	case "/api/datasets/:persistentId/":
		if f.own == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, f.own)
	case "/api/search":
		first := 0
		fmt.Sscan(r.FormValue("start"), &first)
		var list []string
		for i := first; i < min(first+3, f.n); i++ {
			list = append(list,
				fmt.Sprintf(
					`{"name":"Set `+
						`%d","type":"dataset","global_id":"doi:10.1/%d","description":"D","published_at":"2026-01-0%dT00:00:00Z","name_of`+
						`_dataverse":"Herbarium","keywords":["k"],"subjects":["s"],"authors":["Ann"]}`, i, i, i%9+1))
		}
		fmt.Fprintf(w, `{"status":"OK","data":{"q":"*","total_count":%d,"start":%d,"items":[%s]}}`, f.n, first, strings.Join(list, ","))
	default:
		http.NotFound(w, r)
	}
}

func TestDatasetsThatCannotBeAskedForAreDescribedByTheSearch(t *testing.T) {
	t.Parallel()
	f := &dataverseFake{n: 8}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || len(notes.Datasets) != 8 || len(notes.Skipped) != 8 || !strings.Contains(notes.Skipped[0], "403") {
		t.Fatalf("%v, %d datasets, %v", err, len(notes.Datasets), notes.Skipped)
	}
	f.asked = nil
	again, err := portaltest.Harvest(t, f.source(), notes.NextMark)
	if err != nil || again.Whole || !strings.Contains(f.asked[1], "dateSort%3A%5B2026-01-07T23%3A50%3A00Z+TO+%2A%5D") {
		t.Fatalf("%v, asked %q", err, f.asked)
	}
}

func TestDescriptionAndFiles(t *testing.T) {
	t.Parallel()
	f := &dataverseFake{n: 1, own: `{"status":"OK","data":{"id":7,"publicationDate":"2025-01-01","publisher":"Root","latestVersion":{"versionNumber":2,"versionMinorNumber":1,"versionState":"RELEASED","lastUpdateTime":"2026-01-01T00:00:00Z","license":{"name":"CC0 1.0","uri":"http://cc.example/zero"},"termsOfUse":"<p>Be kind</p>",
		"metadataBlocks":{"citation":{"fields":[{"typeName":"title","value":"Bark"},{"typeName":"author","value":[{"authorName":{"value":"Ann"},"authorIdentifierScheme":{"value":"ORCID"},"authorIdentifier":{"value":"0000-0001"}}]},{"typeName":"dsDescription","value":[{"dsDescriptionValue":{"value":"Of trees"}}]},
		{"typeName":"keyword","value":[{"keywordValue":{"value":"bark"}}]},{"typeName":"subject","value":["Earth"]},{"typeName":"datasetContact","value":[{"datasetContactName":{"value":"Ann"}}]},{"typeName":"timePeriodCovered","value":[{"timePeriodCoveredStart":{"value":"2010"}}]}]},
		"geospatial":{"fields":[{"typeName":"geographicCoverage","value":[{"country":{"value":"Austria"}}]}]}},
		"files":[{"label":"a.tab","restricted":false,"dataFile":{"id":11,"filename":"a.tab","contentType":"text/tab-separated-values","filesize":10,"originalFileFormat":"text/csv","originalFileName":"a.csv","originalFileSize":12,"md5":"x"}},
		{"label":"b.pdf","dataFile":{"id":12,"filename":"b.pdf","contentType":"application/pdf","filesize":9,"checksum":{"type":"SHA-1","value":"DA39"}}},{"restricted":true,"dataFile":{"id":13}},{"dataFile":7}]}}}`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "dataversefields.golden", notes.String())
}

func TestWhatIsNoDataverseIsSaid(t *testing.T) {
	t.Parallel()
	notes, err := portaltest.Harvest(t,
		NewDataverse(portalapi.Source{URL: "https://dv.example/",
			HTTP: &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "<!doctype html><title>Log in</title>")
			})}}), "")
	if err == nil || !strings.Contains(err.Error(), `a web page ("Log in")`) || len(notes.Datasets) > 0 {
		t.Fatal(err)
	}
}

func FuzzDatasets(f *testing.F) {
	f.Add(
		[]byte(
			`{"latestVersion":{"metadataBlocks":{"a":{"fields":[{"typeName":"author","value":[{"authorName":{"value":"x"}}]}]}},"files":[` +
				`{"dataFile":{"id":1,"checksum":{}}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := loose.Parse(text); err == nil {
			dataset("https://dv.example", "doi:10.1/x", v, v)
		}
	})
}
