package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

// site serves documents by path.
type site map[string]string

func (s site) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if tag := s["tag of "+req.URL.Path]; tag != "" && req.Header.Get("If-None-Match") == tag {
		w.WriteHeader(304)
	} else if body, ok := s[req.URL.Path]; ok {
		w.Header().Set("ETag", tag)
		w.WriteString(body)
	} else {
		w.WriteHeader(404)
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

func urlset(paths ...string) string {
	s := `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for _, p := range paths {
		s += "<url><loc>" + p + "</loc><lastmod>2026-01-02</lastmod><changefreq>weekly</changefreq></url>\n"
	}
	return s + "</urlset>"
}

type told struct {
	harvest.Sink
	seeds   []catalog.Seed
	quads   []term.Quad
	skipped []string
	marks   []string
	stopAt  int
	next    string
	same    bool
}

var errStop = errors.New("the lights went out")

func (t *told) Portal(harvest.Portal, bool) error { return nil }
func (t *told) Seed(s catalog.Seed) error {
	t.seeds = append(t.seeds, s)
	if len(t.seeds) == t.stopAt {
		return errStop
	}
	return nil
}
func (t *told) Quad(q term.Quad) error {
	t.quads = append(t.quads, q)
	return nil
}
func (t *told) Mark(m string) error {
	t.marks = append(t.marks, m)
	return nil
}
func (t *told) Next(m string)        { t.next = m }
func (t *told) NotModified(m string) { t.next, t.same = m, true }
func (t *told) Skip(why string)      { t.skipped = append(t.skipped, why) }

func (t *told) urls() string {
	var all []string
	for _, s := range t.seeds {
		all = append(all, strings.TrimPrefix(s.URL, "http://s.example"))
	}
	return strings.Join(all, " ")
}

func TestEveryKindOfListIsRead(t *testing.T) {
	t.Parallel()
	index := `<sitemapindex><sitemap><loc>http://s.example/1.xml</loc></sitemap><sitemap><loc>/2.xml.gz</loc></sitemap><sitemap><loc>http` +
		`://s.example/gone.xml</loc></sitemap><sitemap><loc>http://s.example/index.xml</loc></sitemap></sitemapindex>`
	s := site{
		"/1.xml": urlset("http://s.example/a", "http://s.example/b?x=1&amp;y=2"), "/2.xml.gz": zipped(urlset("http://s.example/c")),
		"/index.xml":  index,
		"/robots.txt": "User-agent: *\nDisallow: /x\nSITEMAP: http://s.example/index.xml\n",
		"/list.txt":   "\ufeffhttp://s.example/a\r\n\r\nhttp://s.example/d\n",
		"/rss.xml": `<rss version="2.0"><channel><link>http://s.example/</link><item><title>T</title><link>http://s.example/page</lin` +
			`k><enclosure url="http://s.example/f.csv" type="text/csv" length="12"/><pubDate>Fri, 02 Jan 2026 10:00:00 ` +
			`+0100</pubDate></item><item><link>http://s.example/page2</link></item></channel></rss>`,
		"/atom.xml": `<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:link ` +
			`href="http://s.example/"/><a:entry><a:title>T</a:title><a:link rel="alternate" ` +
			`href="/e"/><a:updated>2026-01-02T00:00:00Z</a:updated></a:entry></a:feed>`,
		"/prefix.xml": strings.NewReplacer("<url", "<sm:url", "</url", "</sm:url", "<loc", "<sm:loc", "</loc", "</sm:loc", "xmlns=",
			"xmlns:sm=").Replace(urlset("http://s.example/a")),
		"/image.xml": `<urlset><url><loc>http://s.example/a</loc><image:image><image:loc>http://s.example/i.png</image:loc></image:imag` +
			`e></url></urlset>`,
		"/latin.xml": "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://s.example/\xfc</loc></url></urlset>",
		"/loop.xml": `<sitemapindex><sitemap><loc>http://s.example/loop.xml</loc></sitemap><sitemap><loc>http://s.example/1.xml</loc><` +
			`/sitemap></sitemapindex>`,
		"/junk.xml":    urlset("http://s.example/a") + "<!-- cached --><p>junk",
		"/control.xml": strings.Replace(urlset("http://s.example/a"), "<loc>", "<loc>\x01", 1),
	}
	for _, c := range []struct{ path, want string }{
		{"/1.xml", "/a /b?x=1&y=2"}, {"/2.xml.gz", "/c"}, {"/index.xml", "/a /b?x=1&y=2 /c"}, {"/", "/a /b?x=1&y=2 /c"},
		{"/list.txt", "/a /d"}, {"/rss.xml", "/f.csv /page2"},
		{"/atom.xml", "/e"}, {"/prefix.xml", "/a"}, {"/image.xml", "/a"}, {"/latin.xml", "/%C3%BC"}, {"/loop.xml", "/a /b?x=1&y=2"},
		{"/junk.xml", "/a"}, {"/control.xml", "/a"},
	} {
		out := &told{}
		if err := (Source{URL: "http://s.example" + c.path, HTTP: s}).Harvest(t.Context(), "", out); err != nil || out.urls() != c.want {
			t.Errorf("%s: %q, %v, %q; want %q", c.path, out.urls(), err, out.skipped, c.want)
		}
	}
}

func TestWhatASitemapSaysOfChangesIsKept(t *testing.T) {
	t.Parallel()
	out := &told{}
	if err := (Source{URL: "http://s.example/1.xml", HTTP: site{"/1.xml": urlset("http://s.example/a")}}).Harvest(t.Context(), "",
		out); err != nil {
		t.Fatal(err)
	}
	if out.seeds[0].Period != 7*24*time.Hour || len(out.quads) != 1 || out.quads[0].O.Value() != "2026-01-02T00:00:00Z" {
		t.Fatalf("%+v %v", out.seeds, out.quads)
	}
	later := &told{}
	if err := (Source{URL: "http://s.example/1.xml", Since: "2026-02", HTTP: site{"/1.xml": urlset("http://s.example/a")}}).Harvest(
		t.Context(), "", later); err != nil || len(later.seeds) != 0 {
		t.Fatalf("%v, %d seeds that did not change since", err, len(later.seeds))
	}
}

func TestAListOfOneFileIsNotReadAgainWhileItIsTheSame(t *testing.T) {
	t.Parallel()
	s := site{"/sitemap.xml": urlset("http://s.example/a"), "tag of /sitemap.xml": `"1"`, "/robots.txt": "Sitemap: /sitemap.xml",
		"tag of /robots.txt": `"2"`}
	for _, c := range []struct {
		address string
		same    bool
	}{{"http://s.example/sitemap.xml", true}, {"http://s.example/", false}} {
		first, again, later := &told{}, &told{}, &told{}
		src := Source{URL: c.address, HTTP: s}
		if err := src.Harvest(t.Context(), "", first); err != nil || len(first.seeds) != 1 {
			t.Fatalf("%s: %v, %d seeds", c.address, err, len(first.seeds))
		}
		if err := src.Harvest(t.Context(), first.next, again); err != nil || again.same != c.same || again.same != (len(again.seeds) == 0) {
			t.Errorf("%s again: %v, the same %v, %d seeds", c.address, err, again.same, len(again.seeds))
		}
		src.Now = func() time.Time { return time.Now().Add(harvest.WholeAfter) }
		if err := src.Harvest(t.Context(), first.next, later); err != nil || later.same || len(later.seeds) != 1 {
			t.Errorf("%s a week later: %v, the same %v, %d seeds", c.address, err, later.same, len(later.seeds))
		}
	}
}

func TestBrokenListsGiveWhatStandsBeforeTheFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, body, err, skipped string }{
		{"cut off", strings.TrimSuffix(urlset("http://s.example/a", "http://s.example/b"), "</url>\n</urlset>"), "", "breaks off"},
		{"half a gzip", zipped(urlset("http://s.example/a"))[:60], "", ""},
		{"a page", "<!DOCTYPE html><html>", "HTML page", ""},
		{"empty", "", "neither a sitemap", ""},
		{"another XML", "<a><b/></a>", "neither a sitemap", ""},
		{"laughs", `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>http://s.example/&b;</loc></url></urlset>`, "",
			""},
		{"an endless word", "<urlset><url><loc>http://s.example/a</loc></url><url><loc>" + strings.Repeat("x", 1100<<10), "",
			"without a tag"},
		{"deep", "<urlset>" + strings.Repeat("<a>", 1<<14), "", ""},
	} {
		out := &told{}
		err := (Source{URL: "http://s.example/s.xml", HTTP: site{"/s.xml": c.body}}).Harvest(t.Context(), "", out)
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.about, err, c.err)
		}
		missed := err != nil && strings.Contains(err.Error(), "not read completely")
		if c.skipped != "" && (!missed || len(out.skipped) != 1 || !strings.Contains(out.skipped[0], c.skipped) || len(out.seeds) != 1) {
			t.Errorf("%s: %v, skipped %q, %d seeds", c.about, err, out.skipped, len(out.seeds))
		}
	}
}

