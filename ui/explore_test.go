package ui_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
	"odarchive/sparqlapi/data"

	"golang.org/x/net/html"
)

// tablesOf reads the tables of the small world.
type tablesOf struct{ *world }

func (t tablesOf) Tables(ctx context.Context, v catalog.Version) (list []archive.Table, in *inspect.Inside, err error) {
	if in, err = t.Inside(ctx, v.ID); err != nil || in == nil {
		return nil, nil, err
	}
	for i, p := range in.Tables {
		list = append(list, archive.Table{Type: v.Type, Charset: v.Charset, Index: i, Profile: p})
	}
	return list, in, nil
}

func (t tablesOf) EachRowFrom(ctx context.Context, v catalog.Version, table archive.Table, marks inspect.Marks,
	f func([][]byte) error) error {
	in := inspect.Input{Found: detect.Detection{Type: v.Type}, Name: v.FileName, Size: v.Size,
		Body: strings.NewReader(string(t.bytes[v.ID]))}
	return inspect.EachRowFrom(ctx, in, table.Member, table.Type, table.Charset, table.Index, table.Profile, inspect.Limits{}, marks, f)
}

// addTables adds tables that are hard to show.
func addTables(w *world) {
	w.add("http://data.city.example/stops.csv", "Stops", "text/csv", "https://portal.city.example/", 1, func(int) string {
		var b strings.Builder
		b.WriteString("stop;lat;lon;share;opened;zone\n")
		for i := range 300 {
			fmt.Fprintf(&b, "Stop %d;48.%04d;16.%04d;%d,5 %%;%02d.%02d.%d;%s\n", i, 1501+i*7%900, 2503+i*13%900, i%100, i%28+1, i%12+1,
				1950+i%70, []string{"inner", `"outer", it's <b>`, "rim"}[i%3])
		}
		return b.String()
	})
	w.add("http://data.city.example/wide.csv", "Wide", "text/csv", "https://portal.city.example/", 1, func(int) string {
		var b strings.Builder
		for row := range 60 {
			for i := range 2000 {
				if i > 0 {
					b.WriteByte(',')
				}
				if row == 0 {
					fmt.Fprintf(&b, "column %d", i)
				} else {
					fmt.Fprintf(&b, "%d", i*row)
				}
			}
			b.WriteByte('\n')
		}
		return b.String()
	})
	w.add("http://data.city.example/hostile.json", "Hostile", "application/json", "https://portal.city.example/", 1, func(int) string {
		return `[{"<script>alert(1)</script>":"<img src=x onerror=alert(1)>","b":"\u202egnp.exe","c":"` + strings.Repeat("long ", 20_000) +
			`"},{"<script>alert(1)</script>":"javascript:alert(1)","b":"\u0000","c":"=1+1"}]`
	})
}

// exploreWorld is a world whose tables can be explored, and the addresses of their pages by name.
func exploreWorld() (*world, map[string]string) {
	w := newWorld()
	addTables(w)
	pages := map[string]string{}
	for name, address := range map[string]string{"trees": "http://data.city.example/trees.csv",
		"stops": "http://data.city.example/stops.csv", "wide": "http://data.city.example/wide.csv",
		"hostile": "http://data.city.example/hostile.json", "budget": "http://data.city.example/budget.json"} {
		list := w.versions[address]
		pages[name] = "/table/" + list[len(list)-1].ID
	}
	return w, pages
}

