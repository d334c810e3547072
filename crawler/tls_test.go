package crawler

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
)

func TestACertificateThatWasNotVerifiedIsRecordedWithTheFetch(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, "a,b\n1,2\n")
	}))
	t.Cleanup(s.Close)
	address := strings.TrimPrefix(s.URL, "https://")
	host, _, _ := strings.Cut(address, ":")
	for name, relaxed := range map[string]bool{"other.example": false, address: true, host: true} {
		n := newNode(t)
		bodies, err := spool.New(t.TempDir(), spool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n.Fetcher = fetch.New(fetch.Options{Spool: bodies, AllowPrivateHosts: true, UnverifiedHosts: []string{name}})
		t.Cleanup(n.Fetcher.Close)
		n.Gate = politeness.New(politeness.Options{DB: n.Pipeline.Archive.DB(), Fetch: n.Fetcher.Fetch, Delay: -1})
		n.add(t, s.URL+"/a.csv")
		r := n.crawl(t, RunOptions{})["/a.csv"]
		acts, err := n.Pipeline.Archive.Activities(t.Context(), catalog.ActivityQuery{URL: s.URL + "/a.csv"})
		if err != nil || len(acts) != 1 {
			t.Fatalf("%+v, %v", acts, err)
		}
		if said := strings.Contains(acts[0].TLS, "not verified"); said != relaxed || relaxed != (r.Outcome == catalog.Archived) ||
			!relaxed && r.ErrorClass != catalog.ErrTLS {
			t.Errorf("relaxed %s %v: %+v, recorded %q", name, relaxed, r, acts[0].TLS)
		}
	}
}
