package portals

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

// opendatasoftFake is a portal of n datasets that supports one version.
type opendatasoftFake struct {
	n       int
	api     string
	noWhere bool   // ignores conditions
	refuse  bool   // rejects conditions and order
	dataset string // replaces the generated datasets
	asked   []string
}

func (f *opendatasoftFake) source() portalapi.Harvester {
	return NewOpenDataSoft(portalapi.Source{URL: "https://ville.example/explore/?sort=title", HTTP: &portaltest.Web{Handler: f}, Rows: 3,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *opendatasoftFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	q := r.URL.Query()
	first, rows := 0, 3
	switch {
	case r.URL.Path == f.api+"/catalog/datasets" && f.refuse && (q.Get("where") != "" || q.Get("order_by") != ""):
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"message":"unknown parameter","error_code":"InvalidRESTParameterError"}`)
		return
	case r.URL.Path == f.api+"/catalog/datasets":
		fmt.Sscan(q.Get("offset"), &first)
		if id := q.Get("where"); id != "" && !f.noWhere && strings.HasPrefix(id, "dataset_id") {
			fmt.Sscanf(id, `dataset_id > "set-%d"`, &first)
			first++
		}
	case f.api == "/api/datasets/1.0" && r.URL.Path == f.api+"/search/":
		fmt.Sscan(q.Get("start"), &first)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<!doctype html><title>Not found</title>")
		return
	}
	var list []string
	for i := first; i < min(first+rows, f.n); i++ {
		switch {
		case f.dataset != "":
			list = append(list, f.dataset)
		case strings.HasSuffix(f.api, "1.0"):
			list = append(list,
				fmt.Sprintf(`{"datasetid":"set-%03d","metas":{"title":"Set %d","modified":"2026-01-02T00:00:00+00:00"},"has_records":true}`,
					i, i))
		case f.api == "/api/v2":
			list = append(list,
				fmt.Sprintf(`{"links":[],"dataset":{"dataset_id":"set-%03d","metas":{"default":{"title":"Set %d"}},"has_records":true}}`, i,
					i))
		default:
			list = append(list, fmt.Sprintf(`{"dataset_id":"set-%03d","metas":{"default":{"title":"Set %d"}},"has_records":true}`, i, i))
		}
	}
	left := f.n
	if q.Get("where") != "" && !f.noWhere {
		left = f.n - first
	}
	fmt.Fprintf(w, `{"total_count":%d,"nhits":%d,%q:[%s]}`, left, f.n,
		map[bool]string{true: "datasets", false: "results"}[f.api == "/api/datasets/1.0" || f.api == "/api/v2"], strings.Join(list, ","))
}

func TestEveryDatasetComesOnceFromEveryVersion(t *testing.T) {
	t.Parallel()
	for _, api := range append(versions(), "/api/datasets/1.0") {
		for _, f := range []*opendatasoftFake{{n: 10, api: api}, {n: 9, api: api}, {n: 1, api: api}, {n: 0, api: api},
			{n: 10, api: api, noWhere: true}, {n: 10, api: api, refuse: true}} {
			notes, err := portaltest.Harvest(t, f.source(), "")
			got := notes.IRIs()
			slices.Sort(got)
			if err != nil || len(slices.Compact(got)) != f.n || len(notes.Skipped) > 0 {
				t.Errorf("%s, %d datasets, passes conditions over %v, refuses them %v: %v, got %d, %v", api, f.n, f.noWhere, f.refuse, err,
					len(got), notes.Skipped)
				continue
			}
			portaltest.Counts(t, f.source(), f.n)
			portaltest.Resumes(t, f.source())
		}
	}
}

func TestTheNextHarvestAsksForChanges(t *testing.T) {
	t.Parallel()
	f := &opendatasoftFake{n: 2, api: "/api/explore/v2.1",
		dataset: `{"dataset_id":"a","metas":{"default":{"title":"A","modified":"2026-02-03T04:05:06+00:00"}}}`}
	first, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || !strings.Contains(first.NextMark, "2026-02-03") {
		t.Fatalf("%v, next %q", err, first.NextMark)
	}
	f.asked = nil
	second, err := portaltest.Harvest(t, f.source(), first.NextMark)
	if err != nil || second.Whole || len(f.asked) != 1 ||
		!strings.Contains(f.asked[0], "modified+%3E%3D+date%272026-02-03T03%3A55%3A06Z%27") {
		t.Fatalf("%v, whole %v, asked %q", err, second.Whole, f.asked)
	}
}

func TestExportsAttachmentsAndDescription(t *testing.T) {
	t.Parallel()
	const dataset = `{"dataset_id":"arbres","has_records":true,"features":["geo","analyze"],
		"attachments":[{"id":"notice_pdf","title":"Notice","mimetype":"application/pdf"},{"href":"https://ville.example/x.zip","metas":{"title":"Tout"}},{"id":""}],
		"metas":{"default":{"title":"Arbres","description":"<p>Les <i>arbres</i></p>","keyword":["arbre","parc"],"theme":["Environnement"],"license":"Licence Ouverte v2.0","license_url":"https://licence.example/","publisher":"Ville d'Exemple",
		"metadata_languages":["fr"],"language":"fr","modified":"2026-01-02T03:04:05+00:00","records_count":12,"territory":["Exemple"],"bbox":{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[2.2,48.8],[2.5,48.8],[2.5,48.9],[2.2,48.9],[2.2,48.8]]]}}},
		"dcat":{"creator":"Direction des parcs","contact_name":"Ann","contact_email":"ann@ville.example","accrualperiodicity":"Quotidienne","issued":"2019-01-01","temporal_coverage_start":"2010-01-01"}}}`
	f := &opendatasoftFake{n: 1, api: "/api/explore/v2.1", dataset: dataset}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "opendatasoftfields.golden", notes.String())
}

func TestWhatIsNoPortalIsSaid(t *testing.T) {
	t.Parallel()
	notes, err := portaltest.Harvest(t, (&opendatasoftFake{api: "/none"}).source(), "")
	if err == nil || !strings.Contains(err.Error(), "404") || strings.Contains(err.Error(), "\n") || len(notes.Datasets) > 0 {
		t.Fatalf("%v", err)
	}
}
