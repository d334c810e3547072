package ui_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/ui"
)

// world is a small archive in memory.
type world struct {
	now       time.Time
	resources []catalog.Resource
	versions  map[string][]catalog.Version // by URL
	bytes     map[string][]byte            // by version id
	visits    []catalog.Activity           // newest first
	mint      ns.Mint
	status    crawler.Status
	stopped   atomic.Bool // a slow query was cancelled; the browser tests read it
}

var fixedNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newWorld() *world {
	w := &world{now: fixedNow, versions: map[string][]catalog.Version{}, bytes: map[string][]byte{},
		mint: ns.Mint{Base: "http://localhost:8080/"}}
	w.add("http://data.city.example/trees.csv", "Trees in the city", "text/csv", "https://portal.city.example/", 4, func(n int) string {
		var b strings.Builder
		b.WriteString("id;district;species;planted;height\n")
		for i := range 60 + 7*n {
			fmt.Fprintf(&b, "%d;%d;%s;%d-0%d-12;%.1f\n", i, i%23+1,
				[]string{"Acer platanoides", "Tilia cordata", "Platanus × acerifolia"}[i%3], 1950+i%70, i%9+1,
				4+float64((i*37+n*(i/50))%90)/10)
		}
		return b.String()
	})
	w.add("http://data.city.example/budget.json", "City budget", "application/json", "https://portal.city.example/", 2, func(n int) string {
		return fmt.Sprintf(`{"year":%d,"lines":[{"name":"Schools","amount":%d},{"name":"Parks","amount":731}]}`, 2025+n, 12000+n)
	})
	w.add("https://open.region.example/air/stations.xml", "Air quality stations <draft>", "application/xml",
		"https://portal.region.example/", 1, func(int) string {
			return "<stations>\n  <station id=\"1\"><script>alert(1)</script></station>\n</stations>\n"
		})
	w.add("ftp://files.library.example/loans.zip", "Loans", "application/zip", "https://portal.library.example/", 1,
		func(int) string { return "PK\x03\x04 not really" })
	w.add("https://open.region.example/gone.csv", "Gone", "", "https://portal.region.example/", 0, nil)
	for i := range 40 {
		w.add(fmt.Sprintf("https://open.region.example/series/%02d.csv", i), fmt.Sprintf("Series %02d", i), "text/csv",
			"https://portal.region.example/", i%4+1, func(n int) string {
				return fmt.Sprintf("year,value\n2024,%d\n2025,%d\n", i*n, i+n)
			})
	}
	slices.SortStableFunc(w.visits, func(a, b catalog.Activity) int { return b.Start.Compare(a.Start) })
	return w
}

func (w *world) add(address, title, mime, portal string, versions int, content func(n int) string) {
	id := ns.ResourceID(address)
	u, _ := url.Parse(address)
	res := catalog.Resource{ID: id, URL: address, Host: u.Host, Title: title, Format: "CSV", MediaType: mime, Portals: []string{portal},
		Datasets: []string{portal + "dataset/" + id[:6]}, DatasetTitle: "Dataset of " + title, Added: w.now.Add(-240 * time.Hour),
		Versions: versions, Visits: versions + 2, Interval: 36 * time.Hour, LastVisit: w.now.Add(-2 * time.Hour),
		NextVisit: w.now.Add(34 * time.Hour), Outcome: catalog.Unchanged}
	for n := range versions {
		data := []byte(content(n))
		v := catalog.Version{ID: ns.VersionID(id, n), URL: address, N: n, Size: int64(len(data)), Type: mime, Charset: "utf-8",
			FileName: u.Path[strings.LastIndex(u.Path, "/")+1:],
			At:       w.now.Add(time.Duration(n-versions)*50*time.Hour - time.Duration(len(w.resources))*time.Minute),
			Because:  "file name and content agree", Digests: catalog.Digests{SHA256: sha256.Sum256(data), MD5: md5.Sum(data)},
			Headers: http.Header{"Content-Type": {mime}, "Server": {"nginx"}}}
		if n > 0 {
			v.Previous = ns.VersionID(id, n-1)
		}
		w.versions[address] = append(w.versions[address], v)
		w.bytes[v.ID] = data
		res.Size, res.Changed, res.FileName = v.Size, v.At, v.FileName
		w.visits = append(w.visits,
			catalog.Activity{ID: v.ID, URL: address, Start: v.At, End: v.At.Add(180 * time.Millisecond), Outcome: catalog.Archived,
				Status: 200, Version: v.ID})
	}
	if versions == 0 {
		res.Outcome, res.ErrorClass, res.Why, res.Errors = catalog.NoVersion, catalog.ErrHTTPStatus, "the server answered 404 Not Found", 3
		w.visits = append(w.visits,
			catalog.Activity{ID: id, URL: address, Start: w.now.Add(-time.Hour), End: w.now.Add(-time.Hour + time.Second),
				Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404, Why: res.Why})
	}
	w.resources = append(w.resources, res)
}

