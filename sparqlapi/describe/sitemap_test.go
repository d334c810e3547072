package describe_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/describe"
)

type urls struct {
	XMLName xml.Name
	Sitemap []struct {
		Loc string `xml:"loc"`
	} `xml:"sitemap"`
	URL []struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
	} `xml:"url"`
}

func sitemap(t *testing.T, h func(http.ResponseWriter, *http.Request) error, address string) (u urls) {
	t.Helper()
	res := get(h, address, "")
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", address, res.StatusCode, err)
	}
	if err := xml.Unmarshal(raw, &u); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return u
}

func TestTheSitemapHasThePagesOfAllFilesAndDatasets(t *testing.T) {
	t.Parallel()
	a := newArchive(30)
	changed := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	for i := range a.resources {
		a.resources[i].Changed = changed
	}
	got := sitemap(t, handlers(t, a).Sitemap, "/sitemap.xml")
	dated := 0
	for _, u := range got.URL {
		if !strings.HasPrefix(u.Loc, mint.Base+"dataset?url=http%3A%2F%2F") {
			t.Errorf("%s", u.Loc)
		}
		if u.LastMod == "2026-11-20T01:02:03Z" {
			dated++
		}
	}
	if len(got.URL) != 60 || dated != 30 || got.XMLName.Local != "urlset" {
		t.Errorf("%d addresses, %d with a date, in %s", len(got.URL), dated, got.XMLName.Local)
	}
}

// crowd is an archive of many files.
type crowd struct {
	*archive
	n   int
	ids []string // sorted
}

func (c crowd) Stats(context.Context) (catalog.Stats, error) { return catalog.Stats{Crawled: c.n}, nil }

func (c crowd) Archived(_ context.Context, after string, f func(catalog.Resource) bool) error {
	for _, id := range c.ids {
		if id > after && !f(catalog.Resource{ID: id, URL: "http://f.example/" + id}) {
			break
		}
	}
	return nil
}

func TestALargeSitemapIsAnIndexOfPartsThatHaveEveryFileOnce(t *testing.T) {
	t.Parallel()
	c := crowd{n: 400_000}
	for i := range 16 {
		for _, rest := range []string{strings.Repeat("0", 23), "7" + strings.Repeat("a", 22), strings.Repeat("f", 23)} {
			c.ids = append(c.ids, fmt.Sprintf("%x%s", i, rest))
		}
	}
	l := describe.NewLinkedData(describe.LinkedOptions{Archive: c, Mint: ns.Mint{Base: "http://archive.example/a&b/"}})
	index := sitemap(t, l.Sitemap, "/sitemap.xml")
	if len(index.Sitemap) != 256 {
		t.Fatalf("%d parts", len(index.Sitemap))
	}
	seen := map[string]int{}
	for _, s := range index.Sitemap {
		query, ok := strings.CutPrefix(s.Loc, "http://archive.example/a&b/sitemap.xml")
		if !ok {
			t.Fatal(s.Loc)
		}
		for _, u := range sitemap(t, l.Sitemap, "/sitemap.xml"+query).URL {
			seen[u.Loc]++
		}
	}
	if len(seen) != len(c.ids) {
		t.Errorf("%d files, want %d", len(seen), len(c.ids))
	}
	for address, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", address, n)
		}
	}
	for _, bad := range []string{"x", "../", "0123456"} {
		if got := get(l.Sitemap, "/sitemap.xml?part="+bad, "").StatusCode; got != 400 {
			t.Errorf("part=%s: %d", bad, got)
		}
	}
}
