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

// fake is a portal of n datasets.
type fake struct {
	n        int
	noScroll bool // ignores scroll_id
	noOrder  bool // ignores order
	instead  string
	file     string // data.json
	asked    int
}

func (f *fake) source() portalapi.Harvester {
	return NewSocrata(portalapi.Source{URL: "https://city.example/browse?x=1", HTTP: &portaltest.Web{Handler: f}, Rows: 3,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.URL.Path == "/data.json" && f.file != "":
		fmt.Fprint(w, f.file)
	case r.URL.Path != "/api/catalog/v1" || q.Get("domains") != "city.example" || q.Get("only") != "datasets":
		http.NotFound(w, r)
	case f.instead != "":
		fmt.Fprint(w, f.instead)
	default:
		f.asked++
		first := 0
		fmt.Sscan(q.Get("offset"), &first)
		if id := q.Get("scroll_id"); id != "" && !f.noScroll {
			fmt.Sscanf(id, "aaaa-%04d", &first)
			first++
		}
		var list []string
		for i := first; i < min(first+3, f.n); i++ {
			number := i
			if q.Get("order") == "updatedAt DESC" && !f.noOrder {
				number = f.n - 1 - i
			}
			list = append(list,
				fmt.Sprintf(`{"resource":{"id":"aaaa-%04d","name":"Table %d","type":"dataset","updatedAt":"2026-01-%02dT00:00:00.000Z"}}`,
					number, number, number+1))
		}
		fmt.Fprintf(w, `{"results":[%s],"resultSetSize":%d}`, strings.Join(list, ","), f.n)
	}
}

func TestEveryDatasetComesOnceAndAHarvestCanBeCutOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about string
		fake  fake
	}{
		{"none", fake{}},
		{"pages by counting", fake{n: 10, noScroll: true}},
	} {
		notes, err := portaltest.Harvest(t, c.fake.source(), "")
		got := notes.IRIs()
		slices.Sort(got)
		if err != nil || len(slices.Compact(got)) != c.fake.n || len(notes.Skipped) > 0 {
			t.Errorf("%s: %v, %v, %v", c.about, err, got, notes.Skipped)
		}
		portaltest.Counts(t, c.fake.source(), c.fake.n)
		portaltest.Resumes(t, c.fake.source())
	}
}

func TestTheNextHarvestEndsWithTheFirstThatIsOlder(t *testing.T) {
	t.Parallel()
	f := &fake{n: 20}
	whole, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || !whole.Whole || len(whole.Datasets) != 20 {
		t.Fatalf("%v, whole %v, %d datasets", err, whole.Whole, len(whole.Datasets))
	}
	for _, c := range []struct {
		about string
		order bool
		want  int
		asked int
	}{
		{"what changed", true, 5, 2}, // four new ones, and the last one again
		{"without an order everything is read", false, 24, 10},
	} {
		f := &fake{n: 24, noOrder: !c.order}
		changed, err := portaltest.Harvest(t, f.source(), whole.NextMark)
		if err != nil || changed.Whole || len(changed.Datasets) != c.want || f.asked > c.asked {
			t.Errorf("%s: %v, whole %v, %q, %d questions", c.about, err, changed.Whole, changed.IRIs(), f.asked)
		}
		later := f.source()
		later.Now = func() time.Time { return time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC) }
		if notes, err := portaltest.Harvest(t, later, changed.NextMark); err != nil || !notes.Whole || len(notes.Datasets) != 24 {
			t.Errorf("%s: a week later %v, whole %v, %d datasets", c.about, err, notes.Whole, len(notes.Datasets))
		}
	}
	since := f.source()
	since.Since = "2026-01-10"
	if notes, err := portaltest.Harvest(t, since, ""); err != nil || notes.Whole || len(notes.Datasets) != 11 || notes.NextMark != "" {
		t.Errorf("since a date: %v, whole %v, %d datasets, next %q", err, notes.Whole, len(notes.Datasets), notes.NextMark)
	}
}

func TestAPortalWithoutDiscoveryIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	f := &fake{instead: "<!doctype html><title>Moved</title>", file: `{"dataset":[{"identifier":"a","title":"A"}]}`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || len(notes.Datasets) != 1 || len(notes.Portals) != 1 {
		t.Fatalf("%v, %d datasets, %d portals", err, len(notes.Datasets), len(notes.Portals))
	}
	f.file = ""
	if notes, err = portaltest.Harvest(t, f.source(), ""); err == nil || !strings.Contains(err.Error(), `a web page ("Moved")`) ||
		len(notes.Portals) != 0 {
		t.Fatalf("neither: %v", err)
	}
}

func TestExportsAndDescription(t *testing.T) {
	t.Parallel()
	f := &fake{instead: `{"resultSetSize":5,"results":[
		{"resource":{"name":"Trees","id":"abcd-1234","type":"dataset","description":"<b>All</b> trees<br/>of it","attribution":"City of Example","attribution_link":"https://city.example","contact_email":"a@city.example","updatedAt":"2026-01-02T03:04:05.000Z","createdAt":"2020-01-01T00:00:00.000Z"},
		 "classification":{"domain_category":"Environment","domain_tags":["trees","parks"],"domain_metadata":[{"key":"Common-Core_Update-Frequency","value":"Weekly"},{"key":"x_Geographic-Coverage","value":"Example City"},{"key":"empty"}]},
		 "metadata":{"domain":"city.example","license":"Public Domain"},"permalink":"https://city.example/d/abcd-1234","link":"https://city.example/Environment/Trees/abcd-1234","owner":{"id":"u","display_name":"Ann"}},
		{"resource":{"name":"A map","id":"mapp-0001","type":"map","lens_view_type":"geo"}},
		{"resource":{"name":"A file","id":"file-0001","type":"file","blob_mime_type":"application/pdf"}},
		{"resource":{"name":"A story","id":"stor-0001","type":"story"}},
		{"resource":{"name":"No id"}}, 7, null]}`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "socratafields.golden", notes.String())
}

func TestHalfAPageKeepsItsGoodBeginning(t *testing.T) {
	t.Parallel()
	f := &fake{instead: `{"results":[{"resource":{"id":"a","name":"A"}},{"resource":{"id":"b","na`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err == nil || !strings.Contains(err.Error(), "breaks off after") || len(notes.Datasets) != 1 {
		t.Fatalf("%v, %d datasets", err, len(notes.Datasets))
	}
}
