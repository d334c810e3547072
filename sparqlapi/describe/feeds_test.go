package describe

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

// world answers with events of its own, two a page.
type world struct {
	asked  catalog.EventQuery
	events []catalog.Event // newest first
}

var errUnknown = errors.New("unknown")

func (w *world) Events(_ context.Context, q catalog.EventQuery) (found catalog.Events, err error) {
	w.asked = q
	for _, e := range w.events {
		if q.Before == 0 || e.Seq < q.Before {
			found.List = append(found.List, e)
		}
	}
	if len(found.List) > 2 {
		found.List = found.List[:2]
		found.Next = found.List[1].Seq
	}
	return found, nil
}

func (w *world) Event(_ context.Context, seq uint64) (catalog.Event, error) {
	for _, e := range w.events {
		if e.Seq == seq {
			return e, nil
		}
	}
	return catalog.Event{}, errUnknown
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 123e6, time.UTC)

const feedID = "0123456789abcdef01234567"

func newWorld() *world {
	return &world{events: []catalog.Event{
		{Seq: 4, Kinds: []string{"licence"}, At: noon, Title: "Trees", Datasets: []string{"http://p.example/d"},
			Portals: []string{"http://p.example/"}, N: -1, Before: -1, From: "CC-BY", To: ""},
		{Seq: 3, Kinds: []string{"rows", "schema", "shrunk"}, At: noon.Add(-time.Hour), URL: "http://d.example/a b.csv?x=1&y=<2>",
			Title: "Trees & \x01 <b>bushes</b>", Version: feedID + "_1", N: 1, Previous: feedID + "_0", Size: 10, Before: 100,
			Rows: catalog.RowChange{Added: 1, Removed: 2},
			Columns: catalog.SchemaChange{Removed: []string{"height"},
				Retyped: []catalog.Retyped{{Name: "age", From: "integer", To: "string"}}}},
		{Seq: 1, Kinds: []string{"gone"}, At: noon.Add(-2 * time.Hour), URL: "http://d.example/b.csv", N: -1, Before: -1,
			Why: "the server answered 404"},
		{Seq: 0, Kinds: []string{"new"}, At: noon.Add(-3 * time.Hour), URL: "http://d.example/b.csv", Version: feedID + "_0", Before: -1},
	}}
}