func TestASitemapOfAnIndexThatFailsIsMissed(t *testing.T) {
	t.Parallel()
	for child, whole := range map[string]bool{"gone": true, "broken": false, "fine": true} {
		s := site{"/index.xml": `<sitemapindex><sitemap><loc>/x.xml</loc></sitemap><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>`,
			"/2.xml": urlset("http://s.example/a")}
		switch child {
		case "broken":
			s["/x.xml"] = "<urlset><url><lo"
		case "fine":
			s["/x.xml"] = urlset("http://s.example/b")
		}
		out := &told{}
		err := (Source{URL: "http://s.example/index.xml", HTTP: s}).Harvest(t.Context(), "", out)
		if (err == nil) != whole || len(out.seeds) == 0 {
			t.Errorf("%s: %v, %d seeds", child, err, len(out.seeds))
		}
	}
}

func TestAWalkGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 1200 {
		many = append(many, fmt.Sprintf("http://s.example/%d", i))
	}
	s := site{"/index.xml": `<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>`,
		"/1.xml": urlset(many[:600]...), "/2.xml": urlset(many[600:]...)}
	first := &told{stopAt: 1150}
	if err := (Source{URL: "http://s.example/index.xml", HTTP: s}).Harvest(t.Context(), "", first); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	rest := &told{}
	if err := (Source{URL: "http://s.example/index.xml", HTTP: s}).Harvest(t.Context(), first.marks[len(first.marks)-1], rest); err != nil {
		t.Fatal(err)
	}
	if len(rest.seeds) != 100 || !strings.HasSuffix(rest.seeds[0].URL, "/1100") {
		t.Fatalf("%d seeds from %s, marks %q", len(rest.seeds), rest.seeds[0].URL, first.marks)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(urlset("http://s.example/a")))
	f.Add([]byte(zipped(urlset("http://s.example/a"))))
	f.Add([]byte("Sitemap: http://s.example/\n"))
	f.Add([]byte(`<feed><entry><link href="x"/></entry></feed>`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		parse(body, list{entry: func(Entry) error { return nil }, sitemap: func(string) error { return nil }})
	})
}
