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

// udataFake is a portal of n datasets, each changed after the one before.
type udataFake struct {
	n       int
	noNext  bool   // omits next_page
	dataset string // replaces the generated datasets
	asked   []string
}

func (f *udataFake) source() portalapi.Harvester {
	return NewUdata(portalapi.Source{URL: "https://donnees.example/fr/datasets/", HTTP: &portaltest.Web{Handler: f}, Rows: 3,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *udataFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	switch r.URL.Path {
	case "/api/1/site/":
		fmt.Fprint(w, `{"id":"x","title":"Données d'Exemple","version":"9.1.0"}`)
		return
	case "/api/1/datasets/":
	default:
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	var page, size int
	fmt.Sscan(q.Get("page"), &page)
	fmt.Sscan(q.Get("page_size"), &size)
	var list []string
	for i := (page - 1) * size; i < min(page*size, f.n); i++ {
		number := i
		if q.Get("sort") == "-last_update" {
			number = f.n - 1 - i
		}
		if f.dataset != "" {
			list = append(list, f.dataset)
			continue
		}
		list = append(list, fmt.Sprintf(`{"id":"id%d","slug":"set-%d","title":"Set %d","last_update":"2026-01-%02dT00:00:00+00:00"}`,
			number, number, number, number+1))
	}
	next := "null"
	if page*size < f.n && !f.noNext {
		next = fmt.Sprintf(`"http://inside:7000/api/1/datasets/?page=%d"`, page+1)
	}
	text := fmt.Sprintf(`{"data":[%s],"next_page":%s,"page":%d,"page_size":%d,"total":%d}`, strings.Join(list, ","), next, page, size, f.n)
	fmt.Fprint(w, text)
}

func TestUdataMayLeaveOutItsNextPage(t *testing.T) {
	t.Parallel()
	for _, f := range []*udataFake{{n: 0}, {n: 10, noNext: true}} {
		notes, err := portaltest.Harvest(t, f.source(), "")
		got := notes.IRIs()
		slices.Sort(got)
		if err != nil || len(slices.Compact(got)) != f.n || len(notes.Skipped) > 0 {
			t.Errorf("%d datasets, without next %v: %v, %v, %v", f.n, f.noNext, err, got, notes.Skipped)
		}
		portaltest.Counts(t, f.source(), f.n)
		portaltest.Resumes(t, f.source())
	}
}

func TestUdataTheNextHarvestEndsWithTheFirstThatIsOlder(t *testing.T) {
	t.Parallel()
	f := &udataFake{n: 20}
	first, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || !strings.Contains(first.NextMark, "2026-01-20") {
		t.Fatalf("%v, next %q", err, first.NextMark)
	}
	f.n, f.asked = 22, nil
	second, err := portaltest.Harvest(t, f.source(), first.NextMark)
	if err != nil || second.Whole || len(second.Datasets) > 6 ||
		!slices.Contains(second.IRIs(), "https://donnees.example/datasets/set-21/") {
		t.Fatalf("%v, whole %v, %v", err, second.Whole, second.IRIs())
	}
}

func TestUdataDescription(t *testing.T) {
	t.Parallel()
	f := &udataFake{n: 1, dataset: `{"id":"5d","slug":"arbres","title":"Arbres","description":"Tous les **arbres**","tags":["arbre"],"license":"lov2","frequency":"monthly","page":"https://donnees.example/fr/datasets/arbres/","created_at":"2019-01-01T00:00:00",
		"last_update":"2026-01-01T00:00:00","temporal_coverage":{"start":"2010-01-01","end":"2020-12-31"},"spatial":{"zones":["fr:departement:74"],"geom":null,"granularity":"other"},"organization":{"name":"Ville","page":"https://donnees.example/organizations/ville/"},
		"contact_points":[{"name":"Ann","email":"ann@ville.example"}],"harvest":{"remote_id":"r-1","modified_at":"2025-01-01"},"extras":{"a":{"b":1},"c":"d"},"badges":[],
		"resources":[{"id":"r1","title":"CSV","url":"https://ville.example/a.csv","latest":"https://donnees.example/fr/datasets/r/r1","format":"csv","mime":"text/csv","filesize":12,"checksum":{"type":"sha1","value":"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"},"type":"main","schema":{"name":"x/y"}},
		{"id":"r2","url":"https://ville.example/api","type":"api","format":"json"},{"id":"r3"},null]}`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "udatafields.golden", notes.String())
	f.dataset = `{"slug":"weg","deleted":"2026-01-01T00:00:00"}`
	if notes, err = portaltest.Harvest(t, f.source(), ""); err != nil ||
		!slices.Equal(notes.GoneIRIs, []string{"https://donnees.example/datasets/weg/"}) {
		t.Fatalf("deleted: %v, %v", err, notes.GoneIRIs)
	}
}