// get asks a feed; hub may be "".
func get(t *testing.T, w *world, hub, address string, header ...string) *http.Response {
	t.Helper()
	a := &FeedsAPI{Archive: w, Mint: ns.Mint{Base: "http://archive.example/"}, Hub: hub}
	r := httptest.NewRequest("GET", address, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	out := httptest.NewRecorder()
	serve := a.Atom
	if strings.HasPrefix(address, "/feed.json") {
		serve = a.JSON
	}
	problem.Handler(serve).ServeHTTP(out, r)
	return out.Result()
}

func TestAFeedSaysOfEachChangeWhatKindItWas(t *testing.T) {
	t.Parallel()
	res := get(t, newWorld(), "https://hub.example/", "/feed.atom?portal=http://p.example/&limit=7&kind=schema,rows")
	var feed atomFeed
	if err := xml.NewDecoder(res.Body).Decode(&feed); err != nil {
		t.Fatal(err)
	}
	const self = "http://archive.example/feed.atom?kind=rows%2Cschema&limit=7&portal=http%3A%2F%2Fp.example%2F"
	links := map[string]string{}
	for _, l := range feed.Links {
		links[l.Rel] = l.Href
	}
	if feed.ID != self || links["self"] != self || links["first"] != self || links["hub"] != "https://hub.example/" ||
		links["next"] != strings.Replace(self, "?", "?before=3&", 1) || feed.Updated != "2026-11-23T12:00:00.123Z" ||
		len(feed.Entries) != 2 {
		t.Errorf("%+v", feed)
	}
	e := feed.Entries[1]
	if e.ID != "http://archive.example/event/3" ||
		!strings.Contains(e.Title,
			"<b>bushes</b>: 1 row added, 2 rows removed; columns removed: height; columns with another type: age (string, was integer); "+
				"less than half is left") ||
		!slices.Equal(e.Categories, []atomCategory{{"rows"}, {"schema"}, {"shrunk"}}) ||
		e.Links[2].Href != "http://d.example/a%20b.csv?x=1&y=%3C2%3E" ||
		e.Links[3].Href != "http://archive.example/diff?from="+feedID+"_0&to="+feedID+"_1" {
		t.Errorf("%+v", e)
	}
	if got := feed.Entries[0].Summary; got != "licence changed from CC-BY to none" {
		t.Errorf("licence: %q", got)
	}
	if got := res.Header.Values("Link"); len(got) != 3 || got[2] != `<https://hub.example/>; rel="hub"` {
		t.Errorf("Link %q", got)
	}
}

func TestPagesOfAJSONFeedHaveAllEventsOnce(t *testing.T) {
	t.Parallel()
	var ids []string
	address := "/feed.json"
	for range 5 {
		res := get(t, newWorld(), "", address)
		var feed jsonFeed
		if err := json.NewDecoder(res.Body).Decode(&feed); err != nil {
			t.Fatal(err)
		}
		for _, item := range feed.Items {
			ids = append(ids, item.ID)
		}
		if feed.Next == "" {
			break
		}
		next, err := url.Parse(feed.Next)
		if err != nil {
			t.Fatal(err)
		}
		address = next.RequestURI()
	}
	if want := []string{"http://archive.example/event/4", "http://archive.example/event/3", "http://archive.example/event/1",
		"http://archive.example/event/0"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
}

func TestAReaderThatHasAPageGetsNoneAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	first := get(t, w, "", "/feed.atom")
	date := first.Header.Get("Last-Modified")
	if date != "Mon, 23 Nov 2026 12:00:00 GMT" {
		t.Errorf("Last-Modified %q", date)
	}
	for _, header := range [][]string{{"If-None-Match", first.Header.Get("ETag")}, {"If-Modified-Since", date},
		{"If-None-Match", first.Header.Get("ETag"), "If-Modified-Since", "Mon, 02 Nov 2026 12:00:00 GMT"}} {
		if res := get(t, w, "", "/feed.atom", header...); res.StatusCode != 304 {
			t.Errorf("%q: %d", header, res.StatusCode)
		}
	}
	w.events[1].At = noon // another event of that second, which the reader may not have seen
	for _, header := range [][]string{{"If-Modified-Since", date}, {"If-Modified-Since", "Mon, 23 Nov 2026 13:00:00 GMT"},
		{"If-None-Match", first.Header.Get("ETag"), "If-Modified-Since", date}} {
		if res := get(t, w, "", "/feed.atom", header...); res.StatusCode != 200 {
			t.Errorf("after a change, %q: %d", header, res.StatusCode)
		}
	}
	w.events = nil
	if res := get(t, w, "", "/feed.atom"); res.StatusCode != 200 || res.Header.Get("Last-Modified") != "" {
		t.Errorf("without events: %d, %v", res.StatusCode, res.Header)
	}
}

func TestASelectionThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"url=http://a.example/&q=trees", "kind=colour", "limit=0", "limit=501", "before=-1", "before=x"} {
		if res := get(t, newWorld(), "", "/feed.json?"+query); res.StatusCode != 400 {
			t.Errorf("%s: %d", query, res.StatusCode)
		}
	}
	w := newWorld()
	get(t, w, "", "/feed.json?kind=gone&kind=license&dataset=http://p.example/d&before=9")
	if want := (catalog.EventQuery{Dataset: "http://p.example/d", Kinds: "gone,license", Before: 9}); w.asked != want {
		t.Errorf("asked for %+v, want %+v", w.asked, want)
	}
}