var errUnknown = problem.New(http.StatusNotFound, "Unknown resource", "this address is not in the archive")

func (w *world) Stats(context.Context) (catalog.Stats, error) {
	s := catalog.Stats{Resources: len(w.resources), Hosts: 3, Versions: len(w.bytes), Portals: 3, Visits: len(w.visits), Triples: 4711}
	for _, b := range w.bytes {
		s.Bytes += int64(len(b))
	}
	s.Types = []catalog.Count{{Key: "text/csv", Count: 104, Bytes: 9000}, {Key: "application/json", Count: 2},
		{Key: "application/xml", Count: 1}, {Key: "application/zip", Count: 1}}
	return s, nil
}

func (w *world) Search(_ context.Context, s catalog.Search) (catalog.Found, error) {
	var hits []catalog.Resource
	hosts, types, portals := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range w.resources {
		if s.Host != "" && r.Host != s.Host || s.Type != "" && r.MediaType != s.Type || s.Portal != "" && r.Portals[0] != s.Portal ||
			!strings.Contains(strings.ToLower(r.Title+" "+r.URL), strings.ToLower(s.Text)) {
			continue
		}
		hits = append(hits, r)
		hosts[r.Host]++
		types[r.MediaType]++
		portals[r.Portals[0]]++
	}
	if s.Sort == "changed" {
		slices.SortStableFunc(hits, func(a, b catalog.Resource) int { return b.Changed.Compare(a.Changed) })
	}
	f := catalog.Found{Total: len(hits), Hosts: counts(hosts), Types: counts(types), Portals: counts(portals)}
	start := 0
	fmt.Sscan(s.After, &start)
	limit := s.Limit
	if limit == 0 {
		limit = 25
	}
	end := min(len(hits), start+limit)
	f.Resources = hits[min(start, len(hits)):end]
	if strings.EqualFold(s.Text, "series") {
		f.Columns = map[string][]string{f.Resources[0].ID: {"series id"}}
	}
	if end < len(hits) {
		f.Next = fmt.Sprint(end)
	}
	return f, nil
}

func counts(m map[string]int) (list []catalog.Count) {
	for k, n := range m {
		if k != "" {
			list = append(list, catalog.Count{Key: k, Count: n})
		}
	}
	slices.SortFunc(list, func(a, b catalog.Count) int { return b.Count*1000 - a.Count*1000 + strings.Compare(a.Key, b.Key) })
	return list
}

func (w *world) Resource(_ context.Context, address string) (catalog.Resource, error) {
	for _, r := range w.resources {
		if r.URL == address {
			return r, nil
		}
	}
	return catalog.Resource{}, errUnknown
}

func (w *world) Dataset(_ context.Context, iri string) (catalog.DatasetEntry, error) {
	for _, r := range w.resources {
		if r.Datasets[0] == iri {
			return catalog.DatasetEntry{IRI: iri, Title: r.DatasetTitle, Portal: r.Portals[0], URLs: []string{r.URL}}, nil
		}
	}
	return catalog.DatasetEntry{}, errUnknown
}

func (w *world) Portals(context.Context) ([]catalog.Portal, error) {
	return []catalog.Portal{
		{IRI: "https://portal.region.example/", Title: "Region", Datasets: 42, Resources: 42, Versions: 101, Bytes: 4200},
		{IRI: "https://portal.city.example/", Title: "City open data",
			Outcomes: map[catalog.Outcome]int{catalog.Archived: 6, catalog.Unchanged: 30}, Datasets: 2, Resources: 2, Versions: 6,
			Bytes: 12800}, {IRI: "https://portal.library.example/", Datasets: 1, Resources: 1, Versions: 1, Bytes: 17}}, nil
}