func TestThePageOfATableNarrowsAndOrders(t *testing.T) {
	t.Parallel()
	w, pages := exploreWorld()
	h := site(w)
	for address, want := range map[string]string{
		pages["trees"]:                "Rows 1 to 20 of 81",
		pages["trees"] + "?offset=80": "Rows 81 to 81 of 81",
		pages["trees"] + "?where=species%3D'Tilia cordata'":                           "Rows 1 to 20 of 27",
		pages["trees"] + "?where=height+%3E+5+and+district+%3D+3":                     "of 4",
		pages["trees"] + "?where=height+%3E+5000":                                     "No rows",
		pages["trees"] + "?order=-height":                                             `aria-sort="descending"`,
		pages["trees"] + "?row=7":                                                     "Row 8",
		pages["stops"]:                                                                "Where they are",
		pages["stops"] + "?where=zone+%3D+" + url.QueryEscape(`'"outer", it''s <b>'`): "Rows 1 to 20 of 100",
		pages["wide"] + "?from=1995":                                                  "Columns 1",
		pages["budget"]:                                                               "Schools",
		"/version?id=" + strings.TrimPrefix(pages["trees"], "/table/"):                pages["trees"],
	} {
		address = strings.ReplaceAll(address, " ", "%20")
		res := get(t, h, address)
		text := body(t, res)
		if res.StatusCode != 200 || !strings.Contains(strings.ReplaceAll(text, "\u202f", " "), want) {
			t.Errorf("%s: %d, without %q", address, res.StatusCode, want)
		}
		doc, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		check(t, address, doc)
		if len(text) > 30<<10 && strings.HasPrefix(address, "/table/") {
			t.Errorf("%s: the page has %d bytes", address, len(text))
		}
	}
}

// Whatever a link of the page says, its page selects rows without a fault.
func TestEveryLinkOfATablesPageWorks(t *testing.T) {
	t.Parallel()
	w, pages := exploreWorld()
	h := site(w)
	for _, name := range []string{"trees", "stops", "hostile", "budget"} {
		doc, err := html.Parse(strings.NewReader(body(t, get(t, h, pages[name]))))
		if err != nil {
			t.Fatal(err)
		}
		links := 0
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				if a.Key != "href" || !strings.HasPrefix(a.Val, "?") {
					continue
				}
				links++
				if res := get(t, h, pages[name]+a.Val); res.StatusCode != 200 {
					t.Errorf("%s%s: %d", pages[name], a.Val, res.StatusCode)
				}
			}
		}
		if links < 4 {
			t.Errorf("%s has %d links", name, links)
		}
	}
}

func TestTheFormOfATableAddsComparisons(t *testing.T) {
	t.Parallel()
	w, pages := exploreWorld()
	h := site(w)
	res := get(t, h, pages["stops"]+"?"+url.Values{"where": {"lat>48.2"}, "c": {"zone"}, "op": {"="}, "v": {`"outer", it's <b>`},
		"order": {"-lat"}, "offset": {"40"}}.Encode())
	to := res.Header.Get("Location")
	q, err := url.ParseQuery(strings.TrimPrefix(to, "?"))
	if res.StatusCode != http.StatusSeeOther || err != nil || q.Get("where") != `lat>48.2 and "zone" = '"outer", it''s <b>'` ||
		q.Get("order") != "-lat" || q.Has("offset") {
		t.Fatalf("%d to %s", res.StatusCode, to)
	}
	if text := body(t, get(t, h, pages["stops"]+to)); !strings.Contains(text, "is &#34;outer&#34;, it&#39;s &lt;b&gt;") {
		t.Error("the condition is not named")
	}
	for _, bad := range []string{"?where=nothing%3D1", "?where=lat%3Emany", "?order=nothing"} {
		res := get(t, h, pages["stops"]+bad)
		if text := body(t, res); res.StatusCode != 400 || !strings.Contains(text, "cannot be selected so") ||
			!strings.Contains(text, "Stop 3") {
			t.Errorf("%s: %d", bad, res.StatusCode)
		}
	}
	for path, want := range map[string]int{"/table/x": 404, "/table/0123456789abcdef01234567_0": 404, pages["stops"] + "?row=300": 404,
		pages["stops"] + "?offset=-1": 400, pages["stops"] + "?table=9": 404} {
		if res := get(t, h, path); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
}

var _ data.RowsArchive = tablesOf{}
