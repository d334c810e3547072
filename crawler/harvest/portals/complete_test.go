package portals_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portals"
	"odarchive/crawler/harvest/portaltest"
)

// portal is a portal that says that it lists 9 entries. Pages that begin behind the entry with the number stops come
// empty; the first fails of them only.
type portal struct {
	list         func(first, end int) []string
	page         func(r *http.Request) (first, rows int)
	answer       string // with the count and the entries
	stops, fails int
	says         int // 0 means 9
}

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, rows := p.page(r)
	if rows < 0 {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	end := min(first+rows, 9)
	if first >= p.stops && first < 9 && p.fails != 0 {
		p.fails--
		end = first
	}
	says := 9
	if p.says > 0 {
		says = p.says
	}
	fmt.Fprintf(w, p.answer, says, strings.Join(p.list(min(first, end), end), ","))
}

func number(r *http.Request, name string) (n int) {
	fmt.Sscan(r.URL.Query().Get(name), &n)
	return n
}

func entries(format string) func(first, end int) []string {
	return func(first, end int) (all []string) {
		for i := first; i < end; i++ {
			all = append(all, fmt.Sprintf(format, i))
		}
		return all
	}
}

func TestWhatAPortalCountsAndDoesNotReturnIsMissedByEveryKind(t *testing.T) {
	t.Parallel()
	at := func(path string, first func(r *http.Request) int) func(r *http.Request) (int, int) {
		return func(r *http.Request) (int, int) {
			if !strings.HasPrefix(r.URL.Path, path) {
				return 0, -1
			}
			return first(r), 3
		}
	}
	source := func(p *portal) portalapi.Source {
		return portalapi.Source{URL: "https://a.example/", HTTP: &portaltest.Web{Handler: p}, Rows: 3,
			Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }}
	}
	for _, kind := range []struct {
		name   string
		new    func(portalapi.Source) portalapi.Harvester
		portal portal
	}{
		{
			"ckan", ckan.New, portal{list: entries(`{"id":"%[1]d","name":"d%[1]d"}`),
				answer: `{"success":true,"result":{"count":%d,"results":[%s]}}`,
				page:   at("/api/3/action/package_search", func(r *http.Request) int { return number(r, "start") })}},
		{"opendatasoft", portals.NewOpenDataSoft, portal{list: entries(`{"dataset_id":"d%d"}`), answer: `{"total_count":%d,"results":[%s]}`,
			page: at("/api/explore/v2.1/catalog/datasets", func(r *http.Request) int {
				first := number(r, "offset")
				if n, _ := fmt.Sscanf(r.URL.Query().Get("where"), `dataset_id > "d%d"`, &first); n == 1 {
					first++
				}
				return first
			})}},
		{"udata", portals.NewUdata, portal{list: entries(`{"id":"d%d","title":"D"}`), answer: `{"total":%d,"page_size":3,"data":[%s]}`,
			page: at("/api/1/datasets/", func(r *http.Request) int { return 3 * (number(r, "page") - 1) })}},
	} {
		for _, c := range []struct {
			name        string
			stops       int
			fails, came int
		}{{"whole", 9, 0, 9}, {"a page is empty", 6, -1, 6}, {"the second page is empty", 3, -1, 3}, {"a page is empty once", 6, 1, 9}} {
			p := kind.portal
			p.stops, p.fails = c.stops, c.fails
			notes, err := portaltest.Harvest(t, kind.new(source(&p)), "")
			want := ""
			if c.came < 9 {
				want = harvest.Short(9 - c.came)
			}
			if err != nil || len(notes.IRIs()) != c.came || strings.Join(notes.Unread, " ") != want {
				t.Errorf("%s, %s: %v, %d datasets came, missing %q", kind.name, c.name, err, len(notes.IRIs()), notes.Unread)
			}
		}
	}
	p := portal{list: entries(`{"id":"%[1]d","name":"d%[1]d"}`), answer: `{"success":true,"result":{"count":%d,"results":[%s]}}`,
		page: at("/api/3/action/package_search", func(r *http.Request) int { return number(r, "start") }), stops: 9, says: 4}
	if notes, err := portaltest.Harvest(t, ckan.New(source(&p)), ""); err != nil || len(notes.IRIs()) != 9 || len(notes.Unread) > 0 {
		t.Errorf("a portal that says less than it lists: %v, %d datasets, missing %q", err, len(notes.IRIs()), notes.Unread)
	}
}