func (w *world) Versions(_ context.Context, address string) ([]catalog.Version, error) {
	return w.versions[address], nil
}

func (w *world) Version(_ context.Context, id string) (catalog.Version, error) {
	for _, list := range w.versions {
		for _, v := range list {
			if v.ID == id {
				return v, nil
			}
		}
	}
	return catalog.Version{}, problem.Newf(http.StatusNotFound, "Unknown version", "there is no version %s", id)
}

func (w *world) Open(_ context.Context, id string) (io.ReadCloser, error) {
	data, ok := w.bytes[id]
	if !ok {
		return nil, errUnknown
	}
	return io.NopCloser(strings.NewReader(string(data))), nil
}

func (w *world) Profile(ctx context.Context, id string) (*csvprofile.Profile, error) {
	v, err := w.Version(ctx, id)
	if err != nil || v.Type != "text/csv" {
		return nil, err
	}
	return csvprofile.Read(ctx, strings.NewReader(string(w.bytes[id])), csvprofile.Options{})
}

func (w *world) Exchange(_ context.Context, v catalog.Version) (*catalog.Exchange, error) {
	return &catalog.Exchange{Hops: []catalog.Hop{{URL: v.URL, Status: 200, At: v.At}},
		Head: []byte("HTTP/1.1 200 OK\r\nserver: <nginx>\r\n\r\n"), RemoteAddr: "192.0.2.7:443",
		TLS: &catalog.TLS{Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256"}, WARC: &catalog.WARCRecord{ID: [16]byte{1}}}, nil
}

func (w *world) Inside(ctx context.Context, id string) (*inspect.Inside, error) {
	v, err := w.Version(ctx, id)
	if err != nil || v.Size == 0 {
		return nil, err
	}
	if v.Type == "application/zip" {
		return &inspect.Inside{
			Members: []inspect.Member{{Path: "loans 2026/<b>.csv", Size: 1234, Type: "text/csv"}, {Path: "inner.zip", Size: -1}},
			Faults:  []string{"inner.zip: encrypted"}}, nil
	}
	body := w.bytes[id]
	return inspect.File(ctx, inspect.Input{Found: detect.Detection{Type: v.Type, Charset: v.Charset}, Name: v.FileName, Size: v.Size,
		Body: bytes.NewReader(body)}, inspect.Limits{})
}

func (w *world) Joins(_ context.Context, id string) ([]joins.Match, error) {
	trees, series := w.versions["http://data.city.example/trees.csv"], w.versions["https://open.region.example/series/03.csv"]
	if id != trees[len(trees)-1].ID {
		return nil, nil
	}
	return []joins.Match{
		{Column: joins.Place{Version: id, Column: 1}, Name: "district", Other: joins.Place{Version: series[len(series)-1].ID},
			OtherName: "<year>", Containment: 0.75, Reverse: 1}}, nil
}

func (w *world) Change(_ context.Context, id string) (*diff.Summary, error) {
	if strings.HasSuffix(id, "_0") {
		return nil, nil
	}
	return &diff.Summary{Kind: diff.Tables, RowsAdded: 7, RowsRemoved: 1, ColumnsRenamed: 1}, nil
}

func (w *world) Hosts(context.Context, int) ([]catalog.HostHealth, error) {
	return []catalog.HostHealth{
		{Host: "open.region.example", Resources: 42, Versions: 101, Bytes: 4200, Queued: 3, LastVisit: w.now.Add(-2 * time.Minute),
			Outcomes: map[catalog.Outcome]int{catalog.Archived: 101, catalog.Unchanged: 80, catalog.NoVersion: 1}},
		{Host: "data.city.example", Resources: 2, Versions: 6, Bytes: 12800, LastVisit: w.now.Add(-time.Hour), Wait: "politeness",
			Outcomes: map[catalog.Outcome]int{catalog.Archived: 6}},
	}, nil
}

func (w *world) Activities(_ context.Context, q catalog.ActivityQuery) (list []catalog.Activity, err error) {
	for _, v := range w.visits {
		if q.URL != "" && v.URL != q.URL || q.Host != "" && !strings.Contains(v.URL, "//"+q.Host) || q.Outcome != "" &&
			v.Outcome != q.Outcome || !q.Before.IsZero() && !v.Start.Before(q.Before) {
			continue
		}
		if list = append(list, v); len(list) == max(q.Limit, 1) {
			break
		}
	}
	return list, nil
}

// query answers a few of the pages' own queries.
func (w *world) query(_ context.Context, q string, _ int) (ui.Rows, error) {
	n := func(i int) term.Key { return term.Typed(fmt.Sprint(i), "http://www.w3.org/2001/XMLSchema#integer") }
	switch {
	case strings.Contains(q, "contains(lcase(?name)"):
		if !strings.Contains(q, `"series"`) {
			return ui.Rows{}, nil
		}
		return ui.Rows{Rows: [][]term.Key{{term.IRI("https://open.region.example/series/00.csv"), term.String("series id")}}}, nil
	case strings.HasSuffix(q, "LIMIT 200000"):
		var rows ui.Rows
		for i := range 300 {
			rows.Rows = append(rows.Rows, []term.Key{n(20 + i*i*i)})
		}
		return rows, nil
	case strings.Contains(q, "?day"):
		var rows ui.Rows
		for i := range 21 {
			rows.Rows = append(rows.Rows, []term.Key{term.String(fmt.Sprintf("2026-11-%02d", i+1)), n(i * 13 % 29)})
		}
		return rows, nil
	}
	return ui.Rows{
		Rows: [][]term.Key{{term.String("text/csv"), n(104)}, {term.String("application/json"), n(37)},
			{term.IRI("http://www.w3.org/ns/dcat#Distribution"), n(9)}}}, nil
}

func (w *world) describe(_ context.Context, iri string, _ int) (out, in []term.Quad, err error) {
	s := term.IRI(iri)
	return []term.Quad{
		{S: s, P: term.IRI("http://purl.org/dc/terms/title"), O: term.Lang("Bäume <b>", "de")},
		{S: s, P: term.IRI("http://www.w3.org/ns/dcat#byteSize"), O: term.Typed("17", "http://www.w3.org/2001/XMLSchema#integer")},
		{S: s, P: term.IRI("http://www.w3.org/ns/dcat#accessURL"), O: term.IRI("javascript:alert(1)")},
	}, []term.Quad{{S: term.IRI("http://portal.city.example/dataset/1"), P: term.IRI("http://www.w3.org/ns/dcat#distribution"), O: s}}, nil
}

func (w *world) changes(_ context.Context, from, to catalog.Version, o diff.Options) (ui.Comparison, error) {
	key := o.Key
	columns := []string{"id", "species", `"quoted" <b>`}
	for _, name := range key {
		if !slices.Contains(columns, name) {
			return ui.Comparison{}, &diff.KeyError{Column: name, Columns: columns}
		}
	}
	c := ui.Comparison{Columns: columns, Key: key,
		HTML:    template.HTML(fmt.Sprintf(`<section class="diff"><p class="diff-summary">%d rows added</p></section>`, to.N-from.N)),
		Longest: 10_150}
	if len(key) == 0 {
		c.Key, c.KeyFound = columns[:1], true
	}
	return c, nil
}

func (w *world) crawl() (crawler.Status, error) { return w.status, nil }

// site serves the pages of the small world.
func site(w *world) http.Handler { return siteOf(w, func(*ui.Options) {}) }

// siteOf is site with other options.
func siteOf(w *world, change func(*ui.Options)) http.Handler {
	o := ui.Options{Archive: w, Select: w.query, Describe: w.describe, Changes: w.changes, Harvests: w.harvests,
		Planned: plannedHarvests{w}, Register: registered, Kinds: []string{"auto", "ckan"}, Crawl: w.crawl, Campaigns: &campaigns{},
		Hosts: newHostSettings(), Guard: guard{}, Tables: data.NewRows(tablesOf{w}), Histories: data.NewHistories(tablesOf{w}),
		Mint: w.mint, Now: func() time.Time { return w.now }, Version: "1.0-test"}
	change(&o)
	u, err := ui.New(o)
	if err != nil {
		panic(err)
	}
	return problem.Use(problem.Options{Page: u.ErrorPage})(u.Handler())
}
